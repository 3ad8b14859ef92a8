'use strict';

/** The error classes, their natural bases, and how a text of the runtime becomes one of JavaScript. */

const native = require('./native');
const {words} = require('../generated/functions');

const BRAND = Symbol('oneflow error');

/**
 * Every error of oneflow is an `instanceof OneFlowError` and has its class's name as `code`; it is also an instance of
 * the natural class of JavaScript (a `ShapeError` is a `RangeError`).
 */
class OneFlowError extends Error {
  static [Symbol.hasInstance](value) {
    if (this !== OneFlowError) return Function.prototype[Symbol.hasInstance].call(this, value);
    return typeof value === 'object' && value !== null && value[BRAND] === true;
  }
}

const BASES = {
  InvalidArgument: RangeError,
  TypeMismatch: TypeError,
  ShapeError: RangeError,
  DTypeError: TypeError,
  IndexOutOfRange: RangeError,
  DeviceError: Error,
  OutOfMemory: RangeError,
  Unsupported: Error,
  CommunicationError: Error,
  InternalError: Error,
};

function makeClass(code, Base) {
  const Class = {
    [code]: class extends Base {
      get code() {
        return code;
      }

      get [BRAND]() {
        return true;
      }
    },
  }[code];
  Object.defineProperty(Class.prototype, 'name', {value: code, configurable: true, writable: true});
  return Class;
}

const classes = Object.fromEntries(Object.entries(BASES).map(([code, Base]) => [code, makeClass(code, Base)]));

/** Where a text of the runtime quotes what it was given: between quotes, in a line of its own, or as a path. */
const QUOTED = /(?<!\w)'|[\n/]/;

/**
 * A text of the runtime with the names of operators and arguments as they are here: fill_value becomes fillValue. They
 * come before anything that is quoted, which stays as it is.
 */
function inOurWords(text) {
  const end = text.search(QUOTED);
  const own = end < 0 ? text : text.slice(0, end);
  const renamed = own.replace(/\b[a-z][a-z0-9]*(?:_[a-z0-9]+)+_?(?!\w)/g, (word) => words[word] ?? word);
  return renamed + text.slice(own.length);
}

/** What a text is cut off at, as those of the runtime are: some quote what they are given. */
const LONGEST_TEXT = 4095;

/** The error of a class of the taxonomy with a text that is already in JavaScript's words. */
function makeError(code, text) {
  return new (classes[code] ?? classes.InternalError)(text.slice(0, LONGEST_TEXT));
}

/** What a text of the caller's must do: for the runtime it ends where it has a null byte. */
const NULL_BYTE = 'not have a null byte';

function refuseNullByte(method, argument, value) {
  if (value.includes('\0')) throw makeError('InvalidArgument', `${method}: ${argument} must ${NULL_BYTE}`);
}

/** Errors of earlier work of a device, which name the operator that left it. */
const deferred = new WeakSet();

/** What `run` gives; where it fails with one of our errors, an error of that class with another text. */
function rewording(run, reword) {
  try {
    return run();
  } catch (error) {
    const isOwn = error instanceof OneFlowError && !deferred.has(error);
    throw isOwn ? makeError(error.code, reword(error.message)) : error;
  }
}

/** A promise of the addon; its error is made anew where the stack shows who awaits it. */
async function traced(promise) {
  try {
    return await promise;
  } catch (error) {
    throw makeError(error.code, error.message);
  }
}

native.setErrorFactory((code, text, isDeferred) => {
  const error = makeError(code, inOurWords(text));
  if (isDeferred) deferred.add(error);
  return error;
});

module.exports = {NULL_BYTE, makeError, refuseNullByte, rewording, traced, errorClasses: {OneFlowError, ...classes}};
