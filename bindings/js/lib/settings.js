'use strict';

/** The library as a whole: dtypes, random numbers, options. */

const native = require('./native');
const dtypes = require('./dtypes');
const {makeError, refuseNullByte, rewording} = require('./errors');
const {describe, isPlainObject} = require('./tensor');

/** The value of an argument when `fits`; else the error that all front ends give. */
function need(method, name, expected, fits, value) {
  if (!fits) throw makeError('TypeMismatch', `${method}: ${name} must be ${expected}, got ${describe(value)}`);
  return value;
}

const text = (method, name, value) => need(method, name, 'string', typeof value === 'string', value);
const dtype = (method, name, value) => dtypes.codeOf(text(method, name, value), method, name);

/** A natural number of up to 64 bits as a BigInt. */
function natural(method, name, value) {
  const fits = Number.isSafeInteger(value) || typeof value === 'bigint';
  need(method, name, 'integer', fits, value);
  const long = BigInt(value);
  if (long < 0n || long >= 2n ** 64n) {
    throw makeError('InvalidArgument', `${method}: ${name} must be between 0 and 2**64 - 1, got ${value}`);
  }
  return long;
}

/** Hands the runtime's name of an option, numThreads being num_threads, to `use`; errors have the name given here. */
function withOption(method, name, use) {
  const theirs = text(method, 'name', name).replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  refuseNullByte(method, 'name', name);
  return rewording(() => use(theirs), (message) => `${method}: ${message.replace(theirs, () => name)}`);
}

module.exports = {
  version: native.version(),

  getDefaultDtype: () => dtypes.nameOf(native.defaultDtype()),
  setDefaultDtype: (name) => native.setDefaultDtype(dtype('setDefaultDtype', 'dtype', name)),
  promoteTypes: (a, b) => {
    const common = dtypes.nameOf(native.promoteTypes(dtype('promoteTypes', 'a', a), dtype('promoteTypes', 'b', b)));
    if (!common) throw makeError('DTypeError', `promoteTypes: ${a} and ${b} have no common dtype`);
    return common;
  },

  manualSeed: (seed) => native.manualSeed(natural('manualSeed', 'seed', seed)),
  initialSeed: () => native.initialSeed(),
  getRandomState: () => {
    const [seed, offset] = native.randomState();
    return {seed, offset};
  },
  setRandomState: (state) => {
    need('setRandomState', 'state', 'object', isPlainObject(state), state);
    const {seed, offset} = state;
    native.setRandomState(natural('setRandomState', 'seed', seed), natural('setRandomState', 'offset', offset));
  },

  getOption: (name) => withOption('getOption', name, (theirs) => native.getOption(theirs)),
  setOption: (name, value) => {
    need('setOption', 'value', 'integer or boolean', Number.isSafeInteger(value) || typeof value === 'boolean', value);
    withOption('setOption', name, (theirs) => native.setOption(theirs, Number(value)));
  },
};
