'use strict';

/**
 * The Tensor class: ownership of its memory, and its properties. index.js installs the operators of the generated table
 * on its prototype; reading, indexing and printing are implemented in read.js, indexing.js and printing.js.
 */

const {isProxy} = require('node:util').types;
const native = require('../addon/native');
const frame = require('../calls/frame');
const dtypes = require('./dtypes');
const {makeError} = require('../errors');

/** The key that the constructor requires, so that only the functions of this module create tensors. */
const KEY = Symbol('tensor');
/** A value that cannot be cloned: structuredClone() and postMessage() fail on it, and quote its description. */
const UNCLONEABLE = Symbol('A oneflow Tensor stays on its thread: send x.dataSync() and x.shape instead; it');

const NO_TENSORS = new Set();

/** The number of tensors that this thread has created, modulo 2^32. */
let made = 0;

/** The tensors created by the innermost running tidy(), or null outside of tidy(). */
let scope = null;

let isTensor;
let slotOf;
let giveSlot;
let adopt;
let leaveScope;

class Tensor {
  /** The slot of the tensor in the addon; 0 once it is disposed of. */
  #slot = 0;
  /** Whether the addon releases the slot when this object is garbage-collected; otherwise the end of a scope does. */
  #isOwner;
  uncloneable = UNCLONEABLE;
  /** Distinguishes tensors in comparisons of enumerable properties, such as assert.deepEqual(). */
  id = made = (made + 1) | 0;

  /** Creates a tensor that has no slot yet. Throws TypeMismatch when called from outside of this module. */
  constructor(key, isOwner) {
    if (key !== KEY) throw makeError('TypeMismatch', 'Tensor: tensors are made by tensor(...) and by operators');
    this.#isOwner = isOwner;
  }

