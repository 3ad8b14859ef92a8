// The forms in which operators are called, and the errors of invalid calls.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import vm from 'node:vm';
import flow, {add} from 'oneflow-js';
import {checkFailure} from './support.mjs';

const matrix = () => flow.tensor([[1, 2], [3, 4]]);

test('arguments by position, by name, and mixed', () => {
  const x = matrix();
  for (const result of [
    flow.sum(x, 1, true), flow.sum(x, {dim: 1, keepdim: true}), flow.sum(x, 1, {keepdim: true}), x.sum(1, true),
    x.sum({dim: [1], keepdim: true}), flow.sum({input: x, dim: -1, keepdim: true}), x.sum([1n], {keepdim: true}),
    x.sum(Int32Array.of(1), true), x.sum(undefined, {dim: 1, keepdim: true, dtype: undefined}),
  ]) {
    assert.deepEqual(result.toArray(), [[3], [7]]);
  }
  assert.equal(x.sum(null).item(), 10);
  assert.equal(add(x, 1).at(0, 0).item(), 2);
});

test('undefined in place of the options', () => {
  const x = matrix();
  assert.deepEqual(flow.matmul(x, x, undefined).toArray(), [[7, 10], [15, 22]]);
  assert.equal(flow.dot(x.at(0), x.at(1), undefined).item(), 11);
  assert.deepEqual(flow.tensordot(x, x, 1, undefined).shape, [2, 2]);
  assert.deepEqual(flow.cat([x, x], undefined).shape, [4, 2]);
  assert.deepEqual(flow.zeros([2, 3], undefined).shape, [2, 3]);
  assert.deepEqual(flow.zeros(2, 3, undefined).shape, [2, 3]);
  assert.deepEqual(x.add_(1, undefined).toArray(), [[2, 3], [4, 5]]);
});

test('null among the options', () => {
  const x = matrix();
  assert.deepEqual(x.sum({dim: 0, keepdim: null, out: null}).toArray(), [4, 6]);
  assert.deepEqual(flow.add(x, x, {alpha: null}).toArray(), [[2, 4], [6, 8]]);
  assert.deepEqual(flow.div(x, 2, {roundingMode: null}).toArray(), [[0.5, 1], [1.5, 2]]);
  assert.deepEqual(x.mul_(2, {out: null}).toArray(), [[2, 4], [6, 8]]);
  assert.equal(flow.tensor([1], {dtype: null, device: null}).dtype, 'float32');
  assert.equal(x.at(0, 0).item({bigint: null}), 2);
  flow.setPrintOptions({precision: null});
  checkFailure(() => flow.sum({input: null}), flow.TypeMismatch, 'sum: missing argument input');
});

test('the items of a trailing list as separate arguments', () => {
  const x = flow.zeros(2, 3, 4);
  assert.deepEqual(x.permute(2, 0, 1).shape, [4, 2, 3]);
  assert.deepEqual(x.permute([2, 0, 1]).shape, [4, 2, 3]);
  assert.deepEqual(x.reshape(-1).shape, [24]);
  assert.equal(flow.einsum('ij,jk->', matrix(), matrix()).item(), 54);
});

test('a method binds input, at any position of the signature', () => {
  const x = matrix();
  assert.deepEqual(x.where(x.gt(2), 0).toArray(), [[0, 0], [3, 4]]);
});

test('multiple results are an array with named properties', () => {
  const {values, indices} = matrix().max(1);
  const [first, second] = matrix().max({dim: 1});
  assert.deepEqual(values.toArray(), [2, 4]);
  assert.deepEqual(indices.toArray(), [1, 1]);
  assert.ok(first.equal(values) && second.equal(indices));
});

test('overloads', () => {
  const x = matrix();
  assert.equal(flow.max(x).item(), 4);
  assert.equal(flow.arange(3).shape[0], 3);
  assert.deepEqual(flow.arange(1, 3).toArray(), [1, 2]);
  assert.throws(() => flow.max(x, 'a'), flow.TypeMismatch);
  // Of the two overloads, the error is that of the one with the argument `device`.
  checkFailure(() => x.to({device: 'cpu', where: true}), flow.TypeMismatch, 'to: unknown argument where');
});

