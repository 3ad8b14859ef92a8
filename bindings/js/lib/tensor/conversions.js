'use strict';

/** The methods that convert a tensor to a dtype or to the host, as PyTorch names them, and the transposed tensors. */

const devices = require('../devices');
const dtypes = require('./dtypes');
const {makeError} = require('../errors');
const native = require('../addon/native');
const {cast, toDevice} = require('./casting');
const {liveSlot} = require('./tensor');

/** Returns the function that converts its receiver to a dtype; a receiver that has the dtype already is the result. */
function conversion(method, dtype) {
  return {
    [method]() {
      liveSlot(this, method);
      return this.dtype === dtype ? this : cast(this, dtype);
    },
  }[method];
}

/** The name of the host's device, whose number is 0, and that of its type: the method that copies to it. */
const HOST = native.deviceName(devices.HOST);
const [HOST_TYPE] = HOST.split(':');

const methods = {
  [HOST_TYPE]() {
    liveSlot(this, HOST_TYPE);
    return this.device === HOST ? this : toDevice(this, HOST);
  },
  numel() {
    return this.size;
  },
  nelement() {
    return this.size;
  },
};

/** Returns a view with the last two dimensions swapped. Throws ShapeError for fewer than two. */
function matrixTransposed(tensor, name) {
  liveSlot(tensor, name);
  const {ndim} = tensor;
  if (ndim < 2) throw makeError('ShapeError', `${name}: input must have at least 2 dimensions, got ${ndim}`);
  return tensor.transpose(-2, -1);
}

const attributes = {
  rank() {
    return this.ndim;
  },
  T() {
    liveSlot(this, 'T');
    return this.permute([...Array(this.ndim).keys()].reverse());
  },
  mT() {
    return matrixTransposed(this, 'mT');
  },
  H() {
    return matrixTransposed(this, 'H').conj();
  },
};

/** Installs the methods and attributes on the prototype of Tensor. */
function installConversions(prototype) {
  const all = {...methods};
  native.dtypeMethods().forEach((method, code) => {
    if (method !== undefined) all[method] = conversion(method, dtypes.nameOf(code));
  });
  for (const [name, value] of Object.entries(all)) {
    Object.defineProperty(prototype, name, {value, writable: true, configurable: true});
  }
  for (const [name, get] of Object.entries(attributes)) {
    Object.defineProperty(prototype, name, {get, configurable: true});
  }
}

module.exports = {installConversions};
