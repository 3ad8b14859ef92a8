'use strict';

/** Elements of a tensor as JavaScript's values. */

const {getHeapStatistics} = require('node:v8');
const native = require('./native');
const dtypes = require('./dtypes');
const {makeError, traced} = require('./errors');
const {liveSlot, withMemory} = require('./tensor');
const {cast, castAsync} = require('./operators');

const SAFE = BigInt(Number.MAX_SAFE_INTEGER);

/** Half-precision elements are read as float32: JavaScript has no array for them. */
const needsCast = (tensor, method) => liveSlot(tensor, method) && dtypes.isHalf(tensor.dtype);

/** All elements, row by row, in a typed array of their own. */
function dataSync(tensor) {
  const source = needsCast(tensor, 'dataSync') ? cast(tensor, 'float32') : tensor;
  const array = dtypes.newArray('dataSync', source.dtype, source.shape);
  native.read(liveSlot(source, 'dataSync'), array.buffer, source);
  if (source !== tensor) source.dispose();
  return array;
}

/** The same, read on another thread; later writes to the tensor do not show. */
async function data(tensor) {
  const source = needsCast(tensor, 'data') ? await castAsync(tensor, 'float32') : tensor;
  const array = dtypes.newArray('data', source.dtype, source.shape);
  const done = withMemory(() => native.readAsync(liveSlot(source, 'data'), array.buffer, source));
  if (source !== tensor) source.dispose();
  await traced(done);
  return array;
}

/** One stored real element as a value: numbers for integers, unless BigInts are asked for. */
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

/** What an array takes in the heap, each of its members, and the object of a complex number with its two parts. */
const [ARRAY_BYTES, MEMBER_BYTES, COMPLEX_BYTES] = [32, 8, 72];
/** Arrays smaller than this are made without a look at how much room there is. */
const SMALL_BYTES = 2 ** 24;
/** Room that V8 counts in and needs for itself: young objects, copies of them, and the last bit, where it gives up. */
const SPARE_BYTES = 2 ** 26;

const roomInHeap = () => getHeapStatistics().total_available_size - SPARE_BYTES;

/** Throws where nested arrays of this shape do not fit into the heap: filling it ends the process. */
function checkRoom(shape, dtype) {
  let [arrays, bytes] = [1, 0];
  for (const size of shape) {
    bytes += arrays * (ARRAY_BYTES + size * MEMBER_BYTES);
    arrays *= size;
  }
  if (dtypes.isComplex(dtype)) bytes += arrays * COMPLEX_BYTES;
  if (bytes <= SMALL_BYTES || bytes <= roomInHeap()) return;
  native.collectGarbage();
  if (bytes <= roomInHeap()) return;
  const text = `the heap has no room for arrays of shape [${shape.join(', ')}]; dataSync() needs less`;
  throw makeError('OutOfMemory', `toArray: ${text}`);
}

/** Members of a typed array as an array of numbers: of nothing else, so that V8 keeps them there and not in objects. */
function rowOf(array, from, length) {
  const row = new Array(length);
  for (let i = 0; i < length; i++) row[i] = array[from + i];
  return row;
}

/** Nested arrays; for a tensor without dimensions the one value. */
function toArray(tensor, {bigint = false} = {}) {
  const {dtype, shape} = tensor;
  checkRoom(shape, dtype);
  const array = dataSync(tensor);
  let next = 0;
  const read = dtypes.isComplex(dtype)
    ? () => ({re: array[next++], im: array[next++]})
    : () => toValue(array[next++], dtype, bigint, 'toArray');
  const areNumbers = dtypes.isFloating(dtype) || (dtypes.isShort(dtype) && !bigint); // as they are stored
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

/** The value of a tensor with one element; where only a `real` one will do, complex ones are an error. */
function item(tensor, {bigint = false, real = false} = {}) {
  const {dtype} = tensor;
  if (dtypes.isComplex(dtype) && !real) return native.complexItem(liveSlot(tensor, 'item'), tensor);
  const value = native.item(liveSlot(tensor, 'item'), tensor);
  if (typeof value === 'boolean' || dtypes.isFloating(dtype)) return value;
  return toValue(BigInt(value), dtype, bigint, 'item');
}

module.exports = {dataSync, data, toArray, item};