test('the option out, and in-place methods', () => {
  const x = matrix();
  const out = flow.zeros([2, 2]);
  assert.equal(x.add(1, {out}), out);
  assert.deepEqual(out.toArray(), [[2, 3], [4, 5]]);
  assert.equal(x.mul_(2), x);
  assert.deepEqual(x.toArray(), [[2, 4], [6, 8]]);
  const [values, indices] = [flow.zeros([2]), flow.zeros([2], {dtype: 'int64'})];
  x.max(1, {out: [values, indices]});
  assert.deepEqual(values.toArray(), [4, 8]);
  checkFailure(() => x.add(1, {out: 5}), flow.TypeMismatch, 'add: out must be Tensor, got number');
  checkFailure(() => x.add(1, {out: [x]}), flow.TypeMismatch, 'add: out must be Tensor, got array');
  checkFailure(() => x.max(1, {out}), flow.TypeMismatch, 'max: out must be array of 2 Tensors, got Tensor');
  checkFailure(() => x.mul_(2, {out}), flow.TypeMismatch, 'mul_: unknown argument out');
  assert.throws(() => x.add(1, {out: flow.zeros([3])}), flow.ShapeError);
  assert.throws(() => flow.tensor([1n]).add_(0.5), flow.DTypeError);
});

test('errors of binding have the messages that all languages share', () => {
  const x = matrix();
  const fails = (call, text) => checkFailure(call, flow.TypeMismatch, text);
  fails(() => x.sum({keepdim: 'yes'}), 'sum: keepdim must be boolean, got string');
  fails(() => x.sum({keepdim: '\0'}), 'sum: keepdim must be boolean, got string');
  fails(() => flow.sum(), 'sum: missing argument input');
  fails(() => x.sum({dims: 1}), 'sum: unknown argument dims; did you mean dim?');
  fails(() => x.sum({zebra: 1}), 'sum: unknown argument zebra');
  fails(() => x.max({keepdim: true}), 'max: missing argument dim');
  fails(() => flow.tensordot(x, x, {dimsInput: [1]}), 'tensordot: missing argument dimsOther');
  fails(() => flow.max(x, 1, {dim: 1}), 'max: argument dim given twice');
  fails(() => flow.sum(x, 1, true, 4), 'sum: takes at most 3 positional arguments, got 4; pass dtype by name');
  fails(() => flow.sum(x, 1, {dim: 1}), 'sum: argument dim given twice');
  fails(() => x.sum({input: x}), 'sum: argument input given twice');
  fails(() => x.relu(1), 'relu: takes at most 0 positional arguments, got 1');
  fails(() => x.max('a'), 'max: dim must be integer, got string');
  fails(() => flow.div(x, 2, {roundingMode: 5}), 'div: roundingMode must be string, got number');
  fails(() => x.div(2, {roundingmode: 'a'}), 'div: unknown argument roundingmode; did you mean roundingMode?');
  fails(() => x.transpose(0), 'transpose: missing argument dim1');
  fails(() => x.transpose(0.5, 1), 'transpose: dim0 must be integer, got number');
  fails(() => x.add(null), 'add: other must be Tensor or number, got null');
  fails(() => x.add(() => 1), 'add: other must be Tensor or number, got function');
  fails(() => x.add(Symbol('a')), 'add: other must be Tensor or number, got symbol');
  fails(() => x.sum(1, {axis: 1}), 'sum: argument dim given twice');
  fails(() => x.sum({axes: 1}), 'sum: unknown argument axes');
  fails(() => flow.zeros(2, {requiresGrad: 1}), 'zeros: requiresGrad must be boolean, got number');
  fails(() => x.add(new Date(0)), 'add: other must be Tensor or number, got instance of Date');
  fails(() => x.max_(), 'max_: missing argument other');
  fails(() => flow.cat([x, 'a']), 'cat: tensors[1] must be Tensor, got string');
  fails(() => x.add(undefined), 'add: missing argument other');
  fails(() => flow.fullLike(x, 'a'), 'fullLike: fillValue must be number, got string');
  fails(() => flow.matmul(x, new Proxy(x, {})), 'matmul: other must be Tensor, got Proxy');
  fails(() => flow.where('a'), 'where: condition must be Tensor, got string');
});

