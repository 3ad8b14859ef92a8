// Memory that is collected, transferred or resized, and endpoints that are closed, while operations are under way.

import assert from 'node:assert/strict';
import {once} from 'node:events';
import {test} from 'node:test';
import {setTimeout as sleep} from 'node:timers/promises';
import {collect, commnet, endpoint, messages, pair, until} from './support.mjs';

const MEGABYTE = 1 << 20;

test('closing ends what is pending', async (t) => {
  const {a, toB, b} = await pair(t, {receiveWindow: 1000});
  const queue = a.queue();
  await toB.send(Buffer.alloc(2000));
  const pending = [toB.send(Buffer.alloc(100_000), {queue}), toB.send(Buffer.alloc(10), {queue}), queue.mark(),
    a.connect('c@tcp://192.0.2.1:9'), a.connect(b.address.replace('b@', 'c@'))];
  const ends = pending.map((promise) => promise.then(() => 'OK', (error) => error.code));
  a.close();
  const codes = await Promise.all(ends);
  assert.deepEqual(codes.slice(0, 2), ['CANCELLED', 'CANCELLED']);
  assert.ok(codes.slice(3).every((code) => code !== 'OK'), `${codes}`);
});

test('a peer that closes ends what is pending', async (t) => {
  const {toB, b} = await pair(t, {receiveWindow: 1000});
  await toB.send(Buffer.alloc(2000));
  const pending = toB.send(Buffer.alloc(100_000));
  b.close();
  await assert.rejects(pending, (error) => error.code === 'PEER_LOST' && /'b'/.test(error.message));
});

test('an endpoint is closed by its handlers', async (t) => {
  const {a, b, toB} = await pair(t);
  const left = new Promise((resolve) => a.on('leave', resolve));
  let count = 0;
  b.onMessage(1, () => {
    count++;
    b.close();
  });
  await Promise.allSettled([1, 2, 3].map(() => toB.send(Buffer.alloc(1), {handler: 1})));
  await left;
  assert.equal(count, 1);
  a.close();
});

test('garbage collections do not take memory that is in use', async (t) => {
  const {b, toB} = await pair(t, {receiveWindow: 1000});
  const held = toB.send(Buffer.alloc(2000, 1));
  const sent = toB.send(Buffer.alloc(MEGABYTE, 2));
  await collect();
  const [, {data}] = await messages(b, 0, 2);
  await Promise.all([held, sent]);
  assert.ok(data.every((byte) => byte === 2));
  const token = (() => b.register(Buffer.alloc(MEGABYTE, 3), {write: true}).token())();
  await collect();
  const written = toB.write(token, Buffer.alloc(MEGABYTE, 4));
  await collect();
  await written;
  const read = toB.read(token);
  await collect();
  assert.ok((await read).every((byte) => byte === 4));
});

test('released memory is garbage, as are closed endpoints', async () => {
  const collected = new Set();
  const registry = new FinalizationRegistry((kind) => collected.add(kind));
  let all = Array.from({length: 10}, () => {
    const used = new commnet.Endpoint({listen: 'none'});
    const buffer = new ArrayBuffer(MEGABYTE);
    registry.register(buffer, 'memory');
    registry.register(used, 'endpoint');
    return {used, memory: used.register(buffer)};
  });
  await collect();
  assert.equal(collected.size, 0);
  for (const {used, memory} of all) {
    memory.release();
    used.queue();
    used.close();
  }
  all = undefined;
  await sleep(10);
  for (let i = 0; i < 50 && collected.size < 2; i++) await collect(); // some of each kind: how many is up to V8
  assert.deepEqual([...collected].sort(), ['endpoint', 'memory']);
});

test('transferred memory', async (t) => {
  const {b, toB} = await pair(t, {receiveWindow: 1000});
  const detached = new Uint8Array(8);
  structuredClone(detached.buffer, {transfer: [detached.buffer]});
  for (const call of [() => toB.send(detached), () => toB.send(detached.buffer), async () => b.register(detached)]) {
    await assert.rejects(call(), /transferred or resized/);
  }
  // The memory of what is transferred later stays where it is until the end of the operation.
  const held = toB.send(Buffer.alloc(2000, 1));
  const data = new ArrayBuffer(MEGABYTE);
  new Uint8Array(data).fill(5);
  const sent = toB.send(data);
  structuredClone(data, {transfer: [data]});
  assert.equal(data.byteLength, 0);
  await collect();
  const [, message] = await messages(b, 0, 2);
  await Promise.all([held, sent]);
  assert.ok(message.data.every((byte) => byte === 5));
  const into = new ArrayBuffer(MEGABYTE);
  const memory = b.register(Buffer.alloc(MEGABYTE, 6));
  const read = toB.read(memory.token(), into);
  structuredClone(into, {transfer: [into]});
  await collect();
  await read;
});

