'use strict';

/** Calls of functions. Those that the short path does not take are bound by the addon. */

const native = require('../addon/native');
const frame = require('./frame');
const {traced} = require('../errors');
const {withEquation} = require('./labelled');
const {ShortCall} = require('./shortCall');
const {isTensor, isPlainObject, slotOf, pendingTensor, complete, inScope} = require('../tensor/tensor');

const {KIND} = frame;
/** A value of of_status in oneflow.h. */
const OK = 0;
/** The values of of_manner in objects.h. */
const [AS_FUNCTION, AS_METHOD, IN_PLACE] = [0, 1, 2];
const NONE = [];

/**
 * Separates the options from the positional arguments of a call: the last argument, or the one in front of the separate
 * items of a list, which begin at one of `starts`. Returns what the addon binds: the positional arguments, the names
 * and the values of the options, which are own properties whose getters run once, and the position of options in front
 * of items, else -1.
 */
function separate(args, starts) {
  const given = args.length > 0 && args.at(-1) === undefined ? args.slice(0, -1) : args; // undefined options
  const last = given.length - 1;
  const isLast = last >= 0 && isPlainObject(given[last]);
  const at = isLast ? last : starts.find((start) => start >= 0 && start < last && isPlainObject(given[start])) ?? -1;
  if (at < 0) return [given, NONE, NONE, -1];
  const entries = Object.entries(given[at]).filter(([, value]) => value !== undefined);
  const [names, values] = [0, 1].map((i) => entries.map((entry) => entry[i]));
  return [given.filter((_, i) => i !== at), names, values, isLast ? -1 : at];
}

/**
 * A public function: the overloads that share one name. Its methods take the receiver of a method call (undefined for a
 * function call) and the array of arguments that the user passed.
 */
class PublicFunction {
  #short;
  #shortInPlace;

  /** Makes the function at a position of the table of the addon. */
  constructor(number, {name, inPlaceName, takesEquation = false}) {
    this.number = number;
    this.name = name;
    this.inPlaceName = inPlaceName;
    /** Whether tensors, each followed by its labels, may replace the equation and its operands. */
    this.takesEquation = takesEquation;
  }

  /** Returns the description of the overload that calls are first tried with. */
  describe(isInPlace) {
    return native.describeFunction(this.number, isInPlace);
  }

  /** Runs the call in the frame. */
  run(tensor, receiver, args) {
    return native.call(tensor, receiver, args);
  }

  /** Binds and runs a call. `owner` owns the slot of a single result, unless it is undefined. */
  runBound(manner, owner, args) {
    return native.callFunction(this.number, manner, owner, ...args);
  }

  /** Binds a call, and runs it on another thread. */
  runAsync(manner, args) {
    return native.callFunctionAsync(this.number, manner, ...args);
  }

  /** Calls the operator and returns its result, or `out` if the arguments contain one. */
  call(receiver, args) {
    const short = (this.#short ??= new ShortCall(this.describe(false)));
    if (short.write(receiver, args, !inScope())) return this.#finish(receiver, args);
    const given = this.#separate(short, receiver, args);
    const [positional, names, values, start] = given;
    const placed = start < 0 ? short.place(receiver, positional, names, values) : undefined;
    if (placed !== undefined && short.write(receiver, placed, !inScope(), true)) return this.#finish(receiver, placed);
    const tensor = pendingTensor();
    const returned = this.#bind(receiver === undefined ? AS_FUNCTION : AS_METHOD, receiver, given, tensor);
    return typeof returned === 'number' ? asLeaf(complete(tensor, returned), names, values) : returned;
  }

  /** Calls the in-place form of a method: writes the result to the receiver and returns the receiver. */
  callInPlace(receiver, args) {
    const short = (this.#shortInPlace ??= new ShortCall(this.describe(true)));
    if (short.write(receiver, args, false)) {
      frame.putPlain(short.count, KIND.tensor, slotOf(receiver));
      native.call(undefined, receiver, args);
      if (frame.status() !== OK) throw native.lastError(frame.status(), this.inPlaceName);
      return receiver;
    }
    this.#bind(IN_PLACE, receiver, this.#separate(short, receiver, args));
    return receiver;
  }

  /** Calls the in-place form of an operator on a list of tensors: writes to the tensors and returns the list. */
  callOnList(args) {
    const short = (this.#shortInPlace ??= new ShortCall(this.describe(true)));
    return this.#bind(IN_PLACE, undefined, this.#separate(short, undefined, args));
  }

  /** Calls the operator on another thread. */
  async callAsync(receiver, args) {
    const short = (this.#short ??= new ShortCall(this.describe(false)));
    const given = this.#separate(short, receiver, args);
    const manner = receiver === undefined ? AS_FUNCTION : AS_METHOD;
    const result = await traced(settled(this.runAsync(manner, prepared(receiver, given))));
    return asLeaf(result, given[1], given[2]);
  }

  /** Separates the arguments of a call, and replaces operands with labels by an equation. */
  #separate(short, receiver, args) {
    const given = separate(args, short.formOf(receiver).starts);
    if (this.takesEquation && isTensor(given[0][0])) given[0] = withEquation(this.name, given[0]);
    return given;
  }

  #bind(manner, receiver, given, tensor) {
    return settled(this.runBound(manner, inScope() ? undefined : tensor, prepared(receiver, given)));
  }

  /**
   * Runs the call in the frame, and returns its result. The addon returns undefined for a single tensor, whose slot is
   * in the frame: it then completes the pending tensor.
   */
  #finish(receiver, args) {
    const tensor = pendingTensor();
    const returned = this.run(tensor, receiver, args);
    if (frame.status() !== OK) throw native.lastError(frame.status(), this.name);
    return returned === undefined ? complete(tensor, frame.resultSlot()) : returned;
  }
}

/** Returns the slot of a tensor, 0 for other values. */
const slotOfValue = (value) => (isTensor(value) ? slotOf(value) : 0);

/** Returns what the addon binds: separated arguments, with the receiver of a method in front. */
function prepared(receiver, [positional, names, values, start]) {
  const given = receiver === undefined ? positional : [receiver, ...positional];
  frame.putSlots(slotOfValue, given, values);
  return [given, names, values, start];
}

/** Returns what the addon has returned for a call that it has bound. Throws it if it is an exception. */
function settled(returned) {
  if (frame.status() !== OK) throw returned;
  return returned;
}

/** Returns a new tensor, which from now on requires a gradient if the options say so. */
function asLeaf(result, names, values) {
  return values[names.indexOf('requiresGrad')] === true ? result.setRequiresGrad() : result;
}

module.exports = {PublicFunction, separate, settled};
