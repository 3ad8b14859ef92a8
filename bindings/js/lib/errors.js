'use strict';

/** The error classes with their base classes, and the translation of the runtime's error messages to JavaScript. */

const native = require('./addon/native');
const {words} = require('../generated/functions');

const BRAND = Symbol('oneflow error');

/**
 * The common type of all errors of oneflow: each is an `instanceof OneFlowError` and has its class's name as `code`.
 * Its base class is the corresponding class of JavaScript (a `ShapeError` is a `RangeError`). `instanceof OneFlowError`
 * therefore checks a brand instead of the prototype chain.
 */
class OneFlowError extends Error {
  static [Symbol.hasInstance](value) {
    if (this !== OneFlowError) return Function.prototype[Symbol.hasInstance].call(this, value);
    return typeof value === 'object' && value !== null && value[BRAND] === true;
  }
}

/** The base class of each error class. */
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
  FileError: Error,
};

/** Makes the error class named `code`. */
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

/** The beginning of quoted user input in a message of the runtime: a quote, a line break, or the slash of a path. */
const QUOTED = /(?<!\w)'|[\n/]/;

/**
 * Writes a message of the runtime as in JavaScript: fill_value becomes fillValue, and the option retain_graph=True
 * becomes {retainGraph: true}. Names precede any quoted user input, which stays unchanged.
 */
function toJavaScriptNames(text) {
  const end = text.search(QUOTED);
  const own = end < 0 ? text : text.slice(0, end);
  const renamed = own
    .replace(/\b[a-z][a-z0-9]*(?:_[a-z0-9]+)+_?(?!\w)/g, (word) => words[word] ?? word)
    .replace(/\b([a-z]\w*)=(True|False)\b/g, (_, name, value) => `{${name}: ${value.toLowerCase()}}`);
  return renamed + text.slice(own.length);
}

/** The maximal length of a message, as in the runtime: some messages quote user input of any length. */
const LONGEST_MESSAGE = 4095;

/** Makes an error of the class named `code`, or an InternalError for an unknown class, with this message. */
function makeError(code, text) {
  return new (classes[code] ?? classes.InternalError)(text.slice(0, LONGEST_MESSAGE));
}

/** The end of the message for a string with a null byte, at which the C API would truncate it. */
const NULL_BYTE = 'not have a null byte';

/** Throws InvalidArgument for a string with a null byte. */
function refuseNullByte(method, argument, value) {
  if (value.includes('\0')) throw makeError('InvalidArgument', `${method}: ${argument} must ${NULL_BYTE}`);
}

/** The errors of earlier asynchronous work of a device. Their messages name the operator that started that work. */
const deferred = new WeakSet();

/**
 * Returns `run()`. If it throws an error of oneflow, throws an error of the same class with the message
 * `reword(message)` instead. Errors of earlier asynchronous work keep their message: they concern another operator.
 */
function rewording(run, reword) {
  try {
    return run();
  } catch (error) {
    const isOwn = error instanceof OneFlowError && !deferred.has(error);
    throw isOwn ? makeError(error.code, reword(error.message)) : error;
  }
}

/** Awaits a promise of the addon. Recreates its error here, so that the stack trace shows who awaits the promise. */
async function traced(promise) {
  try {
    return await promise;
  } catch (error) {
    throw makeError(error.code, error.message);
  }
}

native.setErrorFactory((code, text, isDeferred, hasOwnNames) => {
  const error = makeError(code, hasOwnNames ? text : toJavaScriptNames(text));
  if (isDeferred) deferred.add(error);
  return error;
});

module.exports = {NULL_BYTE, makeError, refuseNullByte, rewording, traced, errorClasses: {OneFlowError, ...classes}};
