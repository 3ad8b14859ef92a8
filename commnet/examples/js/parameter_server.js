'use strict';

/**
 * A server keeps the weights of a model in its memory, which workers read. They write gradients to the server's memory,
 * each to its own row, and say so by a message. The server takes a step once it has all, and answers.
 *
 *     node parameter_server.js [workers] [steps]
 */

const assert = require('node:assert/strict');
const {fork} = require('node:child_process');
const {randomBytes} = require('node:crypto');
const {once} = require('node:events');
const {Endpoint, Token} = require('commnet');

const WELCOME = 1; // numbers of handlers
const GRADIENT = 2;
const STEP = 3;
const WEIGHTS = Float32Array.of(2, -1, 0.5, 3); // what is to be learnt
const RATE = 0.05;
const BATCH = 32;

/** Returns the gradient of the squared error of a batch of random samples. */
function gradientOf(weights) {
  const gradient = new Float32Array(weights.length);
  for (let sample = 0; sample < BATCH; sample++) {
    const x = weights.map(() => 2 * Math.random() - 1);
    const error = x.reduce((sum, value, i) => sum + value * (weights[i] - WEIGHTS[i]), 0);
    for (let i = 0; i < x.length; i++) gradient[i] += (2 * error * x[i]) / BATCH;
  }
  return gradient;
}

async function work({address, secret, rank, steps}) {
  const endpoint = new Endpoint({name: `worker ${rank}`, secret: Buffer.from(secret, 'hex')});
  const next = (number) => new Promise((resolve) => endpoint.onMessage(number, resolve));
  const welcome = next(WELCOME);
  const server = await endpoint.connect(address, {timeout: 10_000});
  const {data} = await welcome;
  const weightsToken = Token.from(data.subarray(0, 64));
  const gradientToken = Token.from(data.subarray(64));

  const weights = new Float32Array(WEIGHTS.length);
  for (let step = 0; step < steps; step++) {
    await server.read(weightsToken, weights);
    await server.write(gradientToken, gradientOf(weights));
    const answer = next(STEP);
    await server.send(Buffer.alloc(0), {handler: GRADIENT});
    await answer;
  }
  endpoint.close();
  process.disconnect();
}

async function serve(workers, steps) {
  const secret = randomBytes(32);
  const endpoint = new Endpoint({name: 'server', secret});
  const weights = new Float32Array(WEIGHTS.length);
  const weightsMemory = endpoint.register(weights); // which workers may only read

  // Each worker gets the token of the weights, and that of its own row of gradients.
  const gradients = [];
  endpoint.on('join', (peer) => {
    const row = new Float32Array(WEIGHTS.length);
    gradients.push(row);
    const rowToken = endpoint.register(row, {read: false, write: true}).token();
    peer.send(Buffer.concat([weightsMemory.token().toBuffer(), rowToken.toBuffer()]), {handler: WELCOME});
  });

  const ready = new Set();
  endpoint.onMessage(GRADIENT, ({peer}) => {
    ready.add(peer);
    if (ready.size < workers) return;
    for (const row of gradients) row.forEach((value, i) => (weights[i] -= (RATE / workers) * value));
    for (const each of ready) each.send(Buffer.alloc(0), {handler: STEP});
    ready.clear();
  });

  const children = Array.from({length: workers}, (_, rank) => {
    const child = fork(__filename, ['work']);
    child.send({address: endpoint.address, secret: secret.toString('hex'), rank, steps});
    return child;
  });
  await Promise.all(children.map((child) => once(child, 'exit')));
  endpoint.close();

  const error = Math.max(...weights.map((value, i) => Math.abs(value - WEIGHTS[i])));
  console.log(`${workers} workers, ${steps} steps: the largest error of a weight is ${error.toFixed(4)}`);
  assert.ok(error < 0.05);
}

if (process.argv[2] === 'work') process.once('message', work);
else serve(Number(process.argv[2] ?? 3), Number(process.argv[3] ?? 300));
