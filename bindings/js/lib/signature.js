'use strict';

/**
 * Binds the values of a call to the arguments of an operator, checks their types, and writes them to the frame. The
 * error messages are the same in all front ends, but for the names of types and functions.
 */

const frame = require('./frame');
const dtypes = require('./dtypes');
const native = require('./native');
const {CONVERTERS, Misfit} = require('./converters');
const {makeError} = require('./errors');
const {isTensor, slotOf, describe} = require('./tensor');
const {suggestion} = require('./suggestion');

const {KIND} = frame;

/** The value of an argument that was not passed. */
const ABSENT = undefined;
const NO_KEYS = [];
/** The types whose values a tensor without dimensions may hold. */
const NUMERIC = new Set(['Number', 'int', 'float', 'bool', 'true', 'false']);
/** The maximal length of a list argument. Copying a longer list could exhaust the heap, which ends the process. */
const LONGEST_LIST = 2 ** 20;

/** An argument in the signature of an operator. */
class Argument {
  /**
   * Makes the argument at position `index` of an overload of the function `owner`. `type` is as in signatures:
   * "Tensor?[]", "int[]?"; `expected` is its name in error texts, and `item` that of an item of a list.
   */
  constructor(record, index, owner) {
    const {name, type, expected, item, hasDefault = false, keywordOnly = false} = record;
    const [, base, optionalItems, list, optional] = /^([A-Za-z|]+)(\?(?=\[))?(\[\])?(\?)?$/.exec(type);
    this.index = index;
    this.owner = owner;
    this.name = name;
    this.expected = expected;
    this.item = item;
    this.hasDefault = hasDefault;
    this.keywordOnly = keywordOnly;
    this.otherNames = record.otherNames ?? NO_KEYS;
    this.isWritten = record.isWritten ?? false;
    this.takesIntegers = record.takesIntegers ?? false;
    this.converter = CONVERTERS[base];
    this.isList = list !== undefined;
    this.optional = optional !== undefined;
    this.optionalItems = optionalItems !== undefined;
    const isOne = (...bases) => !this.isList && bases.includes(base);
    this.takesTensor = isOne('Tensor', 'Tensor|Number');
    this.isOperand = base === 'Tensor' || base === 'Tensor|Number';
    this.isNumeric = NUMERIC.has(base);
    this.takesReal = isOne('Tensor|Number', 'Number');
    this.takesInteger = isOne('Tensor|Number', 'Number', 'int');
    this.takesString = isOne('str');
    this.isTensorList = this.isList && base === 'Tensor';
    this.isIntegerList = this.isList && base === 'int';
    this.isShapeList = this.isList && base === 'shape';
  }

  /** Returns whether the positional value at `at` is the first item of a trailing list rather than the list itself. */
  isItem(args, at) {
    const isOnly = at === args.length - 1;
    const isList = dtypes.isSequence(args[at]);
    if (this.isShapeList) return !isOnly || !isList || !isOperand(args[at][0]); // a single shape is a list, too
    return !isOnly && (!isList || (this.isTensorList && isOperand(args[at + 1])));
  }
}

/** Returns whether a value is a tensor, or an array, which may be a shape or data passed by mistake. */
const isOperand = (value) => isTensor(value) || dtypes.isSequence(value);

// ---------------------------------------------------------------------------------------------------- types

/**
 * Converts the value of an argument to the form in which it is written to the frame, or returns a Misfit. Copies lists,
 * so that user code that runs later cannot change them. An ArrayReader, if given, reads what stands for a tensor.
 */
function fit(argument, value, arrays) {
  if (value === null) return argument.optional ? null : new Misfit(value);
  if (!argument.isList || !dtypes.isSequence(value)) {
    const fitted = fitOne(argument, value, argument.isTensorList ? undefined : arrays) ?? new Misfit(value);
    return argument.isList && !(fitted instanceof Misfit) ? [fitted] : fitted;
  }
  const {length} = value;
  const isOfNumbers = dtypes.arrayKind(value) !== undefined;
  if (length > LONGEST_LIST || (isOfNumbers && !argument.isIntegerList)) return new Misfit(value);
  const items = [];
  for (let i = 0; i < length; i++) {
    const item = value[i];
    const isNone = item === null && argument.optionalItems;
    const fitted = isNone ? null : fitOne(argument, item, arrays) ?? new Misfit(item);
    if (fitted instanceof Misfit) return new Misfit(fitted.value, i, ...fitted.path);
    items.push(fitted);
  }
  return items;
}

/** Converts one value, or one item of a list, like fit(); returns undefined if it does not fit. */
function fitOne(argument, value, arrays) {
  const fitted = argument.converter.fit(value);
  if (fitted !== undefined || arrays === undefined) return fitted;
  const read = arrays.read(value, argument);
  return read === undefined ? undefined : argument.converter.fit(read);
}

// ---------------------------------------------------------------------------------------------------- binding

/** The reasons for which an overload refuses a call, as the C API numbers them, and the rank below all others. */
const TOO_MANY = 0;
const UNKNOWN_NAME = 1;
const ABSENT_OR_TWICE = 2;
const WRONG_VALUE = 3;
const NOWHERE = -1;
/** Returns the rank of an overload that accepts all names of the options, but lacks an argument or has it twice. */
const rankOfKnown = (options) => (
  native.refusalRank(ABSENT_OR_TWICE, options === null ? 0 : Object.keys(options).length, false)
);

/**
 * The reason for which an overload refuses a call: its `rank`, and the error to throw if all other overloads
 * refuse the call as well.
 */
class Refusal {
  constructor(rank, text, code = 'TypeMismatch') {
    this.rank = rank;
    this.text = text;
    this.code = code;
  }

