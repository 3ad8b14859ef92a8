'use strict';

/** Rank 1 of test_tensors.py: does what exchange.py does. */

const assert = require('node:assert/strict');
const {Endpoint, Token} = require('commnet');
const flow = require('oneflow-js');

const TOKEN = 1; // numbers of handlers
const DONE = 2;
const PATIENCE = 60_000;
const ARRAYS = {
  float64: Float64Array, float32: Float32Array, float16: Uint16Array, int64: BigInt64Array, int32: Int32Array,
  int16: Int16Array, uint8: Uint8Array, complex64: Float32Array,
};

function bytesOf(index, {shape, bytes}, salt) {
  const count = shape.reduce((product, size) => product * size, bytes);
  return Buffer.from(Array.from({length: count},
      (_, i) => (i * i * 31 + i * 7 + index * 13 + salt * 101 + (i >> 3)) & 255));
}

/** Returns a tensor, and the typed array that it has as its memory. */
function tensorOf(index, given, salt) {
  const bytes = bytesOf(index, given, salt);
  const memory = new SharedArrayBuffer(bytes.length);
  Buffer.from(memory).set(bytes);
  const array = new ARRAYS[given.dtype](memory);
  return {array, tensor: flow.tensor(array, {dtype: given.dtype, shape: given.shape, share: true})};
}

/** Returns the bytes of the elements as the tensor has them: of a copy, not of its memory. */
function bytesIn({array, tensor}, {dtype}) {
  if (dtype === 'float16') return Buffer.from(array.buffer); // dataSync() would convert the elements
  const copy = tensor.dataSync();
  return Buffer.from(copy.buffer, copy.byteOffset, copy.byteLength);
}

async function main() {
  const cases = JSON.parse(process.argv[2]);
  const endpoint = new Endpoint({name: 'node', secret: 'of the test'});
  const tokens = new Map();
  let done = 0;
  let check = () => {};
  const waitFor = (condition) => new Promise((resolve) => {
    check = () => condition() && resolve();
    check();
  });
  endpoint.onMessage(TOKEN, ({peer, data}) => {
    tokens.set(`${peer.name} ${data[0]}`, Token.from(data.subarray(1)));
    check();
  });
  endpoint.onMessage(DONE, () => {
    done++;
    check();
  });
  const peers = await endpoint.join();
  const others = peers.filter((peer) => peer);
  const own = cases.map((given, index) => tensorOf(index, given, 1));
  for (const [index, {array}] of own.entries()) {
    const token = endpoint.register(array, {write: true}).token();
    for (const peer of others) await peer.send(Buffer.from([index, ...token.toBuffer()]), {handler: TOKEN});
  }
  await waitFor(() => tokens.size === 2 * cases.length);
  for (const [rank, peer] of peers.entries()) {
    for (const [index, given] of peer ? cases.entries() : []) {
      const target = tensorOf(index, given, 99);
      await peer.read(tokens.get(`${peer.name} ${index}`), target.array, {timeout: PATIENCE});
      assert.deepEqual(bytesIn(target, given), bytesOf(index, given, rank), `${given.dtype} of ${peer.name}`);
    }
  }
  for (const peer of others) await peer.send(Buffer.alloc(0), {handler: DONE});
  await waitFor(() => done >= 2); // nobody reads any more
  const next = peers[2];
  for (const [index, given] of cases.entries()) {
    const {array} = tensorOf(index, given, 10);
    await next.write(tokens.get(`${next.name} ${index}`), array, {timeout: PATIENCE});
  }
  await next.send(Buffer.alloc(0), {handler: DONE});
  await waitFor(() => done === 3);
  for (const [index, given] of cases.entries()) {
    assert.deepEqual(bytesIn(own[index], given), bytesOf(index, given, 12), given.dtype);
  }
  console.log('node is right');
  endpoint.close();
}

main();
