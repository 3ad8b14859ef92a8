// Failing devices: options of the test accelerator (tests/accelerator) switch on its faults. Each failure must give an
// error of oneflow that names it, must not leak memory, and must not affect other work.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {afterEach, test} from 'node:test';
import {setImmediate, setTimeout} from 'node:timers/promises';
import {inspect} from 'node:util';
import flow from 'oneflow-js';
import {checkFailure, failure, plugin, runAlone} from './support.mjs';

const {rejected, options, texts} = JSON.parse(
  fs.readFileSync(new URL('../../../tests/faults.json', import.meta.url), 'utf8'),
);
const accelerator = plugin('accel');
const MIB = 2 ** 20;

/** Sets the value of a fault of the accelerator; 0 switches it off. */
const fault = (name, value = 1) => flow.setOption(`accel_${name}`, value);
/** Creates a tensor of `count` ones on a device, by default the accelerator. */
const ones = (count, device = 'accel') => flow.ones([count], {device});

/** Collects garbage three times: objects that one collection frees, and pending awaits, may keep tensors alive. */
async function collect() {
  for (let i = 0; i < 3; i++) {
    await setImmediate();
    globalThis.gc();
  }
}

/** Sets the capacity of the device so that `mib` MiB more can be allocated. */
async function leaveRoom(mib) {
  await collect();
  flow.emptyCache('accel');
  fault('capacity:0', flow.getOption('accel_used_memory:0') + mib * MIB);
}

/** Switches off all faults after each test, and checks that the device works. */
afterEach(() => {
  for (const name of options) fault(name, 0);
  fault('capacity', 256 * MIB);
  assert.deepEqual(ones(3).mul(2).toArray(), [2, 2, 2]);
});

for (const [name, reason] of Object.entries(rejected)) {
  test(`a rejected plugin: ${name}`, () => {
    const found = JSON.parse(runAlone(`
      let text;
      try { flow.zeros([2], {device: 'accel'}); } catch (error) { text = error.code + ' ' + error.message; }
      console.log(JSON.stringify({
        text, reasons: flow.rejectedPlugins(), sum: flow.ones([3]).sum().item(),
        types: flow.devices().map(({type}) => type),
      }));
    `, {ONEFLOW_DEVICE_PATH: accelerator, ACCEL_FAULT: name}));
    assert.ok(found.text.startsWith("DeviceError zeros: there is no device 'accel'; there "), found.text);
    for (const text of [found.text, found.reasons[accelerator]]) {
      assert.ok(text.includes(accelerator) && text.includes(reason), text);
    }
    assert.equal(found.sum, 3);
    assert.ok(!found.types.includes('accel'));
  });
}

/** All calls that wait for a device. */
const WAITS = {
  item: (x) => x.at(0).item(), toArray: (x) => x.toArray(), dataSync: (x) => x.dataSync(), data: (x) => x.data(),
  toString: String, inspect, toJSON: (x) => JSON.stringify(x), toPrimitive: (x) => x.at(0) > 0,
  equal: (x) => x.equal(x), to: (x) => x.to('cpu'), toDeviceAsync: (x) => x.toDeviceAsync('cpu'),
  synchronize: () => flow.synchronize('accel'), synchronizeAsync: () => flow.synchronizeAsync('accel'),
  mask: (x) => x.at(x.gt(0)), setByMask: (x) => x.set(x.gt(0), 1), nonzero: (x) => x.nonzero(),
  nonzeroAsync: (x) => x.nonzeroAsync(), fallback: (x) => x.add(1), fallbackAsync: (x) => x.addAsync(1),
  inPlaceFallback: (x) => x.add_(1), copy: (x) => flow.ones([4]).copy_(x),
};

for (const [name, wait] of Object.entries(WAITS)) {
  // The error is thrown once, by the next call that waits for the device. Its message names the operator that failed.
  test(`a kernel that fails in a chain of operators: ${name}`, async () => {
    const x = ones(4);
    fault('fail_kernels:0');
    const y = x.neg().mul(2).mul(x);
    await assert.rejects(async () => wait(y), failure(flow.InvalidArgument, texts.fail_kernels));
    assert.deepEqual(x.mul(3).toArray(), [3, 3, 3, 3]);
  });
}

