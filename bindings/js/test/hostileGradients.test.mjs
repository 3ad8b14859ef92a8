// Calls the functions of gradients with values that they do not take: each must return, or throw a clear error.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import flow from 'oneflow-js';

const x = () => flow.tensor([1, 2]).setRequiresGrad();
const wide = () => flow.tensor([1], {dtype: 'float64'}).setRequiresGrad();

/** An error of a function that a test passes. */
class Own extends Error {}

/** Returns a Function whose parts return what they are told to. */
function returning(forward, backward) {
  return class Given extends flow.autograd.Function {
    static forward(context, value) {
      return forward === undefined ? flow.mul(value, 2) : forward;
    }

    static backward() {
      return backward;
    }
  };
}

function hooked(hook) {
  const y = flow.mul(x(), 1);
  y.registerHook(hook);
  y.sum().backward();
}

function saving(value) {
  class Saving extends flow.autograd.Function {
    static forward(context, tensor) {
      context.saveForBackward(value);
      return flow.mul(tensor, 1);
    }

    static backward(context, grad) {
      return context.savedTensors ? grad : null;
    }
  }
  Saving.apply(x()).sum().backward();
}

const twice = (t) => flow.mul(t, 2);
const sum = (t) => t.sum();

const calls = {
  'backward of it': (v) => flow.autograd.backward(v),
  'backward of an array': (v) => flow.autograd.backward([v]),
  'options of backward': (v) => flow.autograd.backward(x().sum(), v),
  'gradTensors': (v) => flow.autograd.backward(x().sum(), {gradTensors: v}),
  'gradient of backward': (v) => x().sum().backward(v),
  'retainGraph': (v) => x().sum().backward({retainGraph: v}),
  'createGraph': (v) => x().sum().backward({createGraph: v}),
  'gradient of backwardAsync': (v) => x().sum().backwardAsync(v),
  'outputs': (v) => flow.grad(v, [x()]),
  'inputs': (v) => flow.grad(x().sum(), v),
  'an input': (v) => flow.grad(x().sum(), [v]),
  'options of grad': (v) => flow.grad(x().sum(), [x()], v),
  'gradOutputs': (v) => flow.grad(twice(x()), [x()], {gradOutputs: v, allowUnused: true}),
  'a gradOutput': (v) => flow.grad(twice(x()), [x()], {gradOutputs: [v], allowUnused: true}),
  'setRequiresGrad': (v) => x().setRequiresGrad(v),
  'requiresGrad': (v) => { x().requiresGrad = v; },
  'grad': (v) => { x().grad = v; },
  'registerHook': (v) => x().registerHook(v),
  'a hook': (v) => hooked(v),
  'what a hook returns': (v) => hooked(() => v),
  'setGradEnabled': (v) => flow.setGradEnabled(v),
  'noGrad': (v) => flow.noGrad(v),
  'enableGrad': (v) => flow.enableGrad(v),
  'detectAnomaly': (v) => flow.autograd.detectAnomaly(v),
  'valueAndGrad': (v) => flow.valueAndGrad(v)(x()),
  'argnums': (v) => flow.valueAndGrad(sum, {argnums: v})(x()),
  'argument of valueAndGrad': (v) => flow.valueAndGrad(sum)(v),
  'value of valueAndGrad': (v) => flow.valueAndGrad(() => v)(x()),
  'vjp': (v) => flow.vjp(v, x()),
  'argument of vjp': (v) => flow.vjp(twice, v),
  'value of vjp': (v) => flow.vjp(() => v, x())[1](),
  'pull': (v) => flow.vjp(twice, x())[1](v),
  'jacobian': (v) => flow.jacobian(v, x()),
  'argument of jacobian': (v) => flow.jacobian(twice, v),
  'value of jacobian': (v) => flow.jacobian(() => v, x()),
  'options of jacobian': (v) => flow.jacobian(twice, x(), v),
  'hessian': (v) => flow.hessian(v, x()),
  'argument of hessian': (v) => flow.hessian((t) => flow.mul(t, t).sum(), v),
  'value of hessian': (v) => flow.hessian(() => v, x()),
  'checkpoint': (v) => flow.checkpoint(v, x()),
  'argument of checkpoint': (v) => flow.checkpoint(twice, v),
  'value of checkpoint': (v) => flow.checkpoint(() => v, x()),
  'gradcheck': (v) => flow.gradcheck(v, wide()),
  'argument of gradcheck': (v) => flow.gradcheck(twice, v),
  'value of gradcheck': (v) => flow.gradcheck(() => v, wide()),
  'eps': (v) => flow.gradcheck(twice, wide(), {eps: v}),
  'argument of a Function': (v) => returning().apply(v),
  'what forward returns': (v) => returning(v).apply(x()),
  'what backward returns': (v) => returning(undefined, v).apply(x()).sum().backward(),
  'saveForBackward': (v) => saving(v),
  'params': (v) => flow.optim.sgd_(v, [x()], [], {lr: 0.1}),
  'grads': (v) => flow.optim.sgd_([flow.ones([2])], v, [], {lr: 0.1}),
  'lr': (v) => flow.optim.sgd_([flow.ones([2])], [flow.ones([2])], [], {lr: v}),
};

function values() {
  const cyclic = [];
  cyclic.push(cyclic);
  const disposed = flow.ones([2]);
  disposed.dispose();
  const usedUp = flow.mul(x(), x()).sum();
  usedUp.backward();
  return {
    undefined, null: null, true: true, '-1': -1, NaN, '2**60': 2 ** 60, bigint: 2n ** 70n, text: 'x',
    symbol: Symbol('s'), '[]': [], '[null]': [null], cyclic, '{}': {}, bare: Object.create(null), date: new Date(0),
    'revoked': revoked(), class: flow.Tensor, module: flow, 'async': async () => 1,
    identity: (each) => each, failing() { throw new Own('own'); }, promise: Promise.resolve(1),
    integers: flow.tensor([1n, 2n]), scalar: flow.tensor(1), empty: flow.zeros([0]), disposed,
    complex: flow.ones([2], {dtype: 'complex64'}), huge: flow.zeros([1]).expand([2 ** 50]), three: flow.ones([3]),
    float64: flow.ones([2], {dtype: 'float64'}).setRequiresGrad(), leaf: x(), leaves: [x(), x()], usedUp,
  };
}

function revoked() {
  const {proxy, revoke} = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

/** Returns what is wrong with an error, if anything. */
function faultOf(error) {
  if (error instanceof Own || /^Class constructor/.test(error?.message)) return undefined; // of what is called
  if (!(error instanceof flow.OneFlowError)) return `${error?.name}: ${error?.message}`;
  if (error instanceof flow.InternalError) return `InternalError: ${error.message}`;
  return error.message ? undefined : `${error.name} without a text`;
}

/** Makes a call. Returns what is wrong with its error, if anything. */
async function failureOf(call, given) {
  try {
    await call(given);
    return undefined;
  } catch (error) {
    return faultOf(error);
  }
}

for (const [name, call] of Object.entries(calls)) {
  test(`hostile values: ${name}`, async () => {
    const failures = {};
    for (const [what, given] of Object.entries(values())) {
      const failure = await failureOf(call, given);
      if (failure) failures[what] = failure;
      flow.setGradEnabled(true);
    }
    assert.deepEqual(failures, {});
    flow.mul(x(), 3).sum().backward(); // the next pass is right
  });
}
