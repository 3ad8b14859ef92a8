'use strict';

/** Operands followed by their labels instead of an equation, as in einsum(a, [0, 1], b, [1, 2], [0, 2]). */

const dtypes = require('./dtypes');
const {makeError} = require('./errors');
const {MAX_RANK} = require('./nested');
const {TOO_LARGE, isInteger, toInteger} = require('./scalars');
const {isTensor, describe} = require('./tensor');

/** The item of a list of labels that stands for any number of dimensions. */
const ELLIPSIS = '...';
/** The maximal number of labels: one per dimension, and an ellipsis that stands for no dimensions. */
const MOST_LABELS = MAX_RANK + 1;

/**
 * Returns the term of an equation for a list of labels, `[0,1]`. `whose` is the name of the list in error messages.
 * Throws TypeMismatch, ShapeError or InvalidArgument for an invalid list.
 */
function termOf(method, whose, labels) {
  const failure = (code, text) => makeError(code, `${method}: ${whose} must ${text}`);
  const mismatch = (expected, found) => failure('TypeMismatch', `be ${expected}, got ${describe(found)}`);
  if (!dtypes.isSequence(labels)) throw mismatch('array of integers', labels);
  const {length} = labels;
  if (length > MOST_LABELS) {
    throw failure('ShapeError', `be at most ${MAX_RANK} and '${ELLIPSIS}', got ${length}`);
  }
  const names = [];
  for (let i = 0; i < length; i++) {
    const label = labels[i];
    if (label !== ELLIPSIS && !isInteger(label)) throw mismatch(`integers or '${ELLIPSIS}'`, label);
    const name = label === ELLIPSIS ? label : toInteger(label);
    if (name === undefined) throw failure('InvalidArgument', TOO_LARGE);
    if (name < 0) throw failure('InvalidArgument', `not be negative, got ${name}`);
    names.push(name);
  }
  return `[${names.join(',')}]`;
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
    const operand = `operand ${operands.length}`;
    if (isTensor(args[at])) {
      if (at + 1 === args.length) {
        throw makeError('TypeMismatch', `${method}: ${operand} must be followed by its labels`);
      }
      operands.push(args[at]);
      terms.push(termOf(method, `labels of ${operand}`, args[at + 1]));
    } else if (at + 1 === args.length) {
      if (args[at] === undefined) break;
      result = `->${termOf(method, 'labels of the result', args[at])}`;
    } else {
      throw makeError('TypeMismatch', `${method}: ${operand} must be Tensor, got ${describe(args[at])}`);
    }
  }
  return [`${terms.join(',')}${result}`, ...operands];
}

module.exports = {withEquation};
