// ONNX models: the files of tests/data/onnx, which all languages load, and damaged ones.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {test} from 'node:test';
import {setImmediate} from 'node:timers/promises';
import {fileURLToPath, pathToFileURL} from 'node:url';
import flow from 'oneflow-js';
import {checkFailure, failure} from './support.mjs';

const data = fileURLToPath(new URL('../../../tests/data/onnx', import.meta.url));
const cases = JSON.parse(fs.readFileSync(path.join(data, 'cases.json'), 'utf8'));
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'onnx-'));
process.on('exit', () => fs.rmSync(folder, {recursive: true}));
const plain = (value) => JSON.parse(JSON.stringify(value));

const pathOf = ({file}) => path.join(data, `${file}.onnx`);
const rangeOf = ([min, max, step]) => ({min, max: max ?? Infinity, step});
const mapped = (object, convert) =>
  Object.fromEntries(Object.entries(object ?? {}).map(([name, value]) => [name, convert(value)]));
const optionsOf = (given) => ({
  sizes: mapped(given.with, (size) => (Array.isArray(size) ? rangeOf(size) : size)),
  values: mapped(given.values, (value) =>
    flow.tensor(value, {dtype: typeof value === 'boolean' ? flow.bool : flow.int64})),
});

for (const [i, given] of cases.loads.entries()) {
  test(`a model loads: ${given.file} ${i}`, async () => {
    const warnings = [];
    const collect = ({name, message}) => warnings.push([name, message]);
    process.on('warning', collect);
    const graph = flow.onnx.load(pathOf(given), optionsOf(given));
    const other = await flow.onnx.loadAsync(pathOf(given), optionsOf(given));
    await setImmediate();
    process.off('warning', collect);
    assert.equal(graph.note, given.note ?? '');
    const expected = ['load', 'loadAsync'].map((name) => ['OneFlowWarning', `${name}: ${given.note}`]);
    assert.deepEqual(warnings, given.note ? expected : []);
    assert.deepEqual(Object.fromEntries(graph.inputs.map(({name, shape}) => [name, shape])), given.shapes);
    assert.deepEqual(graph.outputs.map(({shape}) => shape), Object.values(given.outputs));
    assert.deepEqual(graph.sizes, mapped(given.sizes, rangeOf));
    assert.deepEqual(Object.keys(graph.constants), given.constants);
    const inputs = mapped(given.inputs, (value) => flow.tensor(value));
    graph.save(path.join(folder, 'model.flow'));
    const loaded = flow.graph.load(path.join(folder, 'model.flow'));
    for (const each of [graph, loaded, other]) {
      assert.deepEqual(plain(each.run(inputs)), given.gives);
    }
  });
}

for (const [i, given] of cases.refused.entries()) {
  test(`a model is refused: ${given.file} ${i}`, async () => {
    const text = given.says.replace('FOLDER', data);
    const Class = flow[given.raises];
    checkFailure(() => flow.onnx.load(pathOf(given), optionsOf(given)), Class, text);
    const textOfPromise = text.replace(/^load:/, 'loadAsync:');
    await assert.rejects(flow.onnx.loadAsync(pathOf(given), optionsOf(given)), failure(Class, textOfPromise));
  });
}

test('values can be arrays, sizes and values Maps, paths URLs', async () => {
  const url = pathToFileURL(pathOf({file: 'reshape'}));
  const graph = flow.onnx.load(url, {values: new Map([['shape', [6n, 1n]]])});
  assert.deepEqual(graph.run(flow.zeros([2, 3])).shape, [6, 1]);
  const shape = flow.tensor([6n, 1n]);
  const loading = flow.onnx.loadAsync(url, {values: {shape}});
  shape.fill_(2);
  assert.deepEqual((await loading).run(flow.zeros([2, 3])).shape, [6, 1]);
  const sizes = new Map([['batch', {min: 2}]]);
  assert.deepEqual(flow.onnx.load(pathOf({file: 'layer'}), {sizes}).sizes.batch, {min: 2, max: Infinity, step: 1});
});

test('wrong arguments', () => {
  const load = (options) => () => flow.onnx.load('layer.onnx', options);
  for (const size of [0, -1, 1.5, true, 2 ** 60]) {
    checkFailure(load({sizes: {batch: size}}), flow.TypeMismatch,
      `load: sizes.batch must be a positive integer, {min, max, step} or the name of a size, got ${size}`);
  }
  for (const size of [{min: 5, max: 4}, {step: 0}, {min: 0.5}, {max: '3'}]) {
    checkFailure(load({sizes: {batch: size}}), flow.TypeMismatch,
      'load: sizes.batch must have integers min <= max and step >= 1');
  }
  checkFailure(load({sizes: {batch: {maximum: 3}}}), flow.TypeMismatch,
    'load: sizes.batch must have only min, max and step, got maximum');
  checkFailure(load({sizes: 3}), flow.TypeMismatch, 'load: sizes must be Map or object, got number');
  checkFailure(load({values: [1]}), flow.TypeMismatch, 'load: values must be Map or object, got array');
  checkFailure(load({verify: true}), flow.TypeMismatch, 'load: unknown argument verify');
  checkFailure(load({sizes: {'a\0': 1}}), flow.InvalidArgument, 'load: a key of sizes must not have a null byte');
  checkFailure(() => flow.onnx.load(3), flow.TypeMismatch, 'load: path must be string or URL, got number');
});

test('damaged files throw errors', () => {
  const file = path.join(folder, 'model.onnx');
  fs.copyFileSync(path.join(data, 'weights.bin'), path.join(folder, 'weights.bin'));
  let seed = 1;
  const draw = (limit) => (seed = (seed * 48271) % 0x7fffffff) % limit;
  for (const name of ['layer', 'branch', 'function', 'external']) {
    const whole = fs.readFileSync(pathOf({file: name}));
    const damaged = Array.from({length: whole.length}, (_, length) => whole.subarray(0, length));
    for (let i = 0; i < 200; i++) {
      const changed = Buffer.from(whole);
      for (let j = 0; j <= draw(4); j++) changed[draw(whole.length)] = draw(256);
      damaged.push(changed);
    }
    let refused = 0;
    for (const contents of damaged) {
      fs.writeFileSync(file, contents);
      try {
        flow.onnx.load(file);
      } catch (error) {
        assert.ok(error instanceof flow.OneFlowError, error);
        assert.notEqual(error.code, 'InternalError', error.message);
        refused++;
      }
    }
    assert.ok(refused > whole.length / 2);
  }
});
