// Complex tensors: conversion from and to {re, im} and typed arrays, errors, and operators.

import assert from 'node:assert/strict';
import {afterEach, test} from 'node:test';
import flow from 'oneflow-js';
import {checkFailure, failure} from './support.mjs';

const complex = (re, im) => ({re, im});
const [I, Z] = [complex(0, 1), complex(1, 2)];

const before = flow.getDefaultDtype();
afterEach(() => flow.setDefaultDtype(before));

test('complex numbers make complex64, also mixed with real numbers', () => {
  const x = flow.tensor([[Z, I], [3, complex(-1, 0.5)]]);
  assert.equal(x.dtype, flow.complex64);
  assert.deepEqual(x.toArray(), [[Z, I], [complex(3, 0), complex(-1, 0.5)]]);
  assert.deepEqual(flow.tensor([true, 2n, Z]).toArray(), [complex(1, 0), complex(2, 0), Z]);
  assert.deepEqual(flow.tensor([Z, flow.float(2), 2n ** 63n]).toArray(), [Z, complex(2, 0), complex(2 ** 63, 0)]);
  assert.deepEqual(flow.tensor(Z).item(), Z);
  assert.deepEqual(flow.tensor([[Z]]).item({bigint: true}), Z);
});

test('the default dtype and the option dtype determine the complex type', () => {
  assert.equal(flow.tensor([I], {dtype: 'complex128'}).dtype, flow.complex128);
  const real = flow.tensor([0.1, 2n, true], {dtype: 'complex128'});
  assert.deepEqual(real.toArray(), [0.1, 2, 1].map((re) => complex(re, 0)));
  for (const [dtype, expected] of [['float64', 'complex128'], ['float32', 'complex64'], ['float16', 'complex64']]) {
    flow.setDefaultDtype(dtype);
    assert.equal(flow.tensor([1, I]).dtype, expected);
    assert.equal(flow.tensor([I, 1]).dtype, expected);
  }
  assert.deepEqual(flow.tensor([complex(0.1, 0)]).toArray(), [complex(Math.fround(0.1), 0)]);
});

test('infinite and NaN parts, and signed zeros', () => {
  const values = [complex(NaN, Infinity), complex(-0, -Infinity), complex(0, -0)];
  for (const dtype of ['complex64', 'complex128']) assert.deepEqual(flow.tensor(values, {dtype}).toArray(), values);
});

test('objects of any class with the parts re and im', () => {
  class Polar {
    constructor(radius, angle) {
      Object.assign(this, {radius, angle});
    }

    get re() {
      return this.radius * Math.cos(this.angle);
    }

    get im() {
      return this.radius * Math.sin(this.angle);
    }
  }
  assert.deepEqual(flow.tensor([new Polar(2, 0)]).toArray(), [complex(2, 0)]);
  assert.deepEqual(flow.tensor([Object.assign(Object.create(null), Z)]).item(), Z);
});

test('complex data with a real dtype is an error', () => {
  for (const dtype of ['bool', 'int64', 'bfloat16', 'float32']) {
    checkFailure(
      () => flow.tensor([[1, 2], [3, Z]], {dtype}), flow.DTypeError,
      `tensor: data must be real numbers for ${dtype}, got {re: 1, im: 2}`,
    );
  }
  checkFailure(
    () => flow.tensor(flow.tensor([Z]), {dtype: 'float32'}), flow.DTypeError,
    'cast: a complex tensor does not become float32; take its real or imaginary part',
  );
});