  static {
    isTensor = (value) => typeof value === 'object' && value !== null && #slot in value;
    slotOf = (tensor) => tensor.#slot;
    giveSlot = (tensor, slot) => {
      tensor.#slot = slot;
    };
    adopt = (tensor) => {
      if (tensor.#isOwner) return;
      native.own(tensor, tensor.#slot);
      tensor.#isOwner = true;
    };
    leaveScope = (tensors, kept) => {
      for (const tensor of kept) {
        if (tensor.#isOwner || tensor.#slot === 0) continue;
        if (scope === null) adopt(tensor);
        else scope.push(tensor);
      }
      for (let i = 0; i < tensors.length; i++) {
        const tensor = tensors[i];
        if (tensor.#isOwner || tensor.#slot === 0 || (kept.size > 0 && kept.has(tensor))) continue;
        frame.releaseLater(tensor.#slot);
        tensor.#slot = 0;
      }
      frame.releaseWaiting();
    };
  }

  /** The size of each dimension. */
  get shape() {
    return exact('shape', native.sizes(liveSlot(this, 'shape'), this));
  }

  /** The strides: for each dimension, the distance between consecutive indices, in elements. */
  get strides() {
    return exact('strides', native.strides(liveSlot(this, 'strides'), this));
  }

  /** The element type, such as 'float32'. */
  get dtype() {
    return dtypes.nameOf(native.dtype(liveSlot(this, 'dtype'), this));
  }

  /** The number of dimensions. */
  get ndim() {
    return native.sizes(liveSlot(this, 'ndim'), this).length;
  }

  /** The number of elements. */
  get size() {
    return exact('size', native.sizes(liveSlot(this, 'size'), this)).reduce((product, size) => product * size, 1);
  }

  /** The name of the device that holds the elements, such as 'cpu:0'. */
  get device() {
    return native.describe(liveSlot(this, 'device'), this).device;
  }

  /** A counter that increases with each write to the memory; all views of the memory share it. */
  get version() {
    return native.describe(liveSlot(this, 'version'), this).version;
  }

  /** Whether the elements are contiguous in memory, in row-major order. */
  get isContiguous() {
    return native.describe(liveSlot(this, 'isContiguous'), this).isContiguous;
  }

  /** Whether the tensor is a view: it shares the memory of the tensor that it was made from. */
  get isView() {
    return native.describe(liveSlot(this, 'isView'), this).isView;
  }

  /** Whether the memory is page-locked host memory, as allocated by pinMemory(). */
  get isPinned() {
    return native.describe(liveSlot(this, 'isPinned'), this).isPinned;
  }

  /** Whether the tensor was disposed of, by dispose() or at the end of the tidy() that it was created in. */
  get isDisposed() {
    if (!isTensor(this)) throw wrongReceiver('isDisposed', this);
    return this.#slot === 0;
  }

  /** Releases the memory at once. Views of it stay valid. Further calls do nothing. */
  dispose() {
    if (!isTensor(this)) throw wrongReceiver('dispose', this);
    if (this.#slot === 0) return;
    native.release(this.#slot);
    this.#slot = 0;
  }
}

/** Returns whether a value is a plain object of any realm, and so the options if it is the last argument of a call. */
function isPlainObject(value) {
  if (typeof value !== 'object' || value === null || isTensor(value)) return false;
  try {
    const prototype = Object.getPrototypeOf(value);
    return prototype === null || Object.getPrototypeOf(prototype) === null;
  } catch {
    return false; // a Proxy whose trap throws, or which is revoked
  }
}

/** Returns the name of a value's type, as error messages quote it. */
function describe(value) {
  if (value === null) return 'null';
  if (typeof value !== 'object') return typeof value;
  if (isTensor(value)) return 'Tensor';
  if (isProxy(value)) return 'Proxy'; // a further look would run its traps, which are user code
  if (Array.isArray(value)) return 'array';
  const kind = dtypes.arrayKind(value);
  if (kind !== undefined) return kind;
  if (isPlainObject(value)) return 'object';
  try {
    const constructor = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(value), 'constructor')?.value;
    return typeof constructor === 'function' ? `instance of ${String(constructor.name)}` : 'object';
  } catch {
    return 'object'; // its prototype is a Proxy whose trap throws
  }
}

/** Makes the error for a receiver of a method that is not a Tensor. */
function wrongReceiver(method, value) {
  return makeError('TypeMismatch', `${method}: input must be Tensor, got ${describe(value)}`);
}

/**
 * Returns sizes or strides from the addon if all are numbers. Throws InvalidArgument for a BigInt, which the addon uses
 * for integers that a number cannot represent exactly.
 */
function exact(method, sizes) {
  for (let i = 0; i < sizes.length; i++) {
    if (typeof sizes[i] !== 'bigint') continue;
    throw makeError('InvalidArgument', `${method}: ${sizes[i]} is not exact as a number`);
  }
  return sizes;
}

/** Makes the error for a disposed tensor. */
function disposedError(operator, argument) {
  return makeError('InvalidArgument', `${operator}: ${argument} must be a live Tensor, got a disposed one`);
}

/**
 * Returns the slot of the receiver of a method or accessor. Throws TypeMismatch if it is not a tensor, and
 * InvalidArgument if it was disposed of.
 */
function liveSlot(tensor, method) {
  if (!isTensor(tensor)) throw wrongReceiver(method, tensor);
  const slot = slotOf(tensor);
  if (slot === 0) throw disposedError(method, 'input');
  return slot;
}

/** Creates a tensor that complete() is to give its slot. Outside of a scope it will own the slot. */
function pendingTensor() {
  return new Tensor(KEY, scope === null);
}

/** Gives a pending tensor its slot after a successful call, and adds it to the current scope. Returns the tensor. */
function complete(tensor, slot) {
  giveSlot(tensor, slot);
  if (scope !== null) scope.push(tensor);
  return tensor;
}

/** Creates the tensor of a slot that has no owner yet. */
function wrapSlot(slot) {
  const tensor = complete(pendingTensor(), slot);
  if (scope === null) native.own(tensor, slot);
  return tensor;
}

/** Returns whether a tidy() is running, which then releases new tensors instead of the garbage collector. */
const inScope = () => scope !== null;

/** Returns the set of all tensors in a value that consists of arrays, objects, maps and sets, nested to any depth. */
function tensorsIn(value) {
  const found = new Set();
  const seen = new Set();
  const waiting = [value];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next !== 'object' || next === null || seen.has(next) || ArrayBuffer.isView(next)) continue;
    if (isTensor(next)) {
      found.add(next);
      continue;
    }
    seen.add(next);
    const isCollection = next instanceof Map || next instanceof Set;
    for (const item of isCollection ? next : Object.values(next)) waiting.push(item);
  }
  return found;
}

/**
 * Calls a function and disposes of the tensors that were created during the call, except for those in its result and
 * those passed to keep(). Tensors that are created inside are cheaper than those that the garbage collector releases.
 * The function must not be asynchronous. Results of promise variants belong to no scope.
 *
 * @param {() => unknown} fn
 * @returns {unknown} the result of fn
 */
function tidy(fn) {
  if (typeof fn !== 'function') throw makeError('TypeMismatch', `tidy: fn must be function, got ${describe(fn)}`);
  const outer = scope;
  const inner = [];
  scope = inner;
  let result;
  let kept = NO_TENSORS;
  try {
    result = fn();
    if (typeof result?.then === 'function' && !isTensor(result)) {
      result.then(undefined, () => {}); // a rejection is not reported as unhandled
      const why = 'its tensors would be disposed of before it settles';
      throw makeError('InvalidArgument', `tidy: fn must not return a promise: ${why}`);
    }
    if (typeof result === 'object') kept = tensorsIn(result);
  } finally {
    scope = outer;
    leaveScope(inner, kept);
  }
  return result;
}

/**
 * Excludes a tensor from the tidy() that it was created in. It then lives as long as it is referenced.
 *
 * @param {Tensor} tensor
 * @returns {Tensor} the tensor itself
 */
function keep(tensor) {
  liveSlot(tensor, 'keep');
  adopt(tensor);
  return tensor;
}

module.exports = {
  Tensor, tidy, keep, pendingTensor, complete, wrapSlot, inScope, isTensor, isPlainObject, slotOf, liveSlot, exact,
  describe, disposedError, wrongReceiver,
};
