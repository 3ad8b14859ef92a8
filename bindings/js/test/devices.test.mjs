// Devices: their properties and names, and tensors on a device whose memory the host cannot read. The device `far` is a
// plugin of the runtime's tests, which `make test-js` adds to ONEFLOW_DEVICE_PATH.

import assert from 'node:assert/strict';
import path from 'node:path';
import {after, before, describe, test} from 'node:test';
import {fileURLToPath} from 'node:url';
import {inspect} from 'node:util';
import flow from 'oneflow-js';
import {checkFailure, plugin, runAlone} from './support.mjs';

const host = flow.devices()[0].name;
const matrix = () => flow.tensor([[1, 2], [3, 4]], {device: 'far'});

test('the test plugin is available', () => {
  const names = flow.devices().map(String);
  assert.ok(names.includes('far:0'), 'make test-js names it in ONEFLOW_DEVICE_PATH');
});

test('properties of devices', () => {
  const devices = flow.devices();
  assert.equal(devices[0].name, 'cpu:0');
  assert.equal(flow.getDefaultDevice(), 'cpu:0');
  assert.equal(new Set(devices.map(({name}) => name)).size, devices.length);
  for (const device of devices) {
    assert.ok(device instanceof flow.Device);
    assert.equal(device.name, `${device.type}:${device.index}`);
    assert.deepEqual([flow.device(device.name), flow.device(device)], [device, device]);
    assert.match(device.hardware, /./);
    assert.ok(device.totalMemory >= device.freeMemory);
    assert.ok(device.freeMemory >= 0 && device.computeUnits >= 0);
    assert.ok(device.capabilities.every((word) => /^[a-zA-Z]+$/.test(word)));
    assert.equal(device.notes, '');
  }
  const second = flow.device('far:1');
  assert.deepEqual([second.hardware, second.totalMemory, second.computeUnits], ['Far device B', 2 ** 30, 1]);
  assert.deepEqual(second.capabilities, []);
  assert.ok(['kernels', 'hostAccessible'].every((word) => devices[0].capabilities.includes(word)));
  assert.equal(inspect(second), "device('far:1')");
  assert.equal(`${second}${JSON.stringify(second)}`, 'far:1"far:1"');
  assert.throws(() => {
    second.name = 'far:0';
  }, TypeError);
});

const NAMES = [
  '', 'far:', ':0', 'far:7', 'far:-1', 'far:-0', 'far:01', 'far:x', 'far:0x0', 'far:+1', 'far: 1', 'far:1 ', ' far',
  'FAR', 'fra', 'far:0:0', 'far:2147483648', 'far:99999999999999999999', 'f\u00e4r', 'far'.repeat(100), '%s%n',
];

for (const name of NAMES) {
  test(`the name of a device that does not exist: '${name.slice(0, 30)}'`, async () => {
    const x = flow.ones([2]);
    const calls = {
      device: () => flow.device(name),
      zeros: () => flow.zeros([1], {device: name}),
      tensor: () => flow.tensor([1], {device: name}),
      to: () => x.to(name),
      toDevice: () => x.toDevice(name),
      setDefaultDevice: () => flow.setDefaultDevice(name),
      synchronize: () => flow.synchronize(name),
      memoryStats: () => flow.memoryStats(name),
      resetPeakMemoryStats: () => flow.resetPeakMemoryStats(name),
      emptyCache: () => flow.emptyCache(name),
      setMemoryLimit: () => flow.setMemoryLimit(1, name),
    };
    const there = flow.devices().join(', ');
    const shown = name.length > 80 ? `${name.slice(0, 80)}…` : name;
    const is = (method) => (error) => {
      assert.ok(error instanceof flow.DeviceError, String(error));
      const [text] = error.message.split('\n');
      assert.equal(text, `${method}: there is no device '${shown}'; there are ${there}`);
      return true;
    };
    for (const [method, call] of Object.entries(calls)) assert.throws(call, is(method));
    await assert.rejects(flow.synchronizeAsync(name), is('synchronizeAsync'));
    await assert.rejects(x.toDeviceAsync(name), is('toDevice'));
  });
}

test('values that are not the name of a device', () => {
  for (const [value, word] of [[3, 'number'], [null, 'null'], [['far'], 'array'], [new Date(0), 'instance of Date']]) {
    checkFailure(() => flow.device(value), flow.TypeMismatch, `device: name must be device, got ${word}`);
  }
  const fake = Object.create(flow.Device.prototype);
  checkFailure(() => flow.device(fake), flow.TypeMismatch, 'device: name must be device, got instance of Device');
  checkFailure(() => flow.device('far\0'), flow.InvalidArgument, 'device: name must not have a null byte');
  checkFailure(() => flow.device(), flow.TypeMismatch, 'device: missing argument name');
  checkFailure(() => flow.zeros(1, {device: 1}), flow.TypeMismatch, 'zeros: device must be device or null, got number');
  checkFailure(() => flow.tensor(1, {device: 1}), flow.TypeMismatch, 'tensor: device must be device, got number');
});

