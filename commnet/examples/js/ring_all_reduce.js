'use strict';

/**
 * Adds up an array over several processes, in a ring: each writes into the memory of the next one.
 *
 *     node ring_all_reduce.js [processes] [elements]
 */

const assert = require('node:assert/strict');
const {fork} = require('node:child_process');
const {once} = require('node:events');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const {Endpoint, Token} = require('commnet');

const TOKEN = 1; // numbers of handlers
const ARRIVED = 2;
const TAKEN = 3;

/** Returns a function that returns the next message for a number. */
function inbox(endpoint, number) {
  const messages = [];
  let wake = () => {};
  endpoint.onMessage(number, ({data}) => {
    messages.push(data);
    wake();
  });
  return async () => {
    while (messages.length === 0) await new Promise((resolve) => (wake = resolve));
    return messages.shift();
  };
}

async function reduce({rank, size, meeting, elements}) {
  const array = new Float32Array(elements).fill(rank + 1);
  const step = Math.ceil(elements / size);
  const part = (number) => array.subarray(step * number, Math.min(step * (number + 1), elements));
  const modulo = (number) => ((number % size) + size) % size;

  const endpoint = new Endpoint({name: `rank ${rank}`, secret: 'only for this example'});
  const [tokens, arrived, taken] = [TOKEN, ARRIVED, TAKEN].map((number) => inbox(endpoint, number));
  const peers = await endpoint.join({rank, size, meeting});
  const [next, previous] = [peers[modulo(rank + 1)], peers[modulo(rank - 1)]];
  const room = new Float32Array(step); // where the previous process writes
  await previous.send(endpoint.register(room, {read: false, write: true}).token().toBuffer(), {handler: TOKEN});
  const token = Token.from(await tokens());

  // In the first round each part gathers its sum; in the second one the sums go around.
  for (let turn = 0; turn < 2 * (size - 1); turn++) {
    await next.write(token, part(modulo(rank - turn)));
    await next.send(Buffer.alloc(0), {handler: ARRIVED});
    await arrived();
    const mine = part(modulo(rank - turn - 1));
    mine.forEach((value, i) => (mine[i] = room[i] + (turn < size - 1 ? value : 0)));
    await previous.send(Buffer.alloc(0), {handler: TAKEN});
    await taken();
  }
  assert.ok(array.every((value) => value === (size * (size + 1)) / 2));
  console.log(`rank ${rank}: every element is ${array[0]}`);
  endpoint.close();
  process.disconnect();
}

async function start(size, elements) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'commnet-'));
  const children = Array.from({length: size}, (_, rank) => {
    const child = fork(__filename, ['reduce']);
    child.send({rank, size, meeting: `file:${folder}`, elements});
    return child;
  });
  const ends = await Promise.all(children.map((child) => once(child, 'exit')));
  fs.rmSync(folder, {recursive: true});
  assert.ok(ends.every(([code]) => code === 0));
}

if (process.argv[2] === 'reduce') process.once('message', reduce);
else start(Number(process.argv[2] ?? 4), Number(process.argv[3] ?? 1_000_000));
