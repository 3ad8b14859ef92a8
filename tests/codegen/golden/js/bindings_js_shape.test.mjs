// generated from opdefs/shape.yaml by codegen, do not edit

import {test} from 'node:test';
import flow from 'oneflow-js';
import {checkExample, checkFailure} from '../test/support.mjs';

test('zeros: example 1', () => {
  checkExample(
    () => flow.zeros([2], {dtype: 'int32'}),
    [0, 0],
  );
});

test('zeros: error 1', () => {
  checkFailure(
    () => flow.zeros([-1]),
    flow.ShapeError,
    'zeros: size must not be negative, got -1',
  );
});

test('slice: example 1', () => {
  checkExample(
    () => flow.slice(flow.tensor([0, 1, 2, 3, 4], {dtype: 'int64'}), 0, 1, 5, 2),
    [1, 3],
  );
});

test('slice: error 1', () => {
  checkFailure(
    () => flow.slice(flow.tensor([1.0]), 0, 0, 1, 0),
    flow.InvalidArgument,
    'slice: step must not be zero',
  );
});

test('double_slice: example 1', () => {
  checkExample(
    () => flow.doubleSlice(flow.tensor([1, 2, 3, 4, 5], {dtype: 'int64'})),
    [2, 10],
  );
});

test('double_slice: error 1', () => {
  checkFailure(
    () => flow.doubleSlice(1),
    flow.TypeMismatch,
    'doubleSlice: input must be Tensor, got number',
  );
});
