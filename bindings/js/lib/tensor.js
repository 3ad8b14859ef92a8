'use strict';

/**
 * The Tensor class: who owns its memory, and what it knows about itself. Operators are installed on its prototype by
 * index.js, from the generated table; reading, indexing and printing come from the modules of those names.
 */

const {isProxy} = require('node:util').types;
const native = require('./native');
const frame = require('./frame');
const dtypes = require('./dtypes');
const {makeError} = require('./errors');

/** What the constructor wants to see: tensors are made by functions. */
const KEY = Symbol('tensor');
/** structuredClone() and postMessage() name this value when they refuse to copy a tensor. */
const UNCLONEABLE = Symbol('A oneflow Tensor stays on its thread: send x.dataSync() and x.shape instead; it');

const NONE = new Set();

/** How many tensors this thread has made, in 32 bits. */
let made = 0;

/** The tensors made by the innermost running tidy(), or null outside of any. */
let scope = null;

let isTensor;
let slotOf;
let giveSlot;
let adopt;
let leaveScope;

class Tensor {
  /** Where the addon keeps the tensor; 0 once it is disposed of. */
  #slot = 0;
  /** Whether the addon releases the slot when this object is collected; else a scope does. */
  #isOwner;
  uncloneable = UNCLONEABLE;
  /** Tells tensors apart where only enumerable properties are compared, as by assert.deepEqual(). */
  id = made = (made + 1) | 0;

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

  /** The sizes of the dimensions. */
  get shape() {
    return exact('shape', native.sizes(liveSlot(this, 'shape'), this));
  }

  /** The steps, in elements, from one index to the next of each dimension. */
  get strides() {
    return exact('strides', native.strides(liveSlot(this, 'strides'), this));
  }

  /** The element type: 'float32' and so on. */
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

  /** Where the elements are: 'cpu:0' and so on. */
  get device() {
    return native.describe(liveSlot(this, 'device'), this).device;
  }

  /** How often the memory was written to; views share it. */
  get version() {
    return native.describe(liveSlot(this, 'version'), this).version;
  }

  /** Whether the elements lie row by row without gaps. */
  get isContiguous() {
    return native.describe(liveSlot(this, 'isContiguous'), this).isContiguous;
  }

  /** Whether the tensor shares the memory of another one that it was made from. */
  get isView() {
    return native.describe(liveSlot(this, 'isView'), this).isView;
  }

  /** Whether the memory is page-locked memory of the host, as pinMemory gives it. */
  get isPinned() {
    return native.describe(liveSlot(this, 'isPinned'), this).isPinned;
  }

  /** Whether dispose() was called, or the tidy() that it belonged to has ended. */
  get isDisposed() {
    if (!isTensor(this)) throw wrongReceiver('isDisposed', this);
    return this.#slot === 0;
  }

  /** Gives the memory back now. Views of it stay valid. Doing it twice is allowed. */
  dispose() {
    if (!isTensor(this)) throw wrongReceiver('dispose', this);
    if (this.#slot === 0) return;
    native.release(this.#slot);
    this.#slot = 0;
  }
}

/** Whether a value is a plain object, of whatever realm: options, where it is the last argument of a call. */
function isPlainObject(value) {
  if (typeof value !== 'object' || value === null || isTensor(value)) return false;
  try {
    const prototype = Object.getPrototypeOf(value);
    return prototype === null || Object.getPrototypeOf(prototype) === null;
  } catch {
    return false; // a Proxy that does not answer
  }
}

/** A word for a value, as error texts have it. */
function describe(value) {
  if (value === null) return 'null';
  if (typeof value !== 'object') return typeof value;
  if (isTensor(value)) return 'Tensor';
  if (isProxy(value)) return 'Proxy'; // which could not be asked further without running code of the user
  if (Array.isArray(value)) return 'array';
  const kind = dtypes.arrayKind(value);
  if (kind !== undefined) return kind;
  if (isPlainObject(value)) return 'object';
  try {
    const constructor = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(value), 'constructor')?.value;
    return typeof constructor === 'function' ? `instance of ${String(constructor.name)}` : 'object';
  } catch {
    return 'object'; // whose class does not say its name
  }
}

function wrongReceiver(method, value) {
  return makeError('TypeMismatch', `${method}: input must be Tensor, got ${describe(value)}`);
}

/** Sizes as users see them, numbers: of the addon's, those that a number cannot hold are BigInts. */
function exact(method, sizes) {
  for (let i = 0; i < sizes.length; i++) {
    if (typeof sizes[i] !== 'bigint') continue;
    throw makeError('InvalidArgument', `${method}: ${sizes[i]} is not exact as a number`);
  }
  return sizes;
}

function disposedError(operator, argument) {
  return makeError('InvalidArgument', `${operator}: ${argument} must be a live Tensor, got a disposed one`);
}

/** The slot of the receiver of a method or accessor; throws for another object and for a disposed tensor. */
function liveSlot(tensor, method) {
  if (!isTensor(tensor)) throw wrongReceiver(method, tensor);
  const slot = slotOf(tensor);
  if (slot === 0) throw disposedError(method, 'input');
  return slot;
}

/** A tensor that is to get its slot from a call: outside of a scope one that will own it. */
function pendingTensor() {
  return new Tensor(KEY, scope === null);
}

/** Gives a pending tensor its slot once the call has succeeded. */
function complete(tensor, slot) {
  giveSlot(tensor, slot);
  if (scope !== null) scope.push(tensor);
  return tensor;
}

/** A tensor for a slot that nothing owns yet. */
function wrapSlot(slot) {
  const tensor = complete(pendingTensor(), slot);
  if (scope === null) native.own(tensor, slot);
  return tensor;
}

/** Whether new tensors belong to a running tidy() rather than to the garbage collector. */
const inScope = () => scope !== null;

/** Runs something that allocates; when memory is short, once more after a garbage collection. */
function withMemory(allocate) {
  try {
    return allocate();
  } catch (error) {
    if (error.code !== 'OutOfMemory') throw error;
    native.collectGarbage();
    return allocate();
  }
}

/** Every tensor in a value that is built of arrays, plain objects, maps and sets. */
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
    for (const member of isCollection ? next : Object.values(next)) waiting.push(member);
  }
  return found;
}

/**
 * Runs a function and disposes of the tensors that were made during it, except for those in what it returns and those
 * given to keep(). Inside, tensors cost less than ones that wait for the garbage collector. The function must not be
 * asynchronous; what promise variants give later belongs to no scope.
 *
 * @param {() => unknown} fn
 * @returns {unknown} what fn returns
 */
function tidy(fn) {
  if (typeof fn !== 'function') throw makeError('TypeMismatch', `tidy: fn must be function, got ${describe(fn)}`);
  const outer = scope;
  const inner = [];
  scope = inner;
  let result;
  let kept = NONE;
  try {
    result = fn();
    if (typeof result?.then === 'function' && !isTensor(result)) {
      result.then(undefined, () => {}); // its failure is not reported a second time
      const why = 'its tensors would be gone before it ends';
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
 * Takes a tensor out of the tidy() that it was made in; from then on it lives as long as it is referred to.
 *
 * @param {Tensor} tensor
 * @returns {Tensor} the same
 */
function keep(tensor) {
  liveSlot(tensor, 'keep');
  adopt(tensor);
  return tensor;
}

module.exports = {
  Tensor, tidy, keep, pendingTensor, complete, wrapSlot, inScope, isTensor, isPlainObject, slotOf, liveSlot, exact,
  describe, disposedError, wrongReceiver, withMemory,
};
