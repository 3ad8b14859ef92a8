// Tests profiles: what they record, and their errors.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {test} from 'node:test';
import {setImmediate} from 'node:timers/promises';
import flow from 'oneflow-js';

/** The tests of all languages record these calls, and expect the same of them. */
function record() {
  const [x, w] = [flow.ones([2, 3]), flow.ones([3, 4])];
  return flow.profile(() => {
    flow.softmax(flow.matmul(x, w), {dim: 0});
    flow.sum(x, {dim: 0});
  });
}

test('entries have the properties of calls', () => {
  const {entries} = record();
  const user = entries.filter((entry) => entry.parent === null);
  assert.deepEqual(user.map((entry) => entry.name), ['matmul', 'softmax', 'sum']);
  const [product, softmax, total] = user;
  const {start, hostTime, selfTime, ...others} = product;
  assert.deepEqual(others, {
    name: 'matmul', caller: 'matmul', device: 'cpu:0', thread: 0, parent: null, deviceTime: null, memory: 32, flops: 48,
    bytes: 104, shapes: [[2, 3], [3, 4]], dtypes: ['float32', 'float32'], resultShapes: [[2, 4]],
    resultDtypes: ['float32'], failed: false,
  });
  assert.ok(start >= 0 && start <= softmax.start && softmax.start <= total.start);
  assert.ok(selfTime > 0 && selfTime <= hostTime && hostTime < 60);
  const position = entries.indexOf(softmax);
  const parts = entries.filter((entry) => entry.parent === position);
  assert.ok(parts.length > 0 && parts.every((entry) => entry.caller === 'softmax'));
  const inside = parts.reduce((sum, entry) => sum + entry.hostTime, 0);
  assert.ok(Math.abs(softmax.hostTime - inside - softmax.selfTime) < 1e-12);
  assert.equal(total.flops, 0);
});

test('the table has a line per operator', () => {
  const p = record();
  const [head, ...lines] = p.table().trimEnd().split('\n');
  assert.deepEqual(head.split(/ +/), ['operator', 'calls', 'total', 'self', 'mean', 'memory', 'rate']);
  const names = lines.map((line) => line.split(' ')[0]);
  for (const name of ['matmul', 'softmax', 'sum']) assert.ok(names.includes(name), name);
  assert.ok(lines.at(-1).startsWith(`${p.entries.length} calls on 1 thread in `));
  assert.equal(String(p), p.table());
});

test('traces are JSON and are saved to files', () => {
  const p = record();
  const {traceEvents} = JSON.parse(p.trace());
  const complete = traceEvents.filter((event) => event.ph === 'X');
  assert.deepEqual(complete.map((event) => event.name), p.entries.map((entry) => entry.name));
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'profile-'));
  p.save(path.join(folder, 'trace.json'));
  assert.equal(fs.readFileSync(path.join(folder, 'trace.json'), 'utf8'), p.trace());
  fs.rmSync(folder, {recursive: true});
});

test('an asynchronous function is profiled until its promise settles', async () => {
  const x = flow.ones([2, 2]);
  const promise = flow.profile(async () => {
    await setImmediate();
    return flow.matmulAsync(x, x);
  });
  assert.throws(() => record(), {name: 'InvalidArgument'});
  const p = await promise;
  const product = p.entries.find((entry) => entry.name === 'matmul');
  assert.ok(product.thread > 0, 'it runs on a thread of its own');
  await assert.rejects(flow.profile(async () => x.add(flow.ones([3]))), {name: 'ShapeError'});
  record();
});

test('one profile runs at a time', () => {
  const p = flow.profile((running) => {
    assert.throws(() => record(), {
      name: 'InvalidArgument', message: 'profile: a profile is running; it must end before the next one begins',
    });
    assert.throws(() => running.table(), {
      name: 'InvalidArgument', message: 'profile: it must end before it is read',
    });
    assert.deepEqual(running.entries, []);
  });
  assert.ok(p.entries.every((entry) => entry.name === 'ones'));
});

test('errors end the profile', () => {
  let p;
  const body = (running) => {
    p = running;
    flow.ones([2]).add(flow.ones([3]));
  };
  assert.throws(() => flow.profile(body), {name: 'ShapeError'});
  assert.deepEqual(p.entries.map((entry) => [entry.name, entry.failed]),
    [['ones', false], ['ones', false], ['add', true]]);
  assert.throws(() => flow.profile(1), {name: 'TypeMismatch', message: 'profile: body must be function, got number'});
  assert.throws(() => new p.constructor(), {name: 'TypeMismatch'});
  record();
});