test('a copy that fails', async () => {
  const x = ones(4);
  const calls = {
    tensor: [() => flow.tensor([1], {device: 'accel'}), () => flow.tensor(Uint8Array.of(1), {device: 'accel'})],
    toDevice: [() => flow.tensor(x, {device: 'cpu'}), () => x.toDeviceAsync('cpu')],
    to: [() => flow.ones([2]).to('accel'), () => x.to('cpu'), () => x.to('accel:1')],
    clone: [() => x.clone(), () => x.cloneAsync()],
    add: [() => x.add(1), () => x.addAsync(1)],
    item: [() => WAITS.item(x)],
    format: [() => String(x), () => inspect(x)],
    read: [() => x.toArray(), () => x.dataSync(), () => x.data(), () => JSON.stringify(x)],
    equal: [() => x.equal(x.neg())],
  };
  for (const kind of ['fail_copies', 'fail_silently']) {
    for (const [name, list] of Object.entries(calls)) {
      for (const call of list) {
        fault(kind);
        await assert.rejects(async () => call(), failure(flow.DeviceError, `${name}: ${texts[kind]}`));
        fault(kind, 0);
      }
    }
  }
  assert.deepEqual(x.toArray(), [1, 1, 1, 1]);
});

test('an allocation that fails', async () => {
  const x = ones(4);
  fault('fail_allocations:0'); // the allocation is retried and succeeds
  assert.equal(ones(MIB).device, 'accel:0');
  for (const kind of ['fail_allocations:0', 'empty_allocations:0']) {
    flow.emptyCache('accel');
    fault(kind, 100);
    assert.throws(() => ones(2 * MIB), flow.OutOfMemory);
    await assert.rejects(flow.ones([2 * MIB]).toDeviceAsync('accel'), flow.OutOfMemory);
    assert.equal(ones(MIB, 'accel:1').device, 'accel:1');
    assert.deepEqual(x.mul(2).toArray(), [2, 2, 2, 2]);
    fault(kind, 0);
  }
  assert.equal(ones(2 * MIB).device, 'accel:0');
  fault('fail_host_allocations:0', 100);
  const noHostMemory = /^OutOfMemory: pinMemory: page-locked memory of accel:0 has no memory/;
  assert.throws(() => flow.ones([MIB]).pinMemory({device: 'accel'}), noHostMemory);
  flow.emptyCache('accel');
  assert.equal(flow.ones([MIB]).to('accel').to('far').to('cpu').sum().item(), MIB); // copies need no page-locked memory
});

test('exhausted memory: all in use, fragmented, freed', async () => {
  await leaveRoom(16);
  const make = (mib) => flow.empty([mib * MIB / 4], {device: 'accel'});
  const held = [];
  assert.throws(() => {
    for (;;) held.push(make(1));
  }, flow.OutOfMemory);
  assert.ok(held.length >= 12);
  for (let i = 0; i < held.length; i += 2) held[i].dispose(); // frees every other MiB
  assert.throws(() => make(4), flow.OutOfMemory);
  assert.equal(make(1).size, MIB / 4);
  assert.equal(flow.ones([MIB]).sum().item(), MIB);
  for (const tensor of held) tensor.dispose();
  assert.equal(make(4).size, MIB);
});

/** Calls that allocate 4 MiB on the device; `x` is a tensor of that size. */
const MAKERS = {
  creation: () => flow.empty([MIB], {device: 'accel'}),
  tensor: () => flow.tensor(new Float32Array(MIB), {device: 'accel'}),
  to: () => flow.ones([MIB]).to('accel'),
  operator: (x) => x.neg(),
  operatorAsync: (x) => x.negAsync(),
  toDeviceAsync: () => flow.ones([MIB]).toDeviceAsync('accel'),
  fallback: (x) => x.add(1),
  index: (x) => x.at([...Array(16).keys()].map((i) => i % 4)),
};

