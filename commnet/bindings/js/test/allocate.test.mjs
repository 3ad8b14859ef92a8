// Memory of the library, whose bytes are a Buffer.

import assert from 'node:assert/strict';
import {once} from 'node:events';
import fs from 'node:fs';
import {test} from 'node:test';
import {setTimeout as sleep} from 'node:timers/promises';
import {markAsUntransferable, Worker} from 'node:worker_threads';
import {collect, commnet, endpoint, folder, messages, pair, SECRET, start} from './support.mjs';

const MEGABYTE = 1 << 20;

for (const transports of [['shared'], ['sockets'], ['memory']]) {
  test(`peers read and write allocated memory over ${transports}`, async (t) => {
    const {a, b, toB} = await pair(t, {transports});
    for (const size of [1, 100, 16385, 5_000_003]) {
      const memory = b.allocate(size, {write: true});
      assert.equal(memory.size, size);
      assert.equal(memory.data.length, size);
      assert.ok(memory.data.every((byte) => byte === 0));
      const token = memory.token();
      assert.equal(token.size, size);
      memory.data.fill('abc');
      assert.equal((await toB.read(token)).compare(memory.data), 0);
      await toB.write(token, Buffer.alloc(size, 'xyz'));
      assert.equal(Buffer.alloc(size, 'xyz').compare(memory.data), 0);
      // Operations of the owner use it like any other memory.
      const mine = a.allocate(size);
      assert.equal(await toB.read(token, mine.data), mine.data);
      await toB.write(token, mine.data);
      const got = messages(b, 1, 1);
      await toB.send(mine.data, {handler: 1});
      assert.equal((await got)[0].data.compare(mine.data), 0);
      mine.release();
      memory.release();
      memory.release();
      await assert.rejects(toB.read(token, Buffer.alloc(1)), commnet.DeniedError);
    }
  });
}

test('rights are those of peers', async (t) => {
  const {b, toB} = await pair(t);
  const forReading = b.allocate(4);
  forReading.data.write('abcd');
  assert.equal((await toB.read(forReading.token())).toString(), 'abcd');
  assert.throws(() => forReading.token({write: true}), commnet.InvalidArgumentError);
  const forWriting = b.allocate(4, {read: false, write: true});
  await toB.write(forWriting.token(), Buffer.from('efgh'));
  assert.equal(forWriting.data.toString(), 'efgh');
  await assert.rejects(toB.read(forWriting.token()), commnet.DeniedError);
  assert.throws(() => b.allocate(4, {read: false}), commnet.InvalidArgumentError);
  assert.throws(() => b.allocate(4, 'write'), commnet.InvalidArgumentError);
});

test('sizes that are not possible', (t) => {
  const a = endpoint(t, 'a');
  for (const size of [0, -1, 1.5, NaN, 2 ** 62, 1n << 62n, '1', undefined, null]) {
    assert.throws(() => a.allocate(size), commnet.InvalidArgumentError);
  }
  // More than a Buffer can have, or than there is.
  assert.throws(() => a.allocate(Number.MAX_SAFE_INTEGER), commnet.CommnetError);
  assert.equal(a.allocate(8n).size, 8);
  a.close();
  assert.throws(() => a.allocate(8), commnet.ClosedError);
});

test('released memory leaves empty buffers', async (t) => {
  const {b, toB} = await pair(t);
  const memory = b.allocate(MEGABYTE, {write: true});
  const {data} = memory;
  const part = data.subarray(10, 20);
  const numbers = new Float64Array(data.buffer);
  const token = memory.token();
  memory.release();
  assert.deepEqual([data.length, part.length, numbers.length, memory.data.length], [0, 0, 0, 0]);
  assert.equal(part[0], undefined);
  assert.equal(memory.size, MEGABYTE);
  assert.throws(() => memory.token(), commnet.ClosedError);
  for (const call of [() => toB.send(part), () => toB.write(token, data), async () => b.register(numbers)]) {
    await assert.rejects(call(), /transferred/);
  }
  const scoped = b.allocate(8);
  scoped[Symbol.dispose]();
  assert.equal(scoped.data.length, 0);
});

