'use strict';

/**
 * Nested data: objects, Maps and arrays of tensors, which files hold and graphs take and return; and checks of the
 * arguments that come with them.
 */

const {fileURLToPath} = require('node:url');
const {makeError, refuseNullByte} = require('./errors');
const {describe, isPlainObject, isTensor, liveSlot} = require('./tensor');

/** The kinds of nodes, as the C API numbers them. */
const [TENSOR, DICTIONARY, LIST] = [0, 1, 2];
const MAX_NESTING = 64;

/** Checks a string for the C API. */
function checkText(method, argument, text) {
  if (typeof text !== 'string') {
    throw makeError('TypeMismatch', `${method}: ${argument} must be string, got ${describe(text)}`);
  }
  refuseNullByte(method, argument, text);
  if (/\p{Surrogate}/u.test(text)) {
    throw makeError('InvalidArgument', `${method}: ${argument} must not have a lone surrogate`);
  }
  return text;
}

/** Returns a path as a string. */
function pathOf(method, path) {
  if (path instanceof URL) {
    if (path.protocol !== 'file:') {
      throw makeError('InvalidArgument', `${method}: path must be a file: URL, got ${path.protocol}`);
    }
    return checkText(method, 'path', fileURLToPath(path));
  }
  if (typeof path !== 'string') {
    throw makeError('TypeMismatch', `${method}: path must be string or URL, got ${describe(path)}`);
  }
  return checkText(method, 'path', path);
}

function flagOf(method, argument, value, standard) {
  const flag = value ?? standard;
  if (typeof flag === 'boolean') return flag;
  throw makeError('TypeMismatch', `${method}: ${argument} must be boolean, got ${describe(flag)}`);
}

/** Returns the items of a dictionary; null for other values. */
function entriesOf(value) {
  if (value instanceof Map) return [...value];
  return isPlainObject(value) ? Object.entries(value) : null;
}

/**
 * Returns the nodes of nested data, each before its items, as arrays of their kinds, counts, keys and slots, and the
 * tensors.
 */
function nodesOf(method, data, what = 'data') {
  const [kinds, counts, keys, slots, tensors] = [[], [], [], [], []];
  const push = (kind, count, key, slot) => {
    kinds.push(kind);
    counts.push(count);
    keys.push(key);
    slots.push(slot);
  };
  const add = (value, key, depth) => {
    if (isTensor(value)) {
      push(TENSOR, 0, key, liveSlot(value, method));
      tensors.push(value);
      return;
    }
    const isList = Array.isArray(value);
    const items = isList ? value : entriesOf(value);
    if (items === null) {
      const place = depth === 0 ? what : `an item of ${what}`;
      const found = `must be Tensor, array, Map or object, got ${describe(value)}`;
      throw makeError('TypeMismatch', `${method}: ${place} ${found}`);
    }
    if (depth === MAX_NESTING) {
      throw makeError('InvalidArgument', `${method}: ${what} must not be nested more than ${MAX_NESTING} deep`);
    }
    push(isList ? LIST : DICTIONARY, items.length, key, 0);
    for (const item of items) {
      if (isList) add(item, null, depth + 1);
      else add(item[1], checkText(method, 'a key', item[0]), depth + 1);
    }
  };
  add(data, null, 0);
  return {kinds, counts, keys, slots, tensors};
}

/** Returns the data of nodes, objects of {kind, count, key}, with `tensors` in their order. Both are iterators. */
const restore = (nodes, tensors) => restored(nodes, tensors)[1];

/** Returns [key, value] of the next node. */
function restored(nodes, tensors) {
  const {kind, count, key} = nodes.next().value;
  if (kind === TENSOR) return [key, tensors.next().value];
  const items = Array.from({length: count}, () => restored(nodes, tensors));
  // Unlike an assignment, fromEntries() also makes a property of the key '__proto__'.
  return [key, kind === LIST ? items.map(([, value]) => value) : Object.fromEntries(items)];
}

module.exports = {TENSOR, checkText, entriesOf, flagOf, nodesOf, pathOf, restore};
