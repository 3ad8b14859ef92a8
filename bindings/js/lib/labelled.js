'use strict';

/** Operands that come with their labels, as in einsum(a, [0, 1], b, [1, 2], [0, 2]). */

const dtypes = require('./dtypes');
const {makeError} = require('./errors');
const {isInteger} = require('./scalars');
const {LONGEST_LIST} = require('./signature');
const {isTensor, describe} = require('./tensor');

/** What stands in a list of labels for any number of dimensions. */
const ELLIPSIS = '...';

/** The text of labels in an equation, `[0,1]`; `whose` is what an error calls them. */
function labelsText(method, whose, labels) {
  const mismatch = (expected, found) =>
    makeError('TypeMismatch', `${method}: ${whose} must be ${expected}, got ${describe(found)}`);
  const length = dtypes.isSequence(labels) ? labels.length : undefined;
  if (!(length <= LONGEST_LIST)) throw mismatch('array of integers', labels);
  let text = '';
  for (let i = 0; i < length; i++) {
    const label = labels[i];
    if (label !== ELLIPSIS && !isInteger(label)) throw mismatch(`integers or '${ELLIPSIS}'`, label);
    if (label < 0) throw makeError('InvalidArgument', `${method}: ${whose} must not be negative, got ${label}`);
    const name = label === ELLIPSIS || Number.isSafeInteger(label) ? label : BigInt(label); // 1e30 in all its digits
    text += i === 0 ? name : `,${name}`;
  }
  return `[${text}]`;
}

/** The arguments with an equation in front, for tensors each of which has its labels behind it. */
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
      terms.push(labelsText(method, `labels of ${operand}`, args[at + 1]));
    } else if (at + 1 === args.length) {
      if (args[at] === undefined) break;
      result = `->${labelsText(method, 'labels of the result', args[at])}`;
    } else {
      throw makeError('TypeMismatch', `${method}: ${operand} must be Tensor, got ${describe(args[at])}`);
    }
  }
  return [`${terms.join(',')}${result}`, ...operands];
}

module.exports = {withEquation};