  toError() {
    return makeError(this.code, this.text);
  }
}

/** One overload of a function: an operator with its arguments and results. */
class Overload {
  /** Makes the overload of `record`, an entry of the generated table. Error messages begin with `name`. */
  constructor(record, name) {
    this.operator = record.operator;
    this.name = name;
    this.arguments = record.arguments.map((argument, index) => new Argument(argument, index, name));
    this.byName = new Map(this.arguments.map((argument) => [argument.name, argument]));
    this.byOtherName = new Map(
      this.arguments.flatMap((argument) => argument.otherNames.map((other) => [other, argument])),
    );
    this.positional = this.arguments.filter((argument) => !argument.keywordOnly);
    this.named = this.arguments.filter((argument) => argument.keywordOnly);
    this.receiver = this.arguments.find((argument) => argument.name === 'input' && !argument.isList);
    /** The positional arguments without the receiver, for method calls. */
    this.positionalOfMethod = this.positional.filter((argument) => argument !== this.receiver);
    /** Whether the tensors of a trailing list may be passed as separate arguments. */
    this.takesTensors = this.startOfItems(undefined) >= 0 && this.positional.at(-1).isTensorList;
    this.resultNames = record.results;
    this.hasOut = record.out ?? false;
    /** The options beside the arguments: `out`, and `requiresGrad` for a new tensor. */
    this.ownOptions = [...(this.hasOut ? ['out'] : []), ...(record.makesLeaves ? ['requiresGrad'] : [])];
    this.hasInPlace = record.inPlace ?? false;
    /** The list of tensors that the in-place form of an operator without a receiver writes to. */
    this.replacedList = this.hasInPlace ? this.arguments.find((argument) => argument.isList) : undefined;
    this.number = -1;
  }

  /** Returns the addon's number of the operator, looking it up on the first call. */
  find() {
    if (this.number < 0) this.number = native.findOp(this.operator);
    if (this.number < 0) throw makeError('InternalError', `${this.name}: the runtime has no operator ${this.operator}`);
    return this.number;
  }

