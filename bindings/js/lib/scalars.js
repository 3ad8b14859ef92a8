'use strict';

/** Numbers that take part in a call. An integral JavaScript number counts as an integer; Real says otherwise. */

const {inspect} = require('node:util');

const LOWEST = -(2n ** 63n);
const HIGHEST = 2n ** 63n - 1n;

/** A number that counts as floating-point even where its value is integral. */
class Real {
  #value;

  constructor(value) {
    this.#value = Number(value);
  }

  valueOf() {
    return this.#value;
  }

  toString() {
    return `real(${this.#value})`;
  }

  [inspect.custom]() {
    return this.toString();
  }
}

/** Whether a BigInt fits into 64 bits. */
const fitsLong = (integer) => integer >= LOWEST && integer <= HIGHEST;

/** An integer as a safe number or as a BigInt; undefined when the value is no integer of 64 bits. */
function toInteger(value) {
  if (Number.isSafeInteger(value)) return value;
  if (typeof value === 'number' && Number.isInteger(value)) value = BigInt(value);
  return typeof value === 'bigint' && fitsLong(value) ? value : undefined;
}

module.exports = {Real, toInteger, fitsLong};
