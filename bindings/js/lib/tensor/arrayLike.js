'use strict';

/** What stands for a tensor without being one: nested arrays, typed arrays, numbers. */

const {fromData} = require('./create');
const dtypes = require('./dtypes');
const {rewording} = require('../errors');
const {shapeOf, eachLeaf} = require('./nested');
const {isTensor, slotOf} = require('./tensor');

/** Returns the slot of the tensor that a value is, or of the first one in an array; 0 if there is none. */
function findTensor(value) {
  const found = dtypes.isArray(value) ? value.find(isTensor) : value;
  return isTensor(found) ? slotOf(found) : 0;
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

/**
 * Makes a tensor as tensor() does, but of int64 for integers where integers are wanted, such as indices. Returns its
 * slot. Throws ShapeError for ragged arrays and the like; messages begin with `subject`.
 */
function makeTensorOf(value, subject, device, ofIntegers) {
  return rewording(() => {
    const areIntegers = ofIntegers && !ArrayBuffer.isView(value) && holdsIntegers(value);
    return slotOf(fromData(value, {dtype: areIntegers ? 'int64' : undefined, device}));
  }, (text) => text.replace(/^tensor: data/, subject));
}

module.exports = {findTensor, makeTensorOf};
