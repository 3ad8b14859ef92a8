// Messages, channels, queues, and peers that come and go.

import assert from 'node:assert/strict';
import {once} from 'node:events';
import {test} from 'node:test';
import {setTimeout as sleep} from 'node:timers/promises';
import {commnet, endpoint, messages, pair, until} from './support.mjs';

for (const transports of [['shared'], ['sockets'], ['memory']]) {
  test(`messages of all sizes arrive in order over ${transports}`, async (t) => {
    const {b, toB} = await pair(t, {transports});
    assert.equal(toB.transport, transports[0]);
    const sizes = [0, 1, 100, 16384, 16385, 100_000, 3_000_000, 7, 20_000_000, 12];
    const received = messages(b, 5, sizes.length);
    const sent = sizes.map((size) => toB.send(Buffer.alloc(size, size % 251), {handler: 5, channel: 2}));
    await Promise.all(sent);
    const all = await received;
    assert.deepEqual(all.map((message) => message.data.length), sizes);
    for (const {data, channel, handler, peer} of all) {
      assert.ok(data.every((byte) => byte === data.length % 251));
      assert.deepEqual([channel, handler, peer.name], [2, 5, 'a']);
    }
  });
}

test('all kinds of memory are sent', async (t) => {
  const {b, toB} = await pair(t);
  const array = Float64Array.of(1, 2, 3);
  const shared = new Uint8Array(new SharedArrayBuffer(3)).fill(9);
  const kinds = [Buffer.from('abc'), array, array.subarray(1, 2), new DataView(array.buffer, 8, 8), array.buffer,
    shared, shared.buffer, new Uint8Array(5)];
  const received = messages(b, 0, kinds.length);
  for (const kind of kinds) await toB.send(kind);
  const bytes = (kind) => (ArrayBuffer.isView(kind) ? Buffer.from(kind.buffer, kind.byteOffset, kind.byteLength)
    : Buffer.from(kind));
  assert.deepEqual((await received).map(({data}) => data), kinds.map(bytes));
});

test('a small message is copied: its memory may be changed at once', async (t) => {
  const {b, toB} = await pair(t);
  const received = messages(b, 0, 1);
  const data = Buffer.from('before');
  const sent = toB.send(data);
  data.fill('x');
  await sent;
  assert.equal((await received)[0].data.toString(), 'before');
});

test('a handler answers', async (t) => {
  const {a, b, toB} = await pair(t);
  b.onMessage(1, async function (message) {
    assert.equal(this, b);
    await message.peer.send(Buffer.concat([message.data, Buffer.from('!')]), {handler: 2});
  });
  const answer = messages(a, 2, 1);
  await toB.send(Buffer.from('hello'), {handler: 1});
  const [{data, peer}] = await answer;
  assert.equal(data.toString(), 'hello!');
  assert.equal(peer, toB);
});

test('messages wait for a handler, and a removed one gets none', async (t) => {
  const {b, toB} = await pair(t);
  await toB.send(Buffer.from('1'), {handler: 3});
  const first = await messages(b, 3, 1);
  assert.equal(first[0].data.toString(), '1');
  b.onMessage(3, null);
  await toB.send(Buffer.from('2'), {handler: 3});
  const second = await messages(b, 3, 1);
  assert.equal(second[0].data.toString(), '2');
});

test('the promises of a queue are fulfilled in order', async (t) => {
  const {a, b, toB} = await pair(t);
  b.onMessage(0, () => {});
  const queue = a.queue();
  const order = [];
  const sizes = [5_000_000, 1, 70_000];
  const sends = sizes.map((size, i) => toB.send(Buffer.alloc(size), {queue}).then(() => order.push(i)));
  await queue.mark();
  await Promise.all(sends);
  assert.deepEqual(order, [0, 1, 2]);
  queue.release();
  await assert.rejects(toB.send(Buffer.alloc(1), {queue}), commnet.ClosedError);
  await assert.rejects(queue.mark(), commnet.ClosedError);
});

test('endpoints see peers join and leave', async (t) => {
  const b = endpoint(t, 'b');
  const joined = once(b, 'join');
  const a = endpoint(t, 'a');
  const toB = await a.connect(b.address);
  const [peer] = await joined;
  assert.equal(peer.name, 'a');
  assert.equal(b.peer('a'), peer);
  assert.equal(b.peer('nobody'), undefined);
  const left = once(b, 'leave');
  toB.disconnect();
  const [gone, why] = await left;
  assert.equal(gone, peer);
  assert.ok(why instanceof commnet.PeerLostError);
  assert.match(why.message, /'a'/);
  assert.equal(peer.isConnected, false);
  assert.equal(await a.connect(b.address), toB);
  await until(() => peer.isConnected);
});

test('what a handler throws is an uncaught exception, and the endpoint goes on', async (t) => {
  const {b, toB} = await pair(t);
  b.onMessage(1, () => {
    throw new Error('of a handler');
  });
  // The test runner listens itself.
  const listeners = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  const thrown = once(process, 'uncaughtException');
  await toB.send(Buffer.from('x'), {handler: 1});
  const [error] = await thrown;
  for (const listener of listeners) process.on('uncaughtException', listener);
  assert.equal(error.message, 'of a handler');
  const received = messages(b, 2, 1);
  await toB.send(Buffer.from('y'), {handler: 2});
  await received;
});

test('promises run between two messages', async (t) => {
  const {b, toB} = await pair(t);
  const order = [];
  await toB.send(Buffer.from('1'));
  await toB.send(Buffer.from('2'));
  await new Promise((resolve) => {
    b.onMessage(0, ({data}) => {
      order.push(`message ${data}`);
      Promise.resolve().then(() => order.push(`promise ${data}`)).then(() => data.toString() === '2' && resolve());
    });
  });
  assert.deepEqual(order, ['message 1', 'promise 1', 'message 2', 'promise 2']);
});

test('an asynchronous handler slows down its senders', async (t) => {
  const {b, toB} = await pair(t, {receiveWindow: 200_000});
  let begun = 0;
  let ended = 0;
  let open;
  const gate = new Promise((resolve) => {
    open = resolve;
  });
  b.onMessage(1, async () => {
    begun++;
    await gate;
    ended++;
  });
  const sent = Array.from({length: 30}, () => toB.send(Buffer.alloc(64 << 10), {handler: 1}));
  await until(() => begun > 0);
  await sleep(100);
  assert.ok(begun <= 3, `${begun} at once`);
  open();
  await Promise.all(sent);
  await until(() => ended === 30);
});
