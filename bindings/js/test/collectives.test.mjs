// Lists of tensors and of devices: cases that the conformance vectors do not cover.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import flow from 'oneflow-js';

const ranks = () => [flow.tensor([1, 2]), flow.tensor([10, 20])];
const plain = (tensors) => tensors.map((tensor) => tensor.toArray());

test('a list of results is an array', () => {
  const parts = flow.comm.local.scatter(flow.tensor([1, 2, 3]), ['cpu', 'cpu:0']);
  assert.ok(Array.isArray(parts));
  assert.deepEqual(plain(parts), [[1, 2], [3]]);
  assert.deepEqual(plain(flow.comm.local.scatter(flow.tensor([1, 2, 3]), 'cpu')), [[1, 2, 3]]);
  assert.deepEqual(plain(flow.comm.local.broadcast(flow.tensor([1]), 'cpu', 'cpu')), [[1], [1]]);
  assert.deepEqual(flow.comm.local.gather(...parts).toArray(), [1, 2, 3]);
});

test('the in-place form writes to the tensors and returns them', () => {
  const [a, b] = ranks();
  const written = flow.comm.local.allReduce_([a, b], {op: 'max'});
  assert.equal(written[0], a);
  assert.equal(written[1], b);
  assert.deepEqual(plain([a, b]), [[10, 20], [10, 20]]);
  flow.comm.local.allReduce_(a, b);
  assert.deepEqual(plain([a, b]), [[20, 40], [20, 40]]);
  assert.throws(() => flow.comm.local.allReduce_([a, b], {out: a}), {
    message: 'comm.local.allReduce_: unknown argument out',
  });
  b.dispose();
  assert.throws(() => flow.comm.local.allReduce_([a, b]), {message: /^comm\.local\.allReduce_: .*disposed/});
  assert.equal(flow.Tensor.prototype.allReduce_, undefined);
});

test('nothing is written if one of the tensors is not writable', () => {
  const [a, b] = [flow.ones([2]), flow.ones([1]).expand([2])];
  assert.throws(() => flow.comm.local.allReduce_([a, b]), {message: /several elements share memory/});
  assert.deepEqual(plain([a, b]), [[1, 1], [1, 1]]);
});

test('promise variants read the values at the time of the call', async () => {
  const [a, b] = ranks();
  const promise = flow.comm.local.allReduceAsync([a, b]);
  a.fill_(7);
  assert.deepEqual(plain(await promise), [[11, 22], [11, 22]]);
  assert.deepEqual(plain(await flow.comm.local.broadcastAsync(a, ['cpu', 'cpu'])), [[7, 7], [7, 7]]);
  await assert.rejects(flow.comm.local.allReduceAsync([a, flow.tensor([1])]), {code: 'ShapeError'});
});

test('errors name a device that does not exist', () => {
  const x = flow.tensor([1]);
  assert.throws(() => flow.comm.local.broadcast(x, ['cpu', 'cpu:9']), {
    code: 'DeviceError', message: /^comm\.local\.broadcast: there is no device 'cpu:9'/,
  });
  assert.throws(() => flow.comm.local.broadcast(x, ['cpu\0']), {
    message: 'comm.local.broadcast: devices must not have a null byte',
  });
  assert.throws(() => flow.comm.local.broadcast(x, 3), {
    message: 'comm.local.broadcast: devices must be array of devices, got number',
  });
});

test('results belong to a scope', () => {
  let inner;
  const kept = flow.tidy(() => {
    inner = flow.comm.local.allReduce(ranks());
    return inner.map((tensor) => tensor.sum())[0];
  });
  assert.equal(kept.item(), 33);
  assert.ok(inner.every((each) => each.isDisposed));
});
