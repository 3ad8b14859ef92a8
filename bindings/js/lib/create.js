'use strict';

/** Tensors from JavaScript's data. */

const native = require('./native');
const devices = require('./devices');
const dtypes = require('./dtypes');
const {makeError, rewording} = require('./errors');
const {MAX_RANK, shapeOf, eachMember} = require('./nested');
const {isTensor, isPlainObject, liveSlot, wrapSlot, describe, withMemory} = require('./tensor');
const {Real} = require('./scalars');
const {suggestion} = require('./suggestion');
const {cast, toDevice} = require('./operators');

/** Options of tensor() by name, with the types that they must have. */
const OPTIONS = new Map(Object.entries({
  dtype: 'string', device: 'device', shape: 'array', strides: 'array', offset: 'integer', share: 'boolean',
  transfer: 'boolean',
}));

/** An error of tensor(). */
const failure = (code, text) => makeError(code, `tensor: ${text}`);

function checkOptions(options) {
  if (!isPlainObject(options)) throw failure('TypeMismatch', `options must be object, got ${describe(options)}`);
  const checked = Object.create(null);
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    const expected = OPTIONS.get(name);
    if (expected === undefined) {
      throw failure('TypeMismatch', `unknown argument ${name}${suggestion(name, [...OPTIONS.keys()])}`);
    }
    if (name === 'dtype' && typeof value === 'string') dtypes.codeOf(value, 'tensor');
    if (expected === 'array') checked[name] = toSizes(name, value);
    else if (expected === 'device') checked[name] = devices.codeOf('tensor', name, value);
    else if (expected === 'integer' ? Number.isSafeInteger(value) : typeof value === expected) checked[name] = value;
    else throw failure('TypeMismatch', `${name} must be ${expected}, got ${describe(value)}`);
  }
  return checked;
}

/** A list of sizes or strides as safe integers. */
function toSizes(name, value) {
  if (!dtypes.isSequence(value)) {
    throw failure('TypeMismatch', `${name} must be array of integers, got ${describe(value)}`);
  }
  const {length} = value;
  if (length > MAX_RANK) {
    throw failure('ShapeError', `${name} must have at most ${MAX_RANK} dimensions, got ${length}`);
  }
  const list = Array.from({length}, (_, i) => value[i]);
  const wrong = list.findIndex((member) => !Number.isSafeInteger(member));
  if (wrong >= 0) {
    throw failure('TypeMismatch', `${name} must be array of integers, got array with ${describe(list[wrong])}`);
  }
  if (name === 'shape') {
    const negative = list.find((size) => size < 0);
    if (negative !== undefined) throw failure('ShapeError', `shape must not be negative, got ${negative}`);
  }
  return list;
}

// ---------------------------------------------------------------------------------------------------- nested arrays

const SUBJECT = 'tensor: data';

/** The dtype that members have of themselves: BigInts are int64, booleans bool, all else the default dtype. */
function naturalDtype(data, shape) {
  let dtype;
  eachMember(SUBJECT, data, shape, (value) => {
    if (typeof value === 'boolean') dtype ??= 'bool';
    else if (typeof value === 'bigint') dtype = 'int64';
    else if (typeof value === 'number' || value instanceof Real) dtype = getDefaultDtype();
    else throw misfit(value);
    return typeof value !== 'boolean' && typeof value !== 'bigint';
  });
  return dtype ?? getDefaultDtype();
}

const getDefaultDtype = () => dtypes.nameOf(native.defaultDtype());

const misfit = (value) =>
  failure('TypeMismatch', `data must be number, bigint, boolean, or arrays of them, got ${describe(value)}`);

const outOfRange = (value, dtype) =>
  failure('InvalidArgument', `data must fit into ${dtype}, got ${value}`);

/** Members as a typed array of a dtype that one exists for. */
function fill(data, shape, dtype) {
  const array = dtypes.newArray('tensor', dtype, shape);
  const isLong = dtypes.isLong(dtype);
  const isFloating = dtypes.isFloating(dtype);
  let next = 0;
  eachMember(SUBJECT, data, shape, (member) => {
    const value = member instanceof Real ? Number(member) : member;
    if (typeof value !== 'number' && typeof value !== 'bigint' && typeof value !== 'boolean') throw misfit(value);
    if (dtype === 'bool') {
      array[next] = value ? 1 : 0;
    } else if (isFloating) {
      array[next] = Number(value);
    } else {
      const integer = toStored(value, dtype);
      array[next] = isLong ? BigInt(integer) : Number(integer);
      if (array[next] != integer) throw outOfRange(value, dtype); // eslint-disable-line eqeqeq -- number and BigInt
    }
    next++;
    return false;
  });
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
  const shape = shapeOf(SUBJECT, data);
  const dtype = options.dtype ?? naturalDtype(data, shape);
  const stored = dtypes.isHalf(dtype) ? 'float64' : dtype;
  return place(fill(data, shape, stored), stored, dtype, options.shape ?? shape, options);
}

