// Sessions: later runs of a graph, which repeat planned work, warm-up, and memory limits.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import flow from 'oneflow-js';
import {checkFailure} from './support.mjs';

const plain = (data) => JSON.parse(JSON.stringify(data));

function network() {
  const weights = {
    first: flow.randn([16, 3, 3, 3]), bias: flow.randn([16]),
    second: flow.randn([8, 16, 1, 1]), last: flow.randn([5, 8]),
  };
  const apply = (x) => {
    const pooled = flow.maxPool2d(flow.conv2d(x, weights.first, weights.bias, {padding: [1]}).relu(), [2, 2]);
    const mapped = flow.conv2d(pooled, weights.second).mul(2).add(1).sigmoid();
    return flow.linear(mapped.mean([2, 3]), weights.last).softmax(-1);
  };
  return {apply, graph: flow.graph.capture(apply, flow.ones([1, 3, 12, 12]), {dynamic: 'batch'})};
}

test('later runs give the same bits, on several threads', async () => {
  const {apply, graph} = network();
  for (let run = 0; run < 12; run++) {
    const x = flow.randn([run % 3 + 1, 3, 12, 12]);
    assert.deepEqual(plain(graph.run(x)), plain(apply(x)));
  }
  const inputs = [1, 2, 3, 1, 2, 3].map((batch) => flow.randn([batch, 3, 12, 12]));
  const found = await Promise.all(inputs.map((x) => graph.runAsync(x)));
  assert.deepEqual(plain(found), plain(inputs.map(apply)));
});

test('outputs are memory of their own', () => {
  const graph = flow.graph.capture((x) => x.add(1).mul(2), flow.ones([4]));
  const kept = graph.run(flow.zeros([4]));
  for (let run = 0; run < 3; run++) graph.run(flow.full([4], run, {dtype: 'float32'}));
  assert.deepEqual(plain(kept), [2, 2, 2, 2]);
});

test('warm-up', async () => {
  const {apply, graph} = network();
  assert.equal(graph.memory, 0);
  graph.warmUp({batch: 4});
  assert.ok(graph.memory >= 4 * 16 * 12 * 12 * 4);
  await graph.warmUpAsync();
  const x = flow.randn([4, 3, 12, 12]);
  assert.deepEqual(plain(graph.run(x)), plain(apply(x)));
  checkFailure(() => graph.warmUp({time: 4}), flow.InvalidArgument, 'warmUp: the sizes must be batch, got time');
  checkFailure(() => graph.warmUp({batch: '4'}), flow.TypeMismatch, 'warmUp: batch must be integer, got string');
  checkFailure(() => graph.warmUp(3), flow.TypeMismatch, 'warmUp: sizes must be Map or object, got number');
});

test('a memory limit', () => {
  const graph = flow.graph.capture((x) => x.add(1).exp().sum(), flow.ones([50]), {dynamic: 'n'});
  assert.equal(graph.memoryLimit, null);
  graph.memoryLimit = 10_000;
  assert.equal(graph.memoryLimit, 10_000);
  for (let run = 0; run < 3; run++) graph.run(flow.ones([500]));
  assert.throws(() => graph.run(flow.ones([5000])), {
    name: 'OutOfMemory',
    message: /^run: call \d+, \w+: the run needs at least 20000 bytes, more than the memory limit of the session/,
  });
  graph.memoryLimit = null;
  graph.run(flow.ones([5000]));
  const set = (limit) => () => { graph.memoryLimit = limit; };
  checkFailure(set(-1), flow.InvalidArgument, 'memoryLimit: the limit must be positive, got -1');
  checkFailure(set('1'), flow.TypeMismatch, 'memoryLimit: the limit must be integer or null, got string');
  checkFailure(set(undefined), flow.TypeMismatch, 'memoryLimit: the limit must be integer or null, got undefined');
});

test('a signal ends a run', async () => {
  const x = flow.ones([600, 600]);
  const graph = flow.graph.capture((a) => {
    let product = a;
    for (let i = 0; i < 400; i++) product = product.matmul(a).div(600);
    return product;
  }, [x]);
  const controller = new AbortController();
  const run = graph.runAsync(x, {signal: controller.signal});
  setTimeout(() => controller.abort(), 20);
  await assert.rejects(run, {name: 'AbortError'});
  await assert.rejects(graph.runAsync(x, {signal: controller.signal}), {name: 'AbortError'});
  await assert.rejects(graph.warmUpAsync({signal: AbortSignal.abort('mine')}), (reason) => reason === 'mine');
  const small = flow.graph.capture((a) => a.add(1), [flow.ones([2])]);
  const {signal} = new AbortController();
  assert.deepEqual((await small.runAsync(flow.ones([2]), {signal})).toArray(), [2, 2]);
  const {result} = await small.runAsync(flow.ones([2]), {states: true, signal});
  assert.deepEqual(result.toArray(), [2, 2]);
  await assert.rejects(small.runAsync(flow.ones([2]), {signal: 3}), {name: 'TypeMismatch'});
});
