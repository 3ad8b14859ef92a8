'use strict';

/** einsumPath() and einsumExpression(): contractions that are planned for shapes, before their operands exist. */

const util = require('node:util');
const native = require('./native');
const frame = require('./frame');
const {ArrayReader} = require('./arrayLike');
const {makeError} = require('./errors');
const {PublicFunction} = require('./call');
const {describe, exact} = require('./tensor');

/** Makes the overload of a planner whose option `optimize` has this type. */
const takesOptimize = (type, expected, item) => ({
  operator: 'einsum',
  arguments: [
    {name: 'equation', type: 'str', expected: 'string'},
    {
      name: 'operands', type: 'shape[]', expected: 'array of Tensors or shapes', item: 'Tensor or array of integers',
    },
    {name: 'optimize', type, expected, item, hasDefault: type.endsWith('?'), keywordOnly: true},
    {name: 'memoryLimit', type: 'int?', expected: 'integer or null', hasDefault: true, keywordOnly: true},
  ],
  results: [],
});

/** Makes a function that binds the arguments of an equation to be planned. The addon reads them in this order. */
const planner = (name) => new PublicFunction({
  name,
  takesEquation: true,
  overloads: [
    takesOptimize('str?', 'string or null'),
    takesOptimize('bool', 'boolean'),
    takesOptimize('pair[]', 'array of pairs of integers', 'pair of integers'),
  ],
}, name, ArrayReader);

const pathPlanner = planner('einsumPath');
const expressionPlanner = planner('einsumExpression');

/** Binds the operands of a call of an expression. */
const caller = new PublicFunction({
  name: 'einsum',
  overloads: [{
    operator: 'einsum',
    arguments: [{name: 'operands', type: 'Tensor[]', expected: 'array of Tensors', item: 'Tensor'}],
    results: [''],
    out: true,
  }],
}, 'einsum', ArrayReader);

/** Binds the arguments to a planner and plans the contraction. Returns the slot of the expression in the addon. */
function plan(callable, args) {
  const {overload, values} = callable.resolve(undefined, args, callable.overloads);
  frame.begin(0, values.length, 0, false);
  overload.write(values);
  return native.createExpression(values);
}

/** Freezes a list of lists and returns it. */
const frozen = (lists) => Object.freeze(lists.map((list) => Object.freeze(list)));

/** Returns the public properties of the expression in a slot. */
function describeSlot(slot) {
  const {path, shape, shapes, ...others} = native.describeExpression(slot);
  const pairs = Array.from({length: path.length / 2}, (_, i) => [path[2 * i], path[2 * i + 1]]);
  return {...others, shapes: frozen(shapes), shape: Object.freeze(shape), path: frozen(pairs)};
}

/** Implements einsumPath(equation, ...operands, options). */
function einsumPath(...args) {
  const slot = plan(pathPlanner, args);
  const {path, flops, naiveFlops, largestIntermediate, report} = describeSlot(slot);
  native.release(slot);
  return {path, flops, naiveFlops, largestIntermediate, report};
}

/**
 * The base class of callable objects. Its constructor returns the function `fn` with the prototype of the derived
 * class, whose methods and private fields the function then has.
 */
class Callable {
  constructor(fn) {
    return Object.setPrototypeOf(fn, new.target.prototype);
  }
}
Object.setPrototypeOf(Callable.prototype, Function.prototype);

let isExpression;

/** The key that the constructor requires, so that only einsumExpression() creates expressions. */
const KEY = Symbol('expression');

/** An equation that was planned for operands of given shapes: a function of such operands. */
class EinsumExpression extends Callable {
  /** The slot of the expression in the addon; 0 once it is disposed of. */
  #slot;

  /** Creates an expression that owns the slot. Throws TypeMismatch when called from outside of this module. */
  constructor(key, slot) {
    if (key !== KEY) throw makeError('TypeMismatch', 'EinsumExpression: expressions are made by einsumExpression(...)');
    const call = (owner, values, targets) => native.callExpression(this.#live(), owner, values, targets, this);
    super((...args) => caller.callThrough(call, undefined, args));
    this.#slot = slot;
    native.own(this, slot);
    const known = describeSlot(slot);
    for (const sizes of [known.shape, ...known.shapes]) exact('einsumExpression', sizes);
    Object.freeze(Object.assign(this, known));
  }

  static {
    isExpression = (value) => typeof value === 'function' && #slot in value;
  }

  /** Computes the contraction on another thread. Returns a promise of the result. */
  async async(...args) {
    check(this, 'async');
    return caller.callAsync(undefined, args, (_, values) => native.callExpressionAsync(this.#live(), values, this));
  }

  /** Whether dispose() was called. */
  get isDisposed() {
    check(this, 'isDisposed');
    return this.#slot === 0;
  }

  /** Releases the memory at once. Further calls do nothing. */
  dispose() {
    check(this, 'dispose');
    native.release(this.#slot);
    this.#slot = 0;
  }

  [Symbol.dispose]() {
    this.dispose();
  }

  toString() {
    check(this, 'toString');
    return `einsumExpression(${[this.equation, ...this.shapes].map((part) => util.inspect(part)).join(', ')})`;
  }

  [util.inspect.custom]() {
    return isExpression(this) ? this.toString() : 'EinsumExpression {}'; // an object with only the prototype
  }

  /** Returns the slot. Throws InvalidArgument if the expression was disposed of. */
  #live() {
    if (this.#slot !== 0) return this.#slot;
    throw makeError('InvalidArgument', 'einsum: the expression must be live, got a disposed one');
  }
}

/** Throws TypeMismatch if the receiver of a method is not an expression. */
function check(value, method) {
  if (!isExpression(value)) {
    throw makeError('TypeMismatch', `${method}: the receiver must be an expression, got ${describe(value)}`);
  }
}

/** Implements einsumExpression(equation, ...operands, options). */
const einsumExpression = (...args) => new EinsumExpression(KEY, plan(expressionPlanner, args));

module.exports = {einsumPath, einsumExpression};
