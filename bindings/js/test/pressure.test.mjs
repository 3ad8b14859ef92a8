// Exhausted memory: the allocation is tried again after a garbage collection, and the call runs once. All programs run
// in processes of their own, with the finalizers of Node-API that run during collections, and with the stable ones.

import assert from 'node:assert/strict';
import {execFile} from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import {describe, test} from 'node:test';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';
import {plugin, reasonOf} from './support.mjs';

const {statistics} = JSON.parse(
  fs.readFileSync(new URL('../../../tests/faults.json', import.meta.url), 'utf8'),
);
const build = process.env.OF_BUILD ?? fileURLToPath(new URL('../../../build', import.meta.url));

/** What all programs share: a limit of the host's memory, and room on the test accelerator between garbage. */
const HEAD = `
  const [{default: assert}, fs, os, path] = await Promise.all(
    ['node:assert/strict', 'node:fs', 'node:os', 'node:path'].map((name) => import(name)),
  );
  const temporaryFile = () => path.join(os.tmpdir(), 'oneflow-pressure-' + process.pid + '.safetensors');
  const statistics = ${JSON.stringify(statistics)};
  const MIB = 2 ** 20;
  const onDevice = (data) => flow.tensor(data, {device: 'accel'});
  const limitTo = (mib) => flow.setMemoryLimit(flow.memoryStats().inUse + mib * MIB);
  // Leaves 4 MiB of garbage on the accelerator, and this many KiB that are free. The tensors become garbage after the
  // capacity is set: it would leave no room for those that V8 collects before.
  const leaveGarbageAnd = (kib) => {
    flow.setOption('accel_capacity', 256 * MIB);
    const garbage = Array.from({length: 4}, () => flow.empty([MIB / 4], {device: 'accel'}));
    flow.emptyCache('accel');
    flow.setOption('accel_capacity:0', flow.getOption('accel_used_memory:0') + kib * 1024);
    garbage.length = 0;
  };
`;

const tests = [];

/** Adds tests of a program, one for each kind of finalizers. */
function testProgram(name, program) {
  for (const [kind, variables] of [['', {}], [' (stable Node-API)', {ONEFLOW_STABLE_NODE_API: '1'}]]) {
    tests.push(() => test(name + kind, async () => {
      const script = `import flow from 'oneflow-js'; ${HEAD} ${program} console.log('done');`;
      const environment = {...process.env, ...variables, ONEFLOW_DEVICE_PATH: plugin('accel')};
      const {stdout} = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
        cwd: path.join(build, 'node_modules'), env: environment, timeout: 120_000,
      }).catch((error) => assert.fail(`${name}${kind}: ${reasonOf(error)}`));
      assert.equal(stdout.trim(), 'done');
    }));
  }
}


testProgram('batch norm moves its statistics once, wherever memory runs out', `
  const {momentum} = statistics;
  const x = onDevice(statistics.input).repeat([1, 1, 4096]); // 256 KiB, of the same mean and variance
  for (let kib = 0; kib < 640; kib += 64) {
    const [mean, variance] = [onDevice(statistics.mean), onDevice(statistics.variance)];
    leaveGarbageAnd(kib);
    flow.batchNorm(x, mean, variance, {training: true, momentum});
    for (const [found, expected] of [[mean, statistics.new_mean], [variance, statistics.new_variance]]) {
      found.toArray().forEach((value, i) => assert.ok(Math.abs(value - expected[i]) < 1e-3, kib + ': ' + value));
    }
  }
`);

