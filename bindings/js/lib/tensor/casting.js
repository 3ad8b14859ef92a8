'use strict';

/** The operators that this package calls itself, on tensors only. */

const {functions} = require('../../generated/functions');
const {PublicFunction} = require('../calls/call');

/** Returns the function of a name. */
function callableOf(name) {
  const number = functions.findIndex((record) => record.name === name);
  return new PublicFunction(number, functions[number]);
}

const casting = callableOf('cast');
const moving = callableOf('toDevice');

const cast = (tensor, dtype) => casting.call(undefined, [tensor, dtype]);
const castAsync = (tensor, dtype) => casting.callAsync(undefined, [tensor, dtype]);
const toDevice = (tensor, device) => moving.call(undefined, [tensor, device]);

module.exports = {cast, castAsync, toDevice};
