// generated from opdefs/arithmetic.yaml by codegen, do not edit

import {test} from 'node:test';
import flow from 'oneflow-js';
import {checkExample, checkFailure} from '../test/support.mjs';

test('add: example 1', () => {
  checkExample(
    () => flow.add(flow.tensor([1.0, 2.0]), flow.tensor([10.0, 20.0])),
    [11.0, 22.0],
  );
});

test('add: error 1', () => {
  checkFailure(
    () => flow.add(flow.tensor([1.0]), 'a'),
    flow.TypeMismatch,
    'add: other must be Tensor or number, got string',
  );
});

test('gelu: example 1', () => {
  checkExample(
    () => flow.gelu(flow.tensor([-1.0, 0.0, 2.0])),
    [-0.1587, 0.0, 1.9545],
  );
});

test('gelu: error 1', () => {
  checkFailure(
    () => flow.gelu(flow.tensor([1, 2], {dtype: 'int64'})),
    flow.DTypeError,
    'gelu: input must be a floating-point tensor, got int64',
  );
});
