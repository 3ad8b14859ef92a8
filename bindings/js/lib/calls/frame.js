'use strict';

/**
 * The frame: the memory through which arguments and results are passed to and from the addon; src/environment.h
 * describes its layout. Nothing in here runs user code, which could make another call while one is being written.
 */

const gradMode = require('../gradients/gradMode');
const native = require('../addon/native');

/** The kinds of values that are written: those of of_value_kind in oneflow/types.h. */
const KIND = {
  absent: 0, none: 1, bool: 2, int: 3, float: 4, string: 5, intList: 6, dtype: 7, tensor: 9, tensorList: 10,
};
const HEADER_WORDS = 8;
const VALUE_WORDS = 4;
const TWO_32 = 4294967296;
/** The initial size of the frame. */
const SMALL_BYTES = 2 ** 13;
/** The maximal size that is kept between calls; a larger frame is replaced by a small one. */
const MOST_KEPT_BYTES = 2 ** 20;
/** The maximal length of a string argument, in UTF-16 code units. */
const LONGEST_STRING = 2 ** 24;
/** The maximal number of UTF-8 bytes per UTF-16 code unit. */
const MOST_BYTES_OF_UNIT = 3;
const LAST_ASCII = 127;
/** The maximal length of a string that encode() tries to copy itself. */
const SHORT = 64;

let bytes;
let words;
let reals;
/** The offset of the first unused byte of the frame. */
let top = 0;
const encoder = new TextEncoder();

/** Replaces the frame with a new one of `size` zero bytes, and passes it to the addon. */
function allocate(size) {
  const buffer = new ArrayBuffer(size);
  bytes = new Uint8Array(buffer);
  words = new Int32Array(buffer);
  reals = new Float64Array(buffer);
  native.setFrame(buffer);
}

allocate(SMALL_BYTES);

/** Reserves `size` bytes, enlarging the frame if necessary. Returns their offset, a multiple of 8. */
function reserve(size) {
  const offset = top;
  top = Math.ceil((top + size) / 8) * 8;
  if (top > bytes.length) {
    const earlier = bytes;
    allocate(2 ** Math.ceil(Math.log2(top)));
    bytes.set(earlier);
  }
  return offset;
}

/**
 * Begins a call of the operator number `op`, with room for its arguments and results. `isOwned` says whether the object
 * that is passed to the addon becomes the owner of the result.
 */
function begin(op, argumentCount, resultCount, isOwned) {
  gradMode.enter();
  if (bytes.length > MOST_KEPT_BYTES) allocate(SMALL_BYTES);
  words[1] = op;
  words[2] = argumentCount;
  words[3] = resultCount;
  words[4] = isOwned ? 1 : 0;
  top = (HEADER_WORDS + (argumentCount + resultCount) * VALUE_WORDS) * 4;
}

/** Returns the index of the first word of a value. */
const at = (position) => HEADER_WORDS + position * VALUE_WORDS;

/** Writes a value whose payload is one 32-bit integer. */
function putPlain(position, kind, payload) {
  const word = at(position);
  words[word] = kind;
  words[word + 2] = payload;
  words[word + 3] = 0;
}

/** Writes a 64-bit integer, given as a safe integer, to an even word index. */
function putLong(word, integer) {
  words[word] = integer;
  words[word + 1] = Math.floor(integer / TWO_32);
}

function putInteger(position, integer) {
  const word = at(position);
  words[word] = KIND.int;
  putLong(word + 2, integer);
}

function putFloat(position, real) {
  const word = at(position);
  words[word] = KIND.float;
  reals[(word + 2) >> 1] = real;
}

/** Writes a value that refers to `count` bytes or items at `offset`, after the values. */
function putReference(position, kind, count, offset) {
  const word = at(position);
  words[word] = kind;
  words[word + 1] = count;
  words[word + 2] = offset;
  words[word + 3] = 0;
}

/** Begins a list of integers or slots, to be filled with putItem(). Returns the index of its first word. */
function openList(position, kind, length) {
  const offset = reserve(length * 8);
  putReference(position, kind, length, offset);
  return offset >> 2;
}

const putItem = (list, index, integer) => putLong(list + 2 * index, integer);

/** Returns whether the runtime can take a string: it is not too long, and has no null byte, which would end it in C. */
const isCString = (string) => string.length <= LONGEST_STRING && !string.includes('\0');

/**
 * Writes a string as UTF-8 and returns the number of bytes, or -1 if isCString() is false for it. Copies short ASCII
 * strings itself, which is faster than calling the encoder.
 */
function encode(string, offset) {
  const {length} = string;
  let written = 0;
  while (written < length && length <= SHORT) {
    const code = string.charCodeAt(written);
    if (code === 0 || code > LAST_ASCII) break;
    bytes[offset + written++] = code;
  }
  if (written === length) return length;
  return isCString(string) ? encoder.encodeInto(string, bytes.subarray(offset)).written : -1;
}

/** Writes a string value. Returns false if isCString() is false for it. */
function putString(position, string) {
  if (string.length > LONGEST_STRING) return false;
  const offset = reserve(string.length * MOST_BYTES_OF_UNIT);
  const count = encode(string, offset);
  putReference(position, KIND.string, count, offset);
  return count >= 0;
}

/**
 * Writes the slots of the tensors among the arguments of a call that the addon binds, 0 for other values: it then need
 * not ask what they are. `slotOf` returns the slot of a value.
 */
function putSlots(slotOf, positional, named) {
  const count = positional.length + named.length;
  begin(0, 0, 0, false);
  reserve(count * 4);
  for (let i = 0; i < count; i++) {
    words[HEADER_WORDS + i] = slotOf(i < positional.length ? positional[i] : named[i - positional.length]);
  }
}

/** Returns the status of the last call, an of_status. */
const status = () => words[0];
/** Returns the slot of the only result of the last call. */
const resultSlot = () => words[at(words[2]) + 2];

/** The number of slots in the frame that wait to be released in one call; begin() overwrites them. */
let waiting = 0;

/** Adds a slot to those to be released, and releases all of them when the frame is full. */
function releaseLater(slot) {
  if (HEADER_WORDS + waiting === words.length) releaseWaiting();
  words[HEADER_WORDS + waiting++] = slot;
}

/** Releases the slots that releaseLater() collected. */
function releaseWaiting() {
  const count = waiting;
  waiting = 0;
  native.releaseMany(count);
}

module.exports = {
  KIND, begin, putPlain, putInteger, putFloat, openList, putItem, putString, putSlots, status, resultSlot, releaseLater,
  releaseWaiting,
};
