'use strict';

/** Comparisons of whole tensors, whose result is one boolean. */

const {makeTensor} = require('./create');
const {functionsByName} = require('../calls/operators');
const {isTensor, liveSlot} = require('./tensor');

const {isclose} = functionsByName();

/**
 * Returns whether all elements are close to each other, as isclose() compares them; waits for the device. Takes the
 * arguments of isclose().
 */
function allclose(input, other, ...rest) {
  return isclose(input, other, ...rest).all().item();
}

/** Returns whether shape, dtype and all elements are equal; waits for the device. NaN is not equal to itself. */
function equal(input, other) {
  const [first, second] = [input, other].map((each) => (isTensor(each) ? each : makeTensor(each)));
  return first.equal(second);
}

/** Installs the methods on the prototype of Tensor. */
function installComparisons(prototype) {
  const value = function allcloseOf(other, ...rest) {
    liveSlot(this, 'allclose');
    return allclose(this, other, ...rest);
  };
  Object.defineProperty(prototype, 'allclose', {value, writable: true, configurable: true});
}

module.exports = {allclose, equal, installComparisons};
