'use strict';

/** Element types are strings: `flow.float32 === 'float32'`. */

const {isSharedArrayBuffer} = require('node:util').types;
const native = require('../addon/native');
const {makeError} = require('../errors');

const names = native.dtypes();
const codes = new Map(names.map((name, code) => [name, code]));

/**
 * The typed array class for each dtype, with the same memory layout. Half-precision elements are stored as raw bits,
 * complex elements as two items: the real part and the imaginary part.
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

/** The dtype of the elements of each typed array class, by name. */
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

/**
 * Returns the number of a dtype, an of_dtype, by its name. Throws InvalidArgument for an unknown name; its message
 * begins with the operator and the argument.
 */
function codeOf(name, operator, argument = 'dtype') {
  const code = codes.get(name);
  if (code !== undefined) return code;
  throw makeError('InvalidArgument', `${operator}: ${argument} must be the name of a dtype, got '${name}'`);
}
const isName = (value) => codes.has(value);
const nameOf = (code) => names[code];

const isHalf = (dtype) => dtype === 'float16' || dtype === 'bfloat16';
const isLong = (dtype) => dtype === 'int64' || dtype === 'uint64';
/** Returns whether all elements are integers that a number represents exactly. */
const isShort = (dtype) => /^u?int(8|16|32)$/.test(dtype);
const isFloating = (dtype) => dtype.startsWith('float') || dtype === 'bfloat16';
const isComplex = (dtype) => dtype.startsWith('complex');
/** Returns the number of array items per element: 2 for complex dtypes, else 1. */
const componentsOf = (dtype) => (isComplex(dtype) ? 2 : 1);

// ------------------------------------------------------------------------------------------------ typed arrays
// These call the functions of the built-in prototype, because an object may have its own properties of the same names.

const {prototype} = Object.getPrototypeOf(Uint8Array);
const getter = (key) => Object.getOwnPropertyDescriptor(prototype, key).get;
const [TAG, KEYS] = [getter(Symbol.toStringTag), prototype.keys];
const [BUFFER, OFFSET, LENGTH] = [getter('buffer'), getter('byteOffset'), getter('length')];

/** Returns the class name of a typed array of any realm; undefined for other values. */
const arrayKind = (value) => TAG.call(value);
const bufferOf = (array) => BUFFER.call(array);
const lengthOf = (array) => LENGTH.call(array);
/** Returns the size of an element in a typed array, in bytes. */
const bytesOf = (dtype) => ARRAYS[dtype].BYTES_PER_ELEMENT * componentsOf(dtype);
/** Returns whether the byte offset of an array is a multiple of the element size of the dtype. */
const isAligned = (array, dtype) => OFFSET.call(array) % bytesOf(dtype) === 0;
const isShared = (array) => isSharedArrayBuffer(bufferOf(array));
/** Returns whether a value is an array; false for a revoked Proxy, for which Array.isArray() throws. */
function isArray(value) {
  try {
    return Array.isArray(value);
  } catch {
    return false;
  }
}

/** Returns whether a value is an array or a typed array. */
const isSequence = (value) => isArray(value) || arrayKind(value) !== undefined;

/** Returns whether the memory of a typed array is detached, or was resized to end before the array. */
function isDetached(array) {
  try {
    KEYS.call(array);
    return false;
  } catch {
    return true;
  }
}

/** Allocates a typed array for the elements of a tensor of this shape. Throws OutOfMemory. */
function newArray(method, dtype, shape) {
  const count = shape.reduce((product, size) => product * size, 1);
  try {
    return new ARRAYS[dtype](count * componentsOf(dtype));
  } catch (error) {
    throw makeError('OutOfMemory', `${method}: cannot allocate ${count} elements of ${dtype}: ${error.message}`);
  }
}

module.exports = {
  names, codeOf, isName, nameOf, ARRAYS, OF_ARRAY, isHalf, isLong, isShort, isFloating, isComplex, componentsOf,
  arrayKind, bufferOf, lengthOf, bytesOf, isAligned, isShared, isArray, isSequence, isDetached, newArray,
};
