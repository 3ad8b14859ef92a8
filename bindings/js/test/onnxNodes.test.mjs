// Runs a sample of the tests of nodes that the `onnx` package has (tests/vectors/onnx_nodes.py).

import assert from 'node:assert/strict';
import fs from 'node:fs';
import {test} from 'node:test';
import flow from 'oneflow-js';

const folder = new URL('../../../tests/generated/onnx/', import.meta.url);
const models = JSON.parse(fs.readFileSync(new URL('names.json', folder)));
const tolerances = {float16: {rtol: 2e-3, atol: 1e-3}};

/** Loads a model, with those inputs as values whose elements it reads. */
function load(file, inputs) {
  const values = {};
  for (;;) {
    try {
      return flow.onnx.load(file, {values});
    } catch (error) {
      const read = /reads the elements of '([^']*)'/.exec(error.message)?.[1];
      if (!read || Object.keys(values).length === Object.keys(inputs).length) throw error;
      Object.assign(values, read in inputs && !(read in values) ? {[read]: inputs[read]} : inputs);
    }
  }
}

test('models of one node give the expected outputs', () => {
  for (const [name, names] of Object.entries(models)) {
    const tensors = flow.load(new URL(`${name}.safetensors`, folder));
    const inputs = Object.fromEntries(names.map((each, i) => [each, tensors[`input.${i}`]]));
    const graph = load(new URL(`${name}.onnx`, folder), inputs);
    const found = graph.run(graph.inputs.map((each) => inputs[each.name]));
    const outputs = found instanceof flow.Tensor ? [found] : Object.values(found);
    for (let i = 0; `output.${i}` in tensors; i++) {
      const expected = tensors[`output.${i}`];
      assert.deepEqual([outputs[i].dtype, outputs[i].shape], [expected.dtype, expected.shape], name);
      const options = {rtol: 1e-3, atol: 4e-7, equalNan: true, ...tolerances[expected.dtype]};
      const agrees = expected.dtype === 'bool' ? outputs[i].equal(expected) : outputs[i].allclose(expected, options);
      assert.ok(agrees, name);
    }
  }
});
