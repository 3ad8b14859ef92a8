'use strict';

/**
 * How the values of each type of argument are checked and written to the frame. A converter has
 *
 * - `fit(value)`: the form in which the value is written; undefined if it does not fit the type, or the Misfit of one
 *   of its items. May run user code.
 * - `explain(value, depth)`, optional: why a value does not fit, as [code, text], if there is more to say than the name
 *   of the expected type. `depth` is the number of lists around the value.
 * - `put(position, value, argument)`: writes a value that fits. Runs no user code.
 * - `putList(position, list, argument)`: writes a list of them, for types that may be the items of a list.
 */

const frame = require('./frame');
const devices = require('./devices');
const dtypes = require('./dtypes');
const native = require('./native');
const {Generator} = require('../generated/classes');
const {NULL_BYTE} = require('./errors');
const {liveSlot} = require('./object');
const {MAX_RANK} = require('./nested');
const {isTensor, slotOf, disposedError} = require('./tensor');
const {isFloat, TOO_LARGE, toInteger, isInteger, isNumber, putNumber} = require('./scalars');

const {KIND} = frame;

/** A value that does not fit the type of its argument. `path` has its indices if it is an item of a (nested) list. */
class Misfit {
  constructor(value, ...path) {
    this.value = value;
    this.path = path;
  }
}

/** Returns the slot of a tensor in the addon. Throws for a disposed tensor. */
function slotFor(tensor, argument) {
  const slot = slotOf(tensor);
  if (slot === 0) throw disposedError(argument.owner, argument.name);
  return slot;
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

const tooLarge = (value) => (isInteger(value) ? ['InvalidArgument', TOO_LARGE] : undefined);
/** Explains a misfit of an integer in a list that is itself the item of a list. */
const tooLargeItem = (value, depth) => (depth === 2 ? tooLarge(value) : undefined);
const tooLong = (code, most, things, value) => [code, `have at most ${most} ${things}, got ${value.length}`];

const tensor = {
  fit: (value) => (isTensor(value) ? value : undefined),
  put: (position, value, argument) => frame.putPlain(position, KIND.tensor, slotFor(value, argument)),
  putList(position, list, argument) {
    frame.putList(position, KIND.tensorList, list.map((each) => (each === null ? 0 : slotFor(each, argument))));
  },
};

const number = {
  fit: (value) => (isNumber(value) ? value : undefined),
  put: (position, value, argument) => putNumber(position, value, `${argument.owner}: ${argument.name}`),
};

const operand = {
  fit: (value) => tensor.fit(value) ?? number.fit(value),
  put: (position, value, argument) => (isTensor(value) ? tensor : number).put(position, value, argument),
};

const integer = {
  fit: toInteger,
  explain: tooLarge,
  put: (position, value) => frame.putInteger(position, value),
  putList: (position, list) => frame.putList(position, KIND.intList, list),
};

const pair = {
  fit: (value) => (dtypes.isSequence(value) && value.length === 2 ? fitIntegers(value, 2) : undefined),
  explain: tooLargeItem,
  putList: (position, list) => frame.putList(position, KIND.intList, list.flat()),
};

/** A list of integers, or one, in a list of them. */
const integerLists = {
  fit: (value) => (dtypes.isSequence(value) ? fitIntegers(value, value.length) : integer.fit(value)),
  explain: tooLargeItem,
  /** Writes each list as its length and its items. */
  putList(position, list) {
    const each = list.map((item) => (Array.isArray(item) ? item : [item]));
    frame.putList(position, KIND.intList, each.flatMap((items) => [items.length, ...items]));
  },
};

const float = {
  fit(value) {
    const isReal = typeof value === 'number' || typeof value === 'bigint' || isFloat(value);
    return isReal ? Number(value) : undefined;
  },
  put: (position, value) => frame.putFloat(position, value),
};

const bool = {
  fit: (value) => (typeof value === 'boolean' ? value : undefined),
  put: (position, value) => frame.putPlain(position, KIND.bool, value ? 1 : 0),
};

/** A flag that selects the overload: one truth value only. */
const only = (flag) => ({...bool, fit: (value) => (value === flag ? value : undefined)});

const string = {
  fit: (value) => (typeof value === 'string' && frame.isCString(value) ? value : undefined),
  explain(value) {
    if (typeof value !== 'string') return undefined;
    if (value.includes('\0')) return ['InvalidArgument', NULL_BYTE];
    return tooLong('InvalidArgument', frame.LONGEST_STRING, 'characters', value);
  },
  put: (position, value) => frame.putString(position, value),
};

const dtype = {
  fit: (value) => (dtypes.isName(value) ? value : undefined),
  explain(value) {
    if (typeof value !== 'string') return undefined;
    if (value.includes('\0')) return ['InvalidArgument', NULL_BYTE];
    return ['InvalidArgument', `be the name of a dtype, got '${value}'`];
  },
  put(position, value, argument) {
    frame.putPlain(position, KIND.dtype, dtypes.codeOf(value, argument.owner, argument.name));
  },
};

const device = {
  fit: devices.nameOf,
  put(position, value, argument) {
    frame.putPlain(position, KIND.device, devices.codeOf(argument.owner, argument.name, value));
  },
  putList(position, list, argument) {
    frame.putList(position, KIND.deviceList, list.map((each) => devices.codeOf(argument.owner, argument.name, each)));
  },
};

const generator = {
  fit: (value) => (value instanceof Generator ? value : undefined),
  put(position, value, argument) {
    frame.putPlain(position, KIND.generator, liveSlot(Generator, value, argument.owner, argument.name));
  },
};

/** A shape, or a tensor of that shape; only hand-written functions have such arguments. */
const shape = {
  fit(value) {
    if (isTensor(value)) return value;
    const length = dtypes.isSequence(value) ? value.length : undefined;
    return length <= MAX_RANK ? fitIntegers(value, length) : undefined;
  },
  explain(value, depth) {
    if (depth > 0 && dtypes.isSequence(value) && value.length > MAX_RANK) {
      return tooLong('ShapeError', MAX_RANK, 'dimensions', value);
    }
    return tooLargeItem(value, depth);
  },
  /** Writes each shape as its rank and its sizes. */
  putList(position, list, argument) {
    const integers = [];
    for (const each of list) {
      const sizes = isTensor(each) ? native.sizes(slotFor(each, argument), each) : each;
      integers.push(sizes.length, ...sizes);
    }
    frame.putList(position, KIND.intList, integers);
  },
};

/** The converters, by the names of types in the tables of functions. */
const CONVERTERS = {
  Tensor: tensor,
  'Tensor|Number': operand,
  Number: number,
  int: integer,
  pair,
  ints: integerLists,
  float,
  bool,
  true: only(true),
  false: only(false),
  str: string,
  dtype,
  device,
  Generator: generator,
  shape,
};

module.exports = {CONVERTERS, Misfit};