// ---------------------------------------------------------------------------------------------------- typed arrays

function fromTypedArray(data, kind, options) {
  const natural = dtypes.OF_ARRAY.get(kind);
  if (natural === undefined) throw failure('TypeMismatch', `data must not be ${kind}`);
  if (dtypes.isOutOfReach(data)) {
    throw failure('InvalidArgument', `data must be attached to its memory, got a detached ${kind}`);
  }
  const wanted = options.dtype ?? natural;
  const isSame = agree(wanted, kind);
  if ((options.share || options.transfer) && !isSame) {
    throw failure('DTypeError', `${kind} cannot be shared as ${wanted}`);
  }
  if (options.share && !dtypes.isShared(data)) {
    throw failure(
      'InvalidArgument',
      'share needs memory that cannot be detached: a SharedArrayBuffer, or transfer instead of share',
    );
  }
  return place(data, isSame ? wanted : natural, wanted, options.shape ?? [data.length], options);
}

/** Whether an array's memory can be that of a dtype as it is: its own one, or the bits of a half-precision type. */
const agree = (dtype, kind) => dtypes.OF_ARRAY.get(kind) === dtype || (dtypes.isHalf(dtype) && kind === 'Uint16Array');

/** A typed array over the same memory that nobody else can reach: the caller's buffer is detached. */
function transferred(data) {
  if (dtypes.isShared(data)) return data;
  const failed = (why) => failure('InvalidArgument', `data cannot be transferred: ${why}`);
  let moved;
  try {
    moved = structuredClone(data, {transfer: [dtypes.bufferOf(data)]});
  } catch (error) {
    throw failed(error.message);
  }
  if (!dtypes.isOutOfReach(data)) throw failed('its memory cannot be detached'); // as that of small Buffers
  return moved;
}

// ---------------------------------------------------------------------------------------------------- both

/** The host, as native.parseDevice() gives it: where the memory of arrays is. */
const HOST = 0;

/**
 * A tensor over (a copy of) an array's memory, which holds elements of the type `stored`; of another dtype or on
 * another device a copy of that.
 */
function place(array, stored, dtype, shape, options) {
  const {
    device = native.parseDevice(native.defaultDevice()), strides, offset = 0, share = false, transfer = false,
  } = options;
  const count = shape.reduce((product, size) => product * size, 1);
  if (strides === undefined && offset === 0 && count !== array.length) {
    throw failure('ShapeError', `shape [${shape.join(', ')}] has ${count} elements, data has ${array.length}`);
  }
  if (strides !== undefined && strides.length !== shape.length) {
    throw failure('ShapeError', `strides must be ${shape.length}, one for each dimension, got ${strides.length}`);
  }
  if (share && device !== HOST) {
    throw failure('DeviceError', `data cannot be shared with ${native.deviceName(device)}`);
  }
  const code = dtypes.codeOf(stored, 'tensor');
  const held = transfer ? transferred(array) : array; // last, so that what is wrong above leaves it to the caller
  const tensor = wrapSlot(withMemory(
    () => native.create(held, code, shape, strides ?? null, offset, share || transfer),
  ));
  const converted = stored === dtype ? tensor : replaced(tensor, (made) => cast(made, dtype));
  return device === HOST ? converted : replaced(converted, (made) => rewording(
    () => toDevice(made, native.deviceName(device)), (text) => text.replace(/^toDevice: /, 'tensor: '),
  ));
}

/** What comes of a tensor; the tensor itself, which nobody has seen, is given up. */
function replaced(tensor, change) {
  try {
    return change(tensor);
  } finally {
    tensor.dispose();
  }
}

/** A tensor of its own with the values of another one. */
function fromTensor(source, {dtype, device}) {
  liveSlot(source, 'tensor');
  const where = device === undefined ? source.device : native.deviceName(device);
  const copy = where === source.device
    ? wrapSlot(withMemory(() => native.clone(liveSlot(source, 'tensor'), source)))
    : toDevice(source, where);
  return dtype === undefined || dtype === copy.dtype ? copy : replaced(copy, (made) => cast(made, dtype));
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

module.exports = {makeTensor};
