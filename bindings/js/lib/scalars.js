'use strict';

/** Numbers that take part in a call. An integral JavaScript number counts as an integer; Float says otherwise. */

const {inspect} = require('node:util');
const frame = require('./frame');
const {makeError} = require('./errors');

const LOWEST = -(2n ** 63n);
const HIGHEST = 2n ** 63n - 1n;
/** What an integer beyond them must do. */
const TOO_LARGE = 'fit into 64 bits, got a larger integer';

let isFloat;

/** A number that counts as floating-point even where its value is integral. */
class Float {
  #value;

  constructor(value) {
    this.#value = Number(value);
  }

  static {
    isFloat = (value) => typeof value === 'object' && value !== null && #value in value;
  }

  valueOf() {
    return this.#value;
  }

  toString() {
    return `float(${this.#value})`;
  }

  [inspect.custom]() {
    return this.toString();
  }
}

/** An integer as a safe number or as a BigInt; undefined when the value is no integer of 64 bits. */
function toInteger(value) {
  if (Number.isSafeInteger(value)) return value;
  if (typeof value === 'number' && Number.isInteger(value)) value = BigInt(value);
  return typeof value === 'bigint' && value >= LOWEST && value <= HIGHEST ? value : undefined;
}

const isInteger = (value) => typeof value === 'bigint' || Number.isInteger(value);

const isNumber = (value) => typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean' ||
  isFloat(value);

/** The parts of a complex number, [re, im], undefined for all else. Runs code of the user where they have accessors. */
function partsOf(value) {
  if (typeof value !== 'object' || value === null) return undefined;
  try {
    const {re, im} = value;
    return typeof re === 'number' && typeof im === 'number' ? [re, im] : undefined;
  } catch {
    return undefined;
  }
}

/** Writes a number to the frame; `subject` is what an error calls it. */
function putNumber(position, value, subject) {
  const integer = toInteger(value);
  if (typeof value === 'boolean') {
    frame.putPlain(position, frame.KIND.bool, value ? 1 : 0);
  } else if (integer !== undefined) {
    frame.putInteger(position, integer);
  } else if (typeof value === 'bigint') {
    throw makeError('InvalidArgument', `${subject} must ${TOO_LARGE}`);
  } else {
    frame.putFloat(position, Number(value));
  }
}

module.exports = {Float, isFloat, TOO_LARGE, toInteger, isInteger, isNumber, partsOf, putNumber};
