'use strict';

/** einsumPath() and einsumExpression(): contractions that are worked out before there are operands. */

const util = require('node:util');
const native = require('./native');
const frame = require('./frame');
const {makeError, refuseNullByte} = require('./errors');
const {PublicFunction} = require('./call');
const {describe, withMemory} = require('./tensor');

const takesOptimize = (type, expected) => ({
  operator: 'einsum',
  arguments: [
    {name: 'equation', type: 'str', expected: 'string'},
    {name: 'operands', type: 'shape[]', expected: 'array of Tensors or shapes'},
    {name: 'optimize', type, expected, hasDefault: type.endsWith('?'), keywordOnly: true},
    {name: 'memoryLimit', type: 'int?', expected: 'integer', hasDefault: true, keywordOnly: true},
  ],
  results: [],
});

/** A function that works out an equation; the addon reads its arguments in this order. */
const planner = (name) => new PublicFunction({
  name,
  takesEquation: true,
  overloads: [
    takesOptimize('str?', 'string'),
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

/** The addon's handle of what a planner's arguments ask for. */
function plan(callable, args) {
  const {overload, values} = callable.resolve(undefined, args, callable.overloads);
  const [equation, , optimize] = values;
  refuseNullByte(callable.name, 'equation', equation);
  if (typeof optimize === 'string') refuseNullByte(callable.name, 'optimize', optimize);
  return withMemory(() => {
    frame.begin(0, values.length, 0, false);
    overload.write(values);
    return native.createExpression();
  });
}

const frozen = (lists) => Object.freeze(lists.map((list) => Object.freeze(list)));

/** What there is to know of a handle, as users see it. */
function describeHandle(handle) {
  const {path, shape, shapes, ...others} = native.describeExpression(handle);
  const pairs = Array.from({length: path.length / 2}, (_, i) => [path[2 * i], path[2 * i + 1]]);
  return {...others, shapes: frozen(shapes), shape: Object.freeze(shape), path: frozen(pairs)};
}

/** einsumPath(equation, ...operands, options) */
function einsumPath(...args) {
  const handle = plan(pathPlanner, args);
  const {path, flops, naiveFlops, largestIntermediate, report} = describeHandle(handle);
  native.releaseExpression(handle);
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

/** An equation that was worked out for operands of given shapes; a function of the operands. */
class EinsumExpression extends Callable {
  /** The addon's; null once the expression is disposed of. */
  #handle;

  constructor(handle) {
    const call = (owner, values, targets) => native.callExpression(this.#live(), owner, values, targets);
    super((...args) => caller.callThrough(call, undefined, args));
    this.#handle = handle;
    Object.freeze(Object.assign(this, describeHandle(handle)));
  }

  static {
    isExpression = (value) => typeof value === 'function' && #handle in value;
  }

  /** The same on another thread. */
  async async(...args) {
    check(this, 'async');
    return caller.callAsync(undefined, args, (values) => native.callExpressionAsync(this.#live(), values));
  }

  get isDisposed() {
    check(this, 'isDisposed');
    return this.#handle === null;
  }

  dispose() {
    check(this, 'dispose');
    if (this.#handle !== null) native.releaseExpression(this.#handle);
    this.#handle = null;
  }

  [Symbol.dispose]() {
    this.dispose();
  }

  toString() {
    return `einsumExpression(${[this.equation, ...this.shapes].map((part) => util.inspect(part)).join(', ')})`;
  }

  [util.inspect.custom]() {
    return this.toString();
  }

  #live() {
    if (this.#handle !== null) return this.#handle;
    throw makeError('InvalidArgument', 'einsum: the expression must be live, got a disposed one');
  }
}

function check(value, method) {
  if (!isExpression(value)) {
    throw makeError('TypeMismatch', `${method}: the receiver must be an expression, got ${describe(value)}`);
  }
}

/** einsumExpression(equation, ...shapes, options) */
const einsumExpression = (...args) => new EinsumExpression(plan(expressionPlanner, args));

module.exports = {einsumPath, einsumExpression};
