'use strict';

/** The base class of the objects that the runtime has: the classes of generated/classes.js. */

const {fileURLToPath} = require('node:url');
const util = require('node:util');
const native = require('../addon/native');
const {makeError, traced} = require('../errors');
const {findTensor, makeTensorOf} = require('../tensor/arrayLike');
const devices = require('../devices');
const {isArray} = require('../tensor/dtypes');
const {isFloat} = require('../calls/scalars');
const {
  Tensor, describe, isPlainObject, isTensor, liveSlot: liveTensor, slotOf: slotOfTensor, wrapSlot,
} = require('../tensor/tensor');

/** The key that the constructor requires to take a slot instead of arguments. */
const KEY = Symbol('object');

const mapEntries = Map.prototype.entries;

/** The objects that live as long as the process. */
const constants = new WeakSet();
/** The objects that blocks use, with the number of the blocks. */
const uses = new WeakMap();
/** The classes by their names. */
const classes = new Map();

let isObject;
let classOf;
let slotOf;

/** An object of the runtime. */
class NativeObject {
  /** The slot of the object in the addon; 0 once it is disposed of. */
  #slot;
  /** The class of what is in the slot, whatever the prototype is. */
  #Class;

  /** Creates an object with the constructor at a position of the table, or over the slot that follows KEY. */
  constructor(Class, method, args, madeBy) {
    if (args[0] !== KEY && method < 0) throw makeError('TypeMismatch', `${Class.name}: ${madeBy}`);
    this.#slot = args[0] === KEY ? args[1] : native.construct(method, 0, ...args);
    this.#Class = Class;
    native.own(this, this.#slot);
    Object.defineProperty(this, 'uncloneable', {value: Class.uncloneable, enumerable: true});
    if (new.target === Class) Object.freeze(this); // subclasses have fields of their own
    else setOverrides(this, Class);
  }

  static {
    isObject = (value) => typeof value === 'object' && value !== null && #slot in value;
    classOf = (object) => object.#Class;
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
    if (uses.get(this) > 0) throw makeError('InvalidArgument', `dispose: a block uses this ${nameOf(this)}`);
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

/** Tells the addon which methods the class of an object overrides. It then calls them, and does not keep the object. */
function setOverrides(object, Class) {
  const {overridable} = classes.get(Class.name);
  for (const [name, method] of Object.entries(overridable)) {
    if (object[name] === Class.prototype[name]) continue;
    const target = new WeakRef(object);
    native.override(method, slotOf(object), (...args) => {
      const live = target.deref();
      if (live !== undefined) return live[name](...args);
      throw makeError('InvalidArgument', `${name}: the object whose class overrides it does not exist any more`);
    });
  }
}

/** Returns the name of the class of an object, or of the one that it is a subclass of. */
function nameOf(object) {
  for (const [name, {Class}] of classes) {
    if (isObject(object) ? classOf(object) === Class : isInstance(object, Class)) return name;
  }
  return 'NativeObject';
}

/** Returns the text of an object: that of its property for it, or the fields of its state. */
function describeState(object) {
  const {Class: {prototype}, getState, text} = classes.get(nameOf(object));
  if (text !== undefined) {
    const found = Reflect.get(prototype, text, object); // a subclass may override it
    return typeof found === 'function' ? found.call(object) : found;
  }
  if (getState === undefined) return nameOf(object);
  const fields = Object.entries(prototype[getState].call(object)).map(([name, value]) => `${name} ${value}`);
  return `${nameOf(object)}(${fields.join(', ')})`;
}

/** Returns the slot of the receiver of a method, 0 if it was disposed of. Throws TypeMismatch for other receivers. */
function slotFor(Class, value, method) {
  if (isObject(value) && (Class === NativeObject || Class === classOf(value))) return slotOf(value);
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

/** Calls the method at a position of the table on another thread. Returns a promise. */
async function invokeAsync(Class, object, method, name, args) {
  return start(method, liveSlot(Class, object, name), args);
}

/** Calls the function at a position of the table. */
const call = (method, args) => native.invoke(method, 0, ...args);

/** Calls the function at a position of the table on another thread. Returns a promise. */
const callAsync = async (method, args) => start(method, 0, args);

/**
 * Starts a call on another thread. Returns a promise, which is rejected when the option `signal` is aborted: the work
 * then ends as soon as it can.
 */
function start(method, slot, args) {
  const {signal, ...options} = {signal: undefined, ...(isPlainObject(args.at(-1)) ? args.at(-1) : {})};
  if (signal === undefined || isInput(signal)) return traced(native.invokeAsync(method, slot, undefined, ...args));
  const others = Object.keys(options).length > 0 ? [options] : [];
  if (signal === null) return start(method, slot, [...args.slice(0, -1), ...others]);
  if (!isSignal(signal)) {
    const name = native.methodName(method);
    throw makeError('TypeMismatch', `${name}: signal must be AbortSignal, got ${describe(signal)}`);
  }
  signal.throwIfAborted();
  const ending = native.makeEnding();
  const work = traced(native.invokeAsync(method, slot, ending, ...args.slice(0, -1), ...others));
  return new Promise((resolve, reject) => {
    const abort = () => {
      native.end(ending);
      reject(signal.reason);
    };
    signal.addEventListener('abort', abort, {once: true});
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/**
 * Calls `body` with an object that `create` makes, between the methods of its context at two positions of the table.
 * Returns what `finish` makes of the object and the result of `body`; a promise of it if `body` returns one.
 */
function within(Class, name, [enter, leave], body, create, finish = (object) => object) {
  if (typeof body !== 'function') {
    throw makeError('TypeMismatch', `${name}: body must be function, got ${describe(body)}`);
  }
  const object = create();
  invoke(Class, object, enter, name, []);
  uses.set(object, (uses.get(object) ?? 0) + 1);
  const end = (value) => {
    uses.set(object, uses.get(object) - 1);
    invoke(Class, object, leave, name, []);
    return finish(object, value);
  };
  const fail = (error) => {
    try {
      end();
    } catch {
      // The error of the body is more important than an error of the end.
    }
    throw error;
  };
  let result;
  let isPromise;
  try {
    result = body(object);
    isPromise = typeof result?.then === 'function';
  } catch (error) {
    fail(error);
  }
  return isPromise ? Promise.resolve(result).then(end, fail) : end(result);
}

/**
 * Makes a class known. A class with a state names the methods that get and set it, one with a text the property or
 * method of that, one of maps the property with the keys and the method that gets an item, one with equality the
 * property by which objects are equal, one whose methods can be overridden their positions in the table by their names.
 */
function register(Class, {getState, setState, text, keys, get, equality, overridable = {}} = {}) {
  if (equality !== undefined) {
    Class.prototype.equals = function equals(other) {
      liveSlot(Class, this, 'equals');
      if (!isObject(other) || classOf(other) !== Class) return false;
      liveSlot(Class, other, 'equals', 'other');
      return Reflect.get(Class.prototype, equality, this) === Reflect.get(Class.prototype, equality, other);
    };
  }
  if (keys !== undefined) addItems(Class.prototype, keys, get);
  classes.set(Class.name, {Class, getState, text, overridable});
  const instead = getState === undefined ? '' : `: send x.${getState}() instead`;
  /** A value that cannot be cloned: structuredClone() and postMessage() fail on it, and quote its description. */
  Class.uncloneable = Symbol(`A oneflow ${Class.name} stays on its thread${instead}; it`);
  if (getState !== undefined) {
    /** Returns an independent object in the same state. */
    Class.prototype.clone = function clone() {
      liveSlot(Class, this, 'clone');
      const copy = new Class();
      copy[setState](Class.prototype[getState].call(this));
      return copy;
    };
  }
}

/** Gives the objects of a class that are maps what a Map has. */
function addItems(prototype, keys, get) {
  Object.defineProperty(prototype, 'size', {configurable: true, get() { return this[keys].length; }});
  prototype.has = function has(key) {
    return this[keys].includes(key);
  };
  prototype[Symbol.iterator] = function* entries() {
    for (const key of this[keys]) yield [key, this[get](key)];
  };
}

/** Returns the object of the process that a constant of the table stands for. */
function makeConstant(Class, name) {
  const object = new Class(KEY, native.constant(name));
  constants.add(object);
  return object;
}

/** The classes of records with a text, by their names. */
const records = new Map();

/** Makes a class of records whose text is the field `text`. */
function makeRecord(name, text) {
  const Class = {
    [name]: class {
      constructor(key, fields) {
        if (key !== KEY) throw makeError('TypeMismatch', `${name}: objects of this class cannot be created`);
        Object.assign(this, fields);
        Object.freeze(this);
      }

      toString() {
        return this[text].trimEnd();
      }
    },
  }[name];
  records.set(name, Class);
  return Class;
}

/** Returns the minimum, the maximum or -1, and the step of a range of sizes; or what it must be. */
function rangeOf(range) {
  if (range !== undefined && !isPlainObject(range)) return `be object, got ${describe(range)}`;
  const {min = 1, max = Infinity, step = 1, ...others} = range ?? {};
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) return `have only min, max and step, got ${unknown}`;
  const isValid = Number.isSafeInteger(min) && Number.isSafeInteger(step) && step >= 1 &&
    (max === Infinity || Number.isSafeInteger(max)) && min >= 0 && max >= min;
  return isValid ? [min, max === Infinity ? -1 : max, step] : 'have integers min <= max and step >= 1';
}

/** Returns whether a value is an instance of a class; false for a Proxy whose trap throws, or which is revoked. */
function isInstance(value, Class) {
  try {
    return value instanceof Class;
  } catch {
    return false;
  }
}

/** Returns whether a value is data for a graph, which may have an input `signal`. */
const isInput = (value) => isTensor(value) || Array.isArray(value) || isPlainObject(value) || util.types.isMap(value);

const getHref = Object.getOwnPropertyDescriptor(URL.prototype, 'href').get;

/** Returns the text of a URL; undefined for other values, and for an object with only the prototype. */
function hrefOf(value) {
  try {
    return isInstance(value, URL) ? getHref.call(value) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the literal of a number or a string, and the name of the type of any other value. */
function print(value) {
  if (typeof value === 'string') return JSON.stringify(value);
  return ['number', 'bigint', 'boolean'].includes(typeof value) ? String(value) : describe(value);
}

const getAborted = Object.getOwnPropertyDescriptor(AbortSignal.prototype, 'aborted').get;

function isSignal(value) {
  try {
    return isInstance(value, AbortSignal) && typeof getAborted.call(value) === 'boolean';
  } catch {
    return false; // an object with only the prototype
  }
}

/** Returns the path that a string or a URL stands for, in an array; null for other values; or what it must be. */
function pathOf(value) {
  if (typeof value === 'string') return [value];
  const href = hrefOf(value);
  if (href === undefined) return null;
  if (!href.startsWith('file:')) return `be a file: URL, got ${href.slice(0, href.indexOf(':') + 1)}`;
  try {
    return [fileURLToPath(href)];
  } catch {
    return `be a file: URL of a path of this system, got ${href}`;
  }
}

/** Returns an object of a class over a slot, which it owns from now on. */
const wrapObject = (name, slot) => new (classes.get(name).Class)(KEY, slot);

native.setHost({
  describe,
  /**
   * Returns the slot of an object, the name of the class of a disposed one, the entries of a map, or null. For a Proxy
   * of an array, a Float and a Device, returns an object with the length, the value or the number of the device.
   */
  identify(value) {
    if (isTensor(value)) return slotOfTensor(value) || 'Tensor';
    if (isObject(value)) return slotOf(value) || nameOf(value);
    if (isFloat(value)) return {real: Number(value)};
    if (devices.isDevice(value)) return {device: devices.codeOf('', '', value)};
    if (isArray(value)) return {length: Math.max(0, Math.trunc(Number(value.length)) || 0)};
    if (util.types.isMap(value)) return Array.from(mapEntries.call(value));
    return isPlainObject(value) ? Object.entries(value) : null;
  },
  findTensor,
  makeTensor: makeTensorOf,
  path: pathOf,
  print,
  range: rangeOf,
  warn: (text) => process.emitWarning(text, 'OneFlowWarning'),
  wrapRecord: (name, fields) => (records.has(name) ? new (records.get(name))(KEY, fields) : fields),
  wrapTensor: wrapSlot,
  wrapObject,
});

/** Adds the method at a position of the table to tensors. */
function addTensorMethod(name, method) {
  const methods = {
    [name](...args) {
      return native.invoke(method, liveTensor(this, name), ...args);
    },
  };
  Object.defineProperty(Tensor.prototype, name, {value: methods[name], writable: true, configurable: true});
}

module.exports = {
  NativeObject, addTensorMethod, call, callAsync, invoke, invokeAsync, isObject, liveSlot, makeConstant, makeRecord,
  register, within, wrapObject,
};
