'use strict';

/**
 * Binds the values of a call to the arguments of an operator, checks their types, and writes them to the frame. The
 * error messages are the same in all front ends, but for the names of types and functions.
 */

const frame = require('./frame');
const devices = require('./devices');
const dtypes = require('./dtypes');
const native = require('./native');
const {makeError, NULL_BYTE} = require('./errors');
const {MAX_RANK} = require('./nested');
const {isTensor, slotOf, describe, disposedError} = require('./tensor');
const {isFloat, TOO_LARGE, toInteger, isInteger, isNumber, putNumber} = require('./scalars');
const {suggestion} = require('./suggestion');

const {KIND} = frame;

/** The value of an argument that was not passed. */
const ABSENT = undefined;
const NO_KEYS = [];
/** The maximal length of a list argument. Copying a longer list could exhaust the heap, which ends the process. */
const LONGEST_LIST = 2 ** 20;

const BASE = {
  tensor: 0, operand: 1, number: 2, integer: 3, float: 4, bool: 5, string: 6, dtype: 7, device: 8, pair: 9, shape: 10,
};
const BASES = {
  'Tensor': BASE.tensor,
  'Tensor|Number': BASE.operand,
  'Number': BASE.number,
  'int': BASE.integer,
  'dim': BASE.integer,
  'size': BASE.integer,
  'float': BASE.float,
  'bool': BASE.bool,
  'str': BASE.string,
  'dtype': BASE.dtype,
  'device': BASE.device,
  'pair': BASE.pair,
  'shape': BASE.shape, // only for hand-written functions: a tensor of that shape, or the shape itself
};

/** The names of items of lists in error messages, by base type; all other lists hold integers. */
const ITEM_NAMES = {
  [BASE.tensor]: 'Tensor', [BASE.device]: 'device', [BASE.pair]: 'pair of integers',
  [BASE.shape]: 'Tensor or array of integers',
};

