'use strict';

/** Tests the package as its users see it. */

const assert = require('node:assert/strict');
const test = require('node:test');
const {setTimeout: pause} = require('node:timers/promises');
const flow = require('oneflow-js');
const extras = require('..');

test('a fused function', () => {
  const x = flow.tensor([[0, 1], [2, -1]]);
  assert.ok(flow.allclose(extras.scaledTanh(x, 2), x.tanh().mul(2)));
  assert.ok(flow.allclose(extras.scaledTanh(x.transpose(0, 1)), x.transpose(0, 1).tanh()));
});

test('operators, with gradients', () => {
  const x = flow.tensor([[1, 2, 3], [4, 6, 8]], {requiresGrad: true});
  const result = extras.standardize(x);
  assert.ok(flow.allclose(result.std({dim: 1, correction: 0}), flow.ones([2])));
  result.pow(3).sum().backward();
  assert.deepEqual(x.grad.shape, [2, 3]);
});

test('a generator', () => {
  const x = flow.zeros([1000]);
  const [first, second] = [0, 1].map(() => extras.noisy(x, 2, new flow.Generator(7)));
  assert.ok(first.equal(second));
  assert.ok(Math.abs(first.std().item() - 2) < 0.2);
  flow.manualSeed(7);
  assert.ok(extras.noisy(x, 2).equal(first));
});

test('memory of the module', async () => {
  let squares = extras.squares(4);
  const view = squares.at('1:');
  assert.deepEqual(squares.toArray(), [0, 1, 4, 9]);
  const reference = new WeakRef(squares);
  squares = null;
  for (let i = 0; i < 100 && reference.deref() !== undefined; i++) {
    await pause(1);
    globalThis.gc();
  }
  assert.equal(reference.deref(), undefined);
  assert.deepEqual(view.toArray(), [1, 4, 9]);
  assert.equal(extras.liveTables(), 1);
  view.dispose();
  await pause(1);
  assert.equal(extras.liveTables(), 0);
});

test('errors are those of oneflow', () => {
  const fails = (call, code, message) => assert.throws(call, (error) => {
    assert.ok(error instanceof flow[code], error.stack);
    assert.match(error.message, message);
    return true;
  });
  fails(() => extras.scaledTanh('x'), 'TypeMismatch', /^scaledTanh: input must be Tensor, got string$/);
  fails(() => extras.scaledTanh(), 'TypeMismatch', /^scaledTanh: missing argument input$/);
  fails(() => extras.noisy(flow.zeros([1]), 1, 7), 'TypeMismatch', /^noisy: generator must be Generator, got number$/);
  fails(() => extras.scaledTanh(flow.tensor([1n])), 'DTypeError', /^scaled_tanh: input must be float32, got int64$/);
  fails(() => extras.standardize(flow.zeros([2]), 3), 'IndexOutOfRange', /^mean: dim must be between -1 and 0 /);
  fails(() => extras.squares(-1), 'InvalidArgument', /^squares: count must not be negative, got -1$/);
  const disposed = flow.zeros([1]);
  disposed.dispose();
  fails(() => extras.scaledTanh(disposed), 'InvalidArgument', /^scaledTanh: input must be a live Tensor, got a disposed/);
});
