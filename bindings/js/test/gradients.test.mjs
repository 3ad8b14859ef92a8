// Compares the gradients of all operators with PyTorch's (docs/reference/vectors.md), and tests the rules of recording.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import {describe, test} from 'node:test';
import {setImmediate} from 'node:timers/promises';
import flow from 'oneflow-js';
import {camel, check, flatOf, functionOf, recordOf, toArgument} from './vectors.mjs';

const folder = new URL('../../../tests/generated/gradients/', import.meta.url);
const files = fs.readdirSync(folder).filter((name) => name.endsWith('.json')).sort();
const device = flow.device('cpu');

/** Replaces an argument, a tensor or an array, by leaves. Returns them with their expected gradients. */
function replaceByLeaves(given, name, expected) {
  const isArray = Array.isArray(given[name]);
  const wanted = isArray ? expected : [expected];
  const made = (isArray ? given[name] : [given[name]]).map((x, i) => x.detach().setRequiresGrad(wanted[i] !== null));
  given[name] = isArray ? made : made[0];
  return made.map((x, i) => [x, wanted[i]]).filter(([, grad]) => grad !== null);
}

function replay(name, each) {
  const named = Object.entries(each.arguments).map(([key, value]) => [camel(key), toArgument(value)]);
  const given = Object.fromEntries(named);
  const leaves = Object.entries(each.gradients).flatMap(([key, grad]) => replaceByLeaves(given, camel(key), grad));
  const found = functionOf(recordOf(name).publicName)(given);
  const roots = (Array.isArray(found) ? found : [found])
    .map((root, i) => ({root, weight: each.weights[i], isRoot: each.differentiable[i]}))
    .filter(({root, isRoot}) => isRoot && root.requiresGrad);
  if (roots.length > 0) {
    const gradTensors = roots.map(({weight}) => flatOf(weight).reshape(weight.sizes));
    flow.autograd.backward(roots.map(({root}) => root), {gradTensors});
  }
  for (const [x, grad] of leaves) check(x.grad ?? flow.zerosLike(x), grad, each, device);
}

describe('gradients of operators', () => {
  for (const file of files) {
    const {op, function: name, cases} = JSON.parse(fs.readFileSync(new URL(file, folder), 'utf8'));
    test(`${op}: ${cases.length} cases`, () => {
      for (const each of cases) {
        try {
          replay(name, each);
        } catch (error) {
          error.message = `${each.name}: ${error.message}`;
          throw error;
        }
      }
    });
  }
});

const leaf = (...numbers) => flow.tensor(numbers, {dtype: 'float64'}).setRequiresGrad();
const sum = (x) => flow.sum(x);

test('what requires a gradient', () => {
  const x = leaf(1, 2);
  const y = x.mul(3);
  assert.deepEqual([x.requiresGrad, x.isLeaf, x.gradFn, x.grad], [true, true, null, null]);
  assert.deepEqual([y.requiresGrad, y.isLeaf, y.gradFn], [true, false, 'mul']);
  assert.equal(y.detach().requiresGrad, false);
  assert.throws(() => flow.tensor([1n]).setRequiresGrad(), {code: 'DTypeError'});
  assert.throws(() => x.setRequiresGrad(1), {code: 'TypeMismatch'});
});

test('modes', async () => {
  const x = leaf(1);
  assert.equal(flow.noGrad(() => x.mul(2).requiresGrad), false);
  assert.equal(flow.noGrad(() => flow.enableGrad(() => x.mul(2).requiresGrad)), true);
  assert.throws(() => flow.noGrad(() => {
    throw new RangeError('inside');
  }), {message: 'inside'});
  assert.equal(flow.isGradEnabled(), true);
});

test('a mode follows await and does not leak', async () => {
  const x = leaf(1);
  const [inside, outside] = await Promise.all([
    flow.noGrad(async () => {
      const before = x.mul(2).requiresGrad;
      await setImmediate();
      return [before, x.mul(2).requiresGrad, flow.isGradEnabled()];
    }),
    (async () => {
      await setImmediate();
      return [x.mul(2).requiresGrad, flow.isGradEnabled()];
    })(),
  ]);
  assert.deepEqual(inside, [false, false, false]);
  assert.deepEqual(outside, [true, true]);
});

