// Worker threads, each with its own environment of the addon.

import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import {once} from 'node:events';
import {test} from 'node:test';
import {fileURLToPath} from 'node:url';
import {Worker} from 'node:worker_threads';
import flow from 'oneflow-js';

const folder = fileURLToPath(new URL('..', import.meta.url));

function start(code) {
  const head = "const {parentPort} = require('node:worker_threads'); const flow = require('oneflow-js');";
  return new Worker(`${head} ${code}`, {eval: true});
}

test('several workers compute at the same time', async () => {
  const workers = Array.from({length: 4}, (_, i) => start(`
    let x = flow.full([100], ${i});
    for (let k = 0; k < 5000; k++) x = x.add(1);
    parentPort.postMessage(x.sum().item());
  `));
  const results = await Promise.all(workers.map(async (worker) => (await once(worker, 'message'))[0]));
  assert.deepEqual(results, [0, 1, 2, 3].map((i) => 100 * (i + 5000)));
  await Promise.all(workers.map((worker) => worker.terminate()));
});

test('the memory of a terminated worker is released', async () => {
  const before = flow.memoryStats().inUse;
  const worker = start(`
    globalThis.held = Array.from({length: 100}, () => flow.ones([10000]));
    parentPort.on('message', () => {}); // keeps the worker alive until it is terminated
    parentPort.postMessage(1);
  `);
  await once(worker, 'message');
  assert.ok(flow.memoryStats().inUse >= before + 3_000_000); // garbage of this thread may have been released
  await worker.terminate();
  assert.ok(flow.memoryStats().inUse <= before + 100_000);
});

test('workers that are terminated while they work', async () => {
  for (const code of [
    'parentPort.postMessage(1); for (;;) flow.ones([100]).add(1);',
    'parentPort.postMessage(1); flow.tidy(() => { for (let i = 0; i < 1e6; i++) flow.ones([100]); });',
    'const x = flow.rand([500, 500]); for (let i = 0; i < 20; i++) flow.matmulAsync(x, x); parentPort.postMessage(1);',
    'const x = flow.tensor(new Float32Array(1000), {transfer: true}); globalThis.x = x; parentPort.postMessage(1);',
  ]) {
    const worker = start(code);
    await once(worker, 'message');
    await worker.terminate();
  }
  assert.equal(flow.ones([3]).sum().item(), 3);
});

test('fallbacks() while another thread resets them', async (t) => {
  const worker = start('parentPort.postMessage(1); for (;;) flow.resetFallbacks();');
  t.after(() => worker.terminate());
  await once(worker, 'message');
  const x = flow.ones([2], {device: 'far'});
  for (let i = 0; i < 20_000; i++) {
    x.neg();
    assert.ok((flow.fallbacks().neg ?? 1) >= 1);
  }
});

test('shared memory is seen by both sides', async () => {
  const array = new Float32Array(new SharedArrayBuffer(16));
  const x = flow.tensor(array, {share: true});
  const worker = new Worker(`
    const {parentPort, workerData} = require('node:worker_threads');
    const flow = require('oneflow-js');
    flow.tensor(workerData, {share: true}).add_(7);
    parentPort.postMessage(1);
  `, {eval: true, workerData: array});
  await once(worker, 'message');
  assert.deepEqual(x.toArray(), [7, 7, 7, 7]);
  await worker.terminate();
});

test('a process exits cleanly with tensors, pending work and transferred memory', () => {
  const {status, stderr} = spawnSync(process.execPath, ['-e', `
    const flow = require('oneflow-js');
    globalThis.held = [flow.ones([10]), flow.tensor(new Float32Array(8), {transfer: true})];
    flow.matmulAsync(flow.rand([300, 300]), flow.rand([300, 300]));
    flow.tidy(() => { flow.ones([3]); process.exit(0); });
  `], {cwd: folder, encoding: 'utf8'});
  assert.equal(status, 0, stderr);
});
