'use strict';

/**
 * The memory through which arguments and results travel to and from the addon: src/environment.h describes it. Nothing
 * in here runs code of the user, so that a call is written without another one coming between.
 */

const native = require('./native');

const KIND = {
  absent: 0, none: 1, bool: 2, int: 3, float: 4, string: 5, intList: 6, dtype: 7, device: 8, tensor: 9, tensorList: 10,
  deviceList: 11,
};
const HEADER_WORDS = 8;
const VALUE_WORDS = 4;
const TWO_32 = 4294967296;
/** What is kept between calls. */
const SMALL_BYTES = 2 ** 13;
const MOST_KEPT_BYTES = 2 ** 20;
/** No text of an operator is longer than this, in units of a string. */
const LONGEST_TEXT = 2 ** 24;
/** What a letter takes in UTF-8, per unit of a string. */
const MOST_BYTES_OF_UNIT = 3;
const LAST_ASCII = 127;
const SHORT = 64;

let bytes;
let words;
let reals;
let longs;
/** The first byte of the frame that nothing uses yet. */
let top = 0;
const encoder = new TextEncoder();

function allocate(size) {
  const buffer = new ArrayBuffer(size);
  bytes = new Uint8Array(buffer);
  words = new Int32Array(buffer);
  reals = new Float64Array(buffer);
  longs = new BigInt64Array(buffer);
  native.setFrame(buffer);
}

allocate(SMALL_BYTES);

/** Room for `size` bytes; their offset, a multiple of 8. */
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

/** Begins a call with room for this many values; `isOwned` says whether its result is to have an owner. */
function begin(op, argumentCount, resultCount, isOwned) {
  if (bytes.length > MOST_KEPT_BYTES) allocate(SMALL_BYTES);
  words[1] = op;
  words[2] = argumentCount;
  words[3] = resultCount;
  words[4] = isOwned ? 1 : 0;
  top = (HEADER_WORDS + (argumentCount + resultCount) * VALUE_WORDS) * 4;
}

const at = (position) => HEADER_WORDS + position * VALUE_WORDS;

function putPlain(position, kind, payload) {
  const word = at(position);
  words[word] = kind;
  words[word + 2] = payload;
  words[word + 3] = 0;
}

/** An integer: a safe number, or a BigInt of at most 64 bits. */
function putLong(word, integer) {
  if (typeof integer === 'bigint') {
    longs[word >> 1] = integer;
  } else {
    words[word] = integer;
    words[word + 1] = Math.floor(integer / TWO_32);
  }
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

/** Bytes behind the values; `count` is how many things they are. */
function putReference(position, kind, count, offset) {
  const word = at(position);
  words[word] = kind;
  words[word + 1] = count;
  words[word + 2] = offset;
  words[word + 3] = 0;
}

/** A list of integers, of slots, or of devices, to be filled by putMember(). */
function openList(position, kind, length) {
  const offset = reserve(length * 8);
  putReference(position, kind, length, offset);
  return offset >> 2;
}

const putMember = (list, index, integer) => putLong(list + 2 * index, integer);

function putList(position, kind, members) {
  const list = openList(position, kind, members.length);
  for (let i = 0; i < members.length; i++) putMember(list, i, members[i]);
}

/** Whether the runtime takes a text whole: as it is written in C, one that has a null byte would end there. */
const isText = (string) => string.length <= LONGEST_TEXT && !string.includes('\0');

/** Writes the bytes of a string; how many those are. A few ASCII letters are written sooner than handed over. */
function encode(string, offset) {
  const {length} = string;
  let written = 0;
  while (written < length && length <= SHORT) {
    const code = string.charCodeAt(written);
    if (code === 0 || code > LAST_ASCII) break;
    bytes[offset + written++] = code;
  }
  if (written === length) return length;
  return isText(string) ? encoder.encodeInto(string, bytes.subarray(offset)).written : -1;
}

/** Returns false for what isText() refuses. */
function putString(position, string) {
  if (string.length > LONGEST_TEXT) return false;
  const offset = reserve(string.length * MOST_BYTES_OF_UNIT);
  const count = encode(string, offset);
  putReference(position, KIND.string, count, offset);
  return count >= 0;
}

/** The status of the call that was made last. */
const status = () => words[0];
/** The slot of its only result. */
const resultSlot = () => words[at(words[2]) + 2];

/** Slots that wait in the frame to be released together: begin() must not come between. */
let waiting = 0;

function releaseLater(slot) {
  if (HEADER_WORDS + waiting === words.length) releaseWaiting();
  words[HEADER_WORDS + waiting++] = slot;
}

function releaseWaiting() {
  const count = waiting;
  waiting = 0;
  native.releaseMany(count);
}

module.exports = {
  KIND, LONGEST_TEXT, isText, begin, putPlain, putInteger, putFloat, openList, putMember, putList, putString, status,
  resultSlot, releaseLater, releaseWaiting,
};