test('gradients add up, and graphs are freed', () => {
  const x = leaf(1, 2);
  const y = sum(x.mul(x));
  y.backward({retainGraph: true});
  y.backward();
  assert.deepEqual(x.grad.toArray(), [4, 8]);
  assert.throws(() => y.backward(), {code: 'InvalidArgument', message: /was freed by an earlier backward pass/});
  x.grad = null;
  assert.equal(x.grad, null);
  assert.throws(() => x.mul(2).backward(), {code: 'InvalidArgument', message: /needs a gradient of this shape/});
  x.mul(2).backward(flow.tensor([1, 10], {dtype: 'float64'}));
  assert.deepEqual(x.grad.toArray(), [2, 20]);
});

test('changes in place', () => {
  const x = leaf(1, 2);
  assert.throws(() => x.add_(1), {code: 'InvalidArgument', message: /a leaf requires a gradient/});
  const y = x.mul(1);
  y.mul_(y);
  y.set(0, 5);
  sum(y).backward();
  assert.deepEqual(x.grad.toArray(), [0, 4]);
  const z = x.mul(2);
  const product = sum(z.exp().mul(z));
  z.add_(1);
  assert.throws(() => product.backward(), {code: 'InvalidArgument', message: /was changed by add/});
});

test('gradients of functions', () => {
  const x = flow.tensor([1, 2]);
  assert.deepEqual(flow.grad((a) => sum(a.mul(a)))(x).toArray(), [2, 4]);
  const [value, gradients] = flow.valueAndGrad((a, b) => sum(a.mul(b)), {argnums: [0, 1]})(x, x);
  assert.deepEqual([value.item(), gradients.map((g) => g.toArray())], [5, [[1, 2], [1, 2]]]);
  const [squares, pull] = flow.vjp((a) => a.mul(a), x);
  assert.deepEqual([squares.toArray(), pull(flow.ones([2])).toArray()], [[1, 4], [2, 4]]);
  assert.deepEqual(flow.jacobian((a) => a.mul(a), x).toArray(), [[2, 0], [0, 4]]);
  assert.deepEqual(flow.hessian((a) => sum(a.mul(a).mul(a)), x).toArray(), [[6, 0], [0, 12]]);
  assert.deepEqual(flow.grad((a) => sum(flow.grad((b) => sum(b.mul(b).mul(b)))(a)))(x).toArray(), [6, 12]);
});