test('registered memory is not transferred', (t) => {
  const a = endpoint(t, 'a');
  const buffer = new ArrayBuffer(100);
  a.register(buffer);
  try {
    structuredClone(buffer, {transfer: [buffer]});
  } catch (error) {
    assert.equal(error.name, 'DataCloneError');
  }
  assert.equal(buffer.byteLength, 100);
});

const hasTransfer = 'transfer' in ArrayBuffer.prototype;
// Until V8 13, a transfer to another size moves the memory itself, which no native code can know of.
const transferSizes = parseInt(process.versions.v8, 10) < 13 ? [MEGABYTE, 0] : [MEGABYTE, 2 * MEGABYTE, 1, 0];

test('ArrayBuffer.transfer() of memory in use', {skip: !hasTransfer && 'this Node.js has none'}, async (t) => {
  const {b, toB} = await pair(t);
  const token = b.register(Buffer.alloc(MEGABYTE, 6)).token();
  for (const size of transferSizes) {
    const into = new ArrayBuffer(MEGABYTE);
    const read = toB.read(token, into);
    let moved = into.transfer(size);
    assert.equal(into.byteLength, 0);
    await collect();
    await read;
    moved = moved.byteLength;
    await collect();
    assert.equal(moved, size);
  }
});

test('ArrayBuffer.transfer() of registered memory', {skip: !hasTransfer && 'this Node.js has none'}, async (t) => {
  const {b, toB} = await pair(t);
  for (const size of transferSizes) {
    const registered = new ArrayBuffer(MEGABYTE);
    const memory = b.register(registered, {write: true});
    try {
      registered.transfer(size);
      await collect();
    } catch (error) {
      assert.match(error.message, /not detachable/); // newer versions prevent it
      assert.equal(registered.byteLength, MEGABYTE);
    }
    await toB.write(memory.token(), Buffer.alloc(MEGABYTE, 8));
    assert.equal((await toB.read(memory.token()))[0], 8);
    memory.release();
  }
});

test('resizable memory', {skip: !('resizable' in ArrayBuffer.prototype) && 'this Node.js has none'}, async (t) => {
  const {a, b, toB} = await pair(t, {receiveWindow: 1000});
  const resizable = new ArrayBuffer(MEGABYTE, {maxByteLength: 2 * MEGABYTE});
  assert.throws(() => a.register(resizable), /resizable/);
  await assert.rejects(toB.read(b.register(Buffer.alloc(4)).token(), resizable), /resizable/);
  const held = toB.send(Buffer.alloc(2000));
  const sent = toB.send(resizable);
  resizable.resize(0);
  const [, {data}] = await messages(b, 0, 2);
  await Promise.all([held, sent]);
  assert.equal(data.length, MEGABYTE);
  const view = new DataView(new ArrayBuffer(8, {maxByteLength: 16}), 4, 4);
  view.buffer.resize(2);
  await assert.rejects(toB.send(view), commnet.InvalidArgumentError);
});

test('many operations at once', async (t) => {
  const {b, toB} = await pair(t);
  const there = Buffer.alloc(1000);
  const token = b.register(there, {write: true}).token();
  const received = messages(b, 0, 5000);
  await Promise.all(Array.from({length: 5000}, async (_, i) => {
    await toB.send(Buffer.alloc(i % 300), {channel: i % 7});
    await toB.write(token, Buffer.alloc(1, i % 256), {offset: i % 1000});
    assert.equal((await toB.read(token, Buffer.alloc(10))).length, 10);
  }));
  await received;
  await until(() => there[999] === 4999 % 256);
});

test('closing says what was not sent', async (t) => {
  const b = endpoint(t, 'b', {receiveWindow: 1000});
  const a = endpoint(t, 'a', {linger: 50});
  const toB = await a.connect(b.address);
  const sent = Array.from({length: 5}, () => toB.send(Buffer.alloc(1000)).catch((error) => error));
  const warned = once(process, 'warning');
  a.close();
  const [warning] = await warned;
  assert.equal(warning.name, 'CommnetWarning');
  assert.equal(warning.message, '4 messages to \'b\' could not be sent before the end');
  await Promise.all(sent);
});
