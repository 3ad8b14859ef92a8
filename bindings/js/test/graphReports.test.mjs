// The cost and the picture of graphs: the cases of tests/data/graphs, as in the other languages.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import {test} from 'node:test';
import {fileURLToPath} from 'node:url';
import flow from 'oneflow-js';
import {checkFailure} from './support.mjs';

const data = (name) => fileURLToPath(new URL(`../../../tests/data/${name}`, import.meta.url));
const cases = JSON.parse(fs.readFileSync(data('graphs/cases.json'), 'utf8'));
const load = (name) => flow.onnx.load(data(`onnx/${name}.onnx`));

for (const [i, given] of cases.costs.entries()) {
  test(`the cost of a model: ${given.file} ${i}`, () => {
    const cost = load(given.file).cost(given.sizes);
    assert.deepEqual([cost.operations, cost.bytesRead, cost.bytesWritten], given.total);
    assert.deepEqual([cost.constantBytes, cost.peakBytes], [given.constants, given.peak]);
    assert.deepEqual(cost.operators.map((each) =>
      [each.name, each.calls, each.operations, each.bytesRead, each.bytesWritten]), given.operators);
  });
}

test('a cost prints as a table', () => {
  const cost = load('layer').cost(new Map([['batch', 3]]));
  assert.deepEqual(`${cost}`.split('\n'), cases.table);
  assert.equal(JSON.parse(JSON.stringify(cost)).operations, 48);
});

test('sizes are checked', () => {
  const graph = load('layer');
  for (const {sizes, class: name, text} of cases.refused) checkFailure(() => graph.cost(sizes), flow[name], text);
  checkFailure(() => graph.cost(3), flow.TypeMismatch, 'cost: sizes must be Map or object, got number');
  checkFailure(() => graph.cost({batch: 1.5}), flow.TypeMismatch, 'cost: batch must be integer, got number');
});

test('a picture is the same in all languages', () => {
  assert.equal(load('layer').picture(), fs.readFileSync(data('graphs/layer.svg'), 'utf8'));
});
