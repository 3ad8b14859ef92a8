'use strict';

/** Operands followed by their labels instead of an equation, as in einsum(a, [0, 1], b, [1, 2], [0, 2]). */

const dtypes = require('../tensor/dtypes');
const {makeError} = require('../errors');
const native = require('../addon/native');
const {MAX_RANK} = require('../tensor/nested');
const {isInteger} = require('./scalars');
const {isTensor, describe} = require('../tensor/tensor');

/** The item of a list of labels that stands for any number of dimensions, and the number that it is passed as. */
const ELLIPSIS = '...';
const ELLIPSIS_NUMBER = -(2 ** 63);
/** The most labels: one per dimension, and an ellipsis that stands for no dimensions. Of more, the count is enough. */
const MOST_LABELS = MAX_RANK + 1;

/** Returns a label as a number. One that doubles do not hold exactly is beyond all limits, and may become another. */
function numberOf(label) {
  return label === ELLIPSIS ? ELLIPSIS_NUMBER : Math.max(Number.MIN_SAFE_INTEGER, Number(label));
}

/**
 * Returns the term of an equation for a list of labels, `[0,1]`, of the operand at a position, or of the result if that
 * is -1. Throws TypeMismatch, ShapeError or InvalidArgument for an invalid list.
 */
function termOf(method, operand, labels) {
  const mismatch = (expected, found) => {
    const whose = operand < 0 ? 'labels of the result' : `labels of operand ${operand}`;
    return makeError('TypeMismatch', `${method}: ${whose} must be ${expected}, got ${describe(found)}`);
  };
  if (!dtypes.isSequence(labels)) throw mismatch('array of integers', labels);
  const {length} = labels;
  const numbers = [];
  for (let i = 0; i < length && length <= MOST_LABELS; i++) {
    const label = labels[i];
    if (label !== ELLIPSIS && !isInteger(label)) throw mismatch(`integers or '${ELLIPSIS}'`, label);
    numbers.push(numberOf(label));
  }
  return native.labelTerm(method, operand, numbers, length);
}

/**
 * Converts positional arguments, tensors each followed by its labels, to an equation and its operands. A last list of
 * labels without a tensor belongs to the result. Throws TypeMismatch, ShapeError or InvalidArgument.
 */
function withEquation(method, args) {
  const operands = [];
  const terms = [];
  let result = '';
  for (let at = 0; at < args.length; at += 2) {
    const {length: position} = operands;
    if (isTensor(args[at])) {
      if (at + 1 === args.length) {
        throw makeError('TypeMismatch', `${method}: operand ${position} must be followed by its labels`);
      }
      operands.push(args[at]);
      terms.push(termOf(method, position, args[at + 1]));
    } else if (at + 1 === args.length) {
      if (args[at] === undefined) break;
      result = `->${termOf(method, -1, args[at])}`;
    } else {
      throw makeError('TypeMismatch', `${method}: operand ${position} must be Tensor, got ${describe(args[at])}`);
    }
  }
  return [`${terms.join(',')}${result}`, ...operands];
}

module.exports = {withEquation};