  /**
   * Writes a call whose arguments are positional tensors, numbers and strings to the frame, in one pass without
   * intermediate arrays: the fast path for most calls. Returns false for any other call and for invalid arguments; the
   * caller then falls back to bind() and write(), which throw the error.
   */
  writeDirect(receiver, args, isOwned) {
    const positional = receiver === undefined ? this.positional : this.positionalOfMethod;
    if (args.length > positional.length && !this.takesTensors) return false;
    const count = this.arguments.length;
    frame.begin(this.find(), count, this.resultNames.length, isOwned);
    if (receiver !== undefined) {
      const slot = slotOf(receiver);
      if (slot === 0 || this.receiver === undefined) return false;
      frame.putPlain(this.receiver.index, KIND.tensor, slot);
    }
    for (let i = 0; i < args.length; i++) {
      const value = args[i];
      const argument = positional[i];
      if (typeof value === 'object') {
        if (!isTensor(value)) return false;
        if (argument.isList && this.takesTensors) {
          if (!this.writeItems(argument, args, i)) return false;
          break;
        }
        if (!argument.takesTensor) return false;
        const slot = slotOf(value);
        if (slot === 0) return false;
        frame.putPlain(argument.index, KIND.tensor, slot);
      } else if (typeof value === 'number') {
        if (argument.takesInteger && Number.isSafeInteger(value)) frame.putInteger(argument.index, value);
        else if (argument.takesReal && !Number.isInteger(value)) frame.putFloat(argument.index, value);
        else return false;
      } else if (typeof value === 'string' && argument.takesString) {
        if (!frame.putString(argument.index, value)) return false;
      } else {
        return false;
      }
    }
    for (let i = args.length; i < positional.length; i++) {
      if (!positional[i].hasDefault) return false;
      frame.putPlain(positional[i].index, KIND.absent, 0);
    }
    for (let i = 0; i < this.named.length; i++) {
      if (!this.named[i].hasDefault) return false;
      frame.putPlain(this.named[i].index, KIND.absent, 0);
    }
    for (let i = 0; i < this.resultNames.length; i++) frame.putPlain(count + i, KIND.absent, 0);
    return true;
  }

  /** Writes the arguments from position `from` on as a list of tensors. Returns false unless all are live tensors. */
  writeItems(argument, args, from) {
    const list = frame.openList(argument.index, KIND.tensorList, args.length - from);
    for (let i = from; i < args.length; i++) {
      const slot = isTensor(args[i]) ? slotOf(args[i]) : 0;
      if (slot === 0) return false;
      frame.putItem(list, i - from, slot);
    }
    return true;
  }

  /**
   * Returns the values of all arguments in the order of the signature, or a Refusal. `args` has the positional
   * arguments, `options` (may be null) those by name. The own options are checked but are not among the values.
   * `arrays` reads what stands for a tensor; undefined: nothing does.
   */
  bind(receiver, args, options, arrays) {
    const values = [];
    for (let i = 0; i < this.arguments.length; i++) values.push(ABSENT);
    if (receiver !== undefined) {
      if (this.receiver === undefined) return new Refusal(0, `${this.name}: is not a method`);
      values[this.receiver.index] = receiver;
    }
    const refused = this.takePositional(receiver, args, values) ?? this.takeNamed(options, values);
    return refused ?? this.fitAll(values, options, arrays);
  }

  /** Returns the position of the first item of a trailing list; -1 if the last positional argument is not a list. */
  startOfItems(receiver) {
    const positional = receiver === undefined ? this.positional : this.positionalOfMethod;
    return positional.at(-1)?.isList ? positional.length - 1 : -1;
  }

  /** Assigns positional arguments to `values`. Returns a Refusal if there are too many, else undefined. */
  takePositional(receiver, args, values) {
    const positional = receiver === undefined ? this.positional : this.positionalOfMethod;
    const given = args.length;
    const last = this.startOfItems(receiver);
    const isSpread = last >= 0 && given > last && positional[last].isItem(args, last);
    const direct = isSpread ? last : given;
    if (direct > positional.length) {
      const most = positional.length;
      const text = `takes at most ${most} positional argument${most === 1 ? '' : 's'}, got ${given}`;
      return new Refusal(native.refusalRank(TOO_MANY, most, false), `${this.name}: ${text}${this.byNameOnly()}`);
    }
    for (let i = 0; i < direct; i++) values[positional[i].index] = args[i];
    if (isSpread) values[positional[last].index] = args.slice(last);
    return undefined;
  }

