// Calls as people write them, which all languages make: arrays for tensors, and the names of other libraries.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import {test} from 'node:test';

import flow from 'oneflow-js';

const cases = JSON.parse(fs.readFileSync(new URL('../../../tests/as_written.json', import.meta.url), 'utf8'));
const camel = (name) => name.replace(/(?<=[a-z0-9])_([a-z0-9])/g, (_, letter) => letter.toUpperCase());
const RENAMED = {var: 'var_'}; // reserved words

for (const [number, {call, args, named, gives}] of cases.entries()) {
  test(`${number}: ${call}`, () => {
    const method = call.split('.').reduce((owner, name) => owner[RENAMED[name] ?? camel(name)], flow);
    const options = named && Object.fromEntries(Object.entries(named).map(([name, value]) => [camel(name), value]));
    const found = method(...args, ...(options ? [options] : []));
    const toNative = (each) => (flow.isTensor(each) ? each.toArray() : each);
    const values = Array.isArray(found) ? found.map(toNative) : toNative(found);
    const flat = [values].flat(Infinity);
    const expected = [gives].flat(Infinity);
    assert.equal(flat.length, expected.length);
    flat.forEach((value, i) => assert.ok(Math.abs(Number(value) - Number(expected[i])) < 1e-6, `${values}`));
  });
}

test('arrays go to the device of the tensors, and indices are integers', () => {
  const x = flow.ones([2], {device: 'far:1'});
  for (const result of [x.add([1, 2]), flow.add([1, 2], x), x.mul(Float32Array.of(1, 2))]) {
    assert.equal(result.device, 'far:1');
  }
  assert.throws(() => flow.indexSelect([1, 2], 0, [0.5]), flow.DTypeError);
  assert.equal(flow.neg(Int16Array.of(1)).dtype, 'int16');
  assert.throws(() => flow.add([1], 1, {out: [2]}), flow.TypeMismatch);
  assert.throws(() => flow.optim.sgd_([[1]], [[1]], [], {lr: 1}), flow.TypeMismatch);
});
