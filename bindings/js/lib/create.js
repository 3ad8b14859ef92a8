'use strict';

/** Tensors from JavaScript's data. */

const native = require('./native');
const devices = require('./devices');
const dtypes = require('./dtypes');
const {makeError, rewording} = require('./errors');
const {MAX_RANK, shapeOf, eachMember, placeOf} = require('./nested');
const {isTensor, isPlainObject, liveSlot, wrapSlot, describe, withMemory} = require('./tensor');
const {isFloat, isNumber, partsOf} = require('./scalars');
const {suggestion} = require('./suggestion');
const {cast, toDevice} = require('./operators');

/** Options of tensor() by name, with the types that they must have. */
const OPTIONS = new Map(Object.entries({
  dtype: 'string', device: 'device', shape: 'array', strides: 'array', offset: 'integer', share: 'boolean',
  transfer: 'boolean',
}));

const COMPLEX64 = dtypes.codeOf('complex64', 'tensor');

/** An error of tensor(). */
const failure = (code, text) => makeError(code, `tensor: ${text}`);

function checkOptions(options) {
  if (!isPlainObject(options)) throw failure('TypeMismatch', `options must be object, got ${describe(options)}`);
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

/**
 * The dtype that members have of themselves: BigInts are int64, booleans bool, complex numbers complex, all else the
 * default dtype; complex numbers behind a number are not looked for.
 */
function naturalDtype(data, shape) {
  let dtype;
  eachMember(SUBJECT, data, shape, (value, number) => {
    if (typeof value === 'boolean') dtype ??= 'bool';
    else if (typeof value === 'bigint') dtype = 'int64';
    else if (typeof value === 'number' || isFloat(value)) dtype = defaultDtype();
    else if (partsOf(value) !== undefined) dtype = complexDtype();
    else throw misfit(value, shape, number);
    return typeof value !== 'boolean' && typeof value !== 'bigint';
  });
  return dtype ?? defaultDtype();
}

const defaultDtype = () => dtypes.nameOf(native.defaultDtype());
const complexDtype = () => dtypes.nameOf(native.promoteTypes(native.defaultDtype(), COMPLEX64));

const misfit = (value, shape, number) => failure(
  'TypeMismatch',
  `data${placeOf(shape, number)} must be number, bigint, boolean, {re, im} or array of them, got ${describe(value)}`,
);

const outOfRange = (value, dtype) =>
  failure('InvalidArgument', `data must fit into ${dtype}, got ${value}`);

/**
 * Members as a typed array of a dtype that one exists for. Where it is a real one and a complex number is among them,
 * the parts of that are `refused`.
 */
function fill(data, shape, dtype) {
  const array = dtypes.newArray('tensor', dtype, shape);
  const write = writer(array, dtype);
  const isComplex = dtypes.isComplex(dtype);
  let refused;
  eachMember(SUBJECT, data, shape, (member, number) => {
    if (isNumber(member)) {
      write(number, isFloat(member) ? Number(member) : member);
      return false;
    }
    const parts = partsOf(member);
    if (parts === undefined) throw misfit(member, shape, number);
    if (isComplex) [array[2 * number], array[2 * number + 1]] = parts;
    else refused = parts;
    return !isComplex;
  });
  return {array, refused};
}

/** What writes a real number to an array whose elements are of this dtype. */
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

/** A value for an integer dtype: a fraction is cut off, as by cast(). */
function toStored(value, dtype) {
  if (typeof value === 'bigint') return value;
  const integer = Math.trunc(Number(value));
  if (!Number.isFinite(integer)) throw outOfRange(value, dtype);
  return Number.isSafeInteger(integer) ? integer : BigInt(integer);
}

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
  return place(array, stored, dtype, options.shape ?? shape, options);
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
  if ((options.share || options.transfer) && !dtypes.isAligned(data, wanted)) { // as the runtime says it, in time
    const bytes = dtypes.bytesOf(wanted);
    throw failure('InvalidArgument', `memory that is shared must be aligned to its elements of ${bytes} bytes`);
  }
  const length = dtypes.lengthOf(data);
  const members = dtypes.membersOf(wanted);
  if (length % members !== 0) {
    throw failure('ShapeError', `data must be pairs of numbers for ${wanted}, got ${length} numbers`);
  }
  const shape = options.shape ?? [length / members];
  if (isSame) return place(data, wanted, wanted, shape, options);
  if (members === 1) return place(data, natural, wanted, shape, options);
  return place(convertMembers(data, length, wanted), wanted, wanted, shape, options);
}

/** Whether an array's memory can be that of a dtype as it is: its own one, the bits of a half-precision type, pairs. */
const agree = (dtype, kind) => dtypes.OF_ARRAY.get(kind) === dtype ||
  ((dtypes.isHalf(dtype) || dtypes.isComplex(dtype)) && kind === dtypes.ARRAYS[dtype].name);

/** Numbers of another type as the parts of complex ones. */
function convertMembers(data, length, dtype) {
  const parts = dtypes.newArray('tensor', dtype, [length / dtypes.membersOf(dtype)]);
  for (let i = 0; i < length; i++) parts[i] = Number(data[i]);
  return parts;
}

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
  const held = dtypes.lengthOf(array) / dtypes.membersOf(stored);
  if (strides === undefined && offset === 0 && count !== held) {
    throw failure('ShapeError', `shape [${shape.join(', ')}] has ${count} elements, data has ${held}`);
  }
  if (strides !== undefined && strides.length !== shape.length) {
    throw failure('ShapeError', `strides must be ${shape.length}, one for each dimension, got ${strides.length}`);
  }
  if (share && device !== HOST) {
    throw failure('DeviceError', `data cannot be shared with ${native.deviceName(device)}`);
  }
  const code = dtypes.codeOf(stored, 'tensor');
  const memory = transfer ? transferred(array) : array; // last, so that what is wrong above leaves it to the caller
  const tensor = wrapSlot(withMemory(
    () => native.create(memory, dtypes.membersOf(stored), code, shape, strides ?? null, offset, share || transfer),
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
