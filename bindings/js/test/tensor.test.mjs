// Conversion between JavaScript data and tensors, and properties of tensors.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import util from 'node:util';
import flow from 'oneflow-js';
import dtypes from '../lib/tensor/dtypes.js';
import {checkFailure, runAlone} from './support.mjs';

test('numbers make float32, BigInts int64, booleans bool', () => {
  assert.equal(flow.tensor([1, 2]).dtype, flow.float32);
  assert.equal(flow.tensor([1n, 2n]).dtype, flow.int64);
  assert.equal(flow.tensor([true, false]).dtype, flow.bool);
  assert.equal(flow.tensor([true, 2]).dtype, flow.float32);
  assert.equal(flow.tensor(1.5).item(), 1.5);
  assert.deepEqual(flow.tensor([]).shape, [0]);
});

test('the option dtype converts the data', () => {
  const others = ['float16', 'bfloat16', 'bool', 'complex64', 'complex128'];
  for (const dtype of dtypes.names.filter((name) => !others.includes(name))) {
    const x = flow.tensor([[1, 2], [3, 4]], {dtype});
    assert.equal(x.dtype, dtype);
    assert.deepEqual(x.toArray(), [[1, 2], [3, 4]]);
  }
  assert.deepEqual(flow.tensor([0, 2], {dtype: 'bool'}).toArray(), [false, true]);
  assert.deepEqual(flow.tensor([0.1], {dtype: 'float16'}).toArray(), [0.0999755859375]);
  assert.deepEqual(flow.tensor([1.001], {dtype: 'bfloat16'}).toArray(), [1]);
  const tie = 1 + 2 ** -11 + 2 ** -40; // rounded to float32, it is the middle between two numbers of float16
  for (const found of [flow.tensor([tie], {dtype: 'float16'}), flow.full([1], tie, {dtype: 'float16'})]) {
    assert.deepEqual(found.toArray(), [1 + 2 ** -10]);
  }
  assert.deepEqual(flow.tensor([1.7, -1.7], {dtype: 'int32'}).toArray(), [1, -1]);
  checkFailure(
    () => flow.tensor([300], {dtype: 'uint8'}), flow.InvalidArgument,
    'tensor: data must fit into uint8, got 300',
  );
  checkFailure(
    () => flow.tensor([NaN], {dtype: 'int32'}), flow.InvalidArgument,
    'tensor: data must fit into int32, got NaN',
  );
  checkFailure(
    () => flow.tensor([2n ** 63n]), flow.InvalidArgument,
    'tensor: data must fit into int64, got 9223372036854775808',
  );
});

test('invalid data and options', () => {
  checkFailure(
    () => flow.tensor([[1, 2], [3]]), flow.ShapeError,
    'tensor: data must be rectangular, got lengths 2 and 1 at depth 1',
  );
  checkFailure(
    () => flow.tensor([[1], 2]), flow.ShapeError,
    'tensor: data must be rectangular, got number at depth 1, where arrays are',
  );
  checkFailure(
    () => flow.tensor(['a']), flow.TypeMismatch,
    'tensor: data[0] must be number, bigint, boolean, {re, im} or array of them, got string',
  );
  checkFailure(() => flow.tensor(), flow.TypeMismatch, 'tensor: missing argument data');
  checkFailure(
    () => flow.tensor([1], {dtipe: 'int8'}), flow.TypeMismatch,
    'tensor: unknown argument dtipe; did you mean dtype?',
  );
  checkFailure(() => flow.tensor([1], {shape: [2]}), flow.ShapeError, 'tensor: shape [2] has 2 elements, data has 1');
  assert.throws(() => flow.tensor([1], {dtype: 'float99'}), flow.InvalidArgument);
  assert.throws(() => flow.tensor([1], {device: 'nowhere'}), flow.DeviceError);
  assert.throws(() => flow.tensor([1], new Date(0)), flow.TypeMismatch);
  assert.throws(() => new flow.Tensor(1), flow.TypeMismatch);
});

