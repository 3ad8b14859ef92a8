// The conformance vectors (docs/architecture.md): their values as tensors, and whether results are those.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import flow from 'oneflow-js';
import dtypes from '../lib/dtypes.js';
import {agree} from './support.mjs';

const folder = new URL('../../../tests/generated/vectors/', import.meta.url);

/** The names of all files. */
export const files = fs.readdirSync(folder).filter((name) => name.endsWith('.json')).sort();

/** What a file has. */
export const readVectors = (file) => JSON.parse(fs.readFileSync(new URL(file, folder), 'utf8'));

/** Elements from base64. */
function decode({dtype, data}) {
  const bytes = Buffer.from(data, 'base64');
  return new dtypes.ARRAYS[dtype](bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
}

/** The device that is the default one outside of these tests. */
export const host = flow.getDefaultDevice();

/** Elements in a row, on the default device unless said. */
const toFlat = ({dtype, data}, device) => flow.tensor(decode({dtype, data}), {dtype, device});

/** A tensor in the layout of the vector: its storage goes to the device as it is, and is seen with those strides. */
const toTensor = ({dtype, sizes, strides, offset, data}) =>
  toFlat({dtype, data}).asStrided(sizes, strides, sizes.includes(0) ? 0 : offset);

/** An argument of a case as a user passes it. */
export function toArgument(value) {
  if (Array.isArray(value)) return value.map(toArgument);
  if (typeof value !== 'object' || value === null) return value;
  const [[kind, content]] = Object.entries(value);
  const readers = {
    tensor: toTensor,
    tensors: (list) => list.map((member) => (member === null ? null : toTensor(member))),
    integer: BigInt,
    real: (text) => flow.float({nan: NaN, inf: Infinity, '-inf': -Infinity}[text] ?? Number(text)),
    dtype: (name) => name,
    device: () => flow.getDefaultDevice(),
    devices: (names) => names.map(() => flow.getDefaultDevice()),
  };
  return readers[kind](content);
}

/** The values of a typed array for comparison: half-precision bits are widened by the library itself. */
const expectedValues = (result) => Array.from(toFlat(result, host).dataSync());

/** Whether a result is what a vector expects, and on the device. */
export function check(found, expected, {relative, absolute}, device) {
  assert.equal(found.device, device.name);
  assert.equal(found.dtype, expected.dtype);
  assert.deepEqual(found.shape, expected.sizes);
  const [values, wanted] = [Array.from(found.dataSync()), expectedValues(expected)];
  const at = wanted.findIndex((value, i) => !agree(values[i], value, relative, absolute));
  assert.equal(at, -1, `element ${at}: expected ${wanted[at]}, got ${values[at]}`);
}
