'use strict';

/** Calls of operators: which overload, what becomes of the result, and what happens when memory runs out. */

const native = require('./native');
const frame = require('./frame');
const {makeError} = require('./errors');
const {Overload, Refusal} = require('./signature');
const tensors = require('./tensor');

const {KIND} = frame;
const {isTensor, slotOf, wrap, describe, disposedError} = tensors;
/** of_status values. */
const OK = 0;
const OUT_OF_MEMORY = 7;

/** Whether the last argument of a call is its options: a plain object. */
function isOptions(value) {
  if (typeof value !== 'object' || value === null || isTensor(value)) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

/** A public function: the overloads behind one name. */
class PublicFunction {
  /** `record` is an entry of the generated table. */
  constructor(record) {
    this.name = record.name;
    this.overloads = record.overloads.map((overload) => new Overload(overload));
  }

  /** Finds the overload that takes the arguments; returns it with the values bound to it and the options. */
  resolve(args, isMethod) {
    let count = args.length;
    let options = null;
    if (count > 0 && isOptions(args[count - 1])) options = args[--count];
    let furthest = null;
    for (const overload of this.overloads) {
      const values = overload.bind(args, count, options, isMethod);
      if (!(values instanceof Refusal)) return {overload, values, out: overload.hasOut ? options?.out : undefined};
      if (furthest === null || values.progress > furthest.progress) furthest = values;
    }
    throw furthest.toError();
  }

  call(args, isMethod) {
    const {overload, values, out} = this.resolve(args, isMethod);
    if (out === undefined || out === null) return run(overload, values, args, null);
    return run(overload, values, args, this.targets(overload, out)) ?? out;
  }

  /** Writes the result to the receiver, which is args[0], and returns it. */
  callInPlace(args) {
    const {overload, values, out} = this.resolve(args, true);
    if (out !== undefined) throw makeError('TypeMismatch', `${overload.name}: unknown argument out`);
    run(overload, values, args, [args[0]]);
    return args[0];
  }

  async callAsync(args, isMethod) {
    const {overload, values, out} = this.resolve(args, isMethod);
    if (out !== undefined) throw makeError('TypeMismatch', `${overload.name}: unknown argument out`);
    const submit = () => {
      prepare(overload, values, null, true);
      return native.callAsync(args);
    };
    let results;
    try {
      results = await submit();
    } catch (error) {
      if (error.code !== 'OutOfMemory') throw error;
      native.collectGarbage();
      results = await submit();
    }
    return collect(overload, results);
  }

  /** The tensors that `out` names, one per result. */
  targets(overload, out) {
    const list = Array.isArray(out) ? [...out] : [out];
    const wanted = overload.resultNames.length;
    if (list.length !== wanted || !list.every(isTensor)) {
      const expected = wanted === 1 ? 'Tensor' : `array of ${wanted} Tensors`;
      throw makeError('TypeMismatch', `${overload.name}: out must be ${expected}, got ${describe(out)}`);
    }
    return list;
  }
}

/** Writes a call to the frame. */
function prepare(overload, values, targets, own) {
  const argumentCount = values.length;
  const resultCount = overload.resultNames.length;
  frame.begin(overload.number < 0 ? overload.find() : overload.number, argumentCount, resultCount, own);
  overload.write(values);
  for (let i = 0; i < resultCount; i++) {
    if (targets === null) {
      frame.putPlain(argumentCount + i, KIND.absent, 0);
    } else {
      const slot = slotOf(targets[i]);
      if (slot === 0) throw disposedError(overload.name, 'out');
      frame.putPlain(argumentCount + i, KIND.tensor, slot);
    }
  }
}

/** Runs a call; returns its result, or undefined when it was written to targets. */
function run(overload, values, keepAlive, targets) {
  const own = !tensors.inScope();
  prepare(overload, values, targets, own);
  let returned = native.call(keepAlive, targets);
  if (frame.status() !== OK) {
    if (frame.status() !== OUT_OF_MEMORY) throw native.lastError(frame.status());
    native.collectGarbage(); // tensors that nobody refers to any more may free enough
    prepare(overload, values, targets, own);
    returned = native.call(keepAlive, targets);
    if (frame.status() !== OK) throw native.lastError(frame.status());
  }
  if (targets !== null) return undefined;
  if (Array.isArray(returned)) return collect(overload, returned);
  return wrap(frame.resultSlot(), returned);
}

/** A result as the user gets it: {slot, owner} becomes a tensor, in lists too. */
function toValue(result) {
  if (Array.isArray(result)) return result.map(toValue);
  return typeof result === 'object' && result !== null ? wrap(result.slot, result.owner) : result;
}

/** The one result, or an array of all results that has them by name as well. */
function collect(overload, results) {
  const values = results.map(toValue);
  if (values.length === 1) return values[0];
  overload.resultNames.forEach((name, i) => {
    if (name !== '') Object.defineProperty(values, name, {value: values[i], enumerable: true});
  });
  return values;
}

module.exports = {PublicFunction};