/** An argument in the signature of an operator. */
class Argument {
  /** Makes the argument at position `index` of an overload. `type` is as in signatures: "Tensor?[]", "dim[]?". */
  constructor({name, type, expected, hasDefault = false, keywordOnly = false}, index) {
    const [, base, optionalItems, list, optional] = /^([A-Za-z|]+)(\?(?=\[))?(\[\])?(\?)?$/.exec(type);
    this.index = index;
    this.name = name;
    this.expected = expected;
    this.hasDefault = hasDefault;
    this.keywordOnly = keywordOnly;
    this.base = BASES[base];
    this.isList = list !== undefined;
    this.optional = optional !== undefined;
    this.optionalItems = optionalItems !== undefined;
    const single = this.isList ? undefined : this.base;
    this.takesTensor = single === BASE.tensor || single === BASE.operand;
    this.takesReal = single === BASE.operand || single === BASE.number;
    this.takesInteger = this.takesReal || single === BASE.integer;
    this.takesString = single === BASE.string;
  }

  /** Returns whether the positional value at `at` is the first item of a trailing list rather than the list itself. */
  isItem(args, at) {
    const isOnly = at === args.length - 1;
    const isList = dtypes.isSequence(args[at]);
    if (this.base === BASE.shape) return !isOnly || !isList || !isOperand(args[at][0]); // a single shape is a list, too
    return !isOnly && (!isList || (this.base === BASE.tensor && isOperand(args[at + 1])));
  }
}

/** Returns whether a value is a tensor, or an array, which may be a shape or data passed by mistake. */
const isOperand = (value) => isTensor(value) || dtypes.isSequence(value);

// ---------------------------------------------------------------------------------------------------- types

/** A value that does not fit the type of its argument. `path` has its indices if it is an item of a (nested) list. */
class Misfit {
  constructor(value, ...path) {
    this.value = value;
    this.path = path;
  }
}

/**
 * Returns a copy of the first `length` items as integers; undefined if one is not an integer, a Misfit if one does not
 * fit into 64 bits.
 */
function fitIntegers(list, length) {
  const integers = [];
  for (let i = 0; i < length; i++) {
    const value = list[i];
    const integer = toInteger(value);
    if (integer === undefined) return isInteger(value) ? new Misfit(value, i) : undefined;
    integers.push(integer);
  }
  return integers;
}

/** Returns a copy of a shape; undefined or a Misfit if the value is not an array of at most MAX_RANK integers. */
function fitShape(value) {
  const length = dtypes.isSequence(value) ? value.length : undefined;
  return length <= MAX_RANK ? fitIntegers(value, length) : undefined;
}

/**
 * Converts a single value of a base type to the form in which it is written to the frame. Returns undefined if it does
 * not fit the type, or the Misfit of one of its items. May run user code.
 */
function fitOne(base, value) {
  switch (base) {
    case BASE.tensor:
      return isTensor(value) ? value : undefined;
    case BASE.operand:
      return isTensor(value) || isNumber(value) ? value : undefined;
    case BASE.number:
      return isNumber(value) ? value : undefined;
    case BASE.integer:
      return toInteger(value);
    case BASE.float:
      return typeof value === 'number' || typeof value === 'bigint' || isFloat(value) ? Number(value) : undefined;
    case BASE.bool:
      return typeof value === 'boolean' ? value : undefined;
    case BASE.dtype:
      return dtypes.isName(value) ? value : undefined;
    case BASE.device:
      return devices.nameOf(value);
    case BASE.pair:
      return dtypes.isSequence(value) && value.length === 2 ? fitIntegers(value, 2) : undefined;
    case BASE.shape:
      return isTensor(value) ? value : fitShape(value);
    default:
      return typeof value === 'string' && frame.isCString(value) ? value : undefined;
  }
}

/**
 * Converts the value of an argument to the form in which it is written to the frame, or returns a Misfit. Copies lists,
 * so that user code that runs later cannot change them.
 */
function fit(argument, value) {
  if (value === null) return argument.optional ? null : new Misfit(value);
  if (!argument.isList || !dtypes.isSequence(value)) {
    const fitted = fitOne(argument.base, value) ?? new Misfit(value);
    return argument.isList && !(fitted instanceof Misfit) ? [fitted] : fitted;
  }
  const {length} = value;
  const isOfNumbers = dtypes.arrayKind(value) !== undefined;
  if (length > LONGEST_LIST || (isOfNumbers && argument.base !== BASE.integer)) return new Misfit(value);
  const items = [];
  for (let i = 0; i < length; i++) {
    const item = value[i];
    const isNone = item === null && argument.optionalItems;
    const fitted = isNone ? null : fitOne(argument.base, item) ?? new Misfit(item);
    if (fitted instanceof Misfit) return new Misfit(fitted.value, i, ...fitted.path);
    items.push(fitted);
  }
  return items;
}

// ---------------------------------------------------------------------------------------------------- binding

/**
 * Ranks of the reasons for which an overload refuses a call. If all overloads refuse it, the error with the highest
 * rank is thrown. A misfit ranks above an unknown name or a missing argument; a misfit together with a missing argument
 * ranks lowest.
 */
const NOWHERE = -1;
const UNKNOWN_RANK = 100;
const MISFIT_RANK = 200;
/** Returns the rank of an overload that accepts all names of the options: above those with an unknown name. */
const rankOfKnown = (options) => UNKNOWN_RANK + (options === null ? 0 : 2 * Object.keys(options).length);

/**
 * The reason for which an overload refuses a call: its rank (`progress`), and the error to throw if all other overloads
 * refuse the call as well.
 */
class Refusal {
  constructor(progress, text, code = 'TypeMismatch') {
    this.progress = progress;
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
    this.arguments = record.arguments.map((argument, index) => new Argument(argument, index));
    this.byName = new Map(this.arguments.map((argument) => [argument.name, argument]));
    this.positional = this.arguments.filter((argument) => !argument.keywordOnly);
    this.named = this.arguments.filter((argument) => argument.keywordOnly);
    this.receiver = this.arguments.find((argument) => argument.name === 'input' && !argument.isList);
    /** The positional arguments without the receiver, for method calls. */
    this.positionalOfMethod = this.positional.filter((argument) => argument !== this.receiver);
    /** Whether the tensors of a trailing list may be passed as separate arguments. */
    this.takesTensors = this.startOfItems(undefined) >= 0 && this.positional.at(-1).base === BASE.tensor;
    this.resultNames = record.results;
    this.hasOut = record.out ?? false;
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
   * arguments, `options` (may be null) those by name. The `out` option is checked but is not among the values.
   */
  bind(receiver, args, options) {
    const values = [];
    for (let i = 0; i < this.arguments.length; i++) values.push(ABSENT);
    if (receiver !== undefined) {
      if (this.receiver === undefined) return new Refusal(0, `${this.name}: is not a method`);
      values[this.receiver.index] = receiver;
    }
    const refused = this.takePositional(receiver, args, values) ?? this.takeNamed(options, values);
    return refused ?? this.fitAll(values, options);
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
      return new Refusal(most, `${this.name}: ${text}`);
    }
    for (let i = 0; i < direct; i++) values[positional[i].index] = args[i];
    if (isSpread) values[positional[last].index] = args.slice(last);
    return undefined;
  }

  /** Assigns options to `values`. Returns a Refusal for an unknown or duplicate name, else undefined. */
  takeNamed(options, values) {
    let known = 0;
    for (const key of options === null ? NO_KEYS : Object.keys(options)) {
      const value = options[key];
      const argument = this.byName.get(key);
      if (value === undefined || (value === null && !argument?.optional)) continue;
      known++;
      if (key === 'out' && this.hasOut) continue;
      if (argument === undefined) {
        const near = suggestion(key, this.hasOut ? [...this.byName.keys(), 'out'] : [...this.byName.keys()]);
        const rank = UNKNOWN_RANK + 2 * (known - 1) + (near === '' ? 0 : 1);
        return new Refusal(rank, `${this.name}: unknown argument ${key}${near}`);
      }
      if (values[argument.index] !== ABSENT) {
        return new Refusal(rankOfKnown(options), `${this.name}: argument ${key} given twice`);
      }
      values[argument.index] = value;
    }
    return undefined;
  }

