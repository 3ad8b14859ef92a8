'use strict';

/** einsumPath() and einsumExpression(): contractions that are planned for shapes, before their operands exist. */

const util = require('node:util');
const native = require('../addon/native');
const {PublicFunction, separate, settled} = require('./call');
const dtypes = require('../tensor/dtypes');
const frame = require('./frame');
const {makeError} = require('../errors');
const {withEquation} = require('./labelled');
const {MAX_RANK} = require('../tensor/nested');
const {isInteger} = require('./scalars');
const {describe, disposedError, exact, isTensor, slotOf} = require('../tensor/tensor');

/** The most operands. Copying a longer list could exhaust the heap, which ends the process. */
const MOST_OPERANDS = 2 ** 20;

/** The call of an expression: einsum() of its operands. */
class Operands extends PublicFunction {
  #live;

  /** Makes the call. `live` returns the slot of the expression, or throws if it was disposed of. */
  constructor(live) {
    super(-1, {name: 'einsum'});
    this.#live = live;
  }

  describe() {
    return native.describeOperands();
  }

  run(tensor, _, args) {
    return native.callExpression(this.#live(), tensor, args);
  }

  runBound(manner, owner, args) {
    return native.bindExpression(this.#live, owner, ...args);
  }

  runAsync(manner, args) {
    return native.bindExpressionAsync(this.#live, ...args);
  }
}

/** Returns the sizes of an operand to be planned for: a tensor, or a shape. */
function sizesOf(method, operand, position) {
  const fail = (code, text) => makeError(code, `${method}: operands[${position}]${text}`);
  if (isTensor(operand)) {
    if (slotOf(operand) === 0) throw disposedError(method, 'operands');
    return native.sizes(slotOf(operand), operand);
  }
  const length = dtypes.isSequence(operand) ? operand.length : -1;
  if (length > MAX_RANK) throw fail('ShapeError', ` must have at most ${MAX_RANK} dimensions, got ${length}`);
  const sizes = Array.from({length: Math.max(0, length)}, (_, i) => operand[i]);
  if (length < 0 || !sizes.every(isInteger)) {
    throw fail('TypeMismatch', ` must be Tensor or array of integers, got ${describe(operand)}`);
  }
  const large = sizes.findIndex((size) => BigInt.asIntN(64, BigInt(size)) !== BigInt(size));
  if (large >= 0) throw fail('InvalidArgument', `[${large}] must fit into 64 bits, got a larger integer`);
  return sizes;
}

/** Returns the rank and the sizes of each operand, in one list. */
function shapesOf(method, operands) {
  if (isTensor(operands)) return shapesOf(method, [operands]);
  if (!dtypes.isArray(operands)) {
    throw makeError(
      'TypeMismatch', `${method}: operands must be array of Tensors or shapes, got ${describe(operands)}`,
    );
  }
  const {length} = operands;
  if (length > MOST_OPERANDS) {
    throw makeError(
      'InvalidArgument', `${method}: operands must have at most ${MOST_OPERANDS} items, got ${length}`,
    );
  }
  const numbers = [];
  for (let i = 0; i < length; i++) {
    const sizes = sizesOf(method, operands[i], i);
    numbers.push(sizes.length, ...sizes);
  }
  return numbers;
}

/** Returns whether an argument is a list of all operands, rather than a single one. */
const isListOfOperands = (value) => dtypes.isArray(value) && (isTensor(value[0]) || dtypes.isSequence(value[0]));

/** Binds the arguments of a planner and plans the contraction. Returns the slot of the expression in the addon. */
function plan(method, args) {
  const [given, names, values] = separate(args, [1]);
  const [equation, ...operands] = isTensor(given[0]) ? withEquation(method, given) : given;
  const isList = operands.length === 1 && isListOfOperands(operands[0]);
  const shapes = operands.length > 0 ? [shapesOf(method, isList ? operands[0] : operands)] : [];
  const positional = given.length > 0 ? [equation, ...shapes] : [];
  const named = values.map((value, i) => (names[i] === 'operands' && value !== null ? shapesOf(method, value) : value));
  frame.putSlots(() => 0, positional, named);
  return settled(native.createExpression(method, positional, names, named, -1));
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
  const slot = plan('einsumPath', args);
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
  #operands;

  /** Creates an expression that owns the slot. Throws TypeMismatch when called from outside of this module. */
  constructor(key, slot) {
    if (key !== KEY) throw makeError('TypeMismatch', 'EinsumExpression: expressions are made by einsumExpression(...)');
    const operands = new Operands(() => this.#live());
    super((...args) => operands.call(undefined, args));
    this.#slot = slot;
    this.#operands = operands;
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
    return this.#operands.callAsync(undefined, args);
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
const einsumExpression = (...args) => new EinsumExpression(KEY, plan('einsumExpression', args));

module.exports = {einsumPath, einsumExpression};
