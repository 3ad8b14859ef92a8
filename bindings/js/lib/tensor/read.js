'use strict';

/** Conversion of a tensor's elements to JavaScript values. */

const {getHeapStatistics} = require('node:v8');
const native = require('../addon/native');
const {collectGarbage} = require('../addon/garbage');
const dtypes = require('./dtypes');
const {makeError, traced} = require('../errors');
const {liveSlot} = require('./tensor');
const {cast, castAsync} = require('./casting');

const SAFE = BigInt(Number.MAX_SAFE_INTEGER);

/** Returns whether a tensor must be cast to float32 to be read: not all versions of Node.js have a Float16Array. */
const needsCast = (tensor, method) => liveSlot(tensor, method) && dtypes.isHalf(tensor.dtype);

/** Copies all elements, in row-major order, to a new typed array. */
function dataSync(tensor) {
  const source = needsCast(tensor, 'dataSync') ? cast(tensor, 'float32') : tensor;
  const array = dtypes.newArray('dataSync', source.dtype, source.shape);
  native.read(liveSlot(source, 'dataSync'), array.buffer, source);
  if (source !== tensor) source.dispose();
  return array;
}

/** Copies all elements like dataSync(), on another thread. The result has the values at the time of the call. */
async function data(tensor) {
  const source = needsCast(tensor, 'data') ? await castAsync(tensor, 'float32') : tensor;
  const array = dtypes.newArray('data', source.dtype, source.shape);
  const done = native.readAsync(liveSlot(source, 'data'), array.buffer, source);
  if (source !== tensor) source.dispose();
  await traced(done);
  return array;
}

/**
 * Converts an item of a typed array to the value of a real element. Integers become numbers, or BigInts if `bigint` is
 * true. Throws InvalidArgument for an integer that a number cannot represent exactly.
 */
function toValue(stored, dtype, bigint, method) {
  if (dtype === 'bool') return stored !== 0;
  if (typeof stored !== 'bigint') return bigint && !dtypes.isFloating(dtype) ? BigInt(stored) : stored;
  if (bigint) return stored;
  if (stored > SAFE || stored < -SAFE) {
    throw makeError(
      'InvalidArgument',
      `${method}: ${stored} is not exact as a number; ask for BigInts with ${method}({bigint: true})`,
    );
  }
  return Number(stored);
}

/** The heap bytes of an array, of each of its items, and of the object of a complex number with its two parts. */
const [ARRAY_BYTES, MEMBER_BYTES, COMPLEX_BYTES] = [32, 8, 72];
/** The size up to which arrays are created without a check of the free heap. */
const SMALL_BYTES = 2 ** 24;
/** The MiB that V8 takes for young objects and copies of them, by its major version; others take OTHER_YOUNG. */
const YOUNG = {13: 192, 14: 96};
const OTHER_YOUNG = 48;
/** The part of the available heap that V8 needs itself: that space, and the remainder at which it gives up. */
const SPARE_BYTES = ((YOUNG[Number.parseInt(process.versions.v8, 10)] ?? OTHER_YOUNG) + 16) * 2 ** 20;

/** Returns the number of bytes that arrays may take in the heap. */
const roomInHeap = () => getHeapStatistics().total_available_size - SPARE_BYTES;

/** Throws OutOfMemory if nested arrays of this shape do not fit into the heap; exhausting it would end the process. */
function checkRoom(shape, dtype) {
  let [arrays, bytes] = [1, 0];
  for (const size of shape) {
    bytes += arrays * (ARRAY_BYTES + size * MEMBER_BYTES);
    arrays *= size;
  }
  if (dtypes.isComplex(dtype)) bytes += arrays * COMPLEX_BYTES;
  if (bytes <= SMALL_BYTES || bytes <= roomInHeap()) return;
  collectGarbage();
  if (bytes <= roomInHeap()) return;
  const text = `the heap has no room for arrays of shape [${shape.join(', ')}]; dataSync() needs less`;
  throw makeError('OutOfMemory', `toArray: ${text}`);
}

/** Copies items of a typed array to an array of numbers only, whose items V8 stores unboxed. */
function rowOf(array, from, length) {
  const row = new Array(length);
  for (let i = 0; i < length; i++) row[i] = array[from + i];
  return row;
}

/** Returns the elements as nested arrays, or the only element of a tensor without dimensions. */
function toArray(tensor, {bigint = false} = {}) {
  const {dtype, shape} = tensor;
  checkRoom(shape, dtype);
  const array = dataSync(tensor);
  let next = 0;
  const read = dtypes.isComplex(dtype)
    ? () => ({re: array[next++], im: array[next++]})
    : () => toValue(array[next++], dtype, bigint, 'toArray');
  const areNumbers = dtypes.isFloating(dtype) || (dtypes.isShort(dtype) && !bigint); // the stored items are the values
  const build = (depth) => {
    if (depth === shape.length) return read();
    if (depth === shape.length - 1 && areNumbers) {
      const row = rowOf(array, next, shape[depth]);
      next += row.length;
      return row;
    }
    const level = new Array(shape[depth]);
    for (let i = 0; i < level.length; i++) level[i] = build(depth + 1);
    return level;
  };
  return build(0);
}

/** Returns the value of a tensor with one element. With `real`, throws DTypeError for a complex tensor. */
function item(tensor, {bigint = false, real = false} = {}) {
  const {dtype} = tensor;
  if (dtypes.isComplex(dtype) && !real) return native.complexItem(liveSlot(tensor, 'item'), tensor);
  const value = native.item(liveSlot(tensor, 'item'), tensor);
  if (typeof value === 'boolean' || dtypes.isFloating(dtype)) return value;
  return toValue(BigInt(value), dtype, bigint, 'item');
}

module.exports = {dataSync, data, toArray, item};
