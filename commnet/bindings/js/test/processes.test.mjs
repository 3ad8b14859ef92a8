// Several processes and worker threads.

import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import {once} from 'node:events';
import {test} from 'node:test';
import {Worker} from 'node:worker_threads';
import {commnet, endpoint, folder, messages, SECRET, start} from './support.mjs';

const OPTIONS = `{name: 'child', secret: '${SECRET}', transports: ['sockets']}`;

/** A child that serves a memory, and answers messages of handler 1. */
const SERVER = `
  const endpoint = new Endpoint(${OPTIONS});
  const memory = Buffer.alloc(5_000_000, 7);
  const token = endpoint.register(memory, {write: true}).token();
  endpoint.onMessage(1, ({peer, data}) => peer.send(data, {handler: 2}));
  endpoint.onMessage(3, () => endpoint.close());
  console.log(JSON.stringify({address: endpoint.address, token: token.toBuffer().toString('hex')}));
`;

for (const listen of ['tcp://127.0.0.1:0', undefined]) {
  test(`two processes, listen: ${listen ?? 'by default'}`, async (t) => {
    const code = listen ? SERVER.replace("{name: 'child'", `{listen: '${listen}', name: 'child'`) : SERVER;
    const {exit, said} = await start(t, code);
    const a = endpoint(t, 'a');
    const child = await a.connect(said.address, {timeout: 5000});
    const token = commnet.Token.from(Buffer.from(said.token, 'hex'));
    const all = await child.read(token);
    assert.ok(all.length === 5_000_000 && all.every((byte) => byte === 7));
    await child.write(token, Buffer.alloc(4_000_000, 8), {offset: 500});
    const part = await child.read(token, Buffer.alloc(1000));
    assert.deepEqual([part[499], part[500]], [7, 8]);
    const echo = messages(a, 2, 1);
    await child.send(Buffer.alloc(2_000_000, 9), {handler: 1});
    assert.equal((await echo)[0].data.length, 2_000_000);
    // A closed endpoint no longer keeps its process alive.
    const left = once(a, 'leave');
    await child.send(Buffer.alloc(0), {handler: 3});
    await left;
    assert.deepEqual(await exit, [0, null]);
  });
}

test('a killed peer ends what is pending', async (t) => {
  const {child: server, said} = await start(t, `
    const endpoint = new Endpoint({...${OPTIONS}, receiveWindow: 1000}).ref();
    console.log(JSON.stringify({address: endpoint.address}));
  `);
  const a = endpoint(t, 'a');
  const peer = await a.connect(said.address);
  await peer.send(Buffer.alloc(2000));
  const pending = peer.send(Buffer.alloc(50_000));
  const left = once(a, 'leave');
  server.kill('SIGKILL');
  await assert.rejects(pending, commnet.PeerLostError);
  const [gone, why] = await left;
  assert.equal(gone, peer);
  assert.equal(why.code, 'PEER_LOST');
  await assert.rejects(peer.send(Buffer.alloc(1)), commnet.PeerLostError);
  await assert.rejects(a.connect(said.address, {timeout: 3000}), commnet.CommnetError);
});

test('a stopped peer is lost after its timeout', async (t) => {
  const {child: server, said} = await start(t, SERVER);
  const a = endpoint(t, 'a', {peerTimeout: 600, listen: 'none'});
  const peer = await a.connect(said.address);
  server.kill('SIGSTOP');
  const token = commnet.Token.from(Buffer.from(said.token, 'hex'));
  // The signal takes a moment to stop all threads.
  await assert.rejects(async () => {
    for (;;) await peer.read(token, Buffer.alloc(10));
  }, commnet.PeerLostError);
});