  /** Converts all values in place with fit(). Returns them, or a Refusal for a misfit or a missing argument. */
  fitAll(values, options) {
    const missing = this.arguments.find(({index, hasDefault}) => values[index] === ABSENT && !hasDefault);
    for (let i = 0; i < values.length; i++) {
      if (values[i] === ABSENT) continue;
      const argument = this.arguments[i];
      values[i] = fit(argument, values[i]);
      if (values[i] instanceof Misfit) return this.refuse(argument, values[i], missing === undefined);
    }
    if (missing === undefined) return values;
    return new Refusal(rankOfKnown(options), `${this.name}: missing argument ${missing.name}`);
  }

  /** Makes the Refusal for a Misfit. `isComplete` says whether no required argument is missing. */
  refuse(argument, {value, path}, isComplete) {
    const {base} = argument;
    const isItem = path.length > 0;
    const refusal = (code, text) => {
      const place = path.map((index) => `[${index}]`).join('');
      const progress = isComplete ? MISFIT_RANK + 2 * argument.index + (isItem ? 1 : 0) : NOWHERE;
      return new Refusal(progress, `${this.name}: ${argument.name}${place} must ${text}`, code);
    };
    const tooLong = (code, most, things) => refusal(code, `have at most ${most} ${things}, got ${value.length}`);
    if (isInteger(value) && (base === BASE.integer || path.length === 2)) return refusal('InvalidArgument', TOO_LARGE);
    if (typeof value === 'string' && (base === BASE.string || base === BASE.dtype)) {
      if (value.includes('\0')) return refusal('InvalidArgument', NULL_BYTE);
      if (base === BASE.string) return tooLong('InvalidArgument', frame.LONGEST_STRING, 'characters');
      return refusal('InvalidArgument', `be the name of a dtype, got '${value}'`);
    }
    if (dtypes.isSequence(value)) {
      if (argument.isList && !isItem && value.length > LONGEST_LIST) {
        return tooLong('InvalidArgument', LONGEST_LIST, 'items');
      }
      if (base === BASE.shape && isItem && value.length > MAX_RANK) {
        return tooLong('ShapeError', MAX_RANK, 'dimensions');
      }
    }
    const expected = isItem ? ITEM_NAMES[base] ?? 'integer' : argument.expected;
    return refusal('TypeMismatch', `be ${expected}, got ${describe(value)}`);
  }

  /** Writes the values that bind() returned to the frame. Runs no user code. */
  write(values) {
    for (let i = 0; i < values.length; i++) {
      const value = values[i];
      if (value === ABSENT) frame.putPlain(i, KIND.absent, 0);
      else if (value === null) frame.putPlain(i, KIND.none, 0);
      else if (this.arguments[i].isList) this.writeList(i, value);
      else this.writeOne(i, value);
    }
  }

  writeOne(position, value) {
    const argument = this.arguments[position];
    switch (argument.base) {
      case BASE.tensor:
      case BASE.operand:
      case BASE.number:
        if (isTensor(value)) frame.putPlain(position, KIND.tensor, this.slot(value, argument));
        else putNumber(position, value, `${this.name}: ${argument.name}`);
        break;
      case BASE.integer:
        frame.putInteger(position, value);
        break;
      case BASE.float:
        frame.putFloat(position, value);
        break;
      case BASE.bool:
        frame.putPlain(position, KIND.bool, value ? 1 : 0);
        break;
      case BASE.string:
        frame.putString(position, value);
        break;
      case BASE.dtype:
        frame.putPlain(position, KIND.dtype, dtypes.codeOf(value, this.name, argument.name));
        break;
      default:
        frame.putPlain(position, KIND.device, devices.codeOf(this.name, argument.name, value));
    }
  }

  writeList(position, list) {
    const argument = this.arguments[position];
    if (argument.base === BASE.tensor) {
      const slots = list.map((tensor) => (tensor === null ? 0 : this.slot(tensor, argument)));
      frame.putList(position, KIND.tensorList, slots);
    } else if (argument.base === BASE.shape) {
      const integers = []; // each shape as its rank and its sizes
      for (const each of list) {
        const sizes = isTensor(each) ? native.sizes(this.slot(each, argument), each) : each;
        integers.push(sizes.length, ...sizes);
      }
      frame.putList(position, KIND.intList, integers);
    } else if (argument.base === BASE.device) {
      frame.putList(position, KIND.deviceList, list.map((each) => devices.codeOf(this.name, argument.name, each)));
    } else {
      frame.putList(position, KIND.intList, argument.base === BASE.pair ? list.flat() : list);
    }
  }

  slot(tensor, argument) {
    const slot = slotOf(tensor);
    if (slot === 0) throw disposedError(this.name, argument.name);
    return slot;
  }
}

module.exports = {Overload, Refusal};
