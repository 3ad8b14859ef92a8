'use strict';

/** Calls of operators: selects the overload, runs the call once, and converts the results. */

const native = require('./native');
const dtypes = require('./dtypes');
const frame = require('./frame');
const {makeError, traced} = require('./errors');
const {withEquation} = require('./labelled');
const {Overload, Refusal} = require('./signature');
const {
  isTensor, isPlainObject, slotOf, pendingTensor, complete, wrapSlot, inScope, describe, disposedError,
} = require('./tensor');

const {KIND} = frame;
/** A value of of_status in oneflow.h. */
const OK = 0;

/**
 * A public function: the overloads that share one name. Its methods take the receiver of a method call (undefined for a
 * function call) and the array of arguments that the user passed.
 */
class PublicFunction {
  /**
   * Makes the function of `record`, an entry of the generated table. Errors name it `name`. `Reader` is the class that
   * reads what stands for tensors; without it, nothing does.
   */
  constructor(record, name = record.name, Reader = undefined) {
    this.name = name;
    this.Reader = Reader;
    this.overloads = record.overloads.map((overload) => new Overload(overload, this.name));
    this.inPlaceOverloads = this.overloads.filter((overload) => overload.hasInPlace);
    /** Whether tensors, each followed by its labels, may replace the equation and its operands. */
    this.takesEquation = record.takesEquation ?? false;
  }

  /** Calls the operator and returns its result, or `out` if the arguments contain one. */
  call(receiver, args) {
    return this.callThrough(native.call, receiver, args);
  }

  /** Calls the operator like call(), through `call`, the function of the addon that runs the contents of the frame. */
  callThrough(call, receiver, args) {
    const overload = this.overloads[0];
    if (overload.writeDirect(receiver, args, !inScope())) {
      const tensor = pendingTensor();
      const returned = call(tensor, receiver, args);
      if (frame.status() !== OK) throw native.lastError(frame.status(), this.name);
      return finish(overload, returned, tensor);
    }
    return this.callBound(call, receiver, args);
  }

  /** Binds all arguments before it writes them to the frame. */
  callBound(call, receiver, args) {
    const {overload, values, out, requiresGrad} = this.resolve(receiver, args, this.overloads);
    if (out === undefined) return asLeaf(run(overload, values, null, call), requiresGrad);
    run(overload, values, targetsOf(overload, out), call);
    return out;
  }

  /** Calls the in-place form of a method: writes the result to the receiver and returns the receiver. */
  callInPlace(receiver, args) {
    const first = this.inPlaceOverloads[0];
    if (first.writeDirect(receiver, args, false)) {
      frame.putPlain(first.arguments.length, KIND.tensor, slotOf(receiver));
      native.call(undefined, receiver, args);
      if (frame.status() !== OK) throw native.lastError(frame.status(), this.name);
      return receiver;
    }
    const {overload, values} = this.resolveWithoutOut(receiver, args, this.inPlaceOverloads);
    run(overload, values, [receiver]);
    return receiver;
  }

  /** Calls the in-place form of an operator on a list of tensors: writes to the tensors and returns the list. */
  callOnList(args) {
    const {overload, values} = this.resolveWithoutOut(undefined, args, this.inPlaceOverloads, false);
    const tensors = values[overload.replacedList.index];
    run(overload, values, [tensors]);
    return tensors;
  }

  /**
   * Calls the operator on another thread. `call` is the function of the addon that runs a copy of the frame for a
   * function of this name.
   */
  async callAsync(receiver, args, call = native.callAsync) {
    const {overload, values, requiresGrad} = this.resolveWithoutOut(receiver, args, this.overloads);
    prepare(overload, values, null, false);
    return asLeaf(collect(overload, await traced(call(overload.name, values))), requiresGrad);
  }

  /**
   * Selects the first overload that accepts the arguments. Returns it with the values of its arguments and the options
   * `out` and `requiresGrad`. If none does, throws the error of the overload that got furthest in binding them. With
   * `readsArrays`, what stands for a tensor is converted to one, if no overload accepts it as it is.
   */
  resolve(receiver, args, overloads, readsArrays = true) {
    const given = args.length > 0 && args.at(-1) === undefined ? args.slice(0, -1) : args; // undefined options
    const at = this.optionsAt(receiver, given, overloads);
    const options = at < 0 ? null : {...given[at]}; // own properties only; each getter runs once
    const own = (name) => (at >= 0 && Object.hasOwn(options, name) ? options[name] ?? undefined : undefined);
    const [out, requiresGrad] = [own('out'), own('requiresGrad')];
    let positional = at < 0 ? given : given.filter((_, i) => i !== at);
    if (this.takesEquation && isTensor(positional[0])) positional = withEquation(this.name, positional);
    const isInFront = at >= 0 && at < given.length - 1;
    const possible = isInFront ? overloads.filter((each) => each.startOfItems(receiver) === at) : overloads;
    const found = select(possible, receiver, positional, options);
    if (!(found instanceof Refusal)) return {...found, out, requiresGrad: flagOf(found.overload, requiresGrad)};
    if (!readsArrays || this.Reader === undefined) throw found.toError();
    // Tensors, numbers and arrays told the overloads apart; now arrays and numbers stand for tensors, too.
    const values = options === null ? positional : [...positional, ...Object.values(options)];
    const arrays = new this.Reader(receiver === undefined ? values : [receiver]);
    const second = select(possible, receiver, positional, options, arrays);
    if (second instanceof Refusal) throw second.toError();
    return {...second, out, requiresGrad: flagOf(second.overload, requiresGrad)};
  }