testProgram('a batch norm that fails leaves both statistics as they were', `
  // Channels repeat, so that each tensor has an allocation of its own.
  const x = onDevice(statistics.input).repeat([1, 8192, 1]);
  const before = [statistics.mean, statistics.variance].map((values) => onDevice(values).repeat([8192]));
  const [mean, variance] = before.map((each) => each.neg().neg());
  const isAsBefore = () => mean.equal(before[0]) && variance.equal(before[1]);
  let failures = 0;
  for (let at = 1; ; at++) {
    const clones = [flow.tensor(mean), flow.tensor(variance)]; // they share the memory until it is written
    flow.emptyCache('accel');
    flow.setOption('accel_fail_from:0', at);
    let result = null;
    try {
      result = flow.batchNorm(x, mean, variance, {training: true, momentum: statistics.momentum});
    } catch (error) {
      if (!(error instanceof flow.OutOfMemory)) throw error;
      failures++;
    }
    flow.setOption('accel_fail_from:0', 0);
    if (result !== null) break;
    assert.ok(isAsBefore(), at + '. allocation');
    clones.forEach((each, i) => assert.ok(each.equal(before[i])));
  }
  assert.ok(failures > 5);
  assert.ok(!isAsBefore());
`);

testProgram('a backward pass accumulates once, wherever memory runs out', `
  const square = (leaf) => leaf.mul(leaf).sum();
  for (const run of [(loss) => loss.backward(), (loss) => loss.backwardAsync()]) {
    const options = {dtype: 'float32', device: 'accel', requiresGrad: true};
    const leaves = [1, 2].map((value) => flow.full([65536], value, options));
    let passes = 0;
    for (let kib = 0; kib < 2048; kib += 256) {
      const loss = square(leaves[0]).add(square(leaves[1]));
      leaveGarbageAnd(kib);
      await run(loss);
      passes++;
      leaves.forEach((leaf, i) => assert.equal(leaf.grad.at(0).item(), passes * 2 * (i + 1), kib + ' KiB'));
    }
  }
`);

/** Programs that leave 100 MiB of garbage, of which 16 MiB fit into the memory. */
const LEAVERS = {
  creation: 'for (let i = 0; i < 100; i++) flow.ones([MIB / 4]);',
  'typed arrays': 'const data = new Float32Array(MIB / 4); for (let i = 0; i < 100; i++) flow.tensor(data);',
  operators: 'const x = flow.ones([MIB / 4]); for (let i = 0; i < 100; i++) x.neg();',
  'promise variants': 'const x = flow.ones([MIB / 4]); for (let i = 0; i < 100; i++) await x.negAsync();',
  'promise variants at once': `
    const x = flow.ones([MIB / 4]);
    for (let i = 0; i < 25; i++) await Promise.all([x.negAsync(), x.absAsync(), x.expAsync(), x.addAsync(1)]);`,
  graphs: `
    for (let i = 0; i < 100; i++) {
      const constant = flow.ones([MIB / 4]);
      flow.graph.capture((x) => x.add(constant), [flow.ones([1])]);
    }`,
  'runs of a graph': `
    const graph = flow.graph.capture((x) => x.add(1), [flow.ones([MIB / 4])]);
    for (let i = 0; i < 50; i++) { graph.run([flow.ones([MIB / 4])]); await graph.runAsync([flow.ones([MIB / 4])]); }`,
  gradients: `
    const x = flow.ones([MIB / 4]).setRequiresGrad();
    for (let i = 0; i < 25; i++) {
      const y = x.mul(2).sum();
      if (i % 2) y.backward(); else await y.backwardAsync();
      x.grad = null;
    }`,
  files: `
    const file = temporaryFile();
    flow.save({x: flow.ones([MIB / 4])}, file);
    for (let i = 0; i < 50; i++) { flow.load(file); await flow.loadAsync(file); }
    fs.rmSync(file);`,
};

testProgram('garbage gives room', `
  limitTo(16);
  const works = {${Object.entries(LEAVERS).map(([name, program]) => `'${name}': async () => { ${program} }`)}};
  for (const [name, work] of Object.entries(works)) {
    await work().catch((error) => assert.fail(name + ': ' + error.stack));
  }
`);

