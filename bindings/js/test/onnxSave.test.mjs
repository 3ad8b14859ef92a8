// Graphs that are saved as ONNX models.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {test} from 'node:test';
import flow from 'oneflow-js';
import {checkFailure, failure} from './support.mjs';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'onnx-save-'));
process.on('exit', () => fs.rmSync(folder, {recursive: true}));
const file = path.join(folder, 'model.onnx');

const weight = flow.tensor([[1, 2], [3, 4]]);
const graph = flow.graph.capture((x) => x.matmul(weight).relu(), flow.ones([1, 2]), {
  dynamic: 'batch', weights: {weight}, names: ['x'],
});
const x = flow.tensor([[1, -2], [3, 4], [0, 1]]);
const expected = graph.run(x).toArray();

test('a saved graph gives the same', async () => {
  for (const save of [flow.onnx.save, flow.onnx.saveAsync]) {
    await save(graph, file);
    const loaded = flow.onnx.load(file);
    assert.deepEqual(loaded.inputs.map(({name, shape}) => [name, shape]), [['x', ['batch', '2']]]);
    assert.deepEqual(Object.keys(loaded.constants), ['weight']);
    assert.deepEqual(loaded.run(x).toArray(), expected);
  }
});

test('large constants go to another file', () => {
  flow.onnx.save(graph, file, {opset: 20, externalBytes: 1});
  assert.equal(fs.existsSync(`${file}.data`), true);
  assert.deepEqual(flow.onnx.load(file).run(x).toArray(), expected);
});

test('what cannot be saved is an error', async () => {
  const bad = flow.graph.capture((a) => flow.lgamma(a), flow.ones([2]));
  const text = 'the graph has calls that ONNX cannot express in opset 17: call 0, lgamma: ' +
    'ONNX has no operator for lgamma';
  checkFailure(() => flow.onnx.save(bad, file), flow.Unsupported, `save: ${text}`);
  await assert.rejects(flow.onnx.saveAsync(bad, file), failure(flow.Unsupported, `saveAsync: ${text}`));
  checkFailure(() => flow.onnx.save(graph, file, {opset: 5}), flow.InvalidArgument,
    'save: opset must be between 11 and 22, got 5');
  checkFailure(() => flow.onnx.save(graph, file, {opset: 'a'}), flow.TypeMismatch,
    'save: opset must be a positive integer, got "a"');
  checkFailure(() => flow.onnx.save(3, file), flow.TypeMismatch, 'save: graph must be Graph, got number');
});
