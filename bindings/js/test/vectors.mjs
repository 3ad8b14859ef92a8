// The conformance vectors (docs/reference/vectors.md): reads them, converts values to tensors, and checks results.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import flow from 'oneflow-js';
import table from '../generated/functions.js';
import dtypes from '../lib/tensor/dtypes.js';
import {agree} from './support.mjs';

const folder = new URL('../../../tests/generated/vectors/', import.meta.url);

/** The names of all vector files. */
export const files = fs.readdirSync(folder).filter((name) => name.endsWith('.json')).sort();

/** Converts snake_case to camelCase. */
export const camel = (name) => name.replace(/(?<=[a-z0-9])_([a-z0-9])/g, (_, letter) => letter.toUpperCase());

const records = new Map(table.functions.map((record) => [record.name, record]));

/** Returns the record of a function in the generated table. */
export const recordOf = (name) => records.get(camel(name));

/** Returns a public function by its dotted name: flow.comm.local.reduce for 'comm.local.reduce'. */
export const functionOf = (dotted) => dotted.split('.').reduce((owner, part) => owner[part], flow);

/** The default device outside of these tests. */
export const host = flow.getDefaultDevice();

const included = process.env.ONEFLOW_VECTORS ?? '0/1';

/** Returns whether ONEFLOW_VECTORS (docs/reference/vectors.md) includes a case on a device. */
function isReplayed({sample}, device) {
  if (sample === 'host') return included === 'all' || String(device) === host;
  if (included === 'all' || typeof sample === 'boolean') return included === 'all' || sample;
  const [index, count] = included.split('/').map(Number);
  return sample % count === index;
}

/** Reads a vector file, with the cases that are replayed on a device, by default the host. */
export function readVectors(file, device = host) {
  const {cases, ...others} = JSON.parse(fs.readFileSync(new URL(file, folder), 'utf8'));
  return {...others, cases: cases.filter((each) => isReplayed(each, device))};
}

/** Decodes elements in base64 to a typed array. */
function decode({dtype, data}) {
  const bytes = Buffer.from(data, 'base64');
  return new dtypes.ARRAYS[dtype](bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
}

/** Creates a one-dimensional tensor of the elements, by default on the default device. */
export const flatOf = ({dtype, data}, device) => flow.tensor(decode({dtype, data}), {dtype, device});

/** Creates a tensor in the layout of the vector: copies the whole storage to the device, then takes a strided view. */
const toTensor = ({dtype, sizes, strides, offset, data}) =>
  flatOf({dtype, data}).asStrided(sizes, strides, sizes.includes(0) ? 0 : offset);

/** Converts an argument of a case to the value that a user passes. */
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

/** Returns the expected elements as an array; the library itself converts half-precision bits. */
const expectedValues = (result) => Array.from(flatOf(result, host).dataSync());

/**
 * Returns the magnitudes by which elements are compared: the parts of a complex number, which follow each other, by
 * that of the whole number if it is finite.
 */
function magnitudes(values, dtype) {
  if (!dtypes.isComplex(dtype)) return values.map(Math.abs);
  const whole = values.map((value, i) => Math.hypot(value, values[i ^ 1]));
  return whole.map((each, i) => (Number.isFinite(each) ? each : Math.abs(values[i])));
}

/** Asserts that a result is on the device and agrees with the expected result of a vector. */
export function check(found, expected, {relative, absolute}, device) {
  assert.equal(found.device, device.name);
  assert.equal(found.dtype, expected.dtype);
  assert.deepEqual(found.shape, expected.sizes);
  const [values, wanted] = [Array.from(found.dataSync()), expectedValues(expected)];
  const sizes = magnitudes(wanted.map(Number), expected.dtype);
  const at = wanted.findIndex((value, i) => !agree(values[i], value, 0, absolute + relative * sizes[i]));
  assert.equal(at, -1, `element ${at}: expected ${wanted[at]}, got ${values[at]}`);
}