test('objects that only look like complex numbers', () => {
  const throwing = {
    get re() {
      throw new Error('no');
    },
    im: 1,
  };
  const trapped = new Proxy(Z, {
    get() {
      throw new Error('no');
    },
  });
  const lookalikes = [
    {re: 1}, {im: 1}, {re: 1, im: 2n}, {re: '1', im: 2}, {re: null, im: 2}, {re: 1, im: undefined}, {re: [1], im: [2]},
    {}, throwing, trapped, {re: flow.float(1), im: 2}, {re: new Number(1), im: 2},
  ];
  for (const value of lookalikes) {
    const found = value === trapped ? 'Proxy' : 'object';
    const text = `must be number, bigint, boolean, {re, im} or array of them, got ${found}`;
    for (const options of [{}, {dtype: 'complex64'}, {dtype: 'int8'}]) {
      checkFailure(
        () => flow.tensor([[1, 2], [value, 4]], options), flow.TypeMismatch, `tensor: data[1][0] ${text}`,
      );
    }
    checkFailure(() => flow.tensor(value), flow.TypeMismatch, `tensor: data ${text}`);
  }
  let reads = 0;
  const changing = {
    get re() {
      return reads++ === 0 ? 1 : undefined;
    },
    im: 1,
  };
  assert.throws(() => flow.tensor([changing, changing]), flow.TypeMismatch);
});

test('typed arrays have pairs of parts', () => {
  for (const [dtype, Class] of [['complex64', Float32Array], ['complex128', Float64Array]]) {
    const x = flow.tensor(Class.of(1, 2, 3, 4), {dtype, shape: [2, 1]});
    assert.deepEqual(x.toArray(), [[Z], [complex(3, 4)]]);
    assert.deepEqual(x.dataSync(), Class.of(1, 2, 3, 4));
    assert.deepEqual(flow.tensor(Class.of(1, 2), {dtype}).toArray(), [Z]);
    assert.deepEqual(
      flow.tensor(Class.of(1, 2, 3, 4, 5, 6), {dtype, shape: [2], strides: [-2], offset: 2}).dataSync(),
      Class.of(5, 6, 1, 2),
    );
    assert.throws(() => flow.tensor(new Class(6), {dtype, shape: [2], strides: [2], offset: 1}), flow.ShapeError);
  }
  assert.deepEqual(flow.tensor(Float32Array.of(0.5, 2), {dtype: 'complex128'}).dataSync(), Float64Array.of(0.5, 2));
  assert.deepEqual(flow.tensor(BigInt64Array.of(1n, 2n), {dtype: 'complex64'}).toArray(), [Z]);
  assert.deepEqual(flow.tensor(Uint16Array.of(1, 2), {dtype: 'complex64'}).toArray(), [Z]);
  checkFailure(
    () => flow.tensor(new Float32Array(3), {dtype: 'complex64'}), flow.ShapeError,
    'tensor: data must be pairs of numbers for complex64, got 3 numbers',
  );
  checkFailure(
    () => flow.tensor(new Float32Array(4), {dtype: 'complex64', shape: [4]}), flow.ShapeError,
    'tensor: shape [4] has 4 elements, data has 2',
  );
});

test('sharing and transferring memory of complex elements', () => {
  const shared = new Float32Array(new SharedArrayBuffer(24), 8);
  const x = flow.tensor(shared, {dtype: 'complex64', share: true});
  shared[3] = 5;
  x.mul_(2);
  assert.deepEqual([...shared], [0, 0, 0, 10]);
  const moved = Float64Array.of(1, 2);
  assert.deepEqual(flow.tensor(moved, {dtype: 'complex128', transfer: true}).item(), Z);
  assert.equal(moved.length, 0);
  const kept = Float32Array.of(1, 2, 3);
  for (const how of [{share: true}, {transfer: true}]) {
    const array = how.share ? new Float32Array(new SharedArrayBuffer(12)) : kept;
    checkFailure(
      () => flow.tensor(array.subarray(1), {dtype: 'complex64', ...how}), flow.InvalidArgument,
      'tensor: memory that is shared must be aligned to its elements of 8 bytes',
    );
  }
  assert.throws(() => flow.tensor(kept, {dtype: 'complex64', transfer: true}), flow.ShapeError);
  checkFailure(
    () => flow.tensor(kept, {dtype: 'complex128', transfer: true}), flow.DTypeError,
    'tensor: Float32Array cannot be shared as complex128',
  );
  assert.equal(kept.length, 3);
});

