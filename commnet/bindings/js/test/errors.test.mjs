// Bad input and failures.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import {test} from 'node:test';
import {commnet, endpoint, pair} from './support.mjs';

const {InvalidArgumentError} = commnet;

test('each status has a class', () => {
  const error = new commnet.PeerLostError('gone');
  assert.ok(error instanceof commnet.CommnetError && error instanceof Error);
  assert.deepEqual([error.code, error.name, error.message, `${error}`],
      ['PEER_LOST', 'PeerLostError', 'gone', 'PeerLostError: gone']);
  for (const [name, Class] of Object.entries(commnet)) if (name.endsWith('Error')) assert.equal(Class?.name, name);
  assert.match(commnet.version, /^\d+\.\d+\.\d+$/);
});

test('ES modules can import all names, which are all declared', async () => {
  const names = Object.keys(await import('commnet')).filter((name) => !['default', 'module.exports'].includes(name));
  assert.deepEqual(names.sort(), Object.keys(commnet).sort());
  const declarations = fs.readFileSync(new URL('../index.d.ts', import.meta.url), 'utf8');
  const declared = [...declarations.matchAll(/^export (?:class|const) (\w+)/gm)].map((match) => match[1]);
  assert.deepEqual(declared.sort(), names);
});

test('bad options of an endpoint', () => {
  const bad = [
    [{secrets: 'x'}, /no option 'secrets'; there are name, secret,/],
    [{name: 7}, /name must be a string, got 7/],
    [{name: ''}, /name must be/],
    [{name: 'a@b'}, /name must have/],
    [{name: 'a\0b'}, /null byte/],
    [{name: 'x'.repeat(300)}, /255 bytes/],
    [{secret: 5}, /secret must be a Buffer/],
    [{transports: [null]}, /an item of transports must be a string/],
    [{transports: 'pigeons'}, /pigeons/],
    [{listen: 'tcp://999.1.1.1:5'}, /./],
    [{busyPoll: -1}, /busyPoll must be an integer from 0/],
    [{streams: 17}, /streams/],
    [{receiveWindow: 1.5}, /receiveWindow must be an integer/],
    [{sendLimit: 2n ** 64n}, /sendLimit must be an integer/],
    ['name', /an object with options, got 'name'/],
    [null, /an object/],
  ];
  for (const [options, text] of bad) {
    assert.throws(() => new commnet.Endpoint(options), (error) => {
      assert.ok(error instanceof commnet.CommnetError, `${error.stack}`);
      assert.match(error.message, text);
      return true;
    });
  }
  assert.throws(() => commnet.Endpoint(), TypeError);
});

test('bad arguments of operations', async (t) => {
  const {a, b, toB} = await pair(t);
  const token = b.register(Buffer.alloc(4)).token();
  const bad = [
    () => toB.send('text'), () => toB.send(), () => toB.send(null), () => toB.send([1, 2]), () => toB.send({length: 5}),
    () => toB.send(Buffer.alloc(1), {handler: -1}), () => toB.send(Buffer.alloc(1), {handler: 2 ** 32}),
    () => toB.send(Buffer.alloc(1), {channel: 'x'}), () => toB.send(Buffer.alloc(1), {timeout: 0}),
    () => toB.send(Buffer.alloc(1), {timeout: NaN}), () => toB.send(Buffer.alloc(1), {queue: {}}),
    () => toB.send(Buffer.alloc(1), {queue: b.queue()}), () => toB.send(Buffer.alloc(1), {signal: {}}),
    () => toB.send(Buffer.alloc(1), {chanel: 1}), () => toB.send(Buffer.alloc(1), 1),
    () => toB.read(Buffer.alloc(64)), () => toB.read(token, 'text'),
    () => toB.read(token, Buffer.alloc(1), {offset: -1}),
    () => toB.write(token), () => toB.write({}, Buffer.alloc(1)), () => a.connect(), () => a.connect('x\0y'),
    async () => a.onMessage('x', () => {}), async () => a.onMessage(1, 'x'), async () => a.register('x'),
    async () => a.register(Buffer.alloc(1), {write: 1}), async () => a.register(Buffer.alloc(1), {read: false}),
    () => a.connect(a.address),
  ];
  for (const [i, call] of bad.entries()) await assert.rejects(call(), InvalidArgumentError, `call ${i}: ${call}`);
});

test('connections that fail', async (t) => {
  const a = endpoint(t, 'a', {peerTimeout: 2000});
  await assert.rejects(a.connect('b@tcp://127.0.0.1:1'), commnet.UnreachableError);
  await assert.rejects(a.connect('b@pigeon://x'), commnet.UnsupportedError);
  const other = endpoint(t, 'other', {secret: 'another one'});
  await assert.rejects(a.connect(other.address), commnet.DeniedError);
});

test('timeouts and signals end operations', async (t) => {
  // Nobody reads what arrives: without a handler, messages stay in the window.
  const {toB} = await pair(t, {receiveWindow: 1000, sendLimit: 100_000});
  await toB.send(Buffer.alloc(2000));
  await assert.rejects(toB.send(Buffer.alloc(50_000), {timeout: 30}), commnet.TimedOutError);
  const controller = new AbortController();
  const cancelled = toB.send(Buffer.alloc(50_000), {signal: controller.signal});
  const reason = new Error('no more');
  controller.abort(reason);
  await assert.rejects(cancelled, (error) => error instanceof commnet.CancelledError && error.cause === reason);
  await assert.rejects(toB.send(Buffer.alloc(1), {signal: controller.signal}), commnet.CancelledError);
  const waiting = toB.send(Buffer.alloc(50_000), {signal: AbortSignal.timeout(50)});
  await assert.rejects(toB.send(Buffer.alloc(60_000)), commnet.FullError);
  await assert.rejects(waiting, commnet.CancelledError);
});

test('the stack of an error has those who wait', async (t) => {
  const {toB} = await pair(t);
  async function whoWaits() {
    await toB.read(commnet.Token.from(Buffer.alloc(64)), Buffer.alloc(1));
  }
  await assert.rejects(whoWaits(), (error) => /whoWaits/.test(error.stack));
});

test('a closed endpoint says so', async (t) => {
  const {a, b, toB} = await pair(t);
  const memory = a.register(Buffer.alloc(4));
  const queue = a.queue();
  a.close();
  a.close();
  assert.equal(a.isClosed, true);
  assert.equal(a.name, 'a');
  assert.equal(toB.name, 'b');
  assert.equal(toB.isConnected, false);
  const {ClosedError} = commnet;
  await assert.rejects(a.connect(b.address), ClosedError);
  await assert.rejects(toB.send(Buffer.alloc(1)), ClosedError);
  await assert.rejects(queue.mark(), ClosedError);
  for (const call of [() => a.onMessage(1, () => {}), () => a.register(Buffer.alloc(1)), () => memory.token(),
    () => toB.transport, () => toB.disconnect(), () => a.peer('b'), () => a.queue()]) {
    assert.throws(call, ClosedError);
  }
  memory.release();
  queue.release();
  a.ref().unref();
});
