'use strict';

/** Settings of the whole library: the default dtype, options. */

const native = require('./addon/native');
const dtypes = require('./tensor/dtypes');
const {makeError, refuseNullByte, rewording} = require('./errors');
const {describe} = require('./tensor/tensor');

/** Returns the value of an argument if `fits`; otherwise throws the TypeMismatch that all front ends share. */
function need(method, name, expected, fits, value) {
  if (!fits) throw makeError('TypeMismatch', `${method}: ${name} must be ${expected}, got ${describe(value)}`);
  return value;
}

/** Returns the value of an argument that must be a string. */
const string = (method, name, value) => need(method, name, 'string', typeof value === 'string', value);
/** Returns the number of the dtype that an argument names. */
const dtype = (method, name, value) => dtypes.codeOf(string(method, name, value), method, name);

/**
 * Returns `use(runtimeName)` for the runtime's name of an option (num_threads for numThreads). Error messages have the
 * JavaScript name.
 */
function withOption(method, name, use) {
  const runtimeName = string(method, 'name', name).replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  refuseNullByte(method, 'name', name);
  return rewording(() => use(runtimeName), (message) => `${method}: ${message.replace(runtimeName, () => name)}`);
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

  getOption: (name) => withOption('getOption', name, (runtimeName) => native.getOption(runtimeName)),
  setOption: (name, value) => {
    need('setOption', 'value', 'integer or boolean', Number.isSafeInteger(value) || typeof value === 'boolean', value);
    withOption('setOption', name, (runtimeName) => native.setOption(runtimeName, Number(value)));
  },

  getNumThreads: () => native.getOption('num_threads'),
  setNumThreads: (threads) => {
    need('setNumThreads', 'threads', 'integer', Number.isSafeInteger(threads), threads);
    withOption('setNumThreads', 'numThreads', (runtimeName) => native.setOption(runtimeName, threads));
  },
};
