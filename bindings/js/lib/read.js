'use strict';

/** Elements of a tensor as JavaScript's values. */

const native = require('./native');
const dtypes = require('./dtypes');
const {makeError} = require('./errors');
const {liveSlot} = require('./tensor');
const {cast} = require('./operators');

const SAFE = BigInt(Number.MAX_SAFE_INTEGER);

/** Half-precision elements are read as float32: JavaScript has no array for them. */
function readable(tensor, method) {
  liveSlot(tensor, method);
  return dtypes.isHalf(tensor.dtype) ? cast(tensor, 'float32') : tensor;
}

function emptyArray(tensor) {
  return new dtypes.ARRAYS[tensor.dtype](tensor.size);
}

/** All elements, row by row, in a typed array of their own. */
function dataSync(tensor) {
  const source = readable(tensor, 'dataSync');
  const array = emptyArray(source);
  native.read(liveSlot(source, 'dataSync'), array.buffer, source);
  if (source !== tensor) source.dispose();
  return array;
}

/** The same, read on another thread; later writes to the tensor do not show. */
async function data(tensor) {
  const source = readable(tensor, 'data');
  const array = emptyArray(source);
  const done = native.readAsync(liveSlot(source, 'data'), array.buffer, source);
  if (source !== tensor) source.dispose();
  await done;
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

/** Nested arrays; for a tensor without dimensions the one value. */
function toArray(tensor, {bigint = false} = {}) {
  const array = dataSync(tensor);
  const {dtype, shape} = tensor;
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
