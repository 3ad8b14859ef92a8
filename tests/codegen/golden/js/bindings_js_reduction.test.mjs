// generated from opdefs/reduction.yaml by codegen, do not edit

import {test} from 'node:test';
import flow from 'oneflow-js';
import {checkExample, checkFailure} from '../test/support.mjs';

test('max.dim: example 1', () => {
  checkExample(
    () => flow.max(flow.tensor([[1.0, 5.0], [7.0, 3.0]]), 1),
    [[5.0, 7.0], [1, 0]],
  );
});

test('max.dim: error 1', () => {
  checkFailure(
    () => flow.max(flow.tensor([[1.0]]), 2),
    flow.IndexOutOfRange,
    'max: dim must be between -2 and 1 for a tensor with 2 dimensions, got 2',
  );
});
