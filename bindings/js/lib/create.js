'use strict';

/** Tensors from JavaScript's data. */

const native = require('./native');
const dtypes = require('./dtypes');
const {makeError} = require('./errors');
const {isTensor, liveSlot, wrapSlot, describe} = require('./tensor');
const {Real} = require('./scalars');
const {suggestion} = require('./signature');
const {cast} = require('./operators');

/** Options of tensor() by name, with the types that they must have. */
const OPTIONS = new Map(Object.entries({
  dtype: 'string', device: 'string', shape: 'array', strides: 'array', offset: 'integer', share: 'boolean',
  transfer: 'boolean',
}));
/** The most dimensions that a tensor may have, as in oneflow/types.h. */
const MAX_RANK = 32;

/** An error of tensor(). */
const failure = (code, text) => makeError(code, `tensor: ${text}`);

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

function checkOptions(options) {
  if (options === null || typeof options !== 'object') {
    throw failure('TypeMismatch', `options must be object, got ${describe(options)}`);
  }
  const checked = {};
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    const expected = OPTIONS.get(name);
    if (expected === undefined) {
      throw failure('TypeMismatch', `unknown argument ${name}${suggestion(name, [...OPTIONS.keys()])}`);
    }
    if (name === 'dtype' && typeof value === 'string') dtypes.codeOf(value, 'tensor');
    checked[name] = expected === 'array' ? toSizes(name, value) : value;
    const isRight = expected === 'integer' ? Number.isSafeInteger(value) : typeof value === expected;
    if (expected !== 'array' && !isRight) {
      throw failure('TypeMismatch', `${name} must be ${expected}, got ${describe(value)}`);
    }
  }
  return checked;
}

/** A list of sizes or strides as safe integers. */
function toSizes(name, value) {
  const list = Array.isArray(value) || dtypes.arrayKind(value) !== undefined ? Array.from(value) : [NaN];
  if (!list.every(Number.isSafeInteger)) {
    throw failure('TypeMismatch', `${name} must be array of integers, got ${describe(value)}`);
  }
  if (name === 'shape') {
    const negative = list.find((size) => size < 0);
    if (negative !== undefined) throw failure('ShapeError', `shape must not be negative, got ${negative}`);
  }
  return list;
}

const deviceOf = (name) => native.parseDevice(name ?? native.defaultDevice());

// ---------------------------------------------------------------------------------------------------- nested arrays

/** The shape of nested arrays, by their first members. */
function shapeOf(data) {
  const shape = [];
  let level = data;
  while (Array.isArray(level)) {
    if (shape.length === MAX_RANK) throw failure('ShapeError', `data must have at most ${MAX_RANK} dimensions`);
    shape.push(level.length);
    level = level[0];
  }
  return shape;
}

/** All members of nested arrays, in order; throws where an array has another length than its siblings. */
function flatten(data, shape) {
  const flat = [];
  const walk = (level, depth) => {
    if (depth === shape.length) {
      if (Array.isArray(level)) throw ragged(`an array of length ${level.length} at depth ${depth}, where numbers are`);
      flat.push(level);
      return;
    }
    if (!Array.isArray(level)) throw ragged(`${describe(level)} at depth ${depth}, where arrays are`);
    if (level.length !== shape[depth]) {
      throw ragged(`lengths ${shape[depth]} and ${level.length} at depth ${depth}`);
    }
    for (let i = 0; i < level.length; i++) walk(level[i], depth + 1);
  };
  walk(data, 0);
  return flat;
}

const ragged = (found) => failure('ShapeError', `data must be rectangular, got ${found}`);

/** The dtype that values have of themselves: BigInts are int64, booleans bool, all else the default dtype. */
function naturalDtype(flat) {
  let dtype = null;
  for (const value of flat) {
    if (typeof value === 'boolean') dtype ??= 'bool';
    else if (typeof value === 'bigint') dtype = dtype === null || dtype === 'bool' ? 'int64' : dtype;
    else if (typeof value === 'number' || value instanceof Real) return dtypes.nameOf(native.defaultDtype());
    else throw misfit(value);
  }
  return dtype ?? dtypes.nameOf(native.defaultDtype());
}

const misfit = (value) =>
  failure('TypeMismatch', `data must be number, bigint, boolean, or arrays of them, got ${describe(value)}`);

const outOfRange = (value, dtype) =>
  failure('InvalidArgument', `data must fit into ${dtype}, got ${value}`);

/** Values as a typed array of a dtype that one exists for. */
function fill(flat, dtype) {
  const array = new dtypes.ARRAYS[dtype](flat.length);
  const isLong = dtypes.isLong(dtype);
  const isFloating = dtypes.isFloating(dtype);
  for (let i = 0; i < flat.length; i++) {
    const value = flat[i] instanceof Real ? Number(flat[i]) : flat[i];
    if (typeof value !== 'number' && typeof value !== 'bigint' && typeof value !== 'boolean') throw misfit(value);
    if (dtype === 'bool') {
      array[i] = value ? 1 : 0;
    } else if (isFloating) {
      array[i] = Number(value);
    } else {
      const integer = toStored(value, dtype);
      array[i] = isLong ? BigInt(integer) : Number(integer);
      if (array[i] != integer) throw outOfRange(value, dtype); // eslint-disable-line eqeqeq -- number and BigInt
    }
  }
  return array;
}