testProgram('garbage gives room for the working memory of kernels, on all of their threads', `
  flow.setOption('num_threads', 4);
  const x = flow.ones([4, 2 ** 20 + 1]); // of which each row needs 18 MiB while it is sorted
  limitTo(134);
  for (let i = 0; i < 8; i++) {
    for (let mib = 0; mib < 60; mib += 4) flow.empty([MIB]); // leaves room for the results and for one row
    const {values, indices} = flow.sort(x);
    values.dispose();
    indices.dispose();
  }
`);

testProgram('garbage gives room in a worker thread', `
  const {Worker} = await import('node:worker_threads');
  const {once} = await import('node:events');
  limitTo(16);
  const work = async (flow, MIB) => {
    { ${LEAVERS.operators} }
    { ${LEAVERS['promise variants']} }
  };
  const code = "import('oneflow-js').then((imported) => (" + work + ")(imported.default, 2 ** 20));";
  assert.deepEqual(await once(new Worker(code, {eval: true}), 'exit'), [0]);
`);

// A thread looked for the garbage collector while another one had just hidden it again.
testProgram('garbage gives room in threads that first run out of memory at the same time', `
  const {Worker} = await import('node:worker_threads');
  const {once} = await import('node:events');
  const devices = ['cpu', 'accel:0', 'accel:1']; // one for each thread, so that its own garbage gives room
  for (const device of devices) flow.setMemoryLimit(flow.memoryStats(device).inUse + 16 * MIB, device);
  const work = async (flow, {workerData: [device, waiting]}) => {
    const leave = (count) => { for (let i = 0; i < count; i++) flow.empty([2 ** 18], {device}); };
    leave(16);
    Atomics.sub(waiting, 0, 1);
    while (Atomics.load(waiting, 0) > 0);
    leave(32);
  };
  const modules = "['oneflow-js', 'node:worker_threads'].map((name) => import(name))";
  const code = "Promise.all(" + modules + ").then(([{default: flow}, threads]) => (" + work + ")(flow, threads));";
  const waiting = new Int32Array(new SharedArrayBuffer(4));
  waiting[0] = devices.length;
  const start = (device) => once(new Worker(code, {eval: true, workerData: [device, waiting]}), 'exit');
  assert.deepEqual(await Promise.all(devices.map(start)), devices.map(() => [0]));
`);

testProgram('work on another thread waits for the garbage of a thread that is busy', `
  const x = flow.ones([MIB]); // 4 MiB
  limitTo(16);
  for (let i = 0; i < 4; i++) x.neg();
  const promises = [x.neg().negAsync(), x.absAsync()];
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300); // nobody collects meanwhile
  for (const result of await Promise.all(promises)) assert.equal(Math.abs(result.at(0).item()), 1);
`);

testProgram('work on another thread fails while the thread of JavaScript waits for it', `
  const file = temporaryFile();
  const x = flow.ones([MIB]);
  limitTo(4);
  const failing = Promise.allSettled(Array.from({length: 4}, () => x.repeatAsync([4]))); // occupy all threads
  const saved = flow.saveAsync({x: flow.ones([1])}, file); // runs after them
  while (!fs.existsSync(file)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
  await saved;
  fs.rmSync(file);
  for (const each of await failing) assert.ok(each.reason instanceof flow.OutOfMemory);
`);

testProgram('a thread ends while its work waits for its garbage', `
  const {Worker} = await import('node:worker_threads');
  const {once} = await import('node:events');
  limitTo(4);
  const worker = new Worker(\`
    const modules = Promise.all(['oneflow-js', 'node:worker_threads'].map((name) => import(name)));
    modules.then(([{default: flow}, {parentPort}]) => {
      flow.ones([2 ** 19]).repeatAsync([8]);
      parentPort.postMessage('started');
      for (;;);
    });
  \`, {eval: true});
  await once(worker, 'message');
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.equal(await worker.terminate(), 1);
  flow.ones([MIB / 4]);
`);

describe('memory pressure', {concurrency: 4}, () => tests.forEach((add) => add()));
