'use strict';

/** Printing of tensors, in console.log() and toString(). */

const native = require('../addon/native');
const {makeError} = require('../errors');
const {isPlainObject, liveSlot, describe} = require('./tensor');
const {suggestion} = require('../calls/suggestion');

const INDENT = 'tensor('.length;
const options = {precision: 4, threshold: 1000, edgeItems: 3, lineWidth: 80};
/** The lowest and the highest value of each option. */
const RANGES = {precision: [0, 17], threshold: [0, 2 ** 31 - 1], edgeItems: [1, 2 ** 30 - 1], lineWidth: [20, 2 ** 20]};

/** Changes the print options and returns a copy of all of them. Throws TypeMismatch or InvalidArgument. */
function setPrintOptions(changes = {}) {
  const failure = (code, message) => makeError(code, `setPrintOptions: ${message}`);
  if (!isPlainObject(changes)) throw failure('TypeMismatch', `changes must be object, got ${describe(changes)}`);
  const changed = {...options};
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === null) continue;
    if (!Object.hasOwn(options, name)) {
      throw failure('TypeMismatch', `unknown argument ${name}${suggestion(name, Object.keys(options))}`);
    }
    if (!Number.isSafeInteger(value)) throw failure('TypeMismatch', `${name} must be integer, got ${describe(value)}`);
    const [lowest, highest] = RANGES[name];
    if (value < lowest || value > highest) {
      throw failure('InvalidArgument', `${name} must be between ${lowest} and ${highest}, got ${value}`);
    }
    changed[name] = value;
  }
  return {...Object.assign(options, changed)};
}

/**
 * Returns a tensor as a string, `tensor([[1., 2.]])`: with the dtype unless it is float32 or bool, with the shape if
 * the tensor is empty, and with the device unless it is the default device.
 */
function toText(tensor) {
  const {precision, threshold, edgeItems, lineWidth} = options;
  const body = native.format(liveSlot(tensor, 'toString'), precision, threshold, edgeItems, lineWidth, INDENT, tensor);
  const {dtype, device, size, shape} = tensor;
  const values = dtype === 'bool' ? body.toLowerCase() : body; // the runtime prints True and False
  const words = [];
  if (dtype !== 'float32' && dtype !== 'bool') words.push(`dtype: '${dtype}'`);
  if (size === 0 && shape.length !== 1) words.push(`shape: [${shape.join(', ')}]`);
  if (device !== native.defaultDevice()) words.push(`device: '${device}'`);
  return words.length > 0 ? `tensor(${values}, {${words.join(', ')}})` : `tensor(${values})`;
}

module.exports = {setPrintOptions, toText};
