// Tests libraries of operators, with the one of examples/extensions/my_ops.

import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {test} from 'node:test';
import {fileURLToPath} from 'node:url';
import {Worker} from 'node:worker_threads';
import flow from 'oneflow-js';
import {checkFailure, failure} from './support.mjs';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const python = path.join(root, '.venv', 'bin', 'python');
const library = execFileSync(python, ['-m', 'tests.operator_library'], {cwd: root, encoding: 'utf8'}).trim();
const myOps = flow.loadLibrary(library);

test('a library is an object of functions', () => {
  assert.equal(flow.ops.myOps, myOps);
  assert.equal(flow.loadLibrary(library), myOps);
  assert.ok(Object.isFrozen(myOps));
  assert.equal(myOps.doubleAdd.name, 'doubleAdd');
});

test('calls', () => {
  const x = flow.tensor([1, 3]);
  assert.deepEqual(myOps.doubleAdd(x, 5).toArray(), [7, 11]);
  assert.deepEqual(myOps.doubleAdd(x, flow.tensor([5, 4.5])).toArray(), [7, 10.5]);
  assert.deepEqual(myOps.bump(flow.tensor([0, 1]), {shape: 'tent', width: 2}).toArray(), [1, 0.5]);
  assert.deepEqual(myOps.doubleAdd([1, 3], [5, 4.5]).toArray(), [7, 10.5]);
  const matrix = flow.tensor([[1, 2], [3, 4]]);
  assert.deepEqual(myOps.powerSum(matrix, 1, {keepdim: true}).toArray(), [[5], [25]]);
  assert.deepEqual(myOps.powerSum(matrix, undefined).item(), 30);
  assert.deepEqual(myOps.squares([2, 2], {dtype: 'int64'}).toArray(), [[0, 1], [4, 9]]);
  assert.ok(myOps.squares([2], {requiresGrad: true}).requiresGrad);
  const halves = myOps.splitHalves(flow.tensor([1, 2, 3, 4]));
  assert.deepEqual(halves.map((each) => each.toArray()), [[1, 2], [3, 4]]);
  assert.equal(halves.left, halves[0]);
  const out = flow.empty([2]);
  assert.equal(myOps.doubleAdd(x, 1, {out}), out);
  assert.deepEqual(out.toArray(), [3, 7]);
});

test('promises', async () => {
  const x = flow.tensor([1, 3]);
  const pending = myOps.doubleAddAsync(x, 5);
  x.fill_(0);
  assert.deepEqual((await pending).toArray(), [7, 11]);
  const halves = await myOps.splitHalvesAsync(flow.tensor([1, 2]));
  assert.deepEqual(halves.right.toArray(), [2]);
  const text = 'myOps.doubleAdd: shapes [2] and [3] do not broadcast: dimension 0 has sizes 2 and 3';
  await assert.rejects(myOps.doubleAddAsync(flow.ones([2]), flow.ones([3])), failure(flow.ShapeError, text));
  const unknown = failure(flow.TypeMismatch, 'myOps.doubleAdd: unknown argument out');
  await assert.rejects(myOps.doubleAddAsync(x, 1, {out: flow.empty([2])}), unknown);
});

test('gradients and graphs', () => {
  const x = flow.tensor([1, 3]);
  x.requiresGrad = true;
  myOps.powerSum(myOps.doubleAdd(x, 1)).backward();
  assert.deepEqual(x.grad.toArray(), [12, 28]);
  flow.noGrad(() => assert.ok(!myOps.doubleAdd(x, 1).requiresGrad));
  const graph = flow.graph.capture((input) => myOps.doubleAdd(input, 1), flow.ones([2]));
  assert.deepEqual(graph.run(flow.tensor([1, 2])).toArray(), [3, 5]);
});

test('errors', () => {
  const x = flow.tensor([1, 2]);
  const fails = (Class, text, call) => checkFailure(call, Class, text);
  const mismatch = (text, ...args) => {
    fails(flow.TypeMismatch, `myOps.doubleAdd: ${text}`, () => myOps.doubleAdd(...args));
  };
  mismatch('other must be Tensor or number, got string', x, 'x');
  mismatch('missing argument other', x);
  mismatch('unknown argument width', x, 1, {width: 2});
  const text = 'myOps.rmsNorm: input must have at least 1 dimension, got 0';
  fails(flow.ShapeError, text, () => myOps.rmsNorm(flow.tensor(1), x));
  fails(flow.InvalidArgument, "myOps.bump: shape must be 'bell' or 'tent', got 'q'", () => myOps.bump(x, {shape: 'q'}));
});

test('files that are no libraries of operators', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'ops-'));
  try {
    const missing = path.join(folder, 'missing.so');
    const text = `loadLibrary: '${missing}' cannot be opened: No such file or directory`;
    checkFailure(() => flow.loadLibrary(missing), flow.FileError, text);
    const copy = path.join(folder, 'copy.so');
    fs.copyFileSync(library, copy);
    assert.throws(() => flow.loadLibrary(copy), (error) => error instanceof flow.Unsupported &&
      error.message.startsWith(`loadLibrary: '${copy}' has operators of the namespace 'my_ops', and so has '`));
  } finally {
    fs.rmSync(folder, {recursive: true});
  }
  checkFailure(() => flow.loadLibrary(3), flow.TypeMismatch, 'loadLibrary: path must be string, got number');
  checkFailure(
    () => flow.loadLibrary(''), flow.InvalidArgument, "loadLibrary: path must be the name of a file, got ''");
  checkFailure(() => flow.loadLibrary('a\0b'), flow.InvalidArgument, 'loadLibrary: path must not have a null byte');
});

test('worker threads load the same library', async () => {
  const program = `
    const {parentPort} = require('node:worker_threads');
    const flow = require('oneflow-js');
    parentPort.postMessage(flow.loadLibrary(${JSON.stringify(library)}).doubleAdd(flow.ones([1]), 1).item());
  `;
  const run = () => new Promise((resolve, reject) => {
    new Worker(program, {eval: true}).once('message', resolve).once('error', reject);
  });
  assert.deepEqual(await Promise.all([run(), run(), run()]), [3, 3, 3]);
});

test('the declarations are those of the object', () => {
  const declared = fs.readFileSync(library.replace(/\.so$/, '.d.ts'), 'utf8').matchAll(/export function (\w+)\(/g);
  assert.deepEqual([...new Set([...declared].map((each) => each[1]))].sort(), Object.keys(myOps).sort());
});
