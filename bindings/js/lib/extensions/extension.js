'use strict';

/**
 * What native modules of users get: the functions behind the table of oneflow/extension.h, and what such modules are
 * compiled with.
 */

const path = require('node:path');
const manifest = require('../../package.json');
const {Generator, defaultGenerator} = require('../../generated/classes');
const devices = require('../devices');
const dtypes = require('../tensor/dtypes');
const gradMode = require('../gradients/gradMode');
const native = require('../addon/native');
const {makeError} = require('../errors');
const {liveSlot, wrapObject} = require('../classes/object');
const {describe, disposedError, isTensor, slotOf, wrapSlot} = require('../tensor/tensor');

/** Makes the error for an argument of a wrong type. */
function mismatch(method, argument, word, value) {
  return makeError('TypeMismatch', `${method}: ${argument} must be ${word}, got ${describe(value)}`);
}

/** The functions, in the order in which the addon numbers them (src/extension_api.cpp). */
const functions = [
  gradMode.enter,
  function findTensor(value, method, argument) {
    if (!isTensor(value)) throw mismatch(method, argument, 'Tensor', value);
    const slot = slotOf(value);
    if (slot === 0) throw disposedError(method, argument);
    return slot;
  },
  (value, method, argument) => devices.codeOf(method, argument, value),
  function findDtype(value, method, argument) {
    if (typeof value !== 'string') throw mismatch(method, argument, 'dtype', value);
    return dtypes.codeOf(value, method, argument);
  },
  function findGenerator(value, method, argument) {
    if (!(value instanceof Generator)) throw mismatch(method, argument, 'Generator', value);
    return liveSlot(Generator, value, method, argument);
  },
  wrapSlot,
  native.deviceName,
  dtypes.nameOf,
  (slot) => (slot === 0 ? defaultGenerator : wrapObject('Generator', slot)),
  describe,
];

native.setExtensionFunctions(functions);

/** Where the header files are: in this package or, in a checkout, in the build folder. */
const include = manifest.version === undefined
  ? path.join(path.dirname(native.libraryPath()), 'js', 'include')
  : path.join(__dirname, '..', '..', 'include');

module.exports = {include, library: native.libraryPath()};