for (const [name, make] of Object.entries(MAKERS)) {
  test(`garbage is collected before memory runs out: ${name}`, async () => {
    const x = name === 'index' ? flow.ones([4, MIB / 16], {device: 'accel'}) : ones(MIB);
    await leaveRoom(16);
    for (let i = 0; i < 12; i++) await make(x);
    const held = [];
    await assert.rejects(async () => {
      for (;;) held.push(await make(x));
    }, flow.OutOfMemory);
    assert.ok(held.length >= 2);
  });
}

test('reading allocates no memory of the device', async () => {
  const column = flow.ones([MIB, 2], {device: 'accel'}).neg().at(':, 0');
  await leaveRoom(0);
  const reads = [WAITS.toArray, WAITS.dataSync, WAITS.data, WAITS.toString, WAITS.equal, WAITS.to];
  for (const read of reads) await read(column);
});

test('a device that is lost', () => {
  // All further work on it throws DeviceError. The other devices and the properties of its tensors stay usable.
  const [first, ...others] = JSON.parse(runAlone(`
    import assert from 'node:assert/strict';
    const x = flow.ones([4], {device: 'accel'});
    const other = flow.ones([4], {device: 'accel:1'});
    flow.synchronize('accel');
    flow.setOption('accel_lose:0', 1);
    const y = x.mul(2);
    const calls = {
      first: () => y.toArray(), item: () => x.at(0).item(), toArray: () => x.toArray(), dataSync: () => x.dataSync(),
      data: () => x.data(), print: () => String(y), operator: () => x.mul(2), operatorAsync: () => x.mulAsync(2),
      fallback: () => x.add(1), make: () => flow.ones([2], {device: 'accel'}), to: () => x.to('cpu'),
      toDeviceAsync: () => x.toDeviceAsync('cpu'), bring: () => other.to('accel:0'),
      synchronize: () => flow.synchronize('accel'), synchronizeAsync: () => flow.synchronizeAsync('accel'),
      index: () => x.at(x.gt(0)), set: () => x.set(0, 1), copy: () => other.copy_(x), write: () => x.add_(1),
      name: () => flow.device('accel').hardware, tensor: () => flow.tensor([1], {device: 'accel:0'}),
      default: () => flow.setDefaultDevice('accel:0'), reduce: () => flow.comm.local.allReduce([x, other]),
    };
    const answers = [];
    for (const [name, call] of Object.entries(calls)) {
      for (let i = 0; i < 2; i++) {
        try {
          await call();
          answers.push(name + ' worked');
        } catch (error) {
          answers.push(error.code + ' ' + name + ' ' + error.message);
        }
      }
    }
    assert.deepEqual([x.shape, x.device, y.dtype], [[4], 'accel:0', 'float32']);
    assert.ok(flow.devices().some(({name}) => name === 'accel:0'));
    assert.deepEqual(other.mul(2).to('cpu').toArray(), [2, 2, 2, 2]);
    assert.equal(flow.ones([3]).sum().item(), 3);
    flow.synchronize('accel:1');
    x.dispose();
    y.dispose();
    globalThis.gc();
    console.log(JSON.stringify(answers));
  `, {ONEFLOW_DEVICE_PATH: accelerator}));
  assert.match(first, /^DeviceError first /);
  assert.equal(others.length, 45);
  for (const answer of others) {
    assert.match(answer, /^DeviceError /);
    assert.ok(answer.includes(texts.lose), answer);
  }
});

test('properties of a device whose queries fail', () => {
  const device = flow.device('accel');
  for (const fact of ['hardware', 'totalMemory', 'freeMemory', 'computeUnits', 'capabilities', 'notes']) {
    fault('fail_info:0');
    checkFailure(() => device[fact], flow.DeviceError, texts.fail_info);
  }
  fault('endless_name:0');
  assert.equal(device.hardware, 'x'.repeat(127));
  assert.equal(device.hardware, 'Test accelerator 0');
});

