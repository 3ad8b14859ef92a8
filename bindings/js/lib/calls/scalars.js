'use strict';

/** Scalar arguments. An integral JavaScript number counts as an integer; a Float counts as floating-point. */

const {inspect} = require('node:util');

/** The range of signed 64-bit integers. */
const LOWEST = -(2n ** 63n);
const HIGHEST = 2n ** 63n - 1n;

let isFloat;

/** A number that counts as floating-point even if its value is integral. */
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

/** Returns an integer as a safe number or as a BigInt; undefined if the value is not a signed 64-bit integer. */
function toInteger(value) {
  if (Number.isSafeInteger(value)) return value;
  if (typeof value === 'number' && Number.isInteger(value)) value = BigInt(value);
  return typeof value === 'bigint' && value >= LOWEST && value <= HIGHEST ? value : undefined;
}

/** Returns whether a value is an integer of any size. */
const isInteger = (value) => typeof value === 'bigint' || Number.isInteger(value);

/** Returns whether a value is a real scalar: a number, BigInt, boolean or Float. */
const isNumber = (value) => typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean' ||
  isFloat(value);

/** Returns the parts of a complex number as [re, im]; undefined for other values. Runs user code in getters. */
function partsOf(value) {
  if (typeof value !== 'object' || value === null) return undefined;
  try {
    const {re, im} = value;
    return typeof re === 'number' && typeof im === 'number' ? [re, im] : undefined;
  } catch {
    return undefined;
  }
}

module.exports = {Float, isFloat, toInteger, isInteger, isNumber, partsOf};