test('values out of range', () => {
  const x = matrix();
  const fails = (call, text) => checkFailure(call, flow.InvalidArgument, text);
  fails(() => x.sum(2n ** 64n), 'sum: dim must fit into 64 bits, got a larger integer');
  fails(() => x.sum([0, 2n ** 64n]), 'sum: dim[1] must fit into 64 bits, got a larger integer');
  fails(() => flow.zeros(1, {dtype: 'int32\0'}), 'zeros: dtype must not have a null byte');
  fails(() => flow.zeros(1, {device: 'cpu\0'}), 'zeros: device must not have a null byte');
  fails(() => flow.div(x, 2, {roundingMode: 'floor\0'}), 'div: roundingMode must not have a null byte');
  assert.throws(() => flow.device('fill_value'), /^DeviceError: device: there is no device 'fill_value'; /);
  const library = '/nowhere/fill_value.so';
  assert.throws(() => flow.loadDevice(library), new RegExp(`: cannot load the device plugin ${library}: `));
  assert.throws(() => flow.zeros(1, {device: 'abacus'}), /^DeviceError: zeros: there is no device 'abacus'; /);
});

test('names in messages of the runtime are camelCase', () => {
  const error = (() => {
    try {
      matrix().indexSelect(0, flow.tensor([5n]));
    } catch (caught) {
      return caught;
    }
    return undefined;
  })();
  assert.match(error.message, /^indexSelect: /);
});

test('receivers that are not tensors', () => {
  const lookalikes = [Object.create(flow.Tensor.prototype), new Proxy(matrix(), {})];
  for (const receiver of [{}, null, undefined, 1, 'a', [], ...lookalikes]) {
    assert.throws(() => flow.Tensor.prototype.add.call(receiver, 1), flow.TypeMismatch);
    assert.throws(() => flow.Tensor.prototype.add_.call(receiver, 1), flow.TypeMismatch);
    assert.throws(() => flow.Tensor.prototype.toArray.call(receiver), flow.TypeMismatch);
    assert.throws(() => flow.Tensor.prototype.dispose.call(receiver), flow.TypeMismatch);
    assert.throws(() => Reflect.get(flow.Tensor.prototype, 'shape', receiver), flow.TypeMismatch);
  }
  checkFailure(() => flow.Tensor.prototype.add.call({}, 1), flow.TypeMismatch, 'add: input must be Tensor, got object');
});

test('user code that runs during a call', () => {
  const x = matrix();
  const nosy = {
    get dim() {
      matrix().sum(0);
      return 1;
    },
  };
  assert.deepEqual(x.sum(nosy).toArray(), [3, 7]);
  const list = new Proxy([1], {
    get(target, key) {
      matrix().add(1).sum([0, 1]);
      return Reflect.get(target, key);
    },
  });
  assert.deepEqual(x.sum(list).toArray(), [3, 7]);
  const failing = new Proxy([1], {
    get() {
      throw new Error('mine');
    },
  });
  assert.throws(() => x.sum(failing), /mine/);
  const disposing = [0, 1];
  Object.defineProperty(disposing, 1, {
    get() {
      x.dispose();
      return 1;
    },
  });
  assert.throws(() => x.sum(disposing), flow.InvalidArgument);
});

test('lists of tensors and of integers whose getters dispose of operands', () => {
  const x = matrix();
  const other = matrix();
  const tensors = [x, x];
  Object.defineProperty(tensors, 1, {
    get() {
      other.dispose();
      return x;
    },
  });
  assert.deepEqual(flow.cat(tensors).shape, [4, 2]);
  assert.throws(() => flow.cat([x, other]), flow.InvalidArgument);
  const sizes = new Proxy([2, 2], {
    get(target, key) {
      if (key === '1') x.dispose();
      return Reflect.get(target, key);
    },
  });
  assert.throws(() => x.reshape(sizes), flow.InvalidArgument);
  assert.throws(() => flow.full(sizes, x), flow.OneFlowError);
});

test('lists of integers in typed arrays, and integers beyond 2**53', () => {
  const x = flow.ones([2, 3]);
  for (const dims of [Int8Array.of(1, 0), Float64Array.of(1, 0), BigInt64Array.of(1n, 0n)]) {
    assert.deepEqual(x.permute(dims).shape, [3, 2]);
  }
  assert.deepEqual(flow.randint(0, 9, Uint16Array.of(2, 3)).shape, [2, 3]);
  assert.throws(() => x.permute(Float32Array.of(0.5, 1)), flow.TypeMismatch);
  assert.throws(() => x.sum(2 ** 60), flow.IndexOutOfRange);
  assert.throws(() => x.sum(1e300), flow.InvalidArgument);
  assert.equal(flow.tensor([1n]).add(2 ** 60).item({bigint: true}), 2n ** 60n + 1n);
});

