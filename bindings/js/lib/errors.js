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

/** Names of operators and arguments in a text of the runtime, as they are here: fill_value becomes fillValue. */
function inOurWords(text) {
  return text.replace(/\b[a-z][a-z0-9]*(?:_[a-z0-9]+)+_?(?!\w)/g, (word) => words[word] ?? word);
}

/** What a text is cut off at, as those of the runtime are: some quote what they are given. */
const LONGEST_TEXT = 4095;

/** The error of a class of the taxonomy with a text that is already in JavaScript's words. */
function makeError(code, text) {
  return new (classes[code] ?? classes.InternalError)(text.slice(0, LONGEST_TEXT));
}

/** A text of the caller's ends for the runtime where it has a null byte. */
function refuseNullByte(method, argument, value) {
  if (value.includes('\0')) throw makeError('InvalidArgument', `${method}: ${argument} must not have a null byte`);
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

module.exports = {makeError, refuseNullByte, rewording, traced, errorClasses: {OneFlowError, ...classes}};