test('wrong arguments of functions of gradients', () => {
  const x = () => leaf(1, 2);
  const inTurn = (...results) => (each) => results.shift()(each);
  const squares = (a) => a.mul(a);
  class NumberAsGradient extends flow.autograd.Function {
    static forward(context, each) {
      context.saveForBackward(null);
      return each.mul(2);
    }

    static backward() {
      return 0;
    }
  }
  const ofTwo = (options) => flow.valueAndGrad((a, b) => sum(a.mul(b)), options)(x(), x());
  const cases = [
    ['InvalidArgument', 'grad: argnums names argument 1 twice',
      () => flow.grad((a, b) => sum(a.mul(b)), {argnums: [1, -1]})(x(), x())],
    ['InvalidArgument', 'valueAndGrad: argnums must have at least one number', () => ofTwo({argnums: []})],
    ['TypeMismatch', 'valueAndGrad: argnums must be integer or array of integers, got boolean',
      () => ofTwo({argnums: true})],
    ['TypeMismatch', 'valueAndGrad: argnums[1] must be integer, got string', () => ofTwo({argnums: [0, 'a']})],
    ['IndexOutOfRange', 'valueAndGrad: argnums has -3, but there are 2 arguments', () => ofTwo({argnums: -3})],
    ['TypeMismatch', 'valueAndGrad: a gradient needs a Tensor argument, got number', () => flow.valueAndGrad(sum)(3)],
    ['TypeMismatch', 'valueAndGrad: fn must return Tensor, got array', () => flow.valueAndGrad((a) => [a, a])(x())],
    ['TypeMismatch', 'vjp: fn must return Tensor or array of Tensors, got null', () => flow.vjp(() => null, x())],
    ['TypeMismatch', 'vjp: fn must return Tensor or array of Tensors, got an array with number',
      () => flow.vjp((a) => [a, 3], x())],
    ['InvalidArgument', 'grad: inputs must have at least one tensor', () => flow.grad(sum(x()), [])],
    ['TypeMismatch', 'grad: inputs[0] must be Tensor, got null', () => flow.grad(sum(x()), [null])],
    ['TypeMismatch', 'backward: tensors[1] must be Tensor, got number', () => flow.autograd.backward([sum(x()), 3])],
    ['TypeMismatch', 'backward: gradTensors[0] must be Tensor or null, got string',
      () => flow.autograd.backward([x()], {gradTensors: ['a']})],
    ['TypeMismatch', 'jacobian: createGraph must be boolean, got string',
      () => flow.jacobian(squares, x(), {createGraph: 'a'})],
    ['TypeMismatch', 'grad: allowUnused must be boolean, got number',
      () => flow.grad(sum(x()), x(), {allowUnused: 1})],
    ['TypeMismatch', 'NumberAsGradient: backward must return Tensor or null, got number',
      () => sum(NumberAsGradient.apply(x())).backward()],
    ['TypeMismatch', 'checkpoint: fn must return Tensor or array of Tensors, got number',
      () => flow.checkpoint(() => 3, x())],
    ['InvalidArgument', 'checkpoint: fn returned 2 tensors, and 1 when it was called again',
      () => sum(flow.checkpoint(inTurn((a) => [a.mul(a), a], squares), x())[0]).backward()],
    ['TypeMismatch', 'checkpoint: fn must return Tensor or array of Tensors, got null',
      () => sum(flow.checkpoint(inTurn(squares, () => null), x())).backward()],
  ];
  for (const [code, message, call] of cases) assert.throws(call, {code, message});
  const [results] = flow.vjp((a) => [a.mul(a), sum(a)], flow.ones([2]));
  assert.deepEqual(results.map((each) => each.requiresGrad), [false, false]);
  assert.deepEqual(flow.hessian(() => flow.tensor(3), flow.ones([2])).toArray(), [[0, 0], [0, 0]]);
  assert.deepEqual(ofTwo({argnums: -1})[1].toArray(), [1, 2]);
});

test('nested derivatives', () => {
  const five = flow.tensor(5, {dtype: 'float64'});
  const ones = flow.ones([], {dtype: 'float64'});
  const inners = [
    (fn, y) => flow.grad(fn)(y),
    (fn, y) => flow.vjp(fn, y)[1](ones),
    (fn, y) => flow.jacobian(fn, y, {createGraph: true}),
  ];
  for (const inner of inners) {
    // d/dx [x * d/dy (x + y)] = 1, and d/dx [d/dy (x * x * y)] = 2x
    assert.equal(flow.grad((x) => x.mul(inner((y) => x.add(y), x)))(five).item(), 1);
    assert.equal(flow.grad((x) => inner((y) => x.mul(x).mul(y), five))(five).item(), 10);
    assert.equal(flow.jacobian((x) => inner((y) => x.mul(x).mul(y), five), five).item(), 10);
  }
  assert.equal(flow.grad((x) => flow.hessian((y) => x.mul(y).mul(y).mul(y), x, {createGraph: true}))(five).item(), 60);
  const [value, pull] = flow.vjp((y) => y.mul(y), five);
  assert.deepEqual([value.requiresGrad, pull(ones).requiresGrad], [false, false]);
  assert.equal(flow.grad((g) => pull(g))(ones).item(), 10);
});

test('gradients of inputs', () => {
  const [x, y] = [leaf(1), leaf(2)];
  assert.deepEqual(flow.grad(sum(x.mul(3)), [x]).map((g) => g.toArray()), [[3]]);
  assert.throws(() => flow.grad(sum(x.mul(3)), [x, y]), {message: /outputs do not depend on input 1/});
  assert.equal(flow.grad(sum(x.mul(3)), [x, y], {allowUnused: true})[1], null);
  assert.throws(() => flow.grad(sum(x), [x], {allowUnsed: true}), {message: 'grad: unknown argument allowUnsed'});
});

class Cube extends flow.autograd.Function {
  static forward(context, x) {
    context.saveForBackward(x);
    return x.mul(x).mul(x);
  }

  static backward(context, grad) {
    const [x] = context.savedTensors;
    return grad.mul(x).mul(x).mul(3);
  }
}

