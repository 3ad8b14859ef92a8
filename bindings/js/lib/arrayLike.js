'use strict';

/** What stands for a tensor without being one: nested arrays, typed arrays, numbers. */

const {makeTensor} = require('./create');
const dtypes = require('./dtypes');
const {rewording} = require('./errors');
const {shapeOf, eachLeaf} = require('./nested');
const {isNumber} = require('./scalars');
const {isTensor} = require('./tensor');

const isArrayLike = (value) => dtypes.isSequence(value) || isNumber(value);

/** Returns the first tensor among values, also within their arrays; undefined if there is none. */
function firstTensor(values) {
  for (const value of values) {
    const found = dtypes.isArray(value) ? value.find(isTensor) : isTensor(value) ? value : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns whether all leaves of nested arrays of numbers are integers. */
function holdsIntegers(data) {
  let found = true;
  eachLeaf('data', data, shapeOf('data', data), (leaf) => {
    found = Number.isInteger(leaf);
    return !found;
  });
  return found;
}

/** Converts the arguments of a call that are not what the types say, but stand for it. */
class ArrayReader {
  /** The tensors are made on the device of the first tensor among `values`, or on the default device. */
  constructor(values) {
    this.device = firstTensor(values)?.device;
  }

  /**
   * Returns a tensor for an array-like where a tensor is wanted, or the number in a tensor without dimensions where a
   * number is; undefined for other values. Throws ShapeError for ragged arrays and the like.
   */
  read(value, argument) {
    if (argument.isNumeric) return isTensor(value) && value.ndim === 0 ? value.item() : undefined;
    if (!argument.isOperand || argument.isWritten || !isArrayLike(value)) return undefined;
    return rewording(() => this.makeTensor(value, argument), (text) => (
      text.replace(/^tensor: data/, `${argument.owner}: ${argument.name}`)
    ));
  }

  /** Makes a tensor as tensor() does, but of int64 for integers where integers are wanted, such as indices. */
  makeTensor(value, argument) {
    const areIntegers = argument.takesIntegers && !ArrayBuffer.isView(value) && holdsIntegers(value);
    return makeTensor(value, {dtype: areIntegers ? 'int64' : undefined, device: this.device});
  }
}

module.exports = {ArrayReader};