test('data with endless nesting or a false length', () => {
  const endless = [];
  endless.push(endless);
  checkFailure(() => flow.tensor(endless), flow.ShapeError, 'tensor: data must have at most 32 dimensions');
  const undefinedText = 'tensor: data[0] must be number, bigint, boolean, {re, im} or array of them, got undefined';
  checkFailure(() => flow.tensor(new Array(2 ** 32 - 1)), flow.TypeMismatch, undefinedText);
  const row = Array(1e5).fill(1);
  const rows = Array(1e5).fill(row);
  assert.throws(() => flow.tensor(Array(1e5).fill(rows)), flow.OutOfMemory);
  const boastful = new Proxy([], {get: (target, key) => (key === 'length' ? 2 ** 50 : 1)});
  assert.throws(() => flow.tensor(boastful), flow.OutOfMemory);
  checkFailure(
    () => flow.ones([2]).permute(boastful), flow.InvalidArgument,
    'permute: dims must have at most 1048576 items, got 1125899906842624',
  );
  assert.throws(() => flow.tensor(new Float32Array(2), {shape: boastful}), flow.ShapeError);
  assert.throws(() => flow.tensor(new Float32Array(2), {shape: new Array(2 ** 32 - 1)}), flow.ShapeError);
  let reads = 0;
  const growing = new Proxy([1, 2], {
    get: (target, key) => (key === 'length' ? 2 + reads++ : 1),
  });
  assert.throws(() => flow.tensor(growing), flow.ShapeError);
});

test('results that do not fit into an array', () => {
  const huge = flow.zeros([1]).expand(2 ** 20, 2 ** 20);
  assert.throws(() => huge.dataSync(), flow.OutOfMemory);
  assert.throws(() => huge.toArray(), flow.OutOfMemory);
  assert.throws(() => flow.zeros([2 ** 40, 0]).toArray(), flow.OutOfMemory);
  assert.throws(() => JSON.stringify(huge), flow.OutOfMemory);
});

test('nested arrays of typed arrays', () => {
  const x = flow.tensor([new Float64Array([1, 2]), new Float64Array([3, 4])]);
  assert.equal(x.dtype, 'float64');
  assert.deepEqual(x.toArray(), [[1, 2], [3, 4]]);
  assert.equal(flow.tensor([[new Uint8Array([1, 2])]]).dtype, 'uint8');
  assert.equal(flow.tensor([new Int32Array([1])], {dtype: 'float32'}).dtype, 'float32');
  assert.deepEqual(flow.tensor([new BigInt64Array([5n])]).toArray(), [[5]]);
  assert.equal(flow.tensor([new BigInt64Array([5n])]).dtype, 'int64');
  assert.deepEqual(flow.tensor([new Float32Array(0)]).shape, [1, 0]);
  assert.throws(() => flow.tensor([new Float32Array(2), new Float32Array(3)]), flow.ShapeError);
  assert.throws(() => flow.tensor([new Float32Array(2), 1]), flow.ShapeError);
});

test('nested arrays that fill the heap', () => {
  const printed = runAlone(`
    const outcome = (x) => {
      try {
        return x.toArray().length;
      } catch (error) {
        return error.code;
      }
    };
    for (const dtype of ['float32', 'int32', 'complex64']) {
      const rows = dtype === 'complex64' ? 100 : 1000; // ten times the bytes per element
      for (const count of [8, 10, 12, 14]) {
        console.log(outcome(flow.zeros([count * rows, 1000], {dtype}).add(3)));
      }
    }
  `, {NODE_OPTIONS: '--max-old-space-size=100'});
  const lines = printed.trim().split('\n');
  assert.deepEqual([lines.length, lines[0], lines.at(-1)], [12, '8000', 'OutOfMemory']);
});

test('conversion from and to typed arrays', () => {
  const signed = [Int8Array, Int16Array, Int32Array];
  for (const Class of [...signed, Uint8Array, Uint16Array, Uint32Array, Float32Array, Float64Array]) {
    const x = flow.tensor(Class.of(1, 2, 3, 4), {shape: [2, 2]});
    assert.deepEqual(x.toArray(), [[1, 2], [3, 4]]);
    assert.deepEqual(x.dataSync(), Class.of(1, 2, 3, 4));
  }
  const long = flow.tensor(BigInt64Array.of(-(2n ** 62n)));
  assert.deepEqual(long.dataSync(), BigInt64Array.of(-(2n ** 62n)));
  const source = Float32Array.of(1, 2);
  const copy = flow.tensor(source);
  source[0] = 9;
  assert.deepEqual(copy.toArray(), [1, 2]);
  assert.deepEqual(flow.tensor(Float64Array.of(1, 2, 3, 4), {shape: [2], strides: [-2], offset: 3}).toArray(), [4, 2]);
  assert.equal(flow.tensor(Uint16Array.of(0x3c00), {dtype: 'float16'}).item(), 1);
  assert.equal(flow.tensor(Uint8Array.of(5), {dtype: 'float32'}).item(), 5);
});

