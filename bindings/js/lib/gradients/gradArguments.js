'use strict';

/** Checks the arguments of the functions for gradients. */

const {isProxy} = require('node:util').types;
const {makeError} = require('../errors');
const {describe, isPlainObject, isTensor} = require('../tensor/tensor');

/** Returns whether a value is an array; a Proxy is none, because its traps are user code. */
const isList = (value) => !isProxy(value) && Array.isArray(value);

/** Returns an array as it is, and another value in an array. */
const listOf = (value) => (isList(value) ? value : [value]);

/** Throws TypeMismatch unless the value of an argument is a number. */
function checkNumber(method, name, value) {
  if (typeof value === 'number') return;
  throw makeError('TypeMismatch', `${method}: ${name} must be number, got ${describe(value)}`);
}

/** Throws TypeMismatch unless the value of an argument is a function. */
function checkFunction(method, name, value) {
  if (typeof value === 'function') return;
  throw makeError('TypeMismatch', `${method}: ${name} must be function, got ${describe(value)}`);
}

/** Returns a tensor or an array of tensors as an array. With `optional`, items may be null. */
function tensorList(method, name, value, optional = false) {
  const items = isTensor(value) ? [value] : value;
  const fits = (each) => isTensor(each) || (optional && (each === null || each === undefined));
  if (!isList(items) || !items.every(fits)) {
    throw makeError('TypeMismatch', `${method}: ${name} must be Tensor or array of Tensors, got ${describe(value)}`);
  }
  return items;
}

/** Returns the options of a method, of which only `known` are allowed. */
function optionsOf(method, options, known) {
  if (options === undefined) return {};
  if (!isPlainObject(options)) {
    throw makeError('TypeMismatch', `${method}: options must be object, got ${describe(options)}`);
  }
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown !== undefined) throw makeError('TypeMismatch', `${method}: unknown argument ${unknown}`);
  return options;
}

module.exports = {checkFunction, checkNumber, isList, listOf, tensorList, optionsOf};
