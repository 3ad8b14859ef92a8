'use strict';

/** Calls of operators: which overload, what becomes of the result, and what happens when memory runs out. */

const native = require('./native');
const dtypes = require('./dtypes');
const frame = require('./frame');
const {makeError, traced} = require('./errors');
const {withEquation} = require('./labelled');
const {Overload, Refusal} = require('./signature');
const {
  isTensor, isPlainObject, slotOf, pendingTensor, complete, wrapSlot, inScope, describe, disposedError, withMemory,
} = require('./tensor');

const {KIND} = frame;
/** of_status values. */
const OK = 0;
const OUT_OF_MEMORY = 7;

/**
 * A public function: the overloads behind one name. Calls come with the receiver of a method, or undefined, and with
 * the arguments as they were written.
 */
class PublicFunction {
  /** `record` is an entry of the generated table. */
  constructor(record) {
    this.name = record.name;
    this.overloads = record.overloads.map((overload) => new Overload(overload, this.name));
    this.inPlaceOverloads = this.overloads.filter((overload) => overload.hasInPlace);
    /** Whether operands may come with their labels in place of an equation. */
    this.takesEquation = record.takesEquation ?? false;
  }

  call(receiver, args) {
    return this.callThrough(native.call, receiver, args);
  }

  /** The same; `call` is what the addon does with what is in the frame. */
  callThrough(call, receiver, args) {
    const overload = this.overloads[0];
    if (overload.writeDirect(receiver, args, !inScope())) {
      const tensor = pendingTensor();
      const returned = call(tensor, receiver, args);
      const status = frame.status();
      if (status === OK) return finish(overload, returned, tensor);
      if (status !== OUT_OF_MEMORY) throw native.lastError(status);
    }
    return this.callBound(call, receiver, args);
  }

  /** The general way: binds all arguments first, and tries again when memory runs out. */
  callBound(call, receiver, args) {
    const {overload, values, out} = this.resolve(receiver, args, this.overloads);
    if (out === undefined) return run(overload, values, null, call);
    run(overload, values, targetsOf(overload, out), call);
    return out;
  }

  /** Writes the result to the receiver and returns it. */
  callInPlace(receiver, args) {
    const first = this.inPlaceOverloads[0];
    if (first.writeDirect(receiver, args, false)) {
      frame.putPlain(first.arguments.length, KIND.tensor, slotOf(receiver));
      native.call(undefined, receiver, args);
      const status = frame.status();
      if (status === OK) return receiver;
      if (status !== OUT_OF_MEMORY) throw native.lastError(status);
    }
    const {overload, values} = this.resolveWithoutOut(receiver, args, this.inPlaceOverloads);
    run(overload, values, [receiver]);
    return receiver;
  }

  /** The in-place form of an operator over a list of tensors: writes to them and returns them. */
  callOnList(args) {
    const {overload, values} = this.resolveWithoutOut(undefined, args, this.inPlaceOverloads);
    const tensors = values[overload.replacedList.index];
    run(overload, values, [tensors]);
    return tensors;
  }

  /** On another thread; `call` is what the addon does with what is in the frame. */
  async callAsync(receiver, args, call = native.callAsync) {
    const {overload, values} = this.resolveWithoutOut(receiver, args, this.overloads);
    const promise = withMemory(() => {
      prepare(overload, values, null, false);
      return call(values);
    });
    return collect(overload, await traced(promise));
  }

  /** Finds the overload that takes the arguments; returns it with the values bound to it and the `out` option. */
  resolve(receiver, args, overloads) {
    const given = args.length > 0 && args.at(-1) === undefined ? args.slice(0, -1) : args; // perhaps no options
    const at = this.optionsAt(receiver, given, overloads);
    const options = at < 0 ? null : {...given[at]}; // its own properties, each read once
    const out = at >= 0 && Object.hasOwn(options, 'out') ? options.out ?? undefined : undefined;
    let positional = at < 0 ? given : given.filter((_, i) => i !== at);
    if (this.takesEquation && isTensor(positional[0])) positional = withEquation(this.name, positional);
    let furthest = null;
    const isInFront = at >= 0 && at < given.length - 1;
    for (const overload of overloads) {
      if (isInFront && overload.startOfMembers(receiver) !== at) continue;
      const values = overload.bind(receiver, positional, options);
      if (!(values instanceof Refusal)) return {overload, values, out};
      if (furthest === null || values.progress > furthest.progress) furthest = values;
    }
    throw furthest.toError();
  }

  /** Which argument is the options: the last, or one in front of the members of a list; -1 where there are none. */
  optionsAt(receiver, args, overloads) {
    const last = args.length - 1;
    if (last >= 0 && isPlainObject(args[last])) return last;
    for (const overload of overloads) {
      const at = overload.startOfMembers(receiver);
      if (at >= 0 && at < last && isPlainObject(args[at])) return at;
    }
    return -1;
  }

  resolveWithoutOut(receiver, args, overloads) {
    const resolved = this.resolve(receiver, args, overloads);
    if (resolved.out === undefined) return resolved;
    throw makeError('TypeMismatch', `${resolved.overload.name}: unknown argument out`);
  }
}

/** The tensors that `out` names, one per result. */
function targetsOf(overload, out) {
  const wanted = overload.resultNames.length;
  const list = wanted > 1 && dtypes.isArray(out) ? [...out] : [out];
  if (list.length === wanted && list.every(isTensor)) return list;
  const expected = wanted === 1 ? 'Tensor' : `array of ${wanted} Tensors`;
  throw makeError('TypeMismatch', `${overload.name}: out must be ${expected}, got ${describe(out)}`);
}

/** The slot of a tensor that is written to. */
function slot(overload, target) {
  const found = slotOf(target);
  if (found === 0) throw disposedError(overload.name, 'out');
  return found;
}

/** Writes a call to the frame; a target is a tensor, or a list of them. */
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

/** Runs a call; returns its result, or undefined when it was written to targets. */
function run(overload, values, targets, call = native.call) {
  return withMemory(() => {
    const tensor = pendingTensor();
    prepare(overload, values, targets, !inScope());
    const returned = call(tensor, values, targets);
    if (frame.status() !== OK) throw native.lastError(frame.status());
    return targets === null ? finish(overload, returned, tensor) : undefined;
  });
}

/** The result of a call that succeeded: the pending tensor with its slot, or what the addon returned. */
function finish(overload, returned, tensor) {
  return returned === undefined ? complete(tensor, frame.resultSlot()) : collect(overload, returned);
}

/** A result as the user gets it: {slot} becomes a tensor, in lists too. */
function toValue(result) {
  if (Array.isArray(result)) return result.map(toValue);
  return typeof result === 'object' && result !== null ? wrapSlot(result.slot) : result;
}

/** The one result, or an array of all results that has them by name as well. */
function collect(overload, results) {
  const values = results.map(toValue);
  if (values.length === 1) return values[0];
  overload.resultNames.forEach((name, i) => {
    if (name !== '') values[name] = values[i];
  });
  return values;
}

module.exports = {PublicFunction};
