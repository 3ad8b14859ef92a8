'use strict';

/** Element types are strings: `flow.float32 === 'float32'`. */

const {isSharedArrayBuffer} = require('node:util').types;
const native = require('./native');
const {makeError} = require('./errors');

const names = native.dtypes();
const codes = new Map(names.map((name, code) => [name, code]));

/**
 * The array type whose elements lie in memory as those of the dtype do; half-precision ones are raw bits, complex ones
 * pairs of members: the real part and the imaginary one.
 */
const ARRAYS = {
  bool: Uint8Array,
  uint8: Uint8Array,
  int8: Int8Array,
  int16: Int16Array,
  int32: Int32Array,
  int64: BigInt64Array,
  uint16: Uint16Array,
  uint32: Uint32Array,
  uint64: BigUint64Array,
  float16: Uint16Array,
  bfloat16: Uint16Array,
  float32: Float32Array,
  float64: Float64Array,
  complex64: Float32Array,
  complex128: Float64Array,
};

/** What the elements of a typed array are. */
const OF_ARRAY = new Map([
  ['Uint8Array', 'uint8'],
  ['Uint8ClampedArray', 'uint8'],
  ['Int8Array', 'int8'],
  ['Int16Array', 'int16'],
  ['Int32Array', 'int32'],
  ['BigInt64Array', 'int64'],
  ['Uint16Array', 'uint16'],
  ['Uint32Array', 'uint32'],
  ['BigUint64Array', 'uint64'],
  ['Float16Array', 'float16'],
  ['Float32Array', 'float32'],
  ['Float64Array', 'float64'],
]);

/** The number of a dtype by its name; `operator` and `argument` are for the error of an unknown one. */
function codeOf(name, operator, argument = 'dtype') {
  const code = codes.get(name);
  if (code !== undefined) return code;
  throw makeError('InvalidArgument', `${operator}: ${argument} must be the name of a dtype, got '${name}'`);
}
const isName = (value) => codes.has(value);
const nameOf = (code) => names[code];

const isHalf = (dtype) => dtype === 'float16' || dtype === 'bfloat16';
const isLong = (dtype) => dtype === 'int64' || dtype === 'uint64';
/** Whether the elements are integers that every number holds. */
const isShort = (dtype) => /^u?int(8|16|32)$/.test(dtype);
const isFloating = (dtype) => dtype.startsWith('float') || dtype === 'bfloat16';
const isComplex = (dtype) => dtype.startsWith('complex');
/** How many members of an array an element takes. */
const membersOf = (dtype) => (isComplex(dtype) ? 2 : 1);

// ------------------------------------------------------------------------------------------------ typed arrays
// What is asked of them goes to their class's own functions: an object may have others of the same names.

const {prototype} = Object.getPrototypeOf(Uint8Array);
const getter = (key) => Object.getOwnPropertyDescriptor(prototype, key).get;
const [TAG, KEYS] = [getter(Symbol.toStringTag), prototype.keys];
const [BUFFER, OFFSET, LENGTH] = [getter('buffer'), getter('byteOffset'), getter('length')];

/** Name of the typed array's class, whatever realm it is from; undefined for other values. */
const arrayKind = (value) => TAG.call(value);
const bufferOf = (array) => BUFFER.call(array);
const lengthOf = (array) => LENGTH.call(array);
/** Bytes of an element as it lies in an array. */
const bytesOf = (dtype) => ARRAYS[dtype].BYTES_PER_ELEMENT * membersOf(dtype);
/** Whether an array's elements lie where ones of their size may. */
const isAligned = (array, dtype) => OFFSET.call(array) % bytesOf(dtype) === 0;
const isShared = (array) => isSharedArrayBuffer(bufferOf(array));
/** Whether a value is an array; a revoked Proxy, which cannot be asked, is none. */
function isArray(value) {
  try {
    return Array.isArray(value);
  } catch {
    return false;
  }
}

const isSequence = (value) => isArray(value) || arrayKind(value) !== undefined;

/** Whether the array's memory was detached, or resized to end before it. */
function isOutOfReach(array) {
  try {
    KEYS.call(array);
    return false;
  } catch {
    return true;
  }
}

/** A typed array for the elements of a tensor of this shape. */
function newArray(method, dtype, shape) {
  const count = shape.reduce((product, size) => product * size, 1);
  try {
    return new ARRAYS[dtype](count * membersOf(dtype));
  } catch (error) {
    throw makeError('OutOfMemory', `${method}: no array for ${count} elements of ${dtype}: ${error.message}`);
  }
}

module.exports = {
  names, codeOf, isName, nameOf, ARRAYS, OF_ARRAY, isHalf, isLong, isShort, isFloating, isComplex, membersOf, arrayKind,
  bufferOf, lengthOf, bytesOf, isAligned, isShared, isArray, isSequence, isOutOfReach, newArray,
};
