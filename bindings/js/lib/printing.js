'use strict';

/** How tensors look in console.log() and as text. */

const native = require('./native');
const {makeError} = require('./errors');
const {liveSlot, describe} = require('./tensor');
const {suggestion} = require('./signature');

const INDENT = 'tensor('.length;
const options = {precision: 4, threshold: 1000, edgeItems: 3, lineWidth: 80};

/** Changes how tensors are printed; returns the options in force. */
function setPrintOptions(changes = {}) {
  if (typeof changes !== 'object' || changes === null) {
    throw makeError('TypeMismatch', `setPrintOptions: changes must be object, got ${describe(changes)}`);
  }
  for (const [name, value] of Object.entries(changes)) {
    if (!Object.hasOwn(options, name)) {
      const near = suggestion(name, Object.keys(options));
      throw makeError('TypeMismatch', `setPrintOptions: unknown argument ${name}${near}`);
    }
    if (!Number.isSafeInteger(value) || value < 0 || value > 1e6) {
      throw makeError('TypeMismatch', `setPrintOptions: ${name} must be a small integer, got ${describe(value)}`);
    }
    options[name] = value;
  }
  return {...options};
}

/** `tensor([[1., 2.]])`, with the dtype unless it is float32 or bool, and the device unless it is the default one. */
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