test('a process that waits for nothing ends by itself', () => {
  const run = (code) => spawnSync(process.execPath, ['--expose-gc', '-e', `
    const {Endpoint} = require(${JSON.stringify(folder)});
    const {once} = require('node:events');
    ${code}
  `], {encoding: 'utf8', timeout: 20_000});
  for (const code of [
    'new Endpoint();',
    'const a = new Endpoint(); a.register(Buffer.alloc(10)); a.queue();',
    'const a = new Endpoint(); a.onMessage(1, () => {}); a.on("join", () => {}); a.unref();',
    'const a = new Endpoint(); a.onMessage(1, () => {}); a.onMessage(1, null);',
    'const a = new Endpoint(); a.on("join", () => {}); setTimeout(() => a.removeAllListeners(), 10);',
    'const a = new Endpoint(); a.onMessage(1, () => {}); setTimeout(() => a.close(), 10);',
    'const a = new Endpoint(), b = new Endpoint(); a.connect(b.address).then((p) => p.send(Buffer.alloc(1e6)));',
    'const a = new Endpoint(), b = new Endpoint(); once(b, "join").then(() => 0); a.connect(b.address);',
    'const a = new Endpoint(), b = new Endpoint(); a.ref(); a.connect(b.address).then(() => process.exit(0));',
    'let a = new Endpoint(); a.close(); a = null; gc();',
  ]) {
    const {status, signal, stderr} = run(code);
    assert.deepEqual([status, signal, stderr], [0, null, ''], code);
  }
  for (const code of [
    'new Endpoint().onMessage(1, () => {});',
    'new Endpoint().on("leave", () => {});',
    'new Endpoint().removeAllListeners().on("join", () => {});',
    'new Endpoint().ref();',
  ]) {
    assert.equal(run(`setTimeout(() => process.exit(5), 300).unref(); ${code}`).status, 5, code);
  }
  // In the midst of reads, writes and sends, some of which wait for the window.
  const busy = `
    const a = new Endpoint(), b = new Endpoint({receiveWindow: 1000});
    const memory = b.register(Buffer.alloc(2e5), {write: true});
    a.connect(b.address).then((peer) => {
      const all = Array.from({length: 20}, () => [peer.read(memory.token()),
        peer.write(memory.token(), Buffer.alloc(2e5)), peer.send(Buffer.alloc(1)),
        peer.send(Buffer.alloc(1e5), {handler: 2})]);
      for (const each of all.flat()) each.catch(() => {});
    });
    b.onMessage(0, () => {
  `;
  for (const [end, expected] of [['process.exit(6);', 6],
    ['a.close(); process.exit(8);', 8], ['queueMicrotask(() => process.exit(9));', 9]]) {
    const {status, signal, stderr} = run(`${busy} ${end} });`);
    assert.deepEqual([status, signal, stderr], [expected, null, ''], end);
  }
  const throws = run(`
    const a = new Endpoint(), b = new Endpoint();
    b.onMessage(0, () => { throw new Error('of a handler'); });
    a.connect(b.address).then((p) => p.send(Buffer.alloc(1)));
  `);
  assert.equal(throws.status, 1);
  assert.match(throws.stderr, /of a handler/);
});

test('worker threads have endpoints, and may be terminated at any time', async (t) => {
  const a = endpoint(t, 'a');
  const code = `
    const {parentPort, workerData} = require('node:worker_threads');
    const {Endpoint} = require(workerData.folder);
    const endpoint = new Endpoint({name: workerData.name, secret: '${SECRET}', transports: ['sockets']});
    endpoint.onMessage(1, ({peer, data}) => peer.send(data, {handler: 2}));
    endpoint.onMessage(4, () => endpoint.close());
    endpoint.onMessage(5, () => { for (;;); });
    endpoint.register(new Uint8Array(1000));
    parentPort.postMessage(endpoint.address);
  `;
  const workers = await Promise.all(['w0', 'w1', 'w2'].map(async (name) => {
    const worker = new Worker(code, {eval: true, workerData: {folder, name}});
    const [address] = await once(worker, 'message');
    return {worker, peer: await a.connect(address)};
  }));
  const echoes = messages(a, 2, 3);
  for (const {peer} of workers) await peer.send(Buffer.from(peer.name), {handler: 1});
  assert.deepEqual((await echoes).map(({data}) => data.toString()).sort(), ['w0', 'w1', 'w2']);
  const ended = once(workers[0].worker, 'exit');
  await workers[0].peer.send(Buffer.alloc(0), {handler: 4});
  assert.deepEqual(await ended, [0]);
  // The thread ends while it handles messages.
  for (let i = 0; i < 100; i++) workers[1].peer.send(Buffer.alloc(100), {handler: 1}).catch(() => {});
  await workers[1].worker.terminate();
  await workers[2].peer.send(Buffer.alloc(0), {handler: 5});
  await new Promise((resolve) => setTimeout(resolve, 50));
  await workers[2].worker.terminate();
});
