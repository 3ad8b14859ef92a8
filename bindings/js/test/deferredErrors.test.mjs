// Errors of asynchronous work of a device: they name the operator that started it, and follow the data to other
// devices. `make test-js` adds the test accelerator to ONEFLOW_DEVICE_PATH.

import assert from 'node:assert/strict';
import {afterEach, test} from 'node:test';
import flow from 'oneflow-js';
import {checkFailure} from './support.mjs';

const TEXT = 'the kernel was told to find bad data';

/** Returns a tensor on the first accelerator whose computation will fail asynchronously. */
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
      // an error that the test did not fetch
    }
  }
});

test('a copy passes the error to the destination device, once', () => {
  const moves = [
    (x) => x.to('accel:1'),
    (x) => flow.ones([4], {device: 'accel:1'}).copy_(x),
    (x) => flow.comm.local.broadcast(x, ['accel:0', 'accel:1'])[1],
  ];
  for (const move of moves) {
    const moved = move(bad()).mul(2);
    checkFailure(() => moved.toArray(), flow.InvalidArgument, `neg: ${TEXT}`);
    flow.synchronize('accel:1');
    flow.synchronize('accel:0');
  }
});

test('a promise that reads such a copy is rejected', async () => {
  const moved = bad().to('accel:1');
  await assert.rejects(moved.data(), {message: `neg: ${TEXT}`});
  await flow.synchronizeAsync('accel:0');
});

test('a copy to the host throws the error', () => {
  checkFailure(() => bad().to('cpu'), flow.InvalidArgument, `neg: ${TEXT}`);
});

test('an error that indexing throws names the operator that failed', () => {
  const x = flow.ones([4], {device: 'accel:0'});
  bad();
  checkFailure(() => x.at([0, 2]), flow.InvalidArgument, `neg: ${TEXT}`);
  bad();
  checkFailure(() => x.set([0, 2], 5), flow.InvalidArgument, `neg: ${TEXT}`);
  checkFailure(() => x.at([7]), flow.IndexOutOfRange, 'at: index 7 is out of range for dimension 0 of size 4');
});

test('the error of a collective operator names it', () => {
  const ranks = () => [0, 1].map((rank) => flow.ones([4, 4], {device: `accel:${rank}`}));
  const calls = [
    ['comm.local.allReduce', (tensors) => flow.comm.local.allReduce(tensors, {op: 'prod'})],
    ['comm.local.gather', (tensors) => [flow.comm.local.gather(tensors, {dim: 1})]],
  ];
  for (const [name, call] of calls) {
    const tensors = ranks();
    flow.setOption('accelFailKernels:0', 1);
    const [result] = call(tensors);
    checkFailure(() => result.toArray(), flow.InvalidArgument, `${name}: ${TEXT}`);
  }
});