test('only a SharedArrayBuffer can be shared', () => {
  const array = new Float32Array(new SharedArrayBuffer(8));
  const x = flow.tensor(array, {share: true});
  array[1] = 5;
  assert.deepEqual(x.toArray(), [0, 5]);
  x.add_(1);
  assert.deepEqual([...array], [1, 6]);
  assert.throws(() => flow.tensor(new Float32Array(2), {share: true}), flow.InvalidArgument);
  assert.throws(() => flow.tensor(array, {share: true, dtype: 'int32'}), flow.DTypeError);
  const disguised = new Float32Array(2);
  Object.defineProperty(disguised, 'buffer', {value: array.buffer});
  assert.throws(() => flow.tensor(disguised, {share: true}), flow.InvalidArgument);
});

test('transfer takes ownership of the memory', () => {
  const array = Float32Array.of(1, 2);
  const x = flow.tensor(array, {transfer: true});
  assert.equal(array.length, 0);
  assert.deepEqual(x.toArray(), [1, 2]);
  checkFailure(
    () => flow.tensor(array), flow.InvalidArgument,
    'tensor: data must be attached to its memory, got a detached Float32Array',
  );
  assert.throws(() => flow.tensor(Buffer.from('ab'), {transfer: true}), flow.InvalidArgument);
  const kept = Float32Array.of(1, 2);
  assert.throws(() => flow.tensor(kept, {transfer: true, shape: [3]}), flow.ShapeError);
  assert.throws(() => flow.tensor(kept, {transfer: true, device: 'nowhere'}), flow.DeviceError);
  assert.equal(kept.length, 2);
});

test('other classes of typed arrays', () => {
  assert.deepEqual(flow.tensor(Buffer.from([1, 2, 3]).subarray(1)).toArray(), [2, 3]);
  assert.equal(flow.tensor(Uint8ClampedArray.of(300)).item(), 255);
  assert.throws(() => flow.tensor(new DataView(new ArrayBuffer(4))), flow.TypeMismatch);
  checkFailure(
    () => flow.tensor(new Float32Array(6), {shape: [2, 3], strides: [1]}), flow.ShapeError,
    'tensor: strides must have 2 items, one per dimension, got 1',
  );
  if (ArrayBuffer.prototype.resize !== undefined) {
    const buffer = new ArrayBuffer(16, {maxByteLength: 64});
    const array = new Float32Array(buffer, 8);
    assert.deepEqual(flow.tensor(array).shape, [2]);
    buffer.resize(4);
    assert.throws(() => flow.tensor(array), flow.InvalidArgument);
  }
  if (globalThis.Float16Array !== undefined) {
    assert.equal(flow.tensor(globalThis.Float16Array.of(1.5)).dtype, 'float16');
    assert.deepEqual(flow.tensor(globalThis.Float16Array.of(1.5), {dtype: 'bfloat16'}).toArray(), [1.5]);
  }
});

test('integers beyond 2^53 are BigInts or errors', () => {
  const x = flow.tensor([2n ** 62n, 1n]);
  assert.deepEqual(x.toArray({bigint: true}), [2n ** 62n, 1n]);
  checkFailure(
    () => x.toArray(), flow.InvalidArgument,
    'toArray: 4611686018427387904 is not exact as a number; ask for BigInts with toArray({bigint: true})',
  );
  checkFailure(
    () => x.at(0).item(), flow.InvalidArgument,
    'item: 4611686018427387904 is not exact as a number; ask for BigInts with item({bigint: true})',
  );
  assert.equal(x.at(0).item({bigint: true}), 2n ** 62n);
  assert.equal(x.at(1).item(), 1);
});

test('an integral number counts as an integer, float() as floating-point', () => {
  const x = flow.tensor([1n, 2n]);
  assert.equal(x.mul(2).dtype, 'int64');
  assert.equal(x.mul(2.5).dtype, 'float32');
  assert.deepEqual(x.add(2 ** 60).toArray({bigint: true}), [2n ** 60n + 1n, 2n ** 60n + 2n]);
  assert.equal(x.add(2 ** 63).dtype, 'float32');
  assert.equal(flow.zeros([1], {dtype: 'int64'}).set(0, 2 ** 60).item({bigint: true}), 2n ** 60n);
  assert.equal(x.mul(flow.float(2)).dtype, 'float32');
  assert.equal(x.mul(2n ** 40n).at(1).item(), 2 ** 41);
  assert.equal(flow.tensor([true]).add(true).dtype, 'bool');
  checkFailure(
    () => x.add(2n ** 64n), flow.InvalidArgument,
    'add: other must fit into 64 bits, got a larger integer',
  );
});