test('functions with gradients of their own', () => {
  const x = leaf(2);
  const y = Cube.apply(x);
  assert.equal(y.gradFn, 'Cube');
  sum(y).backward();
  assert.deepEqual(x.grad.toArray(), [12]);
  assert.deepEqual(flow.hessian((a) => sum(Cube.apply(a)), flow.tensor([2])).toArray(), [[12]]);
});

test('hooks', () => {
  const x = leaf(2);
  const hook = x.registerHook((grad) => grad.mul(10));
  sum(x.mul(3)).backward();
  assert.deepEqual(x.grad.toArray(), [30]);
  hook.remove();
  x.registerHook(() => {
    throw new RangeError('from the hook');
  });
  assert.throws(() => sum(x.mul(3)).backward(), {name: 'RangeError', message: 'from the hook'});
  const y = leaf(2);
  y.registerHook(() => 'none');
  const message = 'registerHook: a hook must return Tensor or nothing, got string';
  assert.throws(() => sum(y.mul(3)).backward(), {name: 'TypeMismatch', message});
});

test('functions that return what was there before', () => {
  const [x, other] = [flow.tensor([1, 2]).setRequiresGrad(), flow.tensor([3, 4]).setRequiresGrad()];
  class Other extends flow.autograd.Function {
    static forward() {
      return other;
    }

    static backward(_, grad) {
      return grad.mul(5);
    }
  }
  for (const y of [Other.apply(x), flow.checkpoint(() => other, x)]) {
    assert.notEqual(y, other);
    assert.ok(other.isLeaf);
    y.sum().backward();
  }
  assert.deepEqual([x.grad.toArray(), other.grad.toArray()], [[5, 5], [1, 1]]);
});

test('gradients of constants are zeros', () => {
  const [x, three] = [flow.tensor([1, 2]), flow.tensor(3)];
  for (const fn of [() => three, (each) => each.argmax(), (each) => flow.noGrad(() => each.sum())]) {
    const found = [
      flow.grad(fn)(x), flow.valueAndGrad(fn)(x)[1], flow.vjp(fn, x)[1](), flow.jacobian(fn, x),
      flow.hessian(fn, x).at(0),
    ];
    for (const each of found) assert.deepEqual([each.toArray(), each.dtype], [[0, 0], 'float32']);
  }
  const [, pull] = flow.vjp((each) => [three, each.mul(2)], x);
  assert.deepEqual(pull([null, flow.ones([2])]).toArray(), [2, 2]);
  assert.throws(() => flow.valueAndGrad(() => flow.ones([2]))(x), {
    name: 'InvalidArgument',
    message: 'valueAndGrad: a tensor of shape [2] needs a gradient of this shape; only one element has the default 1',
  });
});

test('a view that is made without recording is a constant', () => {
  const changed = flow.tensor([1, 2]).setRequiresGrad().mul(1);
  changed.mul_(2);
  assert.equal(flow.noGrad(() => changed.at(0)).requiresGrad, false);
  assert.equal(changed.at(0).requiresGrad, true);
});

test('checkpoint calls the function again', () => {
  const x = leaf(0.5);
  let calls = 0;
  sum(flow.checkpoint((a) => {
    calls += 1;
    return a.exp();
  }, x)).backward();
  assert.deepEqual([calls, x.grad.toArray()], [2, [Math.exp(0.5)]]);
});

// The gradient that a recorded pass found through a checkpoint did not depend on its arguments.
test('derivatives of what a checkpoint returns', () => {
  const [x, weight] = [flow.tensor(3).setRequiresGrad(), flow.tensor(2).setRequiresGrad()];
  const y = flow.checkpoint((a) => a.mul(a).mul(a).mul(weight), x);
  const [slope] = flow.grad(y, [x], {createGraph: true});
  assert.equal(slope.item(), 54);
  assert.deepEqual(flow.grad(slope.add(x.mul(x)), [x, weight]).map((each) => each.item()), [42, 27]);
});

test('checkpoint draws the same random numbers again', () => {
  const x = flow.ones([1000]).setRequiresGrad();
  flow.manualSeed(3);
  const y = flow.checkpoint((a) => flow.dropout(a, 0.5), x);
  flow.rand([5]);
  const state = flow.getRandomState();
  sum(y).backward();
  assert.deepEqual(x.grad.toArray(), y.toArray());
  assert.deepEqual(flow.getRandomState(), state);
});

