// What errors say: in the names that the user typed, what to write instead, and the names here of other libraries.
/* eslint camelcase: off -- the names of tests/texts.json, and those that are in snake case on purpose */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import {createRequire} from 'node:module';
import {test} from 'node:test';
import util from 'node:util';

import flow from 'oneflow-js';

const texts = JSON.parse(fs.readFileSync(new URL('../../../tests/texts.json', import.meta.url), 'utf8'));
const {elsewhere} = createRequire(import.meta.url)('../generated/functions.js');
const x = flow.tensor([1, 2]);
const leaf = () => flow.tensor([1, 2], {requiresGrad: true});

const programs = {
  made_within_no_grad: () => flow.noGrad(() => leaf().mul(2).sum()).backward(),
  backward_within_no_grad: () => flow.noGrad(() => leaf().mul(2).sum().backward()),
  second_backward: () => {
    const w = leaf();
    const y = w.mul(w).sum();
    y.backward();
    y.backward();
  },
  step_without_gradients: () => flow.optim.sgd_([x], [], {lr: 0.1}),
  step_without_rate: () => flow.optim.sgd_([x], [x]),
  collective_in_place: () => flow.comm.local.allReduce_(),
  unknown_merge: () => flow.comm.local.allReduce_([x], {op: 'sub'}),
  function_of_a_namespace: () => flow.nn.functional.mseLoss(x, x, {reduction: 'all'}),
  other_name: () => flow.expandDims(x, 5),
  in_place: () => flow.ones([2]).add_(flow.ones([3])),
  in_place_without_argument: () => flow.ones([2]).add_(),
  dtype_by_position: () => flow.tensor([1, 2], 'int32'),
  dtype_after_all: () => flow.sum(x, 0, true, 'float64'),
  classes_as_floats: () => flow.crossEntropy(flow.ones([2, 3]), flow.tensor([0, 1])),
};

for (const [name, {js}] of Object.entries(texts)) {
  if (js === undefined) continue;
  test(name, () => assert.throws(programs[name], {message: js}));
}

test('a promise variant names the function that was called', async () => {
  await assert.rejects(flow.nn.functional.mseLossAsync(x, x, {reduction: 'all'}),
    {message: texts.function_of_a_namespace.js});
});

test('what users write first', () => {
  const w = leaf();
  w.mul(w).sum().backward();
  flow.optim.sgd_([w], [w.grad], {lr: 0.5});
  assert.deepEqual(w.toArray(), [0, 0]);
  assert.deepEqual(w.grad.zero_().toArray(), [0, 0]);
  assert.deepEqual(w.grad.fill_(2).toArray(), [2, 2]);
  const logits = flow.zeros([2, 4]);
  const loss = Math.fround(Math.log(4));
  for (const target of [[0, 3], [[1, 0, 0, 0], [0, 0, 0, 1]], flow.tensor([0, 3], {dtype: 'int64'})]) {
    assert.ok(Math.abs(flow.crossEntropy(logits, target).item() - loss) < 1e-6);
  }
  assert.ok(Math.abs(flow.crossEntropy(logits, [[0.5, 0.5, 0, 0], [0, 0, 0.25, 0.75]]).item() - loss) < 1e-6);
  assert.throws(() => flow.tensor([1, 2, 3, 4], [2, 2]), /options must be object, got array; write {shape: \[2, 2\]}/);
});

const HERE = 'here it is called ';
const lookup = (path) => path.split('.').reduce((found, part) => found?.[part], flow);

test('functions of other libraries', () => {
  for (const [name, text] of Object.entries(elsewhere.functions)) {
    if (text.startsWith(HERE)) assert.notEqual(lookup(text.slice(HERE.length)), undefined, text);
    const [leafName, ...spaces] = name.split('.').reverse();
    const owner = spaces.length > 0 ? lookup(spaces.reverse().join('.')) : flow;
    if (Object.keys(owner).includes(leafName)) continue;
    assert.throws(() => owner[leafName](), {name: 'TypeMismatch', message: `${leafName}: ${text}`});
  }
});

test('methods of other libraries', () => {
  for (const [name, text] of Object.entries(elsewhere.methods)) {
    const here = text.slice(HERE.length);
    assert.ok(here in x, here);
    if (Object.hasOwn(flow.Tensor.prototype, name)) continue;
    assert.throws(() => x[name](), {message: `${name}: ${text}`});
  }
});

test('names in snake case', () => {
  assert.throws(() => flow.manual_seed(1), {message: 'manual_seed: here it is called manualSeed'});
  assert.throws(() => x.index_select(0, [0]), {message: 'index_select: here it is called indexSelect'});
  assert.throws(() => x.requires_grad, {message: 'requires_grad: here it is called requiresGrad'});
  assert.throws(() => {
    x.requires_grad = true;
  }, {message: 'requires_grad: here it is called requiresGrad'});
});

test('names of other libraries are hidden', () => {
  assert.equal(typeof flow.tensor2d, 'function');
  assert.equal(flow.nothing, undefined);
  assert.ok(!Object.keys(flow).includes('tensor2d'));
  assert.ok(!('tensor2d' in {...flow}));
  assert.ok(!util.inspect(flow).includes('tensor2d'));
  assert.ok(!Object.getOwnPropertyNames(flow).includes('manual_seed'));
  assert.ok(!Object.getOwnPropertyNames(flow.Tensor.prototype).includes('arraySync'));
});
