// Errors of work that a device does later: they name the operator that left it, and follow the data to other devices.
// `make test-js` puts the test accelerator into ONEFLOW_DEVICE_PATH.

import assert from 'node:assert/strict';
import {afterEach, test} from 'node:test';
import flow from 'oneflow-js';
import {checkFailure} from './support.mjs';

const TEXT = 'the kernel was told to find bad data';

/** A tensor on the first device, with bad data. */
function bad() {
  const x = flow.ones([4], {device: 'accel:0'});
  flow.setOption('accelFailKernels:0', 1);
  return x.neg();
}

afterEach(() => {
  flow.setOption('accelFailKernels', 0);
  for (const device of ['accel:0', 'accel:1']) {
    try {
      flow.synchronize(device);
    } catch {
      // what the test left
    }
  }
});

test('the destination of a copy hears of it, once', () => {
  const moves = [
    (x) => x.to('accel:1'),
    (x) => flow.ones([4], {device: 'accel:1'}).copy_(x),
    (x) => flow.comm.broadcast(x, ['accel:0', 'accel:1'])[1],
  ];
  for (const move of moves) {
    const moved = move(bad()).mul(2);
    checkFailure(() => moved.toArray(), flow.InvalidArgument, `neg: ${TEXT}`);
    flow.synchronize('accel:1');
    flow.synchronize('accel:0');
  }
});

test('so does who waits for it with a promise', async () => {
  const moved = bad().to('accel:1');
  await assert.rejects(moved.data(), {message: `neg: ${TEXT}`});
  await flow.synchronizeAsync('accel:0');
});

test('a copy to another type gives it', () => {
  checkFailure(() => bad().to('cpu'), flow.InvalidArgument, `neg: ${TEXT}`);
});

test('an index does not take its place', () => {
  const x = flow.ones([4], {device: 'accel:0'});
  bad();
  checkFailure(() => x.at([0, 2]), flow.InvalidArgument, `neg: ${TEXT}`);
  bad();
  checkFailure(() => x.set([0, 2], 5), flow.InvalidArgument, `neg: ${TEXT}`);
  checkFailure(() => x.at([7]), flow.IndexOutOfRange, 'at: index 7 is out of range for dimension 0 of size 4');
});

test('a collective names itself', () => {
  const ranks = () => [0, 1].map((rank) => flow.ones([4, 4], {device: `accel:${rank}`}));
  const calls = [
    ['comm.allReduce', (tensors) => flow.comm.allReduce(tensors, {op: 'prod'})],
    ['comm.gather', (tensors) => [flow.comm.gather(tensors, {dim: 1})]],
  ];
  for (const [name, call] of calls) {
    const tensors = ranks();
    flow.setOption('accelFailKernels:0', 1);
    const [result] = call(tensors);
    checkFailure(() => result.toArray(), flow.InvalidArgument, `${name}: ${TEXT}`);
  }
});
