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
  if (isTensor(value)) return [value];
  if (!isList(value)) {
    throw makeError('TypeMismatch', `${method}: ${name} must be Tensor or array of Tensors, got ${describe(value)}`);
  }
  const items = [...value];
  const wrong = items.findIndex((each) => !isTensor(each) && !(optional && (each === null || each === undefined)));
  if (wrong >= 0) {
    const expected = optional ? 'Tensor or null' : 'Tensor';
    throw makeError('TypeMismatch', `${method}: ${name}[${wrong}] must be ${expected}, got ${describe(items[wrong])}`);
  }
  return items;
}

/** Returns a tensor or an array of tensors as an array with at least one tensor. */
function inputList(method, value) {
  const items = tensorList(method, 'inputs', value);
  if (items.length === 0) throw makeError('InvalidArgument', `${method}: inputs must have at least one tensor`);
  return items;
}

/** Returns what a function returned, a tensor or an array of tensors, as an array. */
function returnedList(method, name, value) {
  const items = listOf(value);
  const wrong = items.find((each) => !isTensor(each));
  if (items.every(isTensor)) return items;
  const found = isList(value) ? `an array with ${describe(wrong)}` : describe(value);
  throw makeError('TypeMismatch', `${method}: ${name} must return Tensor or array of Tensors, got ${found}`);
}

/** Returns a number or an array of numbers as an array with at least one number. */
function argumentNumbers(method, argnums) {
  const numbers = listOf(argnums);
  const wrong = numbers.findIndex((each) => !Number.isInteger(each));
  if (wrong >= 0) {
    const expected = isList(argnums) ? `[${wrong}] must be integer` : ' must be integer or array of integers';
    throw makeError('TypeMismatch', `${method}: argnums${expected}, got ${describe(numbers[wrong])}`);
  }
  if (numbers.length === 0) throw makeError('InvalidArgument', `${method}: argnums must have at least one number`);
  return [...numbers];
}

/** Returns the positions of arguments, of which there are `count`; negative numbers count from the end. */
function positionsOf(method, numbers, count) {
  const found = [];
  for (const number of numbers) {
    if (number < -count || number >= count) {
      throw makeError('IndexOutOfRange', `${method}: argnums has ${number}, but there are ${count} arguments`);
    }
    const position = number < 0 ? number + count : number;
    if (found.includes(position)) {
      throw makeError('InvalidArgument', `${method}: argnums names argument ${position} twice`);
    }
    found.push(position);
  }
  return found;
}

const FLAGS = ['retainGraph', 'createGraph', 'allowUnused'];

/** Returns the options of a method, of which only `known` are allowed. */
function optionsOf(method, options, known) {
  if (options === undefined) return {};
  if (!isPlainObject(options)) {
    throw makeError('TypeMismatch', `${method}: options must be object, got ${describe(options)}`);
  }
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown !== undefined) throw makeError('TypeMismatch', `${method}: unknown argument ${unknown}`);
  const found = {...options};
  for (const name of FLAGS) {
    const value = found[name] ?? undefined;
    if (value !== undefined && typeof value !== 'boolean') {
      throw makeError('TypeMismatch', `${method}: ${name} must be boolean, got ${describe(value)}`);
    }
    if (name in found) found[name] = value;
  }
  return found;
}

module.exports = {
  argumentNumbers,
  checkFunction,
  checkNumber,
  inputList,
  isList,
  listOf,
  optionsOf,
  positionsOf,
  returnedList,
  tensorList,
};
