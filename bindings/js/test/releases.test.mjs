// Loads the graph files of each release, which every later version must read, and compares what they compute.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import {test} from 'node:test';
import {fileURLToPath} from 'node:url';
import flow from 'oneflow-js';

const folder = fileURLToPath(new URL('../../../tests/data/graphs', import.meta.url));
const files = fs.readdirSync(folder, {recursive: true}).filter((name) => name.endsWith('.flow'));

/** Returns the tensors whose names are `${what}.0`, `${what}.1` and so on. */
function numbered(values, what) {
  const found = [];
  while (values[`${what}.${found.length}`]) found.push(values[`${what}.${found.length}`]);
  return found;
}

test('there are graphs', () => assert.ok(files.length >= 20));

for (const name of files) {
  test(`a graph of a release: ${name}`, () => {
    const file = path.join(folder, name);
    const values = flow.load(file.replace('.flow', '.safetensors'), {flat: true});
    const generator = new flow.Generator().manualSeed(0);
    const found = flow.graph.load(file).run(numbered(values, 'input'), {generator});
    const wanted = numbered(values, 'output');
    const types = (tensors) => tensors.map((each) => [each.dtype, each.shape]);
    assert.deepEqual(types(found), types(wanted));
    for (const [i, each] of wanted.entries()) {
      const rtol = ['float16', 'bfloat16'].includes(each.dtype) ? 1e-2 : 1e-4;
      assert.ok(flow.allclose(found[i], each, {rtol, atol: rtol / 10, equalNan: true}), `output ${i}`);
    }
  });
}
