'use strict';

/** A rank of the random program of run.py: does what member.py does. Usage: node member.js SEED ROUNDS */

const assert = require('node:assert/strict');
const {Endpoint, Token} = require('commnet');

const [TOKEN, DATA, ECHO, BACK, END, BYE] = [1, 2, 3, 4, 5, 6]; // numbers of handlers
const CHANNELS = 3;
const PART = 20_000;
const SIZES = [0, 1, 100, 17_000, 70_000];
const PATIENCE = 60_000;

const content = (seed, size) => Buffer.alloc(size).map((_, i) => seed + 7 * i);
const number = (value) => Buffer.from(Uint32Array.of(value).buffer);

/** Returns a function that returns an integer below a limit (Lehmer's generator). */
function random(seed) {
  let state = seed * 2 + 1;
  return (limit) => {
    state = (state * 48271) % 2147483647;
    return state % limit;
  };
}

async function main(seed, rounds) {
  const below = random(seed);
  const pick = (values) => values[below(values.length)];
  const endpoint = new Endpoint({name: 'node', secret: 'of the test', receiveWindow: 200_000});
  const tokens = new Map();
  const received = new Map();
  const echoes = new Map();
  const sent = new Map();
  let [ends, byes, check] = [0, 0, () => {}];

  const handle = {
    [TOKEN]: ({peer, data}) => tokens.set(peer, Token.from(data)),
    [DATA]: ({data}, where) => {
      const expected = received.get(where) ?? 0;
      assert.equal(data.readUInt32LE(0), expected, where);
      assert.ok(data.subarray(5).equals(content(data[4], data.length - 5)), `${expected} of ${where} has other bytes`);
      received.set(where, expected + 1);
    },
    [ECHO]: ({peer, data, channel}) => peer.send(data, {handler: BACK, channel}),
    [BACK]: ({data}, where) => assert.ok(echoes.get(where).shift().equals(data), `another one came from ${where}`),
    [END]: ({data}, where) => {
      assert.equal(data.readUInt32LE(0), received.get(where) ?? 0, `messages of ${where} are missing`);
      ends++;
    },
    [BYE]: () => byes++,
  };
  for (const [key, function_] of Object.entries(handle)) {
    endpoint.onMessage(Number(key), (message) => {
      function_(message, `${message.peer.name} ${message.channel}`);
      check();
    });
  }
  const waitFor = (condition) => new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('a peer does not go on')), PATIENCE);
    check = () => {
      if (!condition()) return;
      clearTimeout(timer);
      resolve();
    };
    check();
  });

  const memory = endpoint.register(Buffer.alloc(3 * PART), {write: true}); // each rank writes to its own part
  const peers = await endpoint.join();
  const place = peers.indexOf(undefined) * PART;
  const others = peers.filter((peer) => peer);
  for (const peer of others) peer.send(memory.token().toBuffer(), {handler: TOKEN});
  await waitFor(() => tokens.size === 2);
  const model = new Map(others.map((peer) => [peer, Buffer.alloc(PART)]));
  const writes = new Map(others.map((peer) => [peer, Promise.resolve()])); // one at a time to each

  const actions = [
    (peer) => {
      const first = below(PART);
      const data = content(below(256), below(PART - first));
      const last = writes.get(peer).then(async () => {
        data.copy(model.get(peer), first);
        await peer.write(tokens.get(peer), data, {offset: place + first});
        assert.ok((await peer.read(tokens.get(peer), Buffer.alloc(PART), {offset: place})).equals(model.get(peer)));
      });
      writes.set(peer, last);
      return last;
    },
    (peer, channel) => {
      const where = `${peer.name} ${channel}`;
      const [count, byte] = [sent.get(where) ?? 0, below(256)];
      sent.set(where, count + 1);
      return peer.send(Buffer.concat([number(count), Buffer.of(byte), content(byte, pick(SIZES))]),
          {handler: DATA, channel});
    },
    (peer, channel) => {
      const where = `${peer.name} ${channel}`;
      const data = content(below(256), pick(SIZES));
      if (!echoes.has(where)) echoes.set(where, []);
      echoes.get(where).push(data);
      return peer.send(data, {handler: ECHO, channel});
    },
  ];
  const under = [];
  for (let round = 0; round < rounds; round++) {
    under.push(pick(actions)(pick(others), below(CHANNELS)));
    if (under.length % 8 === 0) await Promise.all(under.splice(0)); // many at a time
  }
  await Promise.all(under);
  for (const peer of others) {
    for (let channel = 0; channel < CHANNELS; channel++) {
      await peer.send(number(sent.get(`${peer.name} ${channel}`) ?? 0), {handler: END, channel});
    }
  }
  await waitFor(() => ends === 2 * CHANNELS && [...echoes.values()].every((waiting) => waiting.length === 0));
  for (const peer of others) await peer.send(Buffer.alloc(0), {handler: BYE});
  await waitFor(() => byes === 2);
  endpoint.close();
  console.log(`node has done ${rounds} things`);
}

main(Number(process.argv[2]), Number(process.argv[3]));