  /** Returns "; pass dtype or device by name" if there are arguments that are passed by name only, else "". */
  byNameOnly() {
    const names = this.arguments.filter(({keywordOnly}) => keywordOnly).map(({name}) => name);
    const last = names.pop();
    return last === undefined ? '' : `; pass ${names.length > 0 ? `${names.join(', ')} or ` : ''}${last} by name`;
  }

  /** Assigns options to `values`. Returns a Refusal for an unknown or duplicate name, else undefined. */
  takeNamed(options, values) {
    let known = 0;
    for (const key of options === null ? NO_KEYS : Object.keys(options)) {
      const value = options[key];
      const argument = this.byName.get(key) ?? this.byOtherName.get(key);
      if (value === undefined || (value === null && !argument?.optional)) continue;
      known++;
      if (this.ownOptions.includes(key)) continue;
      if (argument === undefined) {
        const near = suggestion(key, [...this.byName.keys(), ...this.ownOptions]);
        const rank = native.refusalRank(UNKNOWN_NAME, known - 1, near !== '');
        return new Refusal(rank, `${this.name}: unknown argument ${key}${near}`);
      }
      if (values[argument.index] !== ABSENT) {
        return new Refusal(rankOfKnown(options), `${this.name}: argument ${argument.name} given twice`);
      }
      values[argument.index] = value;
    }
    return undefined;
  }

  /** Converts all values in place with fit(). Returns them, or a Refusal for a misfit or a missing argument. */
  fitAll(values, options, arrays) {
    const missing = this.arguments.find(({index, hasDefault}) => values[index] === ABSENT && !hasDefault);
    for (let i = 0; i < values.length; i++) {
      if (values[i] === ABSENT) continue;
      const argument = this.arguments[i];
      values[i] = fit(argument, values[i], arrays);
      if (values[i] instanceof Misfit) return this.refuse(argument, values[i], missing === undefined);
    }
    if (missing === undefined) return values;
    return new Refusal(rankOfKnown(options), `${this.name}: missing argument ${missing.name}`);
  }

  /** Makes the Refusal for a Misfit. `isComplete` says whether no required argument is missing. */
  refuse(argument, {value, path}, isComplete) {
    const isItem = path.length > 0;
    const refusal = (code, text) => {
      const place = path.map((index) => `[${index}]`).join('');
      const rank = isComplete ? native.refusalRank(WRONG_VALUE, argument.index, isItem) : NOWHERE;
      return new Refusal(rank, `${this.name}: ${argument.name}${place} must ${text}`, code);
    };
    if (argument.isList && !isItem && dtypes.isSequence(value) && value.length > LONGEST_LIST) {
      return refusal('InvalidArgument', `have at most ${LONGEST_LIST} items, got ${value.length}`);
    }
    const reason = argument.converter.explain?.(value, path.length);
    if (reason !== undefined) return refusal(...reason);
    const expected = isItem ? argument.item : argument.expected;
    return refusal('TypeMismatch', `be ${expected}, got ${describe(value)}`);
  }

  /** Writes the values that bind() returned to the frame. Runs no user code. */
  write(values) {
    for (let i = 0; i < values.length; i++) {
      const value = values[i];
      const argument = this.arguments[i];
      if (value === ABSENT) frame.putPlain(i, KIND.absent, 0);
      else if (value === null) frame.putPlain(i, KIND.none, 0);
      else if (argument.isList) argument.converter.putList(i, value, argument);
      else argument.converter.put(i, value, argument);
    }
  }
}

module.exports = {Overload, Refusal};
