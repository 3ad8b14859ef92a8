'use strict';

/** The base class of the objects that the runtime has: the classes of generated/classes.js. */

const util = require('node:util');
const native = require('./native');
const {makeError} = require('./errors');
const {describe, isPlainObject, isTensor, slotOf: slotOfTensor, wrapSlot} = require('./tensor');

/** The key that the constructor requires to take a slot instead of arguments. */
const KEY = Symbol('object');

/** The objects that live as long as the process. */
const constants = new WeakSet();
/** The classes by their names. */
const classes = new Map();

let isObject;
let slotOf;

/** An object of the runtime. */
class NativeObject {
  /** The slot of the object in the addon; 0 once it is disposed of. */
  #slot;

  /** Creates an object with the constructor at a position of the table, or over the slot that follows KEY. */
  constructor(Class, method, args) {
    this.#slot = args[0] === KEY ? args[1] : native.construct(method, 0, ...args);
    native.own(this, this.#slot);
    Object.defineProperty(this, 'uncloneable', {value: Class.uncloneable, enumerable: true});
    if (new.target === Class) Object.freeze(this); // subclasses have fields of their own
  }

  static {
    isObject = (value) => typeof value === 'object' && value !== null && #slot in value;
    slotOf = (object) => object.#slot;
  }

  /** Whether dispose() was called. */
  get isDisposed() {
    return slotFor(NativeObject, this, 'isDisposed') === 0;
  }

  /** Releases the memory at once. Further calls do nothing. */
  dispose() {
    const slot = slotFor(NativeObject, this, 'dispose');
    if (constants.has(this)) {
      throw makeError('InvalidArgument', `dispose: this ${nameOf(this)} lives as long as the process`);
    }
    native.release(slot);
    this.#slot = 0;
  }

  [Symbol.dispose]() {
    this.dispose();
  }

  toJSON() {
    throw makeError('Unsupported', `JSON.stringify: a ${nameOf(this)} cannot be written as JSON`);
  }

  toString() {
    return slotFor(NativeObject, this, 'toString') === 0 ? `${nameOf(this)}(disposed)` : describeState(this);
  }

  [util.inspect.custom]() {
    return isObject(this) ? this.toString() : `${nameOf(this)} {}`; // an object with only the prototype
  }
}

/** Returns the name of the class of an object, or of the one that it is a subclass of. */
function nameOf(object) {
  for (const [name, {Class}] of classes) {
    if (object instanceof Class) return name;
  }
  return 'object';
}

/** Returns the text of an object: the fields of its state, for a class with one. */
function describeState(object) {
  const {getState} = classes.get(nameOf(object));
  if (getState === undefined) return nameOf(object);
  const fields = Object.entries(object[getState]()).map(([name, value]) => `${name} ${value}`);
  return `${nameOf(object)}(${fields.join(', ')})`;
}

/** Returns the slot of the receiver of a method, 0 if it was disposed of. Throws TypeMismatch for other receivers. */
function slotFor(Class, value, method) {
  if (isObject(value) && value instanceof Class) return slotOf(value);
  const name = Class === NativeObject ? nameOf(value) : Class.name;
  throw makeError('TypeMismatch', `${method}: the receiver must be a ${name}, got ${describe(value)}`);
}

/** Returns the slot of a live object. Throws InvalidArgument if it was disposed of. */
function liveSlot(Class, value, method, argument = 'the receiver') {
  const slot = slotFor(Class, value, method);
  if (slot !== 0) return slot;
  throw makeError('InvalidArgument', `${method}: ${argument} must be a live ${Class.name}, got a disposed one`);
}

/** Calls the method at a position of the table. Returns the object for a method that returns it. */
function invoke(Class, object, method, name, args) {
  return native.invoke(method, liveSlot(Class, object, name), ...args);
}

/** Makes a class known. A class with a state names the methods that get and set it. */
function register(Class, getState, setState) {
  classes.set(Class.name, {Class, getState});
  const instead = getState === undefined ? '' : `: send x.${getState}() instead`;
  /** A value that cannot be cloned: structuredClone() and postMessage() fail on it, and quote its description. */
  Class.uncloneable = Symbol(`A oneflow ${Class.name} stays on its thread${instead}; it`);
  if (getState !== undefined) {
    /** Returns an independent object in the same state. */
    Class.prototype.clone = function clone() {
      liveSlot(Class, this, 'clone');
      const copy = new Class();
      copy[setState](this[getState]());
      return copy;
    };
  }
}

/** Returns the object of the process that a constant of the table stands for. */
function makeConstant(Class, name) {
  const object = new Class(KEY, native.constant(name));
  constants.add(object);
  return object;
}

native.setHost({
  describe,
  /** Returns the slot of an object, the name of the class of a disposed one, the entries of a map, or null. */
  identify(value) {
    if (isTensor(value)) return slotOfTensor(value) || 'Tensor';
    if (isObject(value)) return slotOf(value) || nameOf(value);
    if (value instanceof Map) return [...value];
    return isPlainObject(value) ? Object.entries(value) : null;
  },
  wrapTensor: wrapSlot,
  wrapObject: (name, slot) => new (classes.get(name).Class)(KEY, slot),
});

module.exports = {NativeObject, invoke, isObject, liveSlot, makeConstant, register};
