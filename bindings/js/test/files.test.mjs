// Tests save(), load() and openFile(): nested data, promise variants, options, and errors.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {after, test} from 'node:test';
import {setImmediate} from 'node:timers/promises';
import {pathToFileURL} from 'node:url';
import flow from 'oneflow-js';
import {checkFailure} from './support.mjs';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'oneflow-'));
after(() => fs.rmSync(folder, {recursive: true}));
const file = (name) => path.join(folder, name);
const FORMATS = ['a.safetensors', 'a.npz'];

/** Replaces tensors by their dtypes and elements. */
function plain(value) {
  if (flow.isTensor(value)) return [value.dtype, value.shape, value.toArray({bigint: value.dtype === 'int64'})];
  if (Array.isArray(value)) return value.map(plain);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item)]));
}

const data = () => ({
  layers: [{weight: flow.ones([2, 3]), bias: flow.zeros([3])}, {weight: flow.ones([1], {dtype: 'float16'})}],
  'a.b': flow.tensor([true, false]),
  empty: {},
  none: [],
  scalar: flow.tensor(2.5),
  nothing: flow.zeros([0, 4]),
  ['__proto__']: flow.ones([2]),
  'Größe 日本': flow.arange(6).reshape([2, 3]).t(),
});

// Files were mapped, and reading what was cut off ended the process.
for (const name of FORMATS) {
  test(`${name}: a file can be truncated after it is loaded`, async () => {
    const x = flow.arange(10000);
    flow.save({x}, file(name));
    const opened = flow.openFile(file(name));
    const loaded = [flow.load(file(name)).x, (await flow.loadAsync(file(name))).x, opened.read('x')];
    opened.close();
    fs.truncateSync(file(name));
    for (const each of loaded) assert.ok(each.equal(x));
  });
}

for (const name of FORMATS) {
  test(`${name}: nested data comes back as it was`, async () => {
    flow.save(data(), file(name), {metadata: {'made by': 'ä test'}});
    for (const mmap of [true, false]) {
      assert.deepEqual(plain(flow.load(file(name), {mmap})), plain(data()));
      assert.deepEqual(plain(await flow.loadAsync(file(name), {mmap})), plain(data()));
    }
    const flat = flow.load(file(name), {flat: true});
    assert.deepEqual(Object.keys(flat), [
      'layers.0.weight', 'layers.0.bias', 'layers.1.weight', 'a.b', 'scalar', 'nothing', '__proto__', 'Größe 日本',
    ]);
    const opened = flow.openFile(file(name));
    assert.ok(opened instanceof flow.TensorFile);
    assert.deepEqual(opened.metadata, {'made by': 'ä test'});
    const type = name.endsWith('npz') ? '<f2' : 'F16';
    assert.deepEqual(opened.info('layers.1.weight'), {dtype: 'float16', type, shape: [1], bytes: 2});
    assert.deepEqual(opened.read('scalar').item(), 2.5);
    assert.deepEqual((await opened.readAsync('scalar', {mmap: false})).item(), 2.5);
    assert.deepEqual([opened.size, opened.has('a.b'), opened.has('b')], [8, true, false]);
    assert.deepEqual([...opened].map(([key]) => key), opened.names);
    const [before, pending] = [opened.read('a.b'), opened.loadAsync()];
    assert.equal(opened.isClosed, false);
    opened.close();
    opened.close();
    assert.equal(opened.isClosed, true);
    assert.deepEqual(before.toArray(), [true, false]);
    assert.deepEqual(plain(await pending), plain(data()));
    checkFailure(() => opened.read('scalar'), flow.InvalidArgument, 'read: the file is closed');
    checkFailure(() => opened.metadata, flow.InvalidArgument, 'metadata: the file is closed');
    await assert.rejects(opened.loadAsync(), {message: 'loadAsync: the file is closed'});
  });

  test(`${name}: a Map, a tensor, a list`, async () => {
    await flow.saveAsync(new Map([['1', flow.ones([1])], ['0', new Map()]]), pathToFileURL(file(name)));
    assert.deepEqual(plain(flow.load(pathToFileURL(file(name)))), plain({1: flow.ones([1]), 0: {}}));
    flow.save(flow.tensor(3), file(name));
    assert.equal(flow.load(file(name)).item(), 3);
    flow.save([flow.tensor(3), []], file(name));
    assert.deepEqual(plain(flow.load(file(name))), plain([flow.tensor(3), []]));
  });

  test(`${name}: saveAsync() writes the values at the time of the call`, async () => {
    const x = flow.zeros([100_000]);
    const saved = flow.saveAsync({x}, file(name));
    x.add_(1);
    await saved;
    assert.equal(flow.load(file(name)).x.sum().item(), 0);
  });

  test(`${name}: a write to a loaded tensor does not reach the file`, () => {
    flow.save({x: flow.zeros([3])}, file(name));
    const before = fs.readFileSync(file(name));
    flow.load(file(name)).x.add_(1);
    assert.deepEqual(fs.readFileSync(file(name)), before);
  });
}

test('compression', () => {
  flow.save({x: flow.zeros([10_000])}, file('c.npz'), {compress: true});
  assert.ok(fs.statSync(file('c.npz')).size < 2000);
  assert.equal(flow.load(file('c.npz')).x.sum().item(), 0);
});