test('operations and registrations keep memory from its release', async (t) => {
  const {a, b, toB} = await pair(t, {receiveWindow: 1000});
  const memory = a.allocate(MEGABYTE);
  const isInUse = (error) => error instanceof commnet.InvalidArgumentError && /in use/.test(error.message);
  await toB.send(Buffer.alloc(2000));
  const abort = new AbortController();
  const sent = toB.send(memory.data.subarray(5), {signal: abort.signal}); // nobody takes it
  assert.throws(() => memory.release(), isInUse);
  abort.abort();
  await assert.rejects(sent, commnet.CancelledError);
  const again = b.register(memory.data.subarray(10), {write: true});
  assert.throws(() => memory.release(), isInUse);
  again.release();
  assert.equal(memory.data.length, MEGABYTE);
  memory.release();
  assert.equal(memory.data.length, 0);
});

test('buffers outlive their endpoint', async (t) => {
  const {b, toB} = await pair(t);
  let memory = b.allocate(MEGABYTE, {write: true});
  const part = memory.data.subarray(0, 4);
  const token = memory.token();
  b.close();
  memory.release();
  assert.throws(() => memory.token(), commnet.ClosedError);
  memory = undefined;
  await collect();
  part.write('abcd');
  assert.equal(part.toString(), 'abcd');
  assert.equal(part.buffer.byteLength, MEGABYTE);
  await assert.rejects(toB.read(token), commnet.PeerLostError);
});

test('memory of closed endpoints is garbage', async () => {
  const count = () => fs.readFileSync('/proc/self/maps', 'latin1').split('memfd:commnet').length - 1;
  const before = count();
  for (let i = 0; i < 20; i++) {
    const used = new commnet.Endpoint({listen: 'none'});
    used.allocate(MEGABYTE).data.fill(1);
    used.close();
  }
  for (let i = 0; i < 50 && count() >= before + 20; i++) await collect(); // how much of it is up to V8
  assert.ok(count() < before + 20);
});

test('memory in use when its endpoint is closed', async (t) => {
  const {a, b, toB} = await pair(t);
  const other = endpoint(t, 'c');
  const memory = other.allocate(5 * MEGABYTE);
  memory.data.fill(7);
  const there = b.register(Buffer.alloc(5 * MEGABYTE), {write: true});
  const written = toB.write(there.token(), memory.data);
  const again = a.register(memory.data);
  other.close();
  memory.release();
  await collect();
  await written;
  assert.ok((await toB.read(there.token())).every((byte) => byte === 7));
  again.release();
});

test('allocated memory is not transferred to other threads', async (t) => {
  const a = endpoint(t, 'a');
  const memory = a.allocate(100);
  memory.data.fill(3);
  try {
    structuredClone(memory.data, {transfer: [memory.data.buffer]});
  } catch (error) {
    assert.equal(error.name, 'DataCloneError');
  }
  assert.equal(memory.data.length, 100);
  const worker = new Worker('const {parentPort: port} = require("worker_threads"); port.on("message", (m) => ' +
    '{ m.fill(4); port.postMessage(m); port.close(); });', {eval: true});
  const exit = once(worker, 'exit');
  worker.postMessage(memory.data);
  const [copy] = await once(worker, 'message');
  assert.deepEqual([copy[0], memory.data[0]], [4, 3]);
  await exit;
  memory.release();
});

test('ArrayBuffers that cannot be detached', (t) => {
  const a = endpoint(t, 'a');
  const registered = a.allocate(100);
  a.register(registered.data).release();
  registered.release();
  const marked = a.allocate(100);
  markAsUntransferable(marked.data.buffer);
  try {
    marked.release();
    assert.equal(marked.data.length, 0);
  } catch (error) {
    assert.match(error.message, /cannot be detached/); // in newer versions
    assert.equal(marked.data.fill(1)[99], 1);
  }
});

const hasTransfer = 'transfer' in ArrayBuffer.prototype;

