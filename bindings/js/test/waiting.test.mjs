// Waiting for a device must block neither the event loop nor other JavaScript threads. The tests stop the test
// accelerator with its option `accel_hold`: if a wait blocked the thread that resets the option, the test would hang.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import {plugin, runAlone} from './support.mjs';

const environment = {ONEFLOW_DEVICE_PATH: plugin('accel')};
const head = `
  import assert from 'node:assert/strict';
  import {once} from 'node:events';
  import {Worker} from 'node:worker_threads';

  const hold = (holds) => flow.setOption('accel_hold', Number(holds));

  /** Runs the event loop of the main thread for a while, computes and collects garbage. */
  async function liveOn() {
    for (let i = 0; i < 50; i++) {
      await new Promise(setImmediate);
      assert.equal(flow.ones([3], {device: 'cpu'}).sum().item(), 3);
    }
    flow.memoryStats('accel');
    globalThis.gc();
  }

  const start = (code) => new Worker(
    "const {parentPort} = require('node:worker_threads'); const flow = require('oneflow-js');" + code,
    {eval: true, execArgv: []});
`;

/** Expressions that return a promise, which waits for a device. */
const PROMISES = [
  'x.data()', "x.castAsync('float16').then((half) => half.data())", "x.toDeviceAsync('cpu')",
  "x.toDeviceAsync('accel:1')", "flow.ones([1]).toDeviceAsync('accel')", "flow.synchronizeAsync('accel')",
  'x.addAsync(1)', 'x.nonzeroAsync()',
  "flow.catAsync([x, x])", "flow.comm.local.scatterAsync(flow.ones([2]), ['cpu', 'accel'])",
];

for (const promise of PROMISES) {
  test(`the event loop runs while a promise waits: ${promise}`, () => {
    const printed = runAlone(`${head}
      const wait = (x) => ${promise};
      let x = flow.ones([1], {device: 'accel'}).neg();
      await wait(x); // initializes everything that is created once
      flow.synchronize('accel');
      hold(true);
      let isOver = false;
      x = x.neg();
      const done = wait(x).then((result) => Promise.all([result].flat().map((y) => y?.data?.())));
      done.then(() => { isOver = true; }, () => {});
      await liveOn();
      assert.equal(isOver, false);
      hold(false);
      await done;
      console.log('done');
    `, environment);
    assert.equal(printed, 'done\n');
  });
}

test('many promises wait at once', () => {
  const printed = runAlone(`${head}
    const x = flow.ones([1], {device: 'accel'});
    flow.synchronize('accel');
    hold(true);
    const reads = Array.from({length: 50}, (_, i) => x.mul(i).data());
    await liveOn();
    hold(false);
    assert.deepEqual((await Promise.all(reads)).map(([value]) => value), [...Array(50).keys()]);
    console.log('done');
  `, environment);
  assert.equal(printed, 'done\n');
});

/** Calls that wait for a device, made by a worker thread. */
const CALLS = [
  'x.item()', 'x.toArray()', 'x.dataSync()', 'String(x)', 'x.equal(x)', 'x.nonzero()', 'x.at(x.gt(0))', 'x.add(1)',
  'x.add_(1)', 'x.set(0, 2)', 'flow.ones([1]).copy_(x)', "x.to('cpu')", "x.to('accel:1').item()",
  "flow.tensor([1], {device: 'accel'})", "flow.ones([1]).to('accel')", "flow.synchronize('accel')",
  "flow.empty([2 ** 16], {device: 'accel'}).dispose(); flow.emptyCache('accel')",
  "flow.comm.local.scatter(flow.ones([2]), ['cpu', 'accel'])",
];

for (const call of CALLS) {
  test(`other threads run while a call waits: ${call}`, () => {
    const printed = runAlone(`${head}
      flow.devices();
      const worker = start(${JSON.stringify(`
        let x = flow.ones([1], {device: 'accel'}).neg();
        ${call};
        flow.synchronize('accel');
        parentPort.once('message', () => {
          x = x.neg();
          parentPort.postMessage('begun');
          ${call};
          parentPort.postMessage('over');
        });
        parentPort.postMessage('ready');
      `)});
      const messages = [];
      worker.on('message', (message) => messages.push(message));
      await once(worker, 'message');
      hold(true);
      worker.postMessage('go');
      await once(worker, 'message');
      await liveOn();
      assert.deepEqual(messages, ['ready', 'begun']);
      hold(false);
      await once(worker, 'exit');
      assert.deepEqual(messages, ['ready', 'begun', 'over']);
      console.log('done');
    `, environment);
    assert.equal(printed, 'done\n');
  });
}

test('a worker that is terminated while it waits', () => {
  const printed = runAlone(`${head}
    flow.ones([1], {device: 'accel'}).item();
    hold(true);
    const workers = ['x.item()', 'x.data(); x.addAsync(1)'].map((call) => start(
      "const x = flow.ones([1], {device: 'cpu'}); parentPort.postMessage(1);" +
      "{ const x = flow.empty([1], {device: 'accel'}).neg();" + call + '}'));
    await Promise.all(workers.map((worker) => once(worker, 'message')));
    const ends = workers.map((worker) => worker.terminate());
    await liveOn();
    hold(false);
    await Promise.all(ends);
    assert.equal(flow.ones([1], {device: 'accel'}).neg().item(), -1);
    console.log('done');
  `, environment);
  assert.equal(printed, 'done\n');
});

test('many threads use the devices at once', () => {
  const printed = runAlone(`${head}
    flow.setOption('accel_slow', 50);
    const workers = Array.from({length: 8}, (_, number) => start(\`
      const number = \${number};
      let x = flow.full([100], number, {device: 'accel:' + number % 2, dtype: 'float32'});
      for (let i = 0; i < 20; i++) x = x.mul(1).neg();
      const moved = x.to('accel:' + (number + 1) % 2);
      moved.data().then((read) => parentPort.postMessage([...moved.toArray(), ...read]));
    \`));
    const results = await Promise.all(workers.map(async (worker) => (await once(worker, 'message'))[0]));
    results.forEach((values, number) => assert.deepEqual(values, Array(200).fill(number)));
    console.log('done');
  `, environment);
  assert.equal(printed, 'done\n');
});

test('a process exits while its device works', () => {
  const printed = runAlone(`${head}
    flow.setOption('accel_slow', 1000);
    let x = flow.ones([4], {device: 'accel'});
    for (let i = 0; i < 50; i++) x = x.neg();
    globalThis.read = x.data();
    console.log('done');
    process.exit(0);
  `, environment);
  assert.equal(printed, 'done\n');
});
