// Endpoints of a job that find each other.

import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import {once} from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {test} from 'node:test';
import {Worker} from 'node:worker_threads';
import {commnet, endpoint, folder, messages} from './support.mjs';

test('ten endpoints meet by files', async (t) => {
  const shared = fs.mkdtempSync(path.join(os.tmpdir(), 'commnet-'));
  t.after(() => fs.rmSync(shared, {recursive: true}));
  const size = 10;
  const all = Array.from({length: size}, (_, rank) => endpoint(t, `rank ${rank}`));
  const peers = await Promise.all(all.map((each, rank) =>
    each.join({rank, size, meeting: `file:${shared}`, timeout: 20_000})));
  for (const [rank, of] of peers.entries()) {
    assert.deepEqual(of.map((peer) => peer?.name), all.map((each, i) => (i === rank ? undefined : each.name)));
  }
  assert.ok(peers.flat().every((peer) => !peer?.isConnected));
  const received = messages(all[9], 1, 9);
  await Promise.all(peers.slice(0, 9).map((of) => of[9].send(Buffer.alloc(1), {handler: 1})));
  await received;
  // The first use connects a peer, and no other one.
  assert.deepEqual(peers[0].map((peer) => peer?.isConnected), [undefined, ...Array(8).fill(false), true]);
  all[1].close();
  await assert.rejects(peers[0][1].send(Buffer.alloc(1)), {
    name: 'UnreachableError', message: /^the peer 'rank 1' is not connected: /,
  });
  assert.equal(await all[0].connect('rank 2@'), peers[0][2]);
});

test('a job that does not meet', async (t) => {
  const a = endpoint(t, 'a');
  const shared = fs.mkdtempSync(path.join(os.tmpdir(), 'commnet-'));
  t.after(() => fs.rmSync(shared, {recursive: true}));
  const meeting = `file:${shared}`;
  await assert.rejects(a.join({rank: 0, size: 2, meeting, timeout: 50}), commnet.TimedOutError);
  await assert.rejects(a.join({rank: 2, size: 2, meeting}), commnet.InvalidArgumentError);
  await assert.rejects(a.join({rank: 0, size: 2}), commnet.InvalidArgumentError);
  await assert.rejects(a.join({rank: 0, meeting}), commnet.InvalidArgumentError);
  await assert.rejects(a.join(), commnet.UnsupportedError);
  await assert.rejects(a.join({rank: 0, size: 2 ** 32 - 1, meeting}), /at most 1048576/);
  const pending = [meeting, 'tcp://127.0.0.1:1'].map((where) => a.join({rank: 1, size: 3, meeting: where}));
  const ends = pending.map((each) => assert.rejects(each, commnet.CancelledError));
  a.close();
  await Promise.all(ends);
  await assert.rejects(a.join({rank: 1, size: 3, meeting}), commnet.ClosedError);
});

test('processes and threads that end while they join a job', async (t) => {
  const shared = fs.mkdtempSync(path.join(os.tmpdir(), 'commnet-'));
  t.after(() => fs.rmSync(shared, {recursive: true}));
  const join = `new Endpoint().join({rank: 1, size: 2, meeting: 'file:${shared}', timeout: 60_000})`;
  const code = `
    const {Endpoint} = require(${JSON.stringify(folder)});
    ${join}.catch(() => {});
    setTimeout(() => process.exit(0), 20);
  `;
  const {status, signal, stderr} = spawnSync(process.execPath, ['-e', code], {encoding: 'utf8', timeout: 20_000});
  assert.deepEqual([status, signal, stderr], [0, null, '']);
  const worker = new Worker(code.replace('process.exit(0)', "require('node:worker_threads').parentPort.postMessage(1)"),
      {eval: true});
  await once(worker, 'message');
  await worker.terminate();
});