test('integers that only uint64 holds', () => {
  const [top, half] = [2n ** 64n - 1n, 2n ** 63n];
  const x = flow.zeros([4], {dtype: 'uint64'});
  x.set(0, top).set('1:3', half).set([3], top - 1n);
  const values = (tensor) => tensor.toArray({bigint: true});
  assert.deepEqual(values(x), [top, half, half, top - 1n]);
  assert.deepEqual(values(x.maskedFill(x.eq(flow.full([1], half, {dtype: 'uint64'})), top)), [top, top, top, top - 1n]);
  assert.deepEqual(values(x.fill_(top)), [top, top, top, top]);
  checkFailure(
    () => x.add(half), flow.InvalidArgument, 'add: other must fit into 64 bits, got a larger integer',
  );
  checkFailure(
    () => flow.full([1], half), flow.InvalidArgument, `full: fillValue must fit into int64, got ${half}`,
  );
});

test('properties of a tensor', () => {
  const x = flow.tensor([[1, 2, 3], [4, 5, 6]]);
  assert.deepEqual(x.shape, [2, 3]);
  assert.deepEqual(x.strides, [3, 1]);
  assert.equal(x.ndim, 2);
  assert.equal(x.size, 6);
  assert.equal(x.device, flow.getDefaultDevice());
  assert.equal(x.isContiguous, true);
  assert.equal(x.transpose(0, 1).isContiguous, false);
  assert.equal(x.transpose(0, 1).isView, true);
  const {version} = x;
  x.add_(1);
  assert.ok(x.version > version);
});

test('printing', () => {
  assert.equal(String(flow.tensor([1, 2.5])), 'tensor([1.0000, 2.5000])');
  assert.equal(util.inspect(flow.tensor([1n, -2n])), "tensor([ 1, -2], {dtype: 'int64'})");
  assert.equal(String(flow.tensor([true])), 'tensor([true])');
  assert.match(String(flow.zeros([2, 0])), /shape: \[2, 0\]/);
  assert.equal(util.inspect(Object.create(flow.Tensor.prototype)), 'Tensor {}');
  const earlier = flow.setPrintOptions();
  flow.setPrintOptions({precision: 1});
  assert.equal(String(flow.tensor([2.5])), 'tensor([2.5])');
  flow.setPrintOptions(earlier);
  assert.throws(() => flow.setPrintOptions({digits: 3}), flow.TypeMismatch);
  checkFailure(
    () => flow.setPrintOptions({edgeItems: 5, precision: 99}), flow.InvalidArgument,
    'setPrintOptions: precision must be between 0 and 17, got 99',
  );
  assert.deepEqual(flow.setPrintOptions(), earlier);
  assert.equal(util.inspect([flow.float(2)]), '[ float(2) ]');
});

test('conversion of a tensor with one element to a number', () => {
  const x = flow.tensor([[2.5]]);
  assert.equal(Number(x), 2.5);
  assert.equal(x > 2, true);
  assert.equal(`${x}`, 'tensor([[2.5000]])');
  assert.throws(() => Number(flow.ones([2])), flow.InvalidArgument);
  assert.throws(() => Number(flow.tensor([2n ** 62n])), flow.InvalidArgument);
});

test('equality, iteration, JSON', () => {
  const x = flow.tensor([[1, 2], [3, 4]]);
  assert.equal(x.equal(flow.tensor([[1, 2], [3, 4]])), true);
  assert.equal(x.equal(flow.tensor([[1, 2], [3, 5]])), false);
  assert.deepEqual(x.eq(flow.tensor([1, 4])).toArray(), [[true, false], [false, true]]);
  assert.deepEqual([...x].map((row) => row.toArray()), [[1, 2], [3, 4]]);
  assert.equal(JSON.stringify({x}), '{"x":[[1,2],[3,4]]}');
  assert.throws(() => [...flow.tensor(1)], flow.TypeMismatch);
  checkFailure(() => x.equal([1]), flow.TypeMismatch, 'equal: other must be Tensor, got array');
});

test('different tensors are not deeply equal', () => {
  const x = flow.tensor([1]);
  assert.deepEqual(x, x);
  assert.notDeepEqual(x, flow.tensor([2]));
});

test('a tensor cannot be cloned or sent to another thread', () => {
  assert.throws(() => structuredClone(flow.tensor([1])), /send x\.dataSync\(\) and x\.shape instead/);
  assert.throws(() => new MessageChannel().port1.postMessage({x: flow.tensor([1])}), /Tensor stays on its thread/);
});

test('data() reads the values at the time of the call', async () => {
  const x = flow.ones([1000]);
  const promise = x.data();
  x.add_(1);
  assert.ok((await promise).every((value) => value === 1));
  assert.deepEqual(await flow.tensor([0.5], {dtype: 'float16'}).data(), Float32Array.of(0.5));
});