test('tensors of a tidy() are released, and those that it returns are not', () => {
  flow.save({x: flow.ones([2]), y: flow.ones([2])}, file('t.npz'));
  let y;
  const x = flow.tidy(() => {
    const loaded = flow.load(file('t.npz'));
    y = loaded.y;
    return loaded.x;
  });
  assert.deepEqual([x.isDisposed, y.isDisposed], [false, true]);
  assert.deepEqual(x.toArray(), [1, 1]);
});

test('files are closed when they are collected', async () => {
  flow.save({x: flow.ones([2])}, file('g.npz'));
  const count = () => fs.readdirSync('/proc/self/fd').length;
  const before = count();
  for (let i = 0; i < 50; i++) flow.openFile(file('g.npz'));
  for (let i = 0; i < 50 && count() >= before + 50; i++) {
    globalThis.gc();
    await setImmediate();
  }
  assert.ok(count() < before + 50); // how many is up to V8
});

test('many promises at once', async () => {
  await Promise.all(Array.from({length: 40}, (_, i) => flow.saveAsync({x: flow.tensor(i)}, file(`${i}.npz`))));
  const all = await Promise.all(Array.from({length: 40}, (_, i) => flow.loadAsync(file(`${i}.npz`))));
  assert.deepEqual(all.map(({x}) => x.item()), Array.from({length: 40}, (_, i) => i));
});

test('errors', async () => {
  const target = file('e.npz');
  const x = flow.ones([1]);
  const nested = (depth) => (depth === 0 ? x : [nested(depth - 1)]);
  const cycle = [];
  cycle.push(cycle);
  const gone = flow.ones([1]);
  gone.dispose();
  const item = 'must be Tensor, array, Map or object, got';
  for (const [call, error, text] of [
    [() => flow.save(3, target), flow.TypeMismatch, `save: data ${item} number`],
    [() => flow.save({a: [null]}, target), flow.TypeMismatch, `save: an item of data ${item} null`],
    [() => flow.save(new Float32Array(2), target), flow.TypeMismatch, `save: data ${item} Float32Array`],
    [() => flow.save({x: gone}, target), flow.InvalidArgument,
      'save: an item of data must be a live Tensor, got a disposed one'],
    [() => flow.save(new Map([[1, x]]), target), flow.TypeMismatch, 'save: a key must be string, got number'],
    [() => flow.save({'a\0': x}, target), flow.InvalidArgument, 'save: a key must not have a null byte'],
    [() => flow.save({'\ud800': x}, target), flow.InvalidArgument, 'save: a key must be valid Unicode'],
    [() => flow.save({}, 3), flow.TypeMismatch, 'save: path must be string or URL, got number'],
    [() => flow.save({}, new URL('http://a/b.npz')), flow.InvalidArgument, 'save: path must be a file: URL, got http:'],
    [() => flow.save({}, 'a\0.npz'), flow.InvalidArgument, 'save: path must not have a null byte'],
    [() => flow.save(nested(65), target), flow.InvalidArgument, 'save: data must not be nested more than 64 deep'],
    [() => flow.save(cycle, target), flow.InvalidArgument, 'save: data must not be nested more than 64 deep'],
    [() => flow.save({}, target, 3), flow.TypeMismatch,
      'save: takes at most 2 positional arguments, got 3; pass metadata or compress by name'],
    [() => flow.save({}, target, {zip: true}), flow.TypeMismatch, 'save: unknown argument zip'],
    [() => flow.save({}, target, {compress: 1}), flow.TypeMismatch, 'save: compress must be boolean, got number'],
    [() => flow.save({}, target, {metadata: 'a'}), flow.TypeMismatch,
      'save: metadata must be Map or object, got string'],
    [() => flow.save({}, target, {metadata: {a: 1}}), flow.TypeMismatch,
      'save: metadata.a must be string, got number'],
    [() => flow.save({a: {b: x}, 'a.b': x}, target), flow.InvalidArgument,
      "save: two tensors have the name 'a.b', which joins their keys"],
    [() => flow.save(x.to({dtype: 'bfloat16'}), file('e.npy')), flow.DTypeError,
      'save: NumPy has no type for bfloat16; save it in a safetensors file, or convert it'],
    [() => flow.load(file('e.npz')), flow.FileError, `load: '${target}' cannot be opened: No such file or directory`],
    [() => flow.load('a.pt'), flow.InvalidArgument,
      "load: the path must end in one of .safetensors.index.json, .safetensors, .npy, .npz, got 'a.pt'"],
    [() => new flow.TensorFile(), flow.TypeMismatch, 'TensorFile: files are opened by openFile(path)'],
  ]) checkFailure(call, error, text);
  assert.equal(fs.existsSync(target), false);
  await assert.rejects(flow.loadAsync(target), flow.FileError);
  await assert.rejects(flow.saveAsync(3, target), flow.TypeMismatch);
  fs.writeFileSync(target, 'nothing');
  await assert.rejects(flow.loadAsync(target), {
    code: 'InvalidArgument', message: `loadAsync: '${target}' is malformed: it is not a zip archive, or was cut off`,
  });
  flow.save({x}, target);
  const opened = flow.openFile(target);
  checkFailure(() => opened.read('y'), flow.InvalidArgument, 'read: there is no tensor \'y\'');
  checkFailure(() => opened.info(3), flow.TypeMismatch, 'info: name must be string, got number');
  checkFailure(() => opened.load({device: 3}), flow.TypeMismatch, 'load: device must be device, got number');
  checkFailure(() => opened.load({mmap: 1}), flow.TypeMismatch, 'load: mmap must be boolean, got number');
});