/** A value for an integer dtype: a fraction is cut off, as by cast(). */
function toStored(value, dtype) {
  if (typeof value === 'bigint') return value;
  const integer = Math.trunc(Number(value));
  if (!Number.isFinite(integer)) throw outOfRange(value, dtype);
  return Number.isSafeInteger(integer) ? integer : BigInt(integer);
}

function fromArrays(data, options) {
  const shape = shapeOf(data);
  const flat = flatten(data, shape);
  const dtype = options.dtype === undefined ? naturalDtype(flat) : options.dtype;
  const stored = dtypes.isHalf(dtype) ? 'float64' : dtype;
  const tensor = place(fill(flat, stored), stored, options.shape ?? shape, options);
  return stored === dtype ? tensor : cast(tensor, dtype);
}

// ---------------------------------------------------------------------------------------------------- typed arrays

const isShared = (array) => Object.prototype.toString.call(array.buffer) === '[object SharedArrayBuffer]';

function fromTypedArray(data, kind, options) {
  const natural = dtypes.OF_ARRAY.get(kind);
  if (natural === undefined) throw failure('TypeMismatch', `data must not be ${kind}`);
  if (isDetached(data)) {
    throw failure('InvalidArgument', `data must be attached to its memory, got a detached ${kind}`);
  }
  const wanted = options.dtype === undefined ? natural : options.dtype;
  const isSame = agree(wanted, kind);
  if ((options.share || options.transfer) && !isSame) {
    throw failure('DTypeError', `${kind} cannot be shared as ${wanted}`);
  }
  if (options.share && !isShared(data)) {
    throw failure(
      'InvalidArgument',
      'share needs memory that cannot be detached: a SharedArrayBuffer, or transfer instead of share',
    );
  }
  const held = options.transfer ? transferred(data) : data;
  const stored = isSame ? wanted : natural;
  const tensor = place(held, stored, options.shape ?? [held.length], options);
  return stored === wanted ? tensor : cast(tensor, wanted);
}

/** Whether an array's memory can be that of a dtype as it is: its own one, or the bits of a half-precision type. */
const agree = (dtype, kind) => dtypes.OF_ARRAY.get(kind) === dtype || (dtypes.isHalf(dtype) && kind === 'Uint16Array');

/** A typed array over the same memory that nobody else can reach: the caller's buffer is detached. */
function transferred(data) {
  if (isShared(data)) return data;
  const failed = (why) => failure('InvalidArgument', `data cannot be transferred: ${why}`);
  let moved;
  try {
    moved = structuredClone(data, {transfer: [data.buffer]});
  } catch (error) {
    throw failed(error.message);
  }
  if (!isDetached(data)) throw failed('its memory belongs to Node.js'); // as that of small Buffers
  return moved;
}

function isDetached(array) {
  if (isShared(array)) return false;
  if (array.buffer.detached !== undefined) return array.buffer.detached;
  try {
    new Uint8Array(array.buffer, 0, 0);
    return false;
  } catch {
    return true;
  }
}

// ---------------------------------------------------------------------------------------------------- both

/** A tensor over (a copy of) an array's memory. */
function place(array, dtype, shape, {device, strides, offset = 0, share = false, transfer = false}) {
  const count = shape.reduce((product, size) => product * size, 1);
  if (strides === undefined && offset === 0 && count !== array.length) {
    throw failure('ShapeError', `shape [${shape.join(', ')}] has ${count} elements, data has ${array.length}`);
  }
  const [code, where] = [dtypes.codeOf(dtype, 'tensor'), deviceOf(device)];
  const keepsMemory = share || transfer;
  return wrapSlot(withMemory(() => native.create(array, code, where, shape, strides ?? null, offset, keepsMemory)));
}

/** A tensor of its own with the values of another one. */
function fromTensor(source, {dtype, device}) {
  liveSlot(source, 'tensor');
  const target = device === undefined ? source.device : device;
  const copy = deviceOf(target) === deviceOf(source.device)
    ? wrapSlot(withMemory(() => native.clone(liveSlot(source, 'tensor'), source)))
    : place(readRaw(source), source.dtype, source.shape, {device});
  return dtype === undefined || dtype === copy.dtype ? copy : cast(copy, dtype);
}

function readRaw(source) {
  const array = new dtypes.ARRAYS[source.dtype](source.size);
  native.read(liveSlot(source, 'tensor'), array.buffer, source);
  return array;
}

/** tensor(data, options) */
function makeTensor(data, options = {}) {
  const checked = checkOptions(options);
  const kind = dtypes.arrayKind(data);
  if (kind !== undefined) return fromTypedArray(data, kind, checked);
  for (const name of ['share', 'transfer', 'strides', 'offset']) {
    if (checked[name]) throw failure('TypeMismatch', `${name} is for typed arrays, data is ${describe(data)}`);
  }
  return isTensor(data) ? fromTensor(data, checked) : fromArrays(data, checked);
}

module.exports = {makeTensor, withMemory};