test('reading: views, iteration, JSON, and on another thread', async () => {
  const x = flow.tensor([[Z, I], [3, 4]]);
  assert.deepEqual(x.transpose(0, 1).dataSync(), Float32Array.of(1, 2, 3, 0, 0, 1, 4, 0));
  assert.deepEqual(x.transpose(0, 1).toArray(), [[Z, complex(3, 0)], [I, complex(4, 0)]]);
  assert.deepEqual([...x.at(0)].map((each) => each.item()), [Z, I]);
  assert.deepEqual(JSON.parse(JSON.stringify(x)), x.toArray());
  assert.deepEqual(await x.at(':, 0').data(), Float32Array.of(1, 2, 3, 0));
  assert.deepEqual(flow.zeros([2, 0], {dtype: 'complex64'}).toArray(), [[], []]);
  assert.throws(() => flow.tensor([Z]).expand(2 ** 20, 2 ** 20).toArray(), flow.OutOfMemory);
});

test('a complex element does not convert to a number', () => {
  const x = flow.tensor([Z]);
  assert.throws(
    () => Number(x),
    failure(flow.DTypeError, 'item: input must be a real tensor, got complex64; it has two parts'),
  );
  assert.throws(() => x < 3, flow.DTypeError);
  checkFailure(
    () => flow.tensor([Z, I]).item(), flow.InvalidArgument,
    'item: input must have exactly one element, got shape [2]',
  );
  assert.equal(Number(x.imag()), 2);
});

test('writing through an index', () => {
  const x = flow.zeros([2, 2], {dtype: 'complex64'});
  x.set(0, Z).set('1, 0', 5).set(1, 1, flow.tensor(I));
  assert.deepEqual(x.toArray(), [[Z, Z], [complex(5, 0), I]]);
  x.set(':, 1', [I, 2]);
  assert.deepEqual(x.at(':, 1').toArray(), [I, complex(2, 0)]);
  checkFailure(
    () => flow.zeros([2]).set(0, Z), flow.DTypeError,
    'tensor: data must be real numbers for float32, got {re: 1, im: 2}',
  );
  checkFailure(
    () => x.set(0, {re: 1}), flow.TypeMismatch,
    'set: value must be Tensor, number, {re, im} or array, got object',
  );
});

test('printing', () => {
  const text = String(flow.tensor([Z, complex(0, -0.5)]));
  assert.equal(text, "tensor([1.0000+2.0000j, 0.0000-0.5000j], {dtype: 'complex64'})");
});

test('operators: arithmetic, parts, contractions', () => {
  const x = flow.tensor([[Z, I], [2, complex(0, -1)]]);
  const y = flow.tensor([[I, 1], [complex(1, -1), 0]], {dtype: 'complex128'});
  const product = [[complex(-1, 2), Z], [complex(-1, 1), complex(2, 0)]]; // (1 + 2i)i + i(1 - i) = -1 + 2i, and so on
  for (const found of [flow.einsum('ij,jk->ik', x, y), x.matmul(y), flow.einsumExpression('ij,jk->ik', x, y)(x, y)]) {
    assert.equal(found.dtype, 'complex128');
    assert.deepEqual(found.toArray(), product);
  }
  assert.deepEqual(flow.einsum('ii', x).item(), complex(1, 1));
  assert.deepEqual(x.add(y).at(0).toArray(), [complex(1, 3), complex(1, 1)]);
  assert.deepEqual(x.mul(2).at(0, 0).item(), complex(2, 4));
  assert.deepEqual(x.conj().at(0).toArray(), [complex(1, -2), complex(0, -1)]);
  assert.deepEqual(flow.real(x).toArray(), [[1, 0], [2, 0]]);
  assert.deepEqual(x.viewAsReal().shape, [2, 2, 2]);
  assert.equal(x.equal(flow.complex(flow.real(x), flow.imag(x))), true);
});