test('a device whose plugin file and environment variable are removed after loading', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'oneflow-'));
  const file = path.join(folder, 'accel.so');
  fs.copyFileSync(accelerator, file);
  try {
    const printed = runAlone(`
      import assert from 'node:assert/strict';
      import fs from 'node:fs';
      const x = flow.ones([4], {device: 'accel'});
      const before = flow.devices().map(String);
      fs.rmSync(process.env.ONEFLOW_DEVICE_PATH);
      delete process.env.ONEFLOW_DEVICE_PATH;
      assert.deepEqual(x.mul(2).add(1).toArray(), [3, 3, 3, 3]);
      assert.deepEqual(await x.to('accel:1').negAsync().then((y) => y.data()), Float32Array.of(-1, -1, -1, -1));
      assert.equal(flow.device('accel:1').hardware, 'Test accelerator 1');
      assert.deepEqual(flow.devices().map(String), before);
      try { flow.zeros([1], {device: 'toaster'}); } catch (error) { console.log(error.message); }
    `, {ONEFLOW_DEVICE_PATH: file});
    assert.ok(printed.includes(`ONEFLOW_DEVICE_PATH (set to ${file})`), printed);
  } finally {
    fs.rmSync(folder, {recursive: true});
  }
});

test('tensors on different devices in one call', async () => {
  const [x, other, here] = [ones(4), ones(4, 'accel:1'), flow.ones([4])];
  const text = (name, found, where = 'accel:0', argument = 'other') =>
    `${name}: ${argument} must be on ${where}, as input is, got a tensor on ${found}`;
  for (const [y, found] of [[other, 'accel:1'], [here, 'cpu:0']]) {
    for (const call of [() => x.mul(y), () => x.mulAsync(y)]) {
      await assert.rejects(async () => call(), failure(flow.DeviceError, text('mul', found)));
    }
    await assert.rejects(async () => x.mul_(y), failure(flow.DeviceError, text('mul_', found)));
    await assert.rejects(async () => y.add(x), failure(flow.DeviceError, text('add', 'accel:0', found)));
    for (const call of [
      () => flow.cat([x, y]), () => x.mul(x, {out: y}), () => flow.where(x.gt(0), x, y), () => x.dot(y),
      () => flow.catAsync([x, y]),
    ]) await assert.rejects(async () => call(), flow.DeviceError);
  }
  assert.deepEqual([x, other, here].map((y) => y.toArray()), Array(3).fill([1, 1, 1, 1]));
});

test('failures leak no memory', async () => {
  // After rounds of work and failures whose tensors are disposed of, the devices have as much memory in use as before.
  async function roundOfWork() {
    const x = ones(1000);
    const made = [x];
    for (let i = 0; i < 10; i++) {
      made.push(x.mul(2), x.neg(), x.add(1), x.at('::2'), x.to('accel:1'), await x.negAsync());
      if (i % 5 === 0) globalThis.gc();
    }
    fault('fail_copies:0', 2);
    assert.throws(() => x.toArray(), flow.DeviceError);
    await assert.rejects(x.data(), flow.DeviceError);
    fault('fail_kernels:0');
    const y = x.neg();
    await assert.rejects(y.data(), flow.InvalidArgument);
    for (const tensor of [...made, y]) tensor.dispose();
  }
  const inUse = () => {
    const devices = ['accel:0', 'accel:1'].map((device) => flow.memoryStats(device).inUse);
    return [...devices, flow.memoryStats().tensors];
  };
  await roundOfWork();
  await collect();
  const before = inUse();
  for (let round = 0; round < 20; round++) await roundOfWork();
  // Garbage of earlier tests may be released meanwhile. A read holds its tensor until the device's own thread is done.
  const isRestored = () => inUse().every((value, i) => value <= before[i]);
  for (let tries = 0; tries < 500 && !isRestored(); tries++) await setTimeout(10);
  assert.ok(isRestored(), `${inUse()} and not ${before}`);
});
