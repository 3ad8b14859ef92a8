'use strict';

/** Compares the gradients of a function with differences of its values. */

const {enableGrad, jacobian} = require('./autograd');
const {checkFunction, checkNumber, inputList, optionsOf, returnedList} = require('./gradArguments');
const {makeError} = require('../errors');
const {functionsByName} = require('../calls/operators');

const flow = functionsByName();

/** Returns the results of a call as an array. */
const results = (fn, inputs) => returnedList('gradcheck', 'fn', fn(...inputs));

/** Returns the central differences of result `k` for input `i`, of shape [elements of the result, of the input]. */
function differences(fn, inputs, i, k, eps) {
  const columns = Array.from({length: inputs[i].size}, (_, j) => {
    const [high, low] = [eps, -eps].map((step) => {
      const moved = inputs.map((each) => flow.clone(each.detach()));
      flow.reshape(moved[i], [-1]).at(j).add_(step);
      moved.forEach((each, n) => each.setRequiresGrad(inputs[n].requiresGrad));
      return flow.reshape(enableGrad(() => results(fn, moved))[k].detach(), [-1]);
    });
    return flow.div(flow.sub(high, low), 2 * eps);
  });
  return flow.stack(columns, {dim: 1});
}

function gradcheck(fn, inputs, options) {
  checkFunction('gradcheck', 'fn', fn);
  const {eps = 1e-6, atol = 1e-5, rtol = 1e-3, raiseException = true} =
    optionsOf('gradcheck', options, ['eps', 'atol', 'rtol', 'raiseException']);
  for (const [name, value] of Object.entries({eps, atol, rtol})) checkNumber('gradcheck', name, value);
  const given = inputList('gradcheck', inputs);
  given.forEach(({requiresGrad, dtype}, i) => {
    if (!requiresGrad || String(dtype) === 'float64') return;
    throw makeError(
      'TypeMismatch', `gradcheck: input ${i} must be float64 for accurate differences, got ${dtype}`);
  });
  const count = enableGrad(() => results(fn, given)).length;
  for (let k = 0; k < count; k++) {
    const found = jacobian((...args) => results(fn, args)[k], given);
    for (const [i, each] of given.entries()) {
      if (!each.requiresGrad || each.size === 0) continue;
      const expected = differences(fn, given, i, k, eps);
      const gradient = flow.reshape(found[i], expected.shape);
      const difference = flow.abs(flow.sub(gradient, expected));
      const allowed = flow.add(flow.mul(flow.abs(expected), rtol), atol);
      if (flow.all(flow.le(difference, allowed)).item()) continue;
      if (!raiseException) return false;
      const most = Number(flow.max(difference).item().toPrecision(6));
      throw makeError('InvalidArgument',
        `gradcheck: the gradient of result ${k} for input ${i} differs by up to ${most}\n` +
        `gradient: ${gradient}\ndifferences: ${expected}`);
    }
  }
  return true;
}

module.exports = {gradcheck};