  /**
   * Returns the position of the options among the arguments: the last one, or the one in front of the items of a
   * trailing list. Returns -1 if there are no options.
   */
  optionsAt(receiver, args, overloads) {
    const last = args.length - 1;
    if (last >= 0 && isPlainObject(args[last])) return last;
    for (const overload of overloads) {
      const at = overload.startOfItems(receiver);
      if (at >= 0 && at < last && isPlainObject(args[at])) return at;
    }
    return -1;
  }

  /** Selects the overload like resolve(), but throws TypeMismatch for an `out` option. */
  resolveWithoutOut(receiver, args, overloads, readsArrays) {
    const resolved = this.resolve(receiver, args, overloads, readsArrays);
    if (resolved.out === undefined) return resolved;
    throw makeError('TypeMismatch', `${resolved.overload.name}: unknown argument out`);
  }
}

/**
 * Returns the first overload that accepts the arguments, with their values; the Refusal of the one that got furthest if
 * none does.
 */
function select(overloads, receiver, positional, options, arrays) {
  let furthest;
  for (const overload of overloads) {
    const values = overload.bind(receiver, positional, options, arrays);
    if (!(values instanceof Refusal)) return {overload, values};
    if (furthest === undefined || values.rank > furthest.rank) furthest = values;
  }
  return furthest;
}

/** Returns the option `requiresGrad` of a call: false without it. Throws TypeMismatch unless it is a boolean. */
function flagOf(overload, requiresGrad = false) {
  if (typeof requiresGrad === 'boolean') return requiresGrad;
  throw makeError('TypeMismatch', `${overload.name}: requiresGrad must be boolean, got ${describe(requiresGrad)}`);
}

/** Returns a new tensor, which from now on requires a gradient if wanted. */
function asLeaf(result, requiresGrad) {
  return requiresGrad ? result.setRequiresGrad() : result;
}

/** Returns the tensors of the `out` option as an array with one tensor per result. Throws TypeMismatch. */
function targetsOf(overload, out) {
  const wanted = overload.resultNames.length;
  const list = wanted > 1 && dtypes.isArray(out) ? [...out] : [out];
  if (list.length === wanted && list.every(isTensor)) return list;
  const expected = wanted === 1 ? 'Tensor' : `array of ${wanted} Tensors`;
  throw makeError('TypeMismatch', `${overload.name}: out must be ${expected}, got ${describe(out)}`);
}

/** Returns the slot of a tensor to write to. Throws InvalidArgument if it was disposed of. */
function slot(overload, target) {
  const found = slotOf(target);
  if (found === 0) throw disposedError(overload.name, 'out');
  return found;
}

/**
 * Writes a call to the frame. `targets` has one tensor or list of tensors per result to write to, or is null if the
 * runtime is to allocate the results. `isOwned` says whether the object passed to the addon owns the result.
 */
function prepare(overload, values, targets, isOwned) {
  const resultCount = overload.resultNames.length;
  frame.begin(overload.find(), values.length, resultCount, isOwned);
  overload.write(values);
  for (let i = 0; i < resultCount; i++) {
    const position = values.length + i;
    const target = targets === null ? null : targets[i];
    if (target === null) frame.putPlain(position, KIND.absent, 0);
    else if (isTensor(target)) frame.putPlain(position, KIND.tensor, slot(overload, target));
    else frame.putList(position, KIND.tensorList, target.map((each) => slot(overload, each)));
  }
}

/** Runs a call. Returns its result, or undefined if the results were written to `targets`. */
function run(overload, values, targets, call = native.call) {
  const tensor = pendingTensor();
  prepare(overload, values, targets, !inScope());
  const returned = call(tensor, values, targets);
  if (frame.status() !== OK) throw native.lastError(frame.status(), overload.name);
  return targets === null ? finish(overload, returned, tensor) : undefined;
}

/**
 * Returns the result of a successful call. The addon returns undefined for a single tensor, whose slot is in the frame:
 * it then completes the pending tensor.
 */
function finish(overload, returned, tensor) {
  return returned === undefined ? complete(tensor, frame.resultSlot()) : collect(overload, returned);
}

/** Converts a result of the addon to the value for the user: replaces each {slot}, also in lists, with a tensor. */
function toValue(result) {
  if (Array.isArray(result)) return result.map(toValue);
  return typeof result === 'object' && result !== null ? wrapSlot(result.slot) : result;
}

/** Returns the only result, or an array of all results that also has them as named properties. */
function collect(overload, results) {
  const values = results.map(toValue);
  if (values.length === 1) return values[0];
  overload.resultNames.forEach((name, i) => {
    if (name !== '') values[name] = values[i];
  });
  return values;
}

module.exports = {PublicFunction};
