'use strict';

/** Nested arrays: their shape, and a walk over their leaves. `subject` is the name of the arrays in error messages. */

const {isArray} = require('./dtypes');
const {makeError} = require('./errors');
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
  while (isArray(level)) {
    if (shape.length === MAX_RANK) throw makeError('ShapeError', `${subject} must have at most ${MAX_RANK} dimensions`);
    shape.push(level.length);
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
      if (!isArray(level)) return visit(level, next++);
      throw ragged(`an array of length ${level.length} at depth ${depth}, where numbers are`);
    }
    if (!isArray(level)) throw ragged(`${describe(level)} at depth ${depth}, where arrays are`);
    if (level.length !== shape[depth]) {
      throw ragged(`lengths ${shape[depth]} and ${level.length} at depth ${depth}`);
    }
    for (let i = 0; i < shape[depth]; i++) {
      if (walk(level[i], depth + 1)) return true;
    }
    return false;
  };
  walk(data, 0);
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

module.exports = {MAX_RANK, shapeOf, eachLeaf, pathOf};
