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

/** One stored element as a value: numbers for integers, unless BigInts are asked for. */
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

/** What an array takes in the heap, and each of its members, at least. */
const [ARRAY_BYTES, MEMBER_BYTES] = [32, 8];
/** Arrays smaller than this are made without a look at how much room there is. */
const SMALL_BYTES = 2 ** 24;

/** Throws where nested arrays of this shape do not fit into the heap: filling it ends the process. */
function checkRoom(shape) {
  let [arrays, bytes] = [1, 0];
  for (const size of shape) {
    bytes += arrays * (ARRAY_BYTES + size * MEMBER_BYTES);
    arrays *= size;
  }
  if (bytes <= SMALL_BYTES || bytes <= getHeapStatistics().total_available_size) return;
  native.collectGarbage();
  if (bytes <= getHeapStatistics().total_available_size) return;
  const text = `the heap has no room for arrays of shape [${shape.join(', ')}]; dataSync() needs less`;
  throw makeError('OutOfMemory', `toArray: ${text}`);
}

/** Nested arrays; for a tensor without dimensions the one value. */
function toArray(tensor, {bigint = false} = {}) {
  const {dtype, shape} = tensor;
  checkRoom(shape);
  const array = dataSync(tensor);
  let next = 0;
  const build = (depth) => {
    if (depth === shape.length) return toValue(array[next++], dtype, bigint, 'toArray');
    const level = new Array(shape[depth]);
    for (let i = 0; i < level.length; i++) level[i] = build(depth + 1);
    return level;
  };
  return build(0);
}

/** The value of a tensor with one element. */
function item(tensor, {bigint = false} = {}) {
  const value = native.item(liveSlot(tensor, 'item'), tensor);
  if (typeof value === 'boolean' || dtypes.isFloating(tensor.dtype)) return value;
  return toValue(BigInt(value), tensor.dtype, bigint, 'item');
}

module.exports = {dataSync, data, toArray, item};
