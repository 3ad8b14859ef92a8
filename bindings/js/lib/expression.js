'use strict';

/** einsumPath() and einsumExpression(): contractions that are worked out before there are operands. */

const util = require('node:util');
const native = require('./native');
const frame = require('./frame');
const {makeError} = require('./errors');
const {PublicFunction} = require('./call');
const {describe, exact, withMemory} = require('./tensor');

const takesOptimize = (type, expected) => ({
  operator: 'einsum',
  arguments: [
    {name: 'equation', type: 'str', expected: 'string'},
    {name: 'operands', type: 'shape[]', expected: 'array of Tensors or shapes'},
    {name: 'optimize', type, expected, hasDefault: type.endsWith('?'), keywordOnly: true},
    {name: 'memoryLimit', type: 'int?', expected: 'integer or null', hasDefault: true, keywordOnly: true},
  ],
  results: [],
});

/** A function that works out an equation; the addon reads its arguments in this order. */
const planner = (name) => new PublicFunction({
  name,
  takesEquation: true,
  overloads: [
    takesOptimize('str?', 'string or null'),
    takesOptimize('bool', 'boolean'),
    takesOptimize('pair[]', 'array of pairs of integers'),
  ],
});

const pathPlanner = planner('einsumPath');
const expressionPlanner = planner('einsumExpression');

/** How an expression takes its operands. */
const caller = new PublicFunction({
  name: 'einsum',
  overloads: [{
    operator: 'einsum',
    arguments: [{name: 'operands', type: 'Tensor[]', expected: 'array of Tensors'}],
    results: [''],
    out: true,
  }],
});

/** The addon's slot of what a planner's arguments ask for. */
function plan(callable, args) {
  const {overload, values} = callable.resolve(undefined, args, callable.overloads);
  return withMemory(() => {
    frame.begin(0, values.length, 0, false);
    overload.write(values);
    return native.createExpression();
  });
}

const frozen = (lists) => Object.freeze(lists.map((list) => Object.freeze(list)));

/** What there is to know of the expression in a slot, as users see it. */
function describeSlot(slot) {
  const {path, shape, shapes, ...others} = native.describeExpression(slot);
  const pairs = Array.from({length: path.length / 2}, (_, i) => [path[2 * i], path[2 * i + 1]]);
  return {...others, shapes: frozen(shapes), shape: Object.freeze(shape), path: frozen(pairs)};
}

/** einsumPath(equation, ...operands, options) */
function einsumPath(...args) {
  const slot = plan(pathPlanner, args);
  const {path, flops, naiveFlops, largestIntermediate, report} = describeSlot(slot);
  native.release(slot);
  return {path, flops, naiveFlops, largestIntermediate, report};
}

/** A function that has the prototype, and so the methods and private fields, of a class that extends this one. */
class Callable {
  constructor(fn) {
    return Object.setPrototypeOf(fn, new.target.prototype);
  }
}
Object.setPrototypeOf(Callable.prototype, Function.prototype);

let isExpression;

/** What the constructor wants to see: expressions are made by einsumExpression(). */
const KEY = Symbol('expression');

/** An equation that was worked out for operands of given shapes; a function of the operands. */
class EinsumExpression extends Callable {
  /** Where the addon keeps it; 0 once the expression is disposed of. */
  #slot;

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

  /** The same on another thread. */
  async async(...args) {
    check(this, 'async');
    return caller.callAsync(undefined, args, (values) => native.callExpressionAsync(this.#live(), values, this));
  }

  get isDisposed() {
    check(this, 'isDisposed');
    return this.#slot === 0;
  }

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
    return isExpression(this) ? this.toString() : 'EinsumExpression {}'; // one that only looks like one
  }

  #live() {
    if (this.#slot !== 0) return this.#slot;
    throw makeError('InvalidArgument', 'einsum: the expression must be live, got a disposed one');
  }
}

function check(value, method) {
  if (!isExpression(value)) {
    throw makeError('TypeMismatch', `${method}: the receiver must be an expression, got ${describe(value)}`);
  }
}

/** einsumExpression(equation, ...shapes, options) */
const einsumExpression = (...args) => new EinsumExpression(KEY, plan(expressionPlanner, args));

module.exports = {einsumPath, einsumExpression};
