'use strict';

/** Nested arrays of data: their shape, and their members in order. `subject` is what error texts call them. */

const {isArray} = require('./dtypes');
const {makeError} = require('./errors');
const {describe} = require('./tensor');

/** The most dimensions that a tensor may have, as in oneflow/types.h. */
const MAX_RANK = 32;

/** The shape of nested arrays, by their first members. */
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
 * Hands the members of nested arrays to `take`, in order and with their number, until it answers true; throws where an
 * array has another length than its siblings. Never more members than the shape has, whatever the arrays do meanwhile.
 */
function eachMember(subject, data, shape, take) {
  const ragged = (found) => makeError('ShapeError', `${subject} must be rectangular, got ${found}`);
  let next = 0;
  const walk = (level, depth) => {
    if (depth === shape.length) {
      if (!isArray(level)) return take(level, next++);
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

/** Where a member is, by its number: `[1][0]`. */
function placeOf(shape, number) {
  let left = number;
  return shape.reduceRight((place, size) => {
    const index = left % size;
    left = Math.floor(left / size);
    return `[${index}]${place}`;
  }, '');
}

module.exports = {MAX_RANK, shapeOf, eachMember, placeOf};
