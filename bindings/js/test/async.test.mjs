// Promise variants: they run on another thread, on the values of their inputs at the time of the call.

import assert from 'node:assert/strict';
import {once} from 'node:events';
import fs from 'node:fs';
import {test} from 'node:test';
import {Worker} from 'node:worker_threads';
import flow from 'oneflow-js';

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

/** Returns the time that this thread waited for a processor, in milliseconds; the library has no influence on it. */
function timeInQueue() {
  try {
    return Number(fs.readFileSync('/proc/self/schedstat', 'utf8').split(' ')[1]) / 1e6;
  } catch {
    return 0; // not on Linux
  }
}

/** Returns the maximal lateness of a 1 ms timer during `work`, in milliseconds, without the time in timeInQueue(). */
async function latenessDuring(work) {
  let latest = 0;
  let due = performance.now() + 1;
  let queued = timeInQueue();
  const tick = () => {
    const late = performance.now() - due;
    const total = timeInQueue();
    latest = Math.max(latest, late - (total - queued));
    [due, queued] = [performance.now() + 1, total];
  };
  const timer = setInterval(tick, 1);
  await work();
  clearInterval(timer);
  tick();
  return latest;
}

test('the main thread is free during a long promise variant', async () => {
  const x = flow.rand([1024, 1024]);
  await flow.matmulAsync(x, x);
  const before = performance.now();
  flow.matmul(x, x);
  const first = performance.now() - before;
  const side = Math.round(1024 * Math.cbrt(2000 / first)); // so that the product takes about two seconds
  const large = flow.ones([side, side]);
  // Several rounds, because a pause of the machine may delay one of them; a call that blocks the thread delays all.
  const rounds = [];
  for (let round = 0; round < 5 && !(rounds.at(-1) <= 20); round++) {
    rounds.push(await latenessDuring(() => flow.matmulAsync(large, large)));
  }
  assert.ok(rounds.at(-1) <= 20, `late by ${rounds.map((late) => late.toFixed(1)).join(', ')} ms`);
});

test('files are read while tensors are computed', async () => {
  const a = flow.rand([1200, 1200]);
  const order = [];
  const jobs = Array.from({length: 12}, () => flow.matmulAsync(a, a).then(() => order.push('product')));
  const file = fs.promises.readFile(new URL(import.meta.url)).then(() => order.push('file'));
  await Promise.all([...jobs, file]);
  assert.ok(order.indexOf('file') < 8, `${order}`); // libuv's four threads would first finish at least 9 products
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
