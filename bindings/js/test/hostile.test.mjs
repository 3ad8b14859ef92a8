// Calls every function and method with random values of all kinds: invalid ones must throw an error of oneflow, but not
// InternalError.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import flow from 'oneflow-js';
import table from '../generated/functions.js';

/** The number of calls per function. */
const CALLS = 60;

/** Returns a reproducible generator of random integers: `dice(sides)` is from 0 to sides - 1. */
function makeDice(seed) {
  let state = seed;
  return (sides) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
}

const disposed = flow.ones([2]);
disposed.dispose();
/** Returns a revoked Proxy. */
function makeRevoked(target) {
  const {proxy, revoke} = Proxy.revocable(target, {});
  revoke();
  return proxy;
}

/** Makers of the values that are drawn. */
const values = [
  () => undefined, () => null, () => true, () => -1, () => 0, () => 1, () => 2, () => 1.5, () => NaN, () => 2 ** 60,
  () => 1e300, () => 3n, () => 2n ** 70n, () => '', () => 'float32', () => 'ij,jk->ik', () => '\u{1f600}'.repeat(50),
  () => Symbol('s'), () => () => 1, () => [], () => [1], () => [0, 1], () => [[1]], () => [null], () => ({}),
  () => ({dim: 1}), () => ({dim: 'x', keepdim: 1}), () => ({out: 1}), () => ({out: flow.ones([2, 2])}),
  () => new Date(0), () => Object.create(null), () => ({re: 1, im: 2}), () => [{re: 1, im: 2}, 3], () => [{re: 1}],
  () => Int32Array.of(0), () => new Proxy([0], {}), () => flow.float(2), () => disposed,
  () => flow.ones([2, 2]), () => flow.ones([2, 2]), () => flow.zeros([0, 3]), () => flow.tensor(5),
  () => flow.ones([2], {dtype: 'int64'}), () => flow.ones([2, 2], {dtype: 'bool'}),
  () => flow.ones([2, 2]).transpose(0, 1), () => flow.ones([2, 2], {dtype: 'complex64'}),
  () => makeRevoked({}), () => makeRevoked([]), () => [makeRevoked([])], () => Object.create(makeRevoked({})),
  () => ({dim: makeRevoked([])}), () => new Proxy(flow.ones([2, 2]), {}), () => flow.ones([1]).expand(2n ** 60n + 1n),
  () => flow.ones([1]).expand(2, 2), () => [flow.ones([2, 2]), flow.ones([2, 2])], () => [disposed],
];

/** Makes calls with drawn arguments. `forms(args, i)` returns the functions to call. */
async function call(seed, forms) {
  const dice = makeDice(seed);
  const draw = () => values[dice(values.length)]();
  for (let i = 0; i < CALLS; i++) {
    for (const form of forms(Array.from({length: dice(5)}, draw), i)) {
      try {
        await form();
      } catch (error) {
        assert.ok(error instanceof flow.OneFlowError, error.stack);
        assert.notEqual(error.code, 'InternalError', error.message);
      }
    }
  }
}

/** Returns a public function by its dotted name: flow.comm.local.reduce for 'comm.local.reduce'. */
const functionOf = (path) => path.split('.').reduce((owner, part) => owner[part], flow);

for (const [number, record] of table.functions.entries()) {
  test(record.publicName, () => call(number + 1, (args, i) => {
    const forms = [() => functionOf(record.publicName)(...args)];
    if (record.asyncName && i % 10 === 0) forms.push(() => functionOf(record.asyncName)(...args));
    if (record.isMethod) forms.push(() => flow.ones([2, 2])[record.publicName](...args));
    if (record.inPlaceName && record.isMethod) forms.push(() => flow.ones([2, 2])[record.inPlaceName](...args));
    if (record.inPlaceName && !record.isMethod) forms.push(() => functionOf(record.inPlaceName)(...args));
    return forms;
  }));
}

// The hand-written functions, except for those that change settings of the process.
const functions = [
  'tensor', 'float', 'isTensor', 'tidy', 'keep', 'promoteTypes', 'device', 'memoryStats', 'synchronize',
  'synchronizeAsync', 'emptyCache', 'resetPeakMemoryStats', 'setRandomState', 'manualSeed', 'getOption', 'loadDevice',
  'setDefaultDevice', 'setPrintOptions', 'einsumPath', 'einsumExpression',
];
const methods = ['at', 'set', 'toArray', 'dataSync', 'data', 'item', 'equal', 'toString', 'toJSON', 'dispose'];
for (const name of functions) test(`flow.${name}`, () => call(1, (args) => [() => flow[name](...args)]));
for (const name of methods) {
  test(`x.${name}`, () => call(2, (args) => [
    () => flow.ones([2, 2])[name](...args),
    () => flow.Tensor.prototype[name].apply(args[0], args.slice(1)),
  ]));
}

test('an expression', () => call(3, (args) => [
  () => flow.einsumExpression('ij,jk->ik', [2, 2], [2, 2])(...args),
  () => flow.einsumExpression('ij,jk->ik', [2, 2], [2, 2]).async(...args),
]));

test('operands followed by their labels', () => call(4, (args) => [
  () => flow.einsum(flow.ones([2, 2]), ...args), () => flow.einsum(flow.ones([2, 2]), [0, 1], ...args),
  () => flow.einsumPath(flow.ones([2, 2]), [0, 1], ...args),
]));

test('names of properties that every object has', () => {
  const x = flow.ones([2, 2]);
  for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
    const options = Object.fromEntries([[name, 1]]);
    assert.throws(() => x.sum(options), flow.TypeMismatch);
    assert.throws(() => flow.tensor([1], options), flow.TypeMismatch);
    assert.throws(() => flow.setPrintOptions(options), flow.TypeMismatch);
    assert.throws(() => x.at(name), flow.TypeMismatch);
    assert.throws(() => flow.zeros([1], {dtype: name}), flow.InvalidArgument);
  }
});
