// Indexing: x.at(...) and x.set(..., value).

import assert from 'node:assert/strict';
import {test} from 'node:test';
import flow from 'oneflow-js';
import {checkFailure} from './support.mjs';

const matrix = () => flow.tensor([[1, 2, 3], [4, 5, 6]]);

test('basic indices give views', () => {
  const x = matrix();
  assert.equal(x.at(1, 2).item(), 6);
  assert.equal(x.at('1, 2').item(), 6);
  assert.equal(x.at(-1, -1).item(), 6);
  assert.deepEqual(x.at('0').toArray(), [1, 2, 3]);
  assert.deepEqual(x.at(':, 1').toArray(), [2, 5]);
  assert.deepEqual(x.at('..., ::-1').toArray(), [[3, 2, 1], [6, 5, 4]]);
  assert.deepEqual(x.at('0, 1:').toArray(), [2, 3]);
  assert.deepEqual(x.at('0:1, ..., None').shape, [1, 3, 1]);
  assert.deepEqual(x.at(null).shape, [1, 2, 3]);
  assert.deepEqual(x.at().shape, [2, 3]);
  assert.deepEqual(x.at(1n).toArray(), [4, 5, 6]);
  x.at('0').add_(10);
  assert.deepEqual(x.toArray(), [[11, 12, 13], [4, 5, 6]]);
});

test('positions and masks give copies', () => {
  const x = matrix();
  assert.deepEqual(x.at([1, 0, 1]).toArray(), [[4, 5, 6], [1, 2, 3], [4, 5, 6]]);
  assert.deepEqual(x.at([1, 0], null).shape, [2, 1, 3]);
  assert.deepEqual(x.at([0, 1], [2, 0]).toArray(), [3, 4]);
  assert.deepEqual(x.at(Int32Array.of(1)).toArray(), [[4, 5, 6]]);
  assert.deepEqual(x.at(flow.tensor([1n])).toArray(), [[4, 5, 6]]);
  assert.deepEqual(x.at([false, true]).toArray(), [[4, 5, 6]]);
  assert.deepEqual(x.at(x.gt(3)).toArray(), [4, 5, 6]);
  assert.deepEqual(x.at(true).shape, [1, 2, 3]);
});

test('assignment', () => {
  const x = matrix();
  assert.equal(x.set('0, 1:', 0), x);
  assert.deepEqual(x.toArray(), [[1, 0, 0], [4, 5, 6]]);
  x.set(1, [7, 8, 9]);
  x.set(':, 0', flow.tensor([-1, -2]));
  assert.deepEqual(x.toArray(), [[-1, 0, 0], [-2, 8, 9]]);
  x.set(x.lt(0), 0.5);
  assert.deepEqual(x.toArray(), [[0.5, 0, 0], [0.5, 8, 9]]);
  x.set([0, 1], [2, 2], 3);
  assert.deepEqual(x.toArray(), [[0.5, 0, 3], [0.5, 8, 3]]);
  x.set(1);
  assert.deepEqual(x.toArray(), [[1, 1, 1], [1, 1, 1]]);
  const precise = flow.zeros([1], {dtype: 'float64'});
  precise.set(0, [0.1][0]);
  assert.equal(precise.item(), 0.1);
  assert.equal(precise.set('0:1', [0.1]).item(), 0.1);
});

test('invalid indices and values', () => {
  const x = matrix();
  assert.throws(() => x.at(2), flow.IndexOutOfRange);
  assert.throws(() => x.at(0, 0, 0), flow.IndexOutOfRange);
  assert.throws(() => x.at('9007199254740993'), flow.IndexOutOfRange);
  assert.throws(() => x.at('1:x'), flow.TypeMismatch);
  assert.throws(() => x.at(''), flow.TypeMismatch);
  assert.throws(() => x.at(1.5), flow.TypeMismatch);
  assert.throws(() => x.at(undefined), flow.TypeMismatch);
  assert.throws(() => x.at({}), flow.TypeMismatch);
  assert.throws(() => x.at([0, 'a']), flow.TypeMismatch);
  assert.throws(() => x.at([[0], [1, 2]]), flow.ShapeError);
  assert.throws(() => x.at('..., ...'), flow.OneFlowError);
  assert.throws(() => x.at(flow.tensor([0.5])), flow.OneFlowError);
  assert.throws(() => x.set(0, 'a'), flow.TypeMismatch);
  assert.throws(() => x.set(), flow.TypeMismatch);
  assert.throws(() => x.set(0, [1, 2]), flow.ShapeError);
  const endless = [];
  endless.push(endless);
  assert.throws(() => x.at(endless), flow.ShapeError);
  const blanks = ' '.repeat(1e5);
  assert.throws(() => x.at(`:${blanks}x`), flow.TypeMismatch);
  assert.throws(() => x.at(`${blanks}:${blanks}:${blanks}:`), flow.TypeMismatch);
});

test('errors name the method', () => {
  const x = matrix();
  checkFailure(() => x.at(2), flow.IndexOutOfRange, 'at: index 2 is out of range for dimension 0 of size 2');
  checkFailure(() => x.at([2]), flow.IndexOutOfRange, 'at: index 2 is out of range for dimension 0 of size 2');
  checkFailure(() => x.set(2, 1), flow.IndexOutOfRange, 'set: index 2 is out of range for dimension 0 of size 2');
  checkFailure(() => x.set([2], 1), flow.IndexOutOfRange, 'set: index 2 is out of range for dimension 0 of size 2');
  checkFailure(() => x.at([[0], 1]), flow.ShapeError, 'at: an index must be rectangular, got number at depth 1, ' +
    'where arrays are');
});

test('a getter in the data that disposes of the index', () => {
  const x = matrix();
  const index = flow.tensor([0n]);
  const data = [1, 2, 3];
  Object.defineProperty(data, 0, {
    get() {
      index.dispose();
      return 1;
    },
  });
  assert.throws(() => x.set(index, data), flow.InvalidArgument);
});