test('the error for an unknown device type has the reasons for rejected plugins', () => {
  const output = runAlone(`
    const [[path, reason]] = Object.entries(flow.rejectedPlugins());
    console.log(path); console.log(reason);
    try { flow.zeros([1], {device: 'toaster'}); } catch (error) { console.log(error.message); }
  `, {ONEFLOW_DEVICE_PATH: plugin('accel'), ACCEL_FAULT: 'newer_version'});
  const [file, reason, first, ...rest] = output.split('\n');
  assert.equal(file, plugin('accel'));
  assert.match(reason, /API version/);
  assert.ok(first.startsWith("zeros: there is no device 'toaster'; there "));
  assert.ok(rest.includes(reason));
});

test('loading a plugin with loadDevice()', () => {
  const output = runAlone(`
    const file = ${JSON.stringify(plugin('far'))};
    console.log(flow.devices().some(({type}) => type === 'far'));
    flow.loadDevice(file);
    console.log(flow.ones([3], {device: 'far:1'}).sum().item());
    try { flow.loadDevice(file); } catch (error) { console.log(error.message); }
  `, {ONEFLOW_DEVICE_PATH: ''});
  assert.match(output, /^false\n3\n.*there already is a device type 'far'\n$/);
  const library = path.join(path.dirname(plugin('far')), '../lib/liboneflow.so');
  for (const file of ['/nowhere/plugin.so', fileURLToPath(import.meta.url), library]) {
    assert.throws(() => flow.loadDevice(file), flow.DeviceError);
  }
  checkFailure(() => flow.loadDevice(3), flow.TypeMismatch, 'loadDevice: path must be string, got number');
  checkFailure(() => flow.loadDevice(''), flow.InvalidArgument, "loadDevice: path must be the name of a file, got ''");
  const text = 'loadDevice: path must not have a null byte';
  checkFailure(() => flow.loadDevice('far.so\0'), flow.InvalidArgument, text);
});

test('to() changes device and dtype at once', () => {
  const x = flow.tensor([1.75, -2.5]);
  for (const device of ['cpu:0', 'far:1', 'accel:0']) {
    for (const moved of [x.to(device, 'int16'), x.to({device, dtype: 'int16'}), x.to('far').to(device, 'int16')]) {
      assert.deepEqual([moved.device, moved.dtype, moved.toArray()], [device, 'int16', [1, -2]]);
    }
  }
});

test('data is copied to the device and back', async () => {
  const x = matrix();
  assert.equal(x.device, 'far:0');
  assert.deepEqual(x.toArray(), [[1, 2], [3, 4]]);
  assert.deepEqual(await x.data(), Float32Array.of(1, 2, 3, 4));
  assert.equal(String(x), "tensor([[1., 2.],\n        [3., 4.]], {device: 'far:0'})");
  assert.equal(JSON.stringify(x.at(0)), '[1,2]');
  for (const y of [
    flow.tensor(Float32Array.of(1, 2), {device: 'far'}),
    flow.tensor(Float32Array.of(1, 2), {device: flow.device('far'), transfer: true}),
    flow.tensor([1, 2], {device: 'far', dtype: 'bfloat16'}),
    flow.tensor(x.at(0)),
    flow.tensor(flow.tensor([1, 2]), {device: 'far', dtype: 'int32'}),
    flow.tensor([1, 2]).toDevice(flow.device('far')),
    await flow.tensor([1, 2]).toDeviceAsync('far'),
  ]) {
    assert.equal(y.device, 'far:0');
    assert.deepEqual(y.toArray(), [1, 2]);
  }
  assert.equal(x.to('far:1').device, 'far:1');
  assert.deepEqual(flow.tensor(x, {device: host}).toArray(), [[1, 2], [3, 4]]);
});

test('operators and indexing work on the device', async () => {
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
});

test('isPinned reports page-locked memory', () => {
  const x = flow.tensor([1, 2]);
  const pinned = x.pinMemory({device: 'accel'});
  assert.deepEqual([x.isPinned, pinned.isPinned, pinned.at('1:').isPinned], [false, true, true]);
  assert.equal(pinned.mul(2).isPinned, false);
  assert.equal(pinned.to('accel').isPinned, false);
  assert.equal(x.pinMemory({device: 'far'}).isPinned, false); // a device without page-locked memory
});

test('creation functions take a device', () => {
  const given = {
    arange: [3], eye: [2], full: [[2], 1], linspace: [0, 1, 3], randint: [3, [2]], randperm: [3],
    zerosLike: [matrix()], onesLike: [matrix()], fullLike: [matrix(), 1],
  };
  for (const name of ['zeros', 'ones', 'empty', 'rand', 'randn', ...Object.keys(given)]) {
    const args = given[name] ?? [[2]];
    for (const device of [...flow.devices().slice(0, 3), 'far:1']) {
      assert.equal(flow[name](...args, {device}).device, String(device), name);
    }
  }
});

