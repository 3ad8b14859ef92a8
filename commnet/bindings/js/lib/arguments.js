'use strict';

/** The checks of arguments. What they return can be passed to the addon, which checks no types. */

const {types, inspect} = require('node:util');
const {makeError} = require('./errors');

/** Returns how a message shows a value. */
function show(value) {
  const text = inspect(value, {depth: 0, breakLength: Infinity, maxStringLength: 60, maxArrayLength: 3});
  return text.length > 80 ? `${text.slice(0, 80)}...` : text;
}

/** Returns the error for an argument of the wrong kind. */
function invalid(name, expected, value) {
  return makeError('INVALID_ARGUMENT', `${name} must be ${expected}, got ${show(value)}`);
}

/** Returns an integer between two limits. */
function integer(name, value, least, most) {
  const number = typeof value === 'bigint' ? Number(value) : value;
  if (!Number.isSafeInteger(number) || number < least || number > most) {
    throw invalid(name, `an integer from ${least} to ${most}`, value);
  }
  return number;
}

const uint32 = (name, value) => integer(name, value, 0, 2 ** 32 - 1);
const uint53 = (name, value) => integer(name, value, 0, Number.MAX_SAFE_INTEGER);

/** Returns a time in ms as a uint32, in which 0 is "without a limit". */
function timeout(name, value) {
  if (value === undefined || value === Infinity) return 0;
  if (typeof value !== 'number' || !(value > 0)) throw invalid(name, 'a positive number of milliseconds', value);
  return Math.min(Math.ceil(value), 2 ** 32 - 1);
}

/** Returns a string that the library does not cut. */
function string(name, value) {
  if (typeof value !== 'string') throw invalid(name, 'a string', value);
  if (value.includes('\0')) throw makeError('INVALID_ARGUMENT', `${name} must not have a null byte`);
  return value;
}

function callable(name, value) {
  if (typeof value !== 'function') throw invalid(name, 'a function', value);
  return value;
}

function boolean(name, value) {
  if (typeof value !== 'boolean') throw invalid(name, 'true or false', value);
  return value;
}

/** Returns the options of a call, all of which must be known. */
function options(name, value, known) {
  if (value === undefined) return {};
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) {
    throw invalid(name, 'an object with options', value);
  }
  for (const key of Object.keys(value)) {
    if (!known.includes(key)) {
      throw makeError('INVALID_ARGUMENT', `${name}: there is no option ${show(key)}; there are ${known.join(', ')}`);
    }
  }
  return value;
}

/** Returns a Uint8Array over the memory of a buffer or a view. */
function bytes(name, value) {
  const isView = ArrayBuffer.isView(value);
  if (!isView && !types.isAnyArrayBuffer(value)) {
    throw invalid(name, 'a Buffer, a TypedArray, a DataView or an ArrayBuffer', value);
  }
  try {
    return isView ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength) : new Uint8Array(value);
  } catch {
    throw makeError('INVALID_ARGUMENT', `the memory of ${name} is gone: its ArrayBuffer was transferred or resized`);
  }
}

/** Returns the bytes that are sent or written: a copy, if their memory may become unmapped by a resize. */
function source(name, value) {
  const view = bytes(name, value);
  return view.buffer.resizable ? new Uint8Array(view) : view;
}

/** Returns the bytes that are read to, or that peers access. */
function target(name, value) {
  const view = bytes(name, value);
  if (view.buffer.resizable) throw makeError('INVALID_ARGUMENT', `${name} must not be in a resizable ArrayBuffer`);
  return view;
}

/** Returns an AbortSignal or undefined. */
function signal(name, value) {
  if (value === undefined || value instanceof AbortSignal) return value;
  throw invalid(name, 'an AbortSignal', value);
}

module.exports = {
  boolean, bytes, callable, integer, invalid, options, signal, source, string, target, timeout, uint32, uint53,
};