test('a pass on another thread', async () => {
  const x = leaf(1, 2);
  await sum(x.mul(x)).backwardAsync();
  assert.deepEqual(x.grad.toArray(), [2, 4]);
  x.registerHook((grad) => grad);
  await assert.rejects(sum(x.mul(x)).backwardAsync(), {code: 'Unsupported', message: /runs only on the thread/});
});

test('passes on several threads add to one leaf, which this one reads', async () => {
  const x = leaf(1, 2);
  const passes = Array.from({length: 20}, () => sum(x.mul(3)).backwardAsync());
  for (let i = 0; i < 20; i++) {
    sum(x.mul(3)).backward();
    assert.ok(x.grad.toArray().every((each) => each >= 3 * (i + 1)), 'what this thread has added is there');
    await setImmediate();
  }
  await Promise.all(passes);
  assert.deepEqual(x.grad.toArray(), [120, 120]);
});

test('tidy keeps what the graph needs', () => {
  const x = leaf(1, 2);
  const loss = flow.tidy(() => sum(x.mul(x).exp()));
  loss.backward();
  assert.deepEqual(x.grad.toArray().map((each) => each.toFixed(4)), ['5.4366', '218.3926']);
});

test('gradcheck compares gradients with differences', () => {
  const x = flow.tensor([0.5, 1.5], {dtype: 'float64'}).setRequiresGrad();
  const y = flow.tensor([[1, 2], [3, 4]], {dtype: 'float64'}).setRequiresGrad();
  assert.equal(flow.gradcheck((a, b) => [flow.matmul(b, a.sin()), b.exp()], [x, y]), true);
  assert.equal(flow.gradcheck((a) => flow.grad(sum(a.pow(3)), [a], {createGraph: true})[0], x, {rtol: 1e-4}), true);
  class Wrong extends flow.autograd.Function {
    static forward(context, a) {
      return a.mul(a);
    }

    static backward(context, gradient) {
      return gradient;
    }
  }
  const z = flow.tensor([3], {dtype: 'float64'}).setRequiresGrad();
  assert.equal(flow.gradcheck((a) => Wrong.apply(a), z, {raiseException: false}), false);
  assert.throws(() => flow.gradcheck((a) => Wrong.apply(a), z), {
    name: 'InvalidArgument', message: /^gradcheck: the gradient of result 0 for input 0 differs by up to 5/,
  });
  assert.throws(() => flow.gradcheck((a) => a, flow.tensor([1]).setRequiresGrad()), {
    name: 'TypeMismatch', message: 'gradcheck: input 0 must be float64 for accurate differences, got float32',
  });
});

test('anomalies name their call', async () => {
  const x = flow.tensor([0, 1]).setRequiresGrad();
  const pass = () => sum(x.log().mul(0)).backward();
  pass(); // no error: the gradient is just NaN
  assert.ok(Number.isNaN(x.grad.at(0).item()));
  const expected = {
    name: 'InvalidArgument',
    message: 'backward: the gradient of log for its operand of shape [2] has a NaN; ' +
      'the result of the call has shape [2]',
  };
  assert.throws(() => flow.autograd.detectAnomaly(pass), expected);
  assert.equal(flow.getOption('detectAnomaly'), 0);
  await assert.rejects(flow.autograd.detectAnomaly(async () => {
    await null;
    assert.equal(flow.getOption('detectAnomaly'), 1);
    pass();
  }), expected);
  assert.equal(flow.getOption('detectAnomaly'), 0);
});

test('a graph keeps what it needs of disposed tensors', () => {
  const x = flow.tensor([1, 2]).setRequiresGrad();
  flow.tidy(() => x.mul(x).exp().sum()).backward();
  assert.ok(Math.abs(x.grad.toArray()[0] - 2 * Math.E) < 1e-5);
  x.grad = null;
  const y = x.mul(3);
  const loss = y.mul(y).sum();
  y.dispose();
  loss.backward();
  assert.deepEqual(x.grad.toArray(), [18, 36]);
  flow.tidy(() => x.mul(2).sum().backward());
  assert.deepEqual(x.grad.toArray(), [20, 38], 'gradients of leaves outlive the scope of the pass');
  const [grad] = flow.tidy(() => flow.grad(x.mul(x).sum(), [x]));
  assert.deepEqual(grad.toArray(), [2, 4]);
});
