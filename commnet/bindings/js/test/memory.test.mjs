// Reads and writes of registered memory.

import assert from 'node:assert/strict';
import {inspect} from 'node:util';
import {test} from 'node:test';
import {commnet, pair} from './support.mjs';

for (const transports of [['shared'], ['sockets'], ['memory']]) {
  test(`reads and writes of all sizes over ${transports}`, async (t) => {
    const {b, toB} = await pair(t, {transports});
    for (const size of [1, 100, 16384, 16385, 70_000, 5_000_003]) {
      const there = Buffer.alloc(size + 10, 1).map((_, i) => i * 7);
      const memory = b.register(there, {write: true});
      const token = memory.token();
      assert.equal(token.size, size + 10);
      const here = await toB.read(token, Buffer.alloc(size), {offset: 7});
      assert.equal(here.compare(there, 7, 7 + size), 0);
      here.fill(3);
      await toB.write(token, here, {offset: 3});
      assert.ok(there.subarray(3, 3 + size).every((byte) => byte === 3));
      assert.equal(there[2], 14);
      memory.release();
      memory.release();
      await assert.rejects(toB.read(token, here), commnet.DeniedError);
    }
  });
}

test('typed arrays, shared memory, and reads without a target', async (t) => {
  const {b, toB} = await pair(t);
  const numbers = Float64Array.from({length: 100}, (_, i) => i / 3);
  const token = commnet.Token.from(b.register(numbers).token().toBuffer());
  assert.deepEqual(await toB.read(token, new Float64Array(100)), numbers);
  const all = await toB.read(token, undefined, {offset: 8n * 99n});
  assert.equal(all.readDoubleLE(), 33);
  const shared = new Int32Array(new SharedArrayBuffer(400));
  const memory = b.register(shared, {read: false, write: true});
  await toB.write(memory.token(), Int32Array.of(5, 6), {offset: 4});
  assert.deepEqual([...shared.subarray(0, 4)], [0, 5, 6, 0]);
  await assert.rejects(toB.read(memory.token()), commnet.DeniedError);
  assert.equal(b.register(new Uint8Array(0)).token().size, 0);
});

test('tokens have a part of the rights of their memory', async (t) => {
  const {b, toB} = await pair(t);
  const memory = b.register(Buffer.alloc(10), {write: true});
  await assert.rejects(toB.write(memory.token({write: false}), Buffer.alloc(1)), commnet.DeniedError);
  await assert.rejects(toB.read(memory.token({read: false}), Buffer.alloc(1)), commnet.DeniedError);
  assert.throws(() => memory.token({read: false, write: false}), commnet.InvalidArgumentError);
  assert.throws(() => b.register(Buffer.alloc(10)).token({write: true}), commnet.InvalidArgumentError);
  const forged = memory.token().toBuffer();
  forged[40] ^= 1;
  await assert.rejects(toB.read(commnet.Token.from(forged)), commnet.DeniedError);
  assert.throws(() => commnet.Token.from(Buffer.alloc(63)), /64 bytes, got 63/);
  assert.equal(inspect(memory.token()), 'Token { size: 10 }');
});

test('an access outside the memory fails, and a token of any size harms nobody', async (t) => {
  const {b, toB} = await pair(t);
  const token = b.register(Buffer.alloc(10), {write: true}).token();
  await assert.rejects(toB.read(token, Buffer.alloc(11)), commnet.OutOfRangeError);
  await assert.rejects(toB.write(token, Buffer.alloc(1), {offset: 10}), commnet.OutOfRangeError);
  await assert.rejects(toB.read(token, Buffer.alloc(1), {offset: Number.MAX_SAFE_INTEGER}), commnet.OutOfRangeError);
  assert.equal((await toB.read(token, undefined, {offset: 10})).length, 0);
  const huge = commnet.Token.from(Buffer.alloc(64, 255));
  await assert.rejects(toB.read(huge), commnet.OutOfMemoryError);
});
