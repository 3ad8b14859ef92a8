'use strict';

/** Indexing: x.at(...) and x.set(..., value). */

const gradMode = require('../gradients/gradMode');
const native = require('../addon/native');
const dtypes = require('./dtypes');
const {makeError, rewording} = require('../errors');
const {isTensor, liveSlot, wrapSlot, describe} = require('./tensor');
const {makeTensor} = require('./create');
const {shapeOf, eachLeaf} = require('./nested');
const {toInteger, partsOf} = require('../calls/scalars');

/** The values of of_index_kind in oneflow.h. */
const KIND = {integer: 0, slice: 1, ellipsis: 2, added: 3, tensor: 4, bool: 5};
/** The numbers per part that encode() writes: kind, has start, has stop, start, stop, step, slot. */
const NUMBERS_PER_PART = 7;

const plain = (kind, start = 0) => ({kind, start});
const slice = (start, stop, step) => ({kind: KIND.slice, start, stop, step});

const INTEGER = /^[+-]?\d+$/;
const WORDS = new Map([['...', KIND.ellipsis], ['None', KIND.added], ['null', KIND.added]]);

/** Makes the error for a value that is not an index. */
const invalidIndex = (method, found) =>
  makeError('TypeMismatch', `${method}: an index must be ${EXPECTED}, got ${found}`);
const EXPECTED = "integer, boolean, null, Tensor, array of those, or string such as '1:3, ..., None'";

/** Returns an integer of an index as a number, which the addon reads. Throws IndexOutOfRange beyond safe integers. */
function toIndex(method, text) {
  const value = Number(text);
  if (Number.isSafeInteger(value)) return value;
  throw makeError('IndexOutOfRange', `${method}: index ${text} is out of range`);
}

/** Parses one part of a string: an integer, a slice, `...`, `None`, `null`, `True`, `true`, `False` or `false`. */
function parsePart(method, text) {
  if (WORDS.has(text)) return plain(WORDS.get(text));
  if (/^[Tt]rue$/.test(text)) return plain(KIND.bool, 1);
  if (/^[Ff]alse$/.test(text)) return plain(KIND.bool, 0);
  if (INTEGER.test(text)) return plain(KIND.integer, toIndex(method, text));
  const bounds = text.split(':').map((bound) => bound.trim());
  const isSlice = (bounds.length === 2 || bounds.length === 3) && bounds.every((it) => it === '' || INTEGER.test(it));
  if (!isSlice) throw invalidIndex(method, `'${text}'`);
  return slice(...bounds.map((bound) => (bound === '' ? undefined : toIndex(method, bound))));
}

/** Converts one argument of at() or set() to a list of parts; a string may have several. */
function toParts(method, tensor, index) {
  if (typeof index === 'string') return index.split(',').map((text) => parsePart(method, text.trim()));
  if (index === null) return [plain(KIND.added)];
  if (typeof index === 'boolean') return [plain(KIND.bool, index ? 1 : 0)];
  if (isTensor(index)) return [{kind: KIND.tensor, tensor: index}];
  if (dtypes.isSequence(index)) return [{kind: KIND.tensor, tensor: positions(method, index, tensor)}];
  const integer = toInteger(index);
  if (integer !== undefined) return [plain(KIND.integer, toIndex(method, integer))];
  throw invalidIndex(method, describe(index));
}

/** Converts an array of positions or a mask to a tensor on the device of the tensor to be indexed. */
function positions(method, list, {device}) {
  if (dtypes.arrayKind(list) !== undefined) return makeTensor(list, {device});
  const subject = `${method}: an index`;
  let isMask;
  eachLeaf(subject, list, shapeOf(subject, list), (value) => {
    isMask ??= typeof value === 'boolean';
    const fits = isMask ? typeof value === 'boolean' : toInteger(value) !== undefined;
    if (!fits) throw invalidIndex(method, `array with ${describe(value)}`);
  });
  return makeTensor(list, {dtype: isMask ? 'bool' : 'int64', device});
}

/** Encodes an index as an array of numbers for the addon. `keepAlive` holds the tensors that the numbers refer to. */
function encode(method, tensor, indices) {
  const parts = indices.flatMap((index) => toParts(method, tensor, index));
  const numbers = new Float64Array(parts.length * NUMBERS_PER_PART);
  parts.forEach(({kind, start, stop, step, tensor: picked}, i) => {
    const first = i * NUMBERS_PER_PART;
    numbers[first] = kind;
    numbers[first + 1] = start === undefined ? 0 : 1;
    numbers[first + 2] = stop === undefined ? 0 : 1;
    numbers[first + 3] = start ?? 0;
    numbers[first + 4] = stop ?? 0;
    numbers[first + 5] = step ?? 1;
    numbers[first + 6] = picked === undefined ? 0 : liveSlot(picked, method);
  });
  return {numbers, keepAlive: parts};
}

/** Returns `run()`. Errors begin with `method` instead of the runtime's operator name. */
function access(method, run) {
  return rewording(run, (message) => message.replace(/^(?:\w+: )?/, `${method}: `));
}

/** Returns x.at(...indices): a copy if positions or masks are among the parts of the index, otherwise a view. */
function at(tensor, indices) {
  liveSlot(tensor, 'at');
  const {numbers, keepAlive} = encode('at', tensor, indices);
  return wrapSlot(access('at', () => native.index(liveSlot(tensor, 'at'), numbers, keepAlive, tensor)));
}

/** Writes a number, data or a tensor, broadcast, to the elements that at(...indices) selects. Returns the tensor. */
function set(tensor, indices, value) {
  liveSlot(tensor, 'set');
  const isData = dtypes.isSequence(value) || partsOf(value) !== undefined;
  const source = isData ? makeTensor(value, {dtype: tensor.dtype, device: tensor.device}) : value;
  const {numbers, keepAlive} = encode('set', tensor, indices); // last: user code above may dispose of tensors
  gradMode.enter();
  access('set', () => native.setIndex(liveSlot(tensor, 'set'), numbers, source, keepAlive, tensor));
  return tensor;
}

module.exports = {at, set};
