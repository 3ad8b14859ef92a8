'use strict';

/** What processes pass to each other: values that structured clones can have, and tensors in them. */

const v8 = require('node:v8');
const {makeTensor} = require('../tensor/create');
const {isPlainObject, isTensor} = require('../tensor/tensor');

/** Returns a value with other objects in the place of those for which `replaced` returns one. */
function mapped(value, replaced, seen = new Map()) {
  if (typeof value !== 'object' || value === null) return value;
  if (seen.has(value)) return seen.get(value);
  const keep = (copy) => {
    seen.set(value, copy);
    return copy;
  };
  const other = replaced(value);
  if (other !== undefined) return keep(other);
  const inner = (part) => mapped(part, replaced, seen);
  if (value instanceof Map) {
    const copy = keep(new Map());
    for (const [key, item] of value) copy.set(inner(key), inner(item));
    return copy;
  }
  if (value instanceof Set) {
    const copy = keep(new Set());
    for (const item of value) copy.add(inner(item));
    return copy;
  }
  if (!Array.isArray(value) && !isPlainObject(value)) return value;
  const copy = keep(Array.isArray(value) ? new Array(value.length) : {});
  for (const [key, item] of Object.entries(value)) {
    Object.defineProperty(copy, key, {value: inner(item), writable: true, enumerable: true, configurable: true});
  }
  return copy;
}

function stateOf(tensor) {
  const {dtype, shape, device, requiresGrad} = tensor;
  return {dtype, shape, device, requiresGrad, data: tensor.dataSync()};
}

function made({data, requiresGrad, ...options}) {
  const tensor = makeTensor(data, options);
  return requiresGrad ? tensor.setRequiresGrad() : tensor;
}

/** Returns a value as bytes. Throws what structuredClone() does. */
function pack(value) {
  const states = new Map(); // by the objects that stand for tensors, which clones tell apart from all others
  const plain = mapped(value, (each) => {
    if (!isTensor(each)) return undefined;
    const place = {};
    states.set(place, stateOf(each));
    return place;
  });
  return v8.serialize({plain, states});
}

/** Returns the value that `pack` has made bytes of. */
function unpack(bytes) {
  const {plain, states} = v8.deserialize(bytes);
  const tensors = new Map([...states].map(([place, state]) => [place, made(state)]));
  return mapped(plain, (each) => tensors.get(each));
}

module.exports = {pack, unpack};
