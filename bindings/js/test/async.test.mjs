// Promise variants: they run on another thread, on the values of their inputs at the time of the call.

import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import {once} from 'node:events';
import {test} from 'node:test';
import {fileURLToPath} from 'node:url';
import {Worker} from 'node:worker_threads';
import flow from 'oneflow-js';

const folder = fileURLToPath(new URL('..', import.meta.url));

test('every operator that computes from tensors has a promise variant', async () => {
  const x = flow.tensor([[1, 2], [3, 4]]);
  assert.deepEqual((await flow.matmulAsync(x, x)).toArray(), [[7, 10], [15, 22]]);
  assert.deepEqual((await x.sumAsync({dim: 1})).toArray(), [3, 7]);
  const {values, indices} = await x.maxAsync(1);
  assert.deepEqual([values.toArray(), indices.toArray()], [[2, 4], [1, 1]]);
  assert.deepEqual((await flow.einsumAsync('ij->ji', [x])).toArray(), [[1, 3], [2, 4]]);
});

test('random numbers are drawn in the order of the calls', () => {
  assert.ok(Object.keys(flow).every((name) => !/^rand.*Async$/.test(name)));
});

test('inputs have their values at the time of the call', async () => {
  const x = flow.ones([1000]);
  const array = new Float32Array(new SharedArrayBuffer(4)).fill(1);
  const shared = flow.tensor(array, {share: true});
  const promises = [x.addAsync(1), flow.catAsync([x, x]), shared.addAsync(1)];
  x.mul_(100);
  array[0] = 100;
  shared.dispose();
  x.dispose();
  const [sum, both, other] = await Promise.all(promises);
  assert.ok(sum.toArray().every((value) => value === 2));
  assert.ok(both.toArray().every((value) => value === 1));
  assert.equal(other.item(), 2);
});

test('errors reject the promise', async () => {
  const x = flow.ones([2, 3]);
  await assert.rejects(flow.matmulAsync(x, x), (error) => {
    return error instanceof flow.ShapeError && /^matmul: /.test(error.message);
  });
  await assert.rejects(flow.addAsync(x, 'a'), flow.TypeMismatch);
  await assert.rejects(x.addAsync(1, {out: x}), flow.TypeMismatch);
  await assert.rejects(flow.Tensor.prototype.addAsync.call({}, 1), flow.TypeMismatch);
});

test('the stack trace of an error shows the line that awaits it', async () => {
  const x = flow.ones([2, 3]);
  async function someoneElse() {
    await flow.matmulAsync(x, x);
  }
  await assert.rejects(someoneElse(), (error) => /someoneElse .*async\.test\.mjs/.test(error.stack));
});

test('garbage is collected when memory runs out, and the inputs keep their values', async () => {
  const x = flow.ones([2 ** 20]);
  flow.setMemoryLimit(flow.memoryStats().inUse + 64 * 2 ** 20);
  try {
    for (let i = 0; i < 50; i++) {
      const promise = x.addAsync(1);
      x.add_(1);
      assert.equal((await promise).at(0).item(), i + 2);
    }
    const held = [];
    await assert.rejects(async () => {
      for (;;) held.push(await x.addAsync(1));
    }, flow.OutOfMemory);
    assert.ok(held.length > 8);
  } finally {
    flow.setMemoryLimit(0);
  }
});

test('many calls at once', async () => {
  const x = flow.ones([100]);
  const results = await Promise.all(Array.from({length: 500}, (_, i) => x.addAsync(i)));
  results.forEach((result, i) => assert.equal(result.at(0).item(), 1 + i));
});

test('the main thread and the threads of libuv are free during long promise variants', () => {
  // Each product takes minutes: if a call, a timer or a file waited for one, the program would reach its time limit.
  const program = `
    const fs = require('node:fs');
    const {setTimeout: sleep} = require('node:timers/promises');
    const flow = require('oneflow-js');
    const windows = flow.ones([4_000_000]).unfold(0, 2_000_000, 1).at(':2000');
    let ended = 0;
    for (let i = 0; i < 5; i++) windows.matmulAsync(windows.transpose(0, 1)).finally(() => ended++);
    (async () => {
      for (let i = 0; i < 100; i++) await sleep(1);
      await fs.promises.readFile('package.json');
      console.log(ended);
      process.kill(process.pid, 'SIGKILL');
    })();
  `;
  const {stdout, stderr} = spawnSync(process.execPath, ['-e', program], {
    cwd: folder, encoding: 'utf8', timeout: 120_000,
  });
  assert.equal(stdout, '0\n', stderr);
});

test('a thread ends while its products are computed', async () => {
  const worker = new Worker(`
    const flow = require('oneflow-js');
    const a = flow.rand([600, 600]);
    for (let i = 0; i < 20; i++) flow.matmulAsync(a, a);
    require('node:worker_threads').parentPort.postMessage('started');
    setInterval(() => {}, 1000);
  `, {eval: true});
  await once(worker, 'message');
  assert.equal(await worker.terminate(), 1);
});
