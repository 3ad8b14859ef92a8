// generated from opdefs by codegen, do not edit

import flow from '../lib/index.js';

export * from '../lib/exports.mjs';
export default flow;

// Operators and their namespaces.
export const {
  add,
  addAsync,
  doubleSlice,
  doubleSliceAsync,
  doubled,
  doubledAsync,
  gelu,
  geluAsync,
  max,
  maxAsync,
  slice,
  zeros,
  zerosAsync,
} = flow;
