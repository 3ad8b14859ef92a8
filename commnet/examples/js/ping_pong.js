'use strict';

/**
 * Two processes send each other a message, many times, and one prints how long a round trip takes.
 *
 *     node ping_pong.js [rounds] [bytes]
 */

const {fork} = require('node:child_process');
const {randomBytes} = require('node:crypto');
const {once} = require('node:events');
const {Endpoint} = require('commnet');

const BALL = 1; // the number of a handler

/** Sends back what arrives, until the other side has left. */
async function pong({address, secret}) {
  const endpoint = new Endpoint({name: 'pong', secret: Buffer.from(secret, 'hex')});
  endpoint.onMessage(BALL, ({peer, data}) => peer.send(data, {handler: BALL}));
  await endpoint.connect(address);
  await once(endpoint, 'leave');
  endpoint.close();
  process.disconnect();
}

async function ping(rounds, bytes) {
  const secret = randomBytes(32);
  const endpoint = new Endpoint({name: 'ping', secret});
  const child = fork(__filename, ['pong']);
  child.send({address: endpoint.address, secret: secret.toString('hex')});
  const [peer] = await once(endpoint, 'join');

  const ball = Buffer.alloc(bytes, 1);
  let caught;
  endpoint.onMessage(BALL, (message) => caught(message));
  const begin = process.hrtime.bigint();
  for (let round = 0; round < rounds; round++) {
    const back = new Promise((resolve) => (caught = resolve));
    await peer.send(ball, {handler: BALL});
    const {data} = await back;
    if (data.length !== bytes) throw new Error(`expected ${bytes} bytes, got ${data.length}`);
  }
  const microseconds = Number(process.hrtime.bigint() - begin) / 1000;
  console.log(`${rounds} round trips of ${bytes} bytes over ${peer.transport}: ` +
    `${(microseconds / rounds).toFixed(1)} µs each`);
  endpoint.close();
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`the other process ended with ${code}`);
}

if (process.argv[2] === 'pong') process.once('message', pong);
else ping(Number(process.argv[2] ?? 1000), Number(process.argv[3] ?? 8));