describe('the default device', () => {
  before(() => flow.setDefaultDevice(flow.device('far:1')));
  after(() => flow.setDefaultDevice(host));

  test('tensors are created on it', () => {
    const here = flow.ones([3], {device: host});
    const made = [flow.tensor([1, 2]), flow.tensor(3), flow.tensor(Int8Array.of(1)), flow.zeros([2]), flow.rand([2])];
    for (const x of made) {
      assert.equal(x.device, 'far:1');
      assert.doesNotMatch(String(x), /device/);
    }
    assert.match(String(here), /device: 'cpu:0'/);
    assert.equal(flow.zerosLike(here).device, host);
    assert.deepEqual(here.set([0], 5).set([1, 2], [6, 7]).at([0, 2]).toArray(), [5, 7]);
    assert.equal(here.at([true, false, true]).device, host);
    const held = flow.zeros([2 ** 18]);
    assert.ok(flow.memoryStats().inUse >= 4 * held.size);
    flow.setMemoryLimit(2 ** 40);
    assert.equal(flow.memoryStats('far:1').limit, 2 ** 40);
    flow.setMemoryLimit(0);
    assert.equal(flow.memoryStats('far:1').limit, flow.memoryStats('far:0').limit);
  });
});

test('random numbers are the same on all devices', () => {
  const draw = (device) => {
    flow.manualSeed(7);
    return [flow.rand([5], {device}), flow.randn([5], {device})].map((x) => x.toArray());
  };
  assert.deepEqual(draw('far'), draw(host));
});

test('tensors on different devices are an error', () => {
  const x = matrix();
  const text = 'other must be on far:0, as input is, got a tensor on cpu:0';
  checkFailure(() => x.add(flow.ones([2, 2])), flow.DeviceError, `add: ${text}`);
  checkFailure(() => x.add_(flow.ones([2, 2])), flow.DeviceError, `add_: ${text}`);
  assert.throws(() => flow.cat([x, flow.ones([2, 2])]), flow.DeviceError);
  assert.throws(() => x.add(x, {out: flow.ones([2, 2])}), flow.DeviceError);
  assert.throws(() => x.add(x.to('far:1')), flow.DeviceError);
  const shared = new Float32Array(new SharedArrayBuffer(8));
  checkFailure(
    () => flow.tensor(shared, {device: 'far', share: true}), flow.DeviceError,
    'tensor: data cannot be shared with far:0',
  );
  assert.deepEqual(x.add(1).toArray(), [[2, 3], [4, 5]]);
});

test('copies and assignments cross devices', () => {
  const there = matrix();
  assert.deepEqual(there.copy_(flow.tensor([3, 4])).toArray(), [[3, 4], [3, 4]]);
  there.set(1, flow.tensor([7, 8]));
  assert.deepEqual(there.toArray(), [[3, 4], [7, 8]]);
});

test('fallbacks', () => {
  flow.resetFallbacks();
  assert.deepEqual(flow.fallbacks(), {});
  const x = matrix().mul(2).add(1);
  flow.ones([2]).mul(2);
  assert.deepEqual(flow.fallbacks(), {mul: 1, add: 1});
  flow.setOption('fallbackIsError', true);
  try {
    assert.throws(() => x.exp(), flow.Unsupported);
    assert.deepEqual(x.toArray(), [[3, 5], [7, 9]]);
  } finally {
    flow.setOption('fallbackIsError', false);
  }
  flow.resetFallbacks();
});

test('memory of a device', async () => {
  flow.emptyCache('far');
  const x = flow.zeros([2 ** 20], {device: 'far'});
  const {inUse} = flow.memoryStats('far');
  assert.ok(inUse >= 2 ** 22);
  flow.setMemoryLimit(inUse + 1024, 'far');
  try {
    assert.throws(() => flow.zeros([2 ** 20], {device: 'far'}), flow.OutOfMemory);
    assert.equal(flow.zeros([2 ** 20]).sum().item(), 0); // other devices have limits of their own
    const held = [];
    assert.throws(() => {
      while (held.length < 1e5) held.push(flow.zeros([4], {device: 'far'})); // small blocks count as well
    }, flow.OutOfMemory);
    assert.ok(flow.memoryStats('far').inUse <= inUse + 1024);
    for (const tensor of held) tensor.dispose();
  } finally {
    flow.setMemoryLimit(0, 'far');
  }
  flow.resetPeakMemoryStats('far');
  x.dispose();
  assert.ok(flow.memoryStats('far').inUse <= inUse - 2 ** 22);
  flow.emptyCache('far');
  assert.ok(flow.memoryStats('far').cached < 2 ** 20);
  checkFailure(
    () => flow.setMemoryLimit(-1), flow.InvalidArgument, 'setMemoryLimit: bytes must not be negative, got -1',
  );
  flow.synchronize(flow.device('far'));
  await flow.synchronizeAsync('far');
  await flow.synchronizeAsync();
});
