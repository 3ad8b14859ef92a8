// Tensors on a device of another kind: the plugin of the runtime's tests, whose memory the host cannot read.

import assert from 'node:assert/strict';
import path from 'node:path';
import {test} from 'node:test';
import {fileURLToPath} from 'node:url';
import flow from 'oneflow-js';

const build = process.env.OF_BUILD ?? fileURLToPath(new URL('../../../build', import.meta.url));
flow.loadDevice(path.join(build, 'test_plugins', 'far.so'));
const matrix = () => flow.tensor([[1, 2], [3, 4]], {device: 'far'});

test('data goes to the device and comes back', async () => {
  const x = matrix();
  assert.equal(x.device, 'far:0');
  assert.deepEqual(x.toArray(), [[1, 2], [3, 4]]);
  assert.deepEqual(await x.data(), Float32Array.of(1, 2, 3, 4));
  assert.equal(String(x), "tensor([[1., 2.],\n        [3., 4.]], {device: 'far:0'})");
  assert.equal(JSON.stringify(x.at(0)), '[1,2]');
  for (const y of [
    flow.tensor(Float32Array.of(1, 2), {device: 'far'}),
    flow.tensor(Float32Array.of(1, 2), {device: 'far', transfer: true}),
    flow.tensor([1, 2], {device: 'far', dtype: 'bfloat16'}),
    flow.tensor(x.at(0)),
    flow.tensor(flow.tensor([1, 2]), {device: 'far', dtype: 'int32'}),
    flow.tensor([1, 2]).toDevice('far'),
  ]) {
    assert.equal(y.device, 'far:0');
    assert.deepEqual(y.toArray(), [1, 2]);
  }
  assert.equal(x.toDevice('far:1').device, 'far:1');
  assert.deepEqual(flow.tensor(x, {device: 'cpu'}).toArray(), [[1, 2], [3, 4]]);
});

test('operators and indices work on it', async () => {
  const x = matrix();
  for (const y of [
    x.add(1), x.matmul(x), x.sum(), x.at(0), x.at(':, ::-1'), x.at(x.gt(1)), x.at([1, 0]), x.at([true, false]),
    x.at(Int32Array.of(1)), flow.zeros([2], {device: 'far:0'}), await x.addAsync(1),
  ]) {
    assert.equal(y.device, 'far:0');
    y.dataSync();
  }
  assert.deepEqual(x.matmul(x).toArray(), [[7, 10], [15, 22]]);
  x.add_(1).set(0, 9).set('1, :', [4, 5]).set([0], [0], [7]);
  assert.deepEqual(x.toArray(), [[7, 9], [4, 5]]);
  assert.ok(flow.fallbacks().matmul >= 1);
});

test('copies and assignments cross devices', () => {
  const there = matrix();
  assert.deepEqual(there.copy_(flow.tensor([3, 4])).toArray(), [[3, 4], [3, 4]]);
  assert.deepEqual(there.set(0, flow.tensor(7)).toArray(), [[7, 7], [3, 4]]);
});

test('devices that do not fit', () => {
  const x = matrix();
  assert.throws(() => x.add(flow.ones([2, 2])), flow.DeviceError);
  assert.throws(() => x.toDevice('far:7'), flow.DeviceError);
  assert.throws(() => x.toDevice(1), flow.TypeMismatch);
  const shared = new Float32Array(new SharedArrayBuffer(8));
  assert.throws(() => flow.tensor(shared, {device: 'far', share: true}), flow.DeviceError);
});

test('as the default device', () => {
  const earlier = flow.getDefaultDevice();
  const here = flow.ones([3]);
  flow.setDefaultDevice('far:1');
  try {
    assert.equal(flow.tensor([1, 2]).device, 'far:1');
    assert.deepEqual(here.set([0], 5).at([0]).toArray(), [5]);
    assert.equal(here.at([0]).device, earlier);
  } finally {
    flow.setDefaultDevice(earlier);
  }
});
