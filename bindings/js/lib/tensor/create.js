'use strict';

/** Creation of tensors from JavaScript data: tensor(data, options). */

const native = require('../addon/native');
const devices = require('../devices');
const dtypes = require('./dtypes');
const {makeError, rewording} = require('../errors');
const {MAX_RANK, shapeOf, eachLeaf, innermostKind, pathOf} = require('./nested');
const {isTensor, isPlainObject, liveSlot, wrapSlot, describe} = require('./tensor');
const {isFloat, isNumber, partsOf} = require('../calls/scalars');
const {suggestion} = require('../calls/suggestion');
const {cast, toDevice} = require('./casting');

/** The options of tensor() by name, with their types. */
const OPTIONS = new Map(Object.entries({
  dtype: 'string', device: 'device', shape: 'array', strides: 'array', offset: 'integer', share: 'boolean',
  transfer: 'boolean', requiresGrad: 'boolean',
}));

const COMPLEX64 = dtypes.codeOf('complex64', 'tensor');

/** Makes an error of tensor(). */
const failure = (code, text) => makeError(code, `tensor: ${text}`);

/**
 * Checks the options of tensor(). Returns those that are neither undefined nor null, with the device as the addon's
 * number and lists as arrays of safe integers. Throws TypeMismatch, ShapeError, InvalidArgument or DeviceError.
 */
function checkOptions(options) {
  if (!isPlainObject(options)) {
    throw failure('TypeMismatch', `options must be object, got ${describe(options)}${asOption(options)}`);
  }
  const checked = Object.create(null);
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || value === null) continue;
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

/** Returns "; write {dtype: 'int32'}" for a dtype or a shape in place of the options, else "". */
function asOption(value) {
  if (dtypes.names.includes(value)) return `; write {dtype: '${value}'}`;
  const isShape = dtypes.isArray(value) && value.length <= MAX_RANK && value.every(Number.isSafeInteger);
  return isShape ? `; write {shape: [${value.join(', ')}]}` : '';
}