test('ArrayBuffer.transfer() of allocated memory', {skip: !hasTransfer && 'this Node.js has none'}, async (t) => {
  const {b, toB} = await pair(t);
  for (const size of [MEGABYTE, 2 * MEGABYTE, 1, 0]) {
    const memory = b.allocate(MEGABYTE);
    memory.data[0] = 5;
    const token = memory.token();
    let moved = memory.data.buffer.transfer(size);
    assert.equal(memory.data.length, 0);
    assert.equal((await toB.read(token))[0], 5);
    if (size === MEGABYTE) {
      assert.throws(() => memory.release(), /another ArrayBuffer/);
      assert.equal(new Uint8Array(moved)[0], 5);
    }
    moved = undefined;
    for (let i = 0; i < 50; i++) {
      await collect();
      try {
        memory.release();
        break;
      } catch (error) {
        assert.match(error.message, /another ArrayBuffer/);
      }
    }
    memory.release();
    await assert.rejects(toB.read(token), commnet.DeniedError);
  }
});

test('memory is released while peers read it', async (t) => {
  for (const transports of [['shared'], ['sockets'], ['memory']]) {
    const {b, toB} = await pair(t, {transports, name: undefined});
    for (let i = 0; i < 50; i++) {
      const memory = b.allocate(MEGABYTE, {write: true});
      memory.data.fill(i);
      const token = memory.token();
      const reads = Array.from({length: 4}, () => toB.read(token).then((all) => all[MEGABYTE - 1], () => i));
      const write = toB.write(token, Buffer.alloc(MEGABYTE, i)).catch(() => {});
      await toB.read(token, Buffer.alloc(1));
      memory.release();
      assert.deepEqual(await Promise.all(reads), [i, i, i, i]);
      await write;
    }
  }
});

test('worker threads that end while their memory is in use', async (t) => {
  const code = `
    const {parentPort, workerData} = require('node:worker_threads');
    const {Endpoint} = require(workerData);
    const options = {secret: '${SECRET}', listen: undefined};
    const a = new Endpoint(options), b = new Endpoint(options), c = new Endpoint(options);
    const memory = c.allocate(1 << 22), there = b.allocate(1 << 22, {write: true});
    a.connect(b.address).then((peer) => {
      const again = () => Promise.all([peer.write(there.token(), memory.data), peer.read(there.token(), memory.data)]);
      const run = () => again().then(run, () => {});
      for (let i = 0; i < 5; i++) run();
      parentPort.postMessage(there.token().toBuffer());
    });
  `;
  for (let i = 0; i < 5; i++) {
    const worker = new Worker(code, {eval: true, workerData: folder});
    await once(worker, 'message');
    await sleep(i);
    await worker.terminate();
  }
  const a = endpoint(t, 'a');
  assert.equal(a.allocate(8).data.length, 8);
});

for (const transports of [['shared'], ['sockets'], undefined]) {
  test(`another process reads and writes over ${transports ?? 'what it has'}`, async (t) => {
    const {child, exit, said} = await start(t, `
      const endpoint = new Endpoint({name: 'child', secret: '${SECRET}'});
      const memory = endpoint.allocate(5_000_000, {write: true});
      memory.data.fill(7);
      endpoint.onMessage(1, ({peer}) => {
        peer.send(memory.data, {handler: 2}).then(() => memory.release());
      });
      console.log(JSON.stringify({address: endpoint.address, token: memory.token().toBuffer().toString('hex')}));
    `);
    const a = endpoint(t, 'a', {transports});
    const toChild = await a.connect(said.address);
    assert.equal(toChild.transport, transports?.[0] ?? 'shared');
    const token = commnet.Token.from(Buffer.from(said.token, 'hex'));
    assert.ok((await toChild.read(token)).every((byte) => byte === 7));
    await toChild.write(token, Buffer.alloc(4_999_999, 8), {offset: 1});
    const got = messages(a, 2, 1);
    await toChild.send(Buffer.alloc(0), {handler: 1});
    const [{data}] = await got;
    assert.deepEqual([data[0], data[1], data[4_999_999]], [7, 8, 8]);
    child.kill();
    await exit;
  });
}
