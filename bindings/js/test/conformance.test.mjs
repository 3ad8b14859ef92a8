// Replays the vectors that the oracles of the records gave: docs/architecture.md, "Conformance vectors".

import assert from 'node:assert/strict';
import fs from 'node:fs';
import {describe, test} from 'node:test';
import flow from 'oneflow-js';
import dtypes from '../lib/dtypes.js';
import table from '../generated/functions.js';
import {agree} from './support.mjs';

const folder = new URL('../../../tests/generated/vectors/', import.meta.url);
const files = fs.readdirSync(folder).filter((name) => name.endsWith('.json')).sort();

const camel = (name) => name.replace(/(?<=[a-z0-9])_([a-z0-9])/g, (_, letter) => letter.toUpperCase());

/** Elements from base64. */
function decode({dtype, data}) {
  const bytes = Buffer.from(data, 'base64');
  return new dtypes.ARRAYS[dtype](bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
}

function toTensor({dtype, sizes, strides, offset, data}) {
  return flow.tensor(decode({dtype, data}), {dtype, shape: sizes, strides, offset});
}

/** An argument of a case as a user passes it. */
function toArgument(value) {
  if (Array.isArray(value)) return value.map(toArgument);
  if (typeof value !== 'object' || value === null) return value;
  const [[kind, content]] = Object.entries(value);
  const readers = {
    tensor: toTensor,
    tensors: (list) => list.map((member) => (member === null ? null : toTensor(member))),
    integer: BigInt,
    real: (text) => flow.real({nan: NaN, inf: Infinity, '-inf': -Infinity}[text] ?? Number(text)),
    dtype: (name) => name,
    devices: (names) => names,
  };
  return readers[kind](content);
}

/** The function behind a name of the definitions. */
const functions = new Map(table.functions.map((record) => [record.name, record]));

/** flow.comm.reduce for 'comm.reduce'. */
const functionOf = (path) => path.split('.').reduce((owner, part) => owner[part], flow);

function call(name, form, given, expected) {
  const record = functions.get(camel(name));
  const {input, ...others} = given;
  if (form === 'function') return functionOf(record.publicName)(given);
  if (form === 'method') return input[record.publicName](others);
  if (form === 'in_place' && input === undefined) return functionOf(record.inPlaceName)(given);
  if (form === 'in_place') return input[record.inPlaceName](others);
  const out = expected.map(({dtype, sizes}) => flow.zeros(sizes, {dtype}));
  const returned = functionOf(record.publicName)({...given, out: out.length === 1 ? out[0] : out});
  assert.equal(returned, out.length === 1 ? out[0] : returned);
  return out;
}

/** The values of a typed array for comparison: half-precision bits are widened by the library itself. */
function expectedValues({dtype, sizes, data}) {
  return Array.from(toTensor({dtype, sizes, data}).dataSync());
}

function check(found, expected, {relative, absolute}) {
  assert.equal(found.dtype, expected.dtype);
  assert.deepEqual(found.shape, expected.sizes);
  const [values, wanted] = [Array.from(found.dataSync()), expectedValues(expected)];
  const at = wanted.findIndex((value, i) => !agree(values[i], value, relative, absolute));
  assert.equal(at, -1, `element ${at}: expected ${wanted[at]}, got ${values[at]}`);
}

for (const file of files) {
  const {op, function: name, cases} = JSON.parse(fs.readFileSync(new URL(file, folder), 'utf8'));
  describe(op, () => {
    test(`${cases.length} cases`, () => {
      for (const each of cases) {
        const named = Object.entries(each.arguments).map(([key, value]) => [camel(key), toArgument(value)]);
        const given = Object.fromEntries(named);
        try {
          const returned = call(name, each.form, given, each.results);
          const found = Array.isArray(returned) ? returned : [returned];
          assert.equal(found.length, each.results.length);
          found.forEach((result, i) => check(result, each.results[i], each));
        } catch (error) {
          error.message = `${each.name} (${each.form}): ${error.message}`;
          throw error;
        }
      }
    });
  });
}
