// Tests streams and events as objects.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import flow from 'oneflow-js';

// A test device that works asynchronously.
const device = 'accel:0';

test('use() chooses a stream', async () => {
  const stream = new flow.Stream(device);
  assert.equal(stream.device, device);
  const before = flow.currentStream(device);
  assert.ok(before.equals(flow.defaultStream(device)));
  assert.ok(!before.equals(stream));
  const x = stream.use((used) => {
    assert.equal(used, stream);
    assert.ok(flow.currentStream(device).equals(stream));
    return flow.ones([1000], {device}).add(1);
  });
  assert.ok(flow.currentStream(device).equals(before));
  before.waitStream(stream);
  assert.equal(x.sum().item(), 2000);
  await stream.synchronizeAsync();
  assert.equal(stream.query(), true);
  assert.throws(() => stream.use(() => { throw new Error('mine'); }), {message: 'mine'});
  assert.ok(flow.currentStream(device).equals(before));
});

test('events order streams', () => {
  const [stream, standard] = [new flow.Stream(device), flow.defaultStream(device)];
  const x = stream.use(() => flow.full([100], 3, {device}));
  const event = stream.recordEvent();
  standard.waitEvent(event);
  assert.equal(x.mul(2).sum().item(), 600);
  event.synchronize();
  assert.equal(event.query(), true);
  const [start, end] = [1, 2].map(() => new flow.Event(device, {enableTiming: true}));
  start.record();
  end.record(standard);
  end.synchronize();
  assert.ok(start.elapsedTime(end) >= 0);
});

test('errors of streams', () => {
  for (const [call, name, text] of [
    [() => new flow.Stream('cpu'), 'Unsupported', 'Stream: cpu:0 has only its default stream'],
    [() => flow.setCurrentStream(3), 'TypeMismatch', 'setCurrentStream: stream must be Stream, got number'],
    [() => new flow.Stream(device).use(3), 'TypeMismatch', 'use: body must be function, got number'],
    [() => flow.defaultStream('moon'), 'DeviceError', "defaultStream: there is no device 'moon'"],
  ]) {
    assert.throws(call, (error) => error.name === name && error.message.startsWith(text));
  }
});