test('options: own properties, read once, from any realm', () => {
  const x = matrix();
  let reads = 0;
  const counted = {
    get dim() {
      reads++;
      return 1;
    },
  };
  assert.deepEqual(x.max(counted).values.toArray(), [2, 4]);
  assert.equal(reads, 1);
  assert.deepEqual(x.sum(vm.runInNewContext('({dim: 1})')).toArray(), [3, 7]);
  Object.prototype.out = flow.zeros([]); // as some libraries do
  try {
    assert.equal(x.sum({keepdim: true}).item(), 10);
  } finally {
    delete Object.prototype.out;
  }
});

test('hostile lists and numbers', () => {
  assert.throws(() => flow.zeros([-1]), flow.OneFlowError);
  assert.throws(() => flow.zeros([2 ** 62, 2 ** 62]), flow.OneFlowError);
  assert.throws(() => flow.zeros([1e300]), flow.InvalidArgument);
  assert.throws(() => flow.zeros([NaN]), flow.TypeMismatch);
  assert.throws(() => flow.zeros(Array(40).fill(1)), flow.OneFlowError);
  assert.throws(() => flow.zeros([2 ** 40]), flow.OutOfMemory);
  assert.throws(() => flow.einsum('\u0000', matrix()), flow.OneFlowError);
  assert.throws(() => flow.einsum('i'.repeat(100_000), matrix()), flow.OneFlowError);
  assert.equal(flow.cat(Array(5000).fill(flow.ones([1]))).shape[0], 5000);
});

test('base classes of the errors', () => {
  assert.ok(new flow.ShapeError('x') instanceof RangeError);
  assert.ok(new flow.TypeMismatch('x') instanceof TypeError);
  assert.ok(new flow.ShapeError('x') instanceof flow.OneFlowError);
  assert.equal(new flow.ShapeError('x').code, 'ShapeError');
  assert.equal(String(new flow.ShapeError('x')), 'ShapeError: x');
  assert.ok(!(new RangeError('x') instanceof flow.OneFlowError));
  assert.ok(!(null instanceof flow.OneFlowError));
});

test('settings', () => {
  flow.manualSeed(5);
  const first = flow.rand([3]).toArray();
  flow.manualSeed(5n);
  const state = flow.getRandomState();
  assert.deepEqual(flow.rand([3]).toArray(), first);
  flow.setRandomState(state);
  assert.deepEqual(flow.rand([3]).toArray(), first);
  assert.equal(flow.initialSeed(), 5n);
  assert.throws(() => flow.manualSeed(2n ** 64n), flow.InvalidArgument);
  assert.throws(() => flow.manualSeed('a'), flow.TypeMismatch);
  assert.equal(flow.promoteTypes('int32', 'float16'), 'float16');
  const text = 'promoteTypes: uint16 and int8 have no common dtype';
  assert.throws(() => flow.promoteTypes('uint16', 'int8'), {code: 'DTypeError', message: text});
  assert.ok(flow.devices().some((device) => device.name === flow.getDefaultDevice()));
  assert.ok(flow.device(flow.getDefaultDevice()).hardware.length > 0);
  assert.throws(() => flow.setDefaultDevice('nowhere'), flow.DeviceError);
  assert.throws(() => flow.setDefaultDtype('int32'), flow.OneFlowError);
  const threads = flow.getOption('numThreads');
  flow.setOption('numThreads', 1);
  assert.equal(flow.getOption('numThreads'), 1);
  flow.setOption('numThreads', threads);
  checkFailure(
    () => flow.getOption('noSuch\0Thing'), flow.InvalidArgument,
    'getOption: name must not have a null byte',
  );
  checkFailure(
    () => flow.setOption('numThreads', -1), flow.InvalidArgument,
    'setOption: numThreads must be between 1 and 1024, got -1',
  );
  flow.setNumThreads(3);
  assert.deepEqual([flow.getNumThreads(), flow.getOption('numThreads')], [3, 3]);
  checkFailure(
    () => flow.setNumThreads(0), flow.InvalidArgument,
    'setNumThreads: numThreads must be between 1 and 1024, got 0',
  );
  checkFailure(
    () => flow.setNumThreads('2'), flow.TypeMismatch, 'setNumThreads: threads must be integer, got string',
  );
  assert.throws(() => flow.setNumThreads(2.5), flow.TypeMismatch);
  assert.equal(flow.getNumThreads(), 3);
  flow.setNumThreads(threads);
  assert.deepEqual(flow.fallbacks(), {});
  assert.match(flow.version, /^\d+\.\d+\.\d+/);
  flow.synchronize();
});
