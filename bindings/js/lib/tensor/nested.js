'use strict';

/**
 * Nested arrays, of which the innermost may be typed arrays: their shape, and a walk over their leaves. `subject` is
 * the name of the arrays in error messages.
 */

const {arrayKind, isArray, isSequence, lengthOf} = require('./dtypes');
const {makeError} = require('../errors');
const {describe} = require('./tensor');

/** The maximal number of dimensions of a tensor: OF_MAX_RANK of oneflow/types.h. */
const MAX_RANK = 32;

/**
 * Returns the shape of nested arrays as given by the first item at each depth. Throws ShapeError if there are more than
 * MAX_RANK dimensions, also for an array that contains itself.
 */
function shapeOf(subject, data) {
  const shape = [];
  let level = data;
  while (isSequence(level)) {
    if (shape.length === MAX_RANK) throw makeError('ShapeError', `${subject} must have at most ${MAX_RANK} dimensions`);
    shape.push(itemsOf(level));
    level = level[0];
  }
  return shape;
}

/**
 * Calls `visit(leaf, number)` for the leaves of nested arrays in row-major order, until it returns true. Throws
 * ShapeError if the arrays do not have the given shape. Visits no more leaves than the shape has, even if user code
 * changes the arrays meanwhile.
 */
function eachLeaf(subject, data, shape, visit) {
  const ragged = (found) => makeError('ShapeError', `${subject} must be rectangular, got ${found}`);
  let next = 0;
  const walk = (level, depth) => {
    if (depth === shape.length) {
      if (!isSequence(level)) return visit(level, next++);
      throw ragged(`an array of length ${itemsOf(level)} at depth ${depth}, where numbers are`);
    }
    if (!isSequence(level)) throw ragged(`${describe(level)} at depth ${depth}, where arrays are`);
    if (itemsOf(level) !== shape[depth]) {
      throw ragged(`lengths ${shape[depth]} and ${itemsOf(level)} at depth ${depth}`);
    }
    for (let i = 0; i < shape[depth]; i++) {
      if (walk(level[i], depth + 1)) return true;
    }
    return false;
  };
  walk(data, 0);
}

const itemsOf = (level) => (isArray(level) ? level.length : lengthOf(level));

/** Returns the class name of the first typed array in nested arrays; undefined if there is none. */
function innermostKind(data, shape) {
  let level = data;
  for (let depth = 1; depth < shape.length; depth++) level = level?.[0];
  return arrayKind(level);
}

/** Returns the indices of leaf `number` in row-major order as a string, such as `[1][0]`. */
function pathOf(shape, number) {
  let left = number;
  return shape.reduceRight((path, size) => {
    const index = left % size;
    left = Math.floor(left / size);
    return `[${index}]${path}`;
  }, '');
}

module.exports = {MAX_RANK, shapeOf, eachLeaf, innermostKind, pathOf};