/** Returns a copy of the `shape` or `strides` option as an array of at most MAX_RANK safe integers. */
function toSizes(name, value) {
  if (!dtypes.isSequence(value)) {
    throw failure('TypeMismatch', `${name} must be array of integers, got ${describe(value)}`);
  }
  const {length} = value;
  if (length > MAX_RANK) {
    throw failure('ShapeError', `${name} must have at most ${MAX_RANK} dimensions, got ${length}`);
  }
  const list = Array.from({length}, (_, i) => value[i]);
  const wrong = list.findIndex((item) => !Number.isSafeInteger(item));
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

/**
 * Infers the dtype of nested arrays: that of typed arrays, int64 for BigInts, bool for booleans, complex for complex
 * numbers, and the default dtype for numbers and empty arrays. The first number or complex number decides; the leaves
 * after it are not examined.
 */
function naturalDtype(data, shape) {
  let dtype = dtypes.OF_ARRAY.get(innermostKind(data, shape));
  if (dtype !== undefined) return dtype;
  eachLeaf(SUBJECT, data, shape, (value, number) => {
    if (typeof value === 'boolean') dtype ??= 'bool';
    else if (typeof value === 'bigint') dtype = 'int64';
    else if (typeof value === 'number' || isFloat(value)) dtype = defaultDtype();
    else if (partsOf(value) !== undefined) dtype = complexDtype();
    else throw misfit(value, shape, number);
    return typeof value !== 'boolean' && typeof value !== 'bigint';
  });
  return dtype ?? defaultDtype();
}

/** Returns the name of the default dtype. */
const defaultDtype = () => dtypes.nameOf(native.defaultDtype());
/** Returns the name of the complex dtype whose parts have at least the precision of the default dtype. */
const complexDtype = () => dtypes.nameOf(native.promoteTypes(native.defaultDtype(), COMPLEX64));

/** Makes the error for leaf `number` of nested arrays, which is not a number. */
const misfit = (value, shape, number) => failure(
  'TypeMismatch',
  `data${pathOf(shape, number)} must be number, bigint, boolean, {re, im} or array of them, got ${describe(value)}`,
);

/** Makes the error for a number that a dtype cannot represent. */
const outOfRange = (value, dtype) =>
  failure('InvalidArgument', `data must fit into ${dtype}, got ${value}`);

/**
 * Copies the leaves of nested arrays to a typed array for `dtype`, which is not a half-precision type. If the dtype is
 * real, stops at the first complex number and returns its parts as `refused`.
 */
function fill(data, shape, dtype) {
  const array = dtypes.newArray('tensor', dtype, shape);
  const write = writer(array, dtype);
  const isComplex = dtypes.isComplex(dtype);
  let refused;
  eachLeaf(SUBJECT, data, shape, (leaf, number) => {
    if (isNumber(leaf)) {
      write(number, isFloat(leaf) ? Number(leaf) : leaf);
      return false;
    }
    const parts = partsOf(leaf);
    if (parts === undefined) throw misfit(leaf, shape, number);
    if (isComplex) [array[2 * number], array[2 * number + 1]] = parts;
    else refused = parts;
    return !isComplex;
  });
  return {array, refused};
}

/** Returns a function `(number, value)` that writes a real value to the element `number` of an array of this dtype. */
function writer(array, dtype) {
  if (dtype === 'bool') {
    return (number, value) => {
      array[number] = value ? 1 : 0;
    };
  }
  if (dtypes.isFloating(dtype)) {
    return (number, value) => {
      array[number] = Number(value);
    };
  }
  if (dtypes.isComplex(dtype)) {
    return (number, value) => {
      array[2 * number] = Number(value);
    };
  }
  const isLong = dtypes.isLong(dtype);
  return (number, value) => {
    const integer = toStored(value, dtype);
    array[number] = isLong ? BigInt(integer) : Number(integer);
    if (array[number] != integer) throw outOfRange(value, dtype); // eslint-disable-line eqeqeq -- number and BigInt
  };
}

/** Truncates a value to an integer, as cast() does. Throws InvalidArgument for NaN and infinities. */
function toStored(value, dtype) {
  if (typeof value === 'bigint') return value;
  const integer = Math.trunc(Number(value));
  if (!Number.isFinite(integer)) throw outOfRange(value, dtype);
  return Number.isSafeInteger(integer) ? integer : BigInt(integer);
}

/** Creates a tensor from nested arrays, or from a single number. */
function fromArrays(data, options) {
  const shape = shapeOf(SUBJECT, data);
  let dtype = options.dtype ?? naturalDtype(data, shape);
  let stored = dtypes.isHalf(dtype) ? 'float64' : dtype;
  let {array, refused} = fill(data, shape, stored);
  if (refused !== undefined && options.dtype === undefined) {
    dtype = stored = complexDtype();
    ({array, refused} = fill(data, shape, dtype));
  }
  if (refused !== undefined) {
    const [re, im] = refused;
    throw failure('DTypeError', `data must be real numbers for ${dtype}, got {re: ${re}, im: ${im}}`);
  }
  return createTensor(array, stored, dtype, options.shape ?? shape, options);
}

// ---------------------------------------------------------------------------------------------------- typed arrays

/** Creates a tensor from a typed array of the class named `kind`. */
function fromTypedArray(data, kind, options) {
  const natural = dtypes.OF_ARRAY.get(kind);
  if (natural === undefined) throw failure('TypeMismatch', `data must not be ${kind}`);
  if (dtypes.isDetached(data)) {
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
  if ((options.share || options.transfer) && !dtypes.isAligned(data, wanted)) { // before data is detached
    const bytes = dtypes.bytesOf(wanted);
    throw failure('InvalidArgument', `memory that is shared must be aligned to its elements of ${bytes} bytes`);
  }
  const length = dtypes.lengthOf(data);
  const components = dtypes.componentsOf(wanted);
  if (length % components !== 0) {
    throw failure('ShapeError', `data must be pairs of numbers for ${wanted}, got ${length} numbers`);
  }
  const shape = options.shape ?? [length / components];
  if (isSame) return createTensor(data, wanted, wanted, shape, options);
  if (components === 1) return createTensor(data, natural, wanted, shape, options);
  return createTensor(convertComponents(data, length, wanted), wanted, wanted, shape, options);
}

/**
 * Returns whether the memory of a typed array can be used for a dtype without conversion: the array has that element
 * type, the bits of that half-precision type, or the parts of complex elements.
 */
const agree = (dtype, kind) => dtypes.OF_ARRAY.get(kind) === dtype ||
  ((dtypes.isHalf(dtype) || dtypes.isComplex(dtype)) && kind === dtypes.ARRAYS[dtype].name);

/** Converts the numbers of a typed array to the component type of a complex dtype. */
function convertComponents(data, length, dtype) {
  const parts = dtypes.newArray('tensor', dtype, [length / dtypes.componentsOf(dtype)]);
  for (let i = 0; i < length; i++) parts[i] = Number(data[i]);
  return parts;
}

/**
 * Moves the memory of a typed array to a new typed array and detaches the caller's buffer; returns an array over shared
 * memory as it is. Throws InvalidArgument if the buffer cannot be detached.
 */
function transferred(data) {
  if (dtypes.isShared(data)) return data;
  const failed = (why) => failure('InvalidArgument', `data cannot be transferred: ${why}`);
  let moved;
  try {
    moved = structuredClone(data, {transfer: [dtypes.bufferOf(data)]});
  } catch (error) {
    throw failed(error.message);
  }
  if (!dtypes.isDetached(data)) throw failed('its memory cannot be detached'); // such as the pool of small Buffers
  return moved;
}

// ---------------------------------------------------------------------------------------------------- common part

/**
 * Creates a tensor from a typed array with elements of the dtype `stored`. It uses a copy of the array's memory or,
 * with the options share and transfer, the memory itself. If necessary, converts it to `dtype` and copies it to the
 * device.
 */
function createTensor(array, stored, dtype, shape, options) {
  const {
    device = native.parseDevice(native.defaultDevice()), strides, offset = 0, share = false, transfer = false,
  } = options;
  const count = shape.reduce((product, size) => product * size, 1);
  const held = dtypes.lengthOf(array) / dtypes.componentsOf(stored);
  if (strides === undefined && offset === 0 && count !== held) {
    throw failure('ShapeError', `shape [${shape.join(', ')}] has ${count} elements, data has ${held}`);
  }
  if (strides !== undefined && strides.length !== shape.length) {
    throw failure('ShapeError', `strides must have ${shape.length} items, one per dimension, got ${strides.length}`);
  }
  if (share && device !== devices.HOST) {
    throw failure('DeviceError', `data cannot be shared with ${native.deviceName(device)}`);
  }
  const code = dtypes.codeOf(stored, 'tensor');
  const memory = transfer ? transferred(array) : array; // last: an error above must not detach the buffer
  const tensor = wrapSlot(
    native.create(memory, dtypes.componentsOf(stored), code, shape, strides ?? null, offset, share || transfer),
  );
  const converted = stored === dtype ? tensor : replaced(tensor, (made) => cast(made, dtype));
  return device === devices.HOST ? converted : replaced(converted, (made) => rewording(
    () => toDevice(made, native.deviceName(device)), (text) => text.replace(/^toDevice: /, 'tensor: '),
  ));
}

/** Returns `change(tensor)` and disposes of the tensor, an intermediate result that the user never sees. */
function replaced(tensor, change) {
  try {
    return change(tensor);
  } finally {
    tensor.dispose();
  }
}

/** Creates a tensor from a copy of another one, with the dtype and device of the options. */
function fromTensor(source, {dtype, device}) {
  liveSlot(source, 'tensor');
  const where = device === undefined ? source.device : native.deviceName(device);
  const copy = where === source.device
    ? wrapSlot(native.clone(liveSlot(source, 'tensor'), source))
    : toDevice(source, where);
  return dtype === undefined || dtype === copy.dtype ? copy : replaced(copy, (made) => cast(made, dtype));
}

/** Implements tensor(data, options). */
function makeTensor(data, options = {}) {
  const checked = checkOptions(options);
  const tensor = fromData(data, checked);
  return checked.requiresGrad ? tensor.setRequiresGrad() : tensor;
}

/** Makes a tensor like tensor(), with options that checkOptions() has returned. */
function fromData(data, checked) {
  const kind = dtypes.arrayKind(data);
  if (kind !== undefined) return fromTypedArray(data, kind, checked);
  for (const name of ['share', 'transfer', 'strides', 'offset']) {
    if (checked[name]) throw failure('TypeMismatch', `${name} is for typed arrays, data is ${describe(data)}`);
  }
  return isTensor(data) ? fromTensor(data, checked) : fromArrays(data, checked);
}

module.exports = {fromData, makeTensor};
