// Promise variants: off the main thread, with the inputs as they were at the call.

import assert from 'node:assert/strict';
import os from 'node:os';
import {test} from 'node:test';
import flow from 'oneflow-js';

test('every operator that computes has a promise variant', async () => {
  const x = flow.tensor([[1, 2], [3, 4]]);
  assert.deepEqual((await flow.matmulAsync(x, x)).toArray(), [[7, 10], [15, 22]]);
  assert.deepEqual((await x.sumAsync({dim: 1})).toArray(), [3, 7]);
  const {values, indices} = await x.maxAsync(1);
  assert.deepEqual([values.toArray(), indices.toArray()], [[2, 4], [1, 1]]);
  assert.deepEqual((await flow.einsumAsync('ij->ji', [x])).toArray(), [[1, 3], [2, 4]]);
});

test('inputs are seen as they were at the call', async () => {
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

test('failures reject', async () => {
  const x = flow.ones([2, 3]);
  await assert.rejects(flow.matmulAsync(x, x), (error) => {
    return error instanceof flow.ShapeError && /^matmul: /.test(error.message);
  });
  await assert.rejects(flow.addAsync(x, 'a'), flow.TypeMismatch);
  await assert.rejects(x.addAsync(1, {out: x}), flow.TypeMismatch);
  await assert.rejects(flow.Tensor.prototype.addAsync.call({}, 1), flow.TypeMismatch);
});

test('a failure shows the line that awaits', async () => {
  const x = flow.ones([2, 3]);
  async function someoneElse() {
    await flow.matmulAsync(x, x);
  }
  await assert.rejects(someoneElse(), (error) => /someoneElse .*async\.test\.mjs/.test(error.stack));
});

test('memory that runs out is collected, and the inputs are still those of the call', async () => {
  const x = flow.ones([2 ** 20]);
  flow.setMemoryLimit(flow.memory().inUse + 64 * 2 ** 20);
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

test('many at once', async () => {
  const x = flow.ones([100]);
  const results = await Promise.all(Array.from({length: 500}, (_, i) => x.addAsync(i)));
  results.forEach((result, i) => assert.equal(result.at(0).item(), 1 + i));
});

/** By how many milliseconds a 1 ms timer was late at most while a promise was pending. */
async function latenessDuring(promise) {
  let latest = 0;
  let due = performance.now() + 1;
  const timer = setInterval(() => {
    const now = performance.now();
    latest = Math.max(latest, now - due);
    due = now + 1;
  }, 1);
  await promise;
  clearInterval(timer);
  return latest;
}

test('the main thread is free during a long promise variant', async () => {
  const x = flow.rand([1024, 1024]);
  await flow.matmulAsync(x, x);
  const before = performance.now();
  flow.matmul(x, x);
  const once = performance.now() - before;
  const side = Math.round(1024 * Math.cbrt(2000 / once)); // a product that takes some two seconds
  const large = flow.ones([side, side]);
  // Other programs make timers late too, in proportion to how many wait for a processor.
  const allowed = 20 * Math.max(1, os.loadavg()[0] / os.cpus().length);
  const result = flow.matmulAsync(large, large);
  const latest = await latenessDuring(result);
  assert.deepEqual((await result).shape, [side, side]);
  assert.ok(latest < allowed, `late by ${latest.toFixed(1)} ms, allowed are ${allowed.toFixed(1)} ms`);
});
