// einsum beyond the examples of its record: operands with labels, options in front of the operands, orders of
// contraction, expressions. Run with --expose-gc.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import {once} from 'node:events';
import net from 'node:net';
import {test} from 'node:test';
import {setImmediate} from 'node:timers/promises';
import {inspect} from 'node:util';
import {Worker} from 'node:worker_threads';
import flow from 'oneflow-js';
import native from '../lib/addon/native.js';
import {agree, checkFailure, checkMemoryIsReported, failure} from './support.mjs';

const [A, B] = [[[1, 2, 3], [4, 5, 6]], [[1, 0, 2, 1], [0, 1, 1, 3], [2, 2, 0, 1]]];
const PRODUCT = [[7, 8, 4, 10], [16, 17, 13, 25]];
const [a, b] = [flow.tensor(A), flow.tensor(B)];
const transposed = (rows) => rows[0].map((_, i) => rows.map((row) => row[i]));
const random = (...shape) => flow.randn(shape, {dtype: 'float64'});

// ---------------------------------------------------------------------------------------------------- equations

test('equations with any letters and of any length', () => {
  assert.deepEqual(flow.einsum('αβ,β\u{1d6fe}->α\u{1d6fe}', a, b).toArray(), PRODUCT);
  const padded = `ij${' '.repeat(20_000)},jk->ik`; // longer than the initial frame
  for (let i = 0; i < 3; i++) assert.deepEqual(flow.einsum(padded, a, b).toArray(), PRODUCT);
  const ones = Array.from({length: 2000}, () => flow.ones(2));
  assert.deepEqual(flow.einsum(`${ones.map(() => 'i').join(',')}->i`, ones, {optimize: 'none'}).toArray(), [1, 1]);
  assert.deepEqual(flow.cat(ones.slice(0, 50)).shape, [100]);
});

test('separate operands with an invalid one among them', () => {
  const gone = flow.ones(2, 2);
  gone.dispose();
  const text = 'einsum: operands must be a live Tensor, got a disposed one';
  checkFailure(() => flow.einsum('ij,jk', a, gone), flow.InvalidArgument, text);
  for (const [wrong, found] of [[null, 'null'], ['b', 'string']]) {
    const expected = `einsum: operands[1] must be Tensor, got ${found}`;
    checkFailure(() => flow.einsum('ij,jk', a, wrong), flow.TypeMismatch, expected);
  }
});

test('operands that are not tensors', () => {
  const expression = flow.einsumExpression('ij,jk', a, b);
  for (const [call, text] of [
    [() => flow.einsum('i', Float32Array.of(1, 2)), 'operands must be array of Tensors, got Float32Array'],
    [() => expression('A', b), 'operands[0] must be Tensor, got string'],
    [
      () => flow.einsum('ij,jk', [a, b], 'greedy'),
      'takes at most 2 positional arguments, got 3; pass optimize or memoryLimit by name',
    ],
    [() => flow.einsum(null), 'equation must be string, got null'],
    [() => flow.einsum(5, {optimize: 'auto'}), 'equation must be string, got number'],
  ]) {
    checkFailure(call, flow.TypeMismatch, `einsum: ${text}`);
  }
});

test('error messages quote user input unchanged', () => {
  const unexpected = "einsum: equation has an unexpected '_'; labels are letters, or numbers in brackets";
  checkFailure(() => flow.einsum('fill_value->', a), flow.InvalidArgument, `${unexpected}\n  fill_value->\n      ^`);
  for (const found of ['memory_limit', "it's a fill_value's fill_value", 'a\nfill_value']) {
    checkFailure(
      () => flow.einsum('ij', a, {optimize: found}), flow.InvalidArgument,
      `einsum: optimize must be 'auto', 'optimal', 'greedy' or 'none', got '${found.replace('\n', '\\x0a')}'`,
    );
  }
});

test('strings with null bytes and strings that are too long', () => {
  const text = 'must not have a null byte';
  for (const equation of ['ij\0', `ij${' '.repeat(100)}\0`, 'é\0']) {
    checkFailure(() => flow.einsum(equation, a), flow.InvalidArgument, `einsum: equation ${text}`);
    checkFailure(() => flow.einsum(equation, [a]), flow.InvalidArgument, `einsum: equation ${text}`);
  }
  checkFailure(() => flow.einsum('ij', a, {optimize: 'auto\0'}), flow.InvalidArgument, `einsum: optimize ${text}`);
  checkFailure(
    () => flow.einsum('a'.repeat(2 ** 28), a), flow.InvalidArgument,
    'einsum: equation must have at most 16777216 characters, got 268435456',
  );
});

test('the memory of a long equation is released after the call', async () => {
  const padded = `ij${' '.repeat(2 ** 22)},jk->ik`;
  assert.deepEqual(flow.einsum(padded, a, b).toArray(), PRODUCT);
  flow.add(a, a);
  for (let i = 0; i < 100 && process.memoryUsage().arrayBuffers > 2 ** 22; i++) { // another thread frees the buffers
    globalThis.gc();
    await setImmediate();
  }
  assert.ok(process.memoryUsage().arrayBuffers < 2 ** 22);
});

// ---------------------------------------------------------------------------------------------------- labels

test('labels after their operands', async () => {
  assert.deepEqual(flow.einsum(a, [0, 1], b, [1, 2], [0, 2]).toArray(), PRODUCT);
  assert.deepEqual(flow.einsum(a, [0, 1], b, [1, 2]).toArray(), PRODUCT);
  assert.deepEqual(flow.einsum(a, [0, 1], b, [1, 2], undefined).toArray(), PRODUCT);
  assert.deepEqual(flow.einsum(a, ['...', 1], b, Int32Array.of(1, 70), [70n, '...']).toArray(), transposed(PRODUCT));
  assert.deepEqual(flow.einsum(a, [5, 3]).toArray(), transposed(A));
  assert.equal(flow.einsum(a, [0, 1], []).item(), 21);
  assert.deepEqual(flow.einsumPath(a, [0, 1], b, [1, 2]).path, [[0, 1]]);
  assert.deepEqual(flow.einsumExpression(a, [0, 1], b, [1, 2], [2, 0])(a, b).toArray(), transposed(PRODUCT));
  assert.deepEqual((await flow.einsumAsync(a, [0, 1], b, [1, 2], [0, 2])).toArray(), PRODUCT);
  const out = flow.zeros(2, 4);
  assert.equal(flow.einsum(a, [0, 1], b, [1, 2], [0, 2], {optimize: 'none', out}), out);
  assert.deepEqual(out.toArray(), PRODUCT);
});

test('more different labels than letters in the alphabet', () => {
  const operands = Array.from({length: 100}, (_, i) => flow.full([1, 2], i % 2, {dtype: 'float64'}));
  assert.deepEqual(flow.einsum(...operands.flatMap((each, i) => [each, [i, 100]]), [99]).toArray(), [0]);
  const matrices = Array.from({length: 60}, () => random(2, 2));
  const expected = matrices.reduce((product, each) => product.matmul(each)).toArray();
  const found = flow.einsum(...matrices.flatMap((each, i) => [each, [i, i + 1]]), [0, 60]).toArray();
  assert.ok(agree(found, expected, 1e-9, 1e-9));
});

test('labels that all languages take or refuse', () => {
  const cases = JSON.parse(fs.readFileSync(new URL('../../../tests/labels.json', import.meta.url), 'utf8'));
  for (const {labels, first, raises, says} of cases) {
    const given = first ? [...Array(first).keys()] : labels.map((each) => (each === '...' ? each : BigInt(each)));
    const call = () => flow.einsum(flow.ones([2, 2]), given);
    if (raises) checkFailure(call, flow[raises], `einsum: ${says}`);
    else assert.deepEqual(call().shape, [2, 2]);
  }
});

test('invalid labels', async () => {
  const x = flow.ones(2, 2);
  const mismatch = (args, text) => checkFailure(() => flow.einsum(...args), flow.TypeMismatch, `einsum: ${text}`);
  mismatch([x], 'operand 0 must be followed by its labels');
  mismatch([x, [0, 1], x], 'operand 1 must be followed by its labels');
  mismatch([x, x], 'labels of operand 0 must be array of integers, got Tensor');
  mismatch([x, '01', [0]], 'labels of operand 0 must be array of integers, got string');
  mismatch([x, [0, 1.5]], "labels of operand 0 must be integers or '...', got number");
  mismatch([x, [0, true]], "labels of operand 0 must be integers or '...', got boolean");
  mismatch([x, [0, 1], x, [0, 'j']], "labels of operand 1 must be integers or '...', got string");
  mismatch([x, [0, 1], 3], 'labels of the result must be array of integers, got number');
  mismatch([x, [0, 1], [0], [1]], 'operand 1 must be Tensor, got array');
  mismatch([x, [0, 1], 5, [1]], 'operand 1 must be Tensor, got number');
  mismatch([x, [0, 1], {equation: 'ij'}], 'argument equation given twice');
  mismatch([x, x, x, x], 'labels of operand 0 must be array of integers, got Tensor');
  const invalid = (args, text) => checkFailure(() => flow.einsum(...args), flow.InvalidArgument, `einsum: ${text}`);
  invalid(
    [x, [0, 1], x, [1, 2], [7]],
    `label 7 of the output does not appear in any operand\n  [0,1],[1,2]->[7]\n${' '.repeat(16)}^`,
  );
  checkFailure(
    () => flow.einsum(x, [0, 1], x, [1]), flow.ShapeError,
    `einsum: operand 1 has 2 dims but '[1]' names 1\n  [0,1],[1]\n${' '.repeat(9)}^`,
  );
  const text = 'einsumPath: operand 0 must be followed by its labels';
  checkFailure(() => flow.einsumPath(x), flow.TypeMismatch, text);
  await assert.rejects(
    flow.einsumAsync(x), failure(flow.TypeMismatch, 'einsum: operand 0 must be followed by its labels'),
  );
});

test('lists with too many labels are refused without copying them', () => {
  const count = (length, whose = 'operand 0') =>
    `einsum: labels of ${whose} must be at most 32 and '...', got ${length}`;
  const [v, many] = [flow.ones(1), new BigInt64Array(2 ** 21).fill(10n ** 18n)];
  const calls = [
    [[v, new Array(2 ** 32 - 1)], count(2 ** 32 - 1)],
    [Array(14).fill([v, many]).flat(), count(2 ** 21)],
    [[v, [0], new Uint8Array(2 ** 24)], count(2 ** 24, 'the result')],
  ];
  for (const [args, text] of calls) checkFailure(() => flow.einsum(...args), flow.ShapeError, text);
  const wide = flow.ones(Array(32).fill(1));
  assert.equal(flow.einsum(wide, ['...', ...Array(32).keys()]).ndim, 32);
});

test('an operand that the getters of its labels dispose of', () => {
  const x = flow.ones(2, 2);
  const labels = new Proxy([0, 1], {
    get(target, key) {
      x.dispose();
      return target[key];
    },
  });
  const text = 'einsum: operands must be a live Tensor, got a disposed one';
  checkFailure(() => flow.einsum(x, labels), flow.InvalidArgument, text);
});

// ---------------------------------------------------------------------------------------------------- options

test('options in front of the items of a list', async () => {
  const out = flow.zeros(2, 4);
  for (const result of [
    flow.einsum('ij,jk->ik', {optimize: 'greedy'}, a, b), flow.einsum('ij,jk->ik', {optimize: [[0, 1]]}, [a, b]),
    flow.einsum('ij,jk->ik', a, b, {optimize: 'greedy'}), flow.einsum('ij,jk->ik', {out}, a, b), out,
    await flow.einsumAsync('ij,jk->ik', {memoryLimit: 100}, a, b),
  ]) {
    assert.deepEqual(result.toArray(), PRODUCT);
  }
  assert.deepEqual(flow.zeros({dtype: 'int32'}, 2, 3).shape, [2, 3]);
  assert.equal(flow.zeros({dtype: 'int32'}, 2, 3).dtype, 'int32');
  assert.equal(flow.randint(9, {dtype: 'int32'}, 2, 3).dtype, 'int32');
  assert.deepEqual(flow.randint(3, 9, {dtype: 'int32'}, 2, 3).shape, [2, 3]);
  assert.deepEqual(a.permute({}, 1, 0).shape, [3, 2]);
  assert.deepEqual(flow.einsumPath('ij,jk', {optimize: 'none'}, [2, 3], [3, 4]).path, [[0, 1]]);
});

test('undefined in place of the options', async () => {
  const expression = flow.einsumExpression('ij,jk->ik', a, b, undefined);
  for (const result of [
    flow.einsum('ij,jk->ik', [a, b], undefined), flow.einsum('ij,jk->ik', a, b, undefined),
    flow.einsum(a, [0, 1], b, [1, 2], [0, 2], undefined), flow.einsum('ij,jk->ik', {optimize: 'none'}, a, b, undefined),
    await flow.einsumAsync('ij,jk->ik', [a, b], undefined), expression([a, b], undefined), expression(a, b, undefined),
    await expression.async(a, b, undefined),
  ]) {
    assert.deepEqual(result.toArray(), PRODUCT);
  }
  assert.deepEqual(flow.einsumPath('ij,jk', [a, b], undefined).path, [[0, 1]]);
  checkFailure(
    () => flow.einsum('ij,jk', a, undefined, undefined), flow.TypeMismatch,
    'einsum: operands[1] must be Tensor, got undefined',
  );
});

test('null among the options', async () => {
  const [optimize, memoryLimit, out] = [null, null, null];
  for (const result of [
    flow.einsum('ij,jk->ik', a, b, {optimize, memoryLimit, out}),
    await flow.einsumAsync('ij,jk->ik', a, b, {optimize, memoryLimit, out}),
    flow.einsumExpression('ij,jk->ik', a, b, {optimize, memoryLimit})(a, b, {out}),
    flow.einsumExpression({equation: 'ij,jk->ik', operands: [a, b], optimize})({operands: [a, b]}),
  ]) {
    assert.deepEqual(result.toArray(), PRODUCT);
  }
});

test('options at a wrong position, and twice', () => {
  const mismatch = (call, text) => checkFailure(call, flow.TypeMismatch, text);
  mismatch(() => flow.einsum('ij,jk', a, {out: a}, b), 'einsum: operands[1] must be Tensor, got object');
  mismatch(() => flow.einsum('ij', {out: a}, a, {out: a}), 'einsum: operands[0] must be Tensor, got object');
  mismatch(() => flow.einsum({out: a}, 'ij', a), 'einsum: equation must be string, got object');
  mismatch(() => flow.einsum('ij', {order: 1}, a), 'einsum: unknown argument order');
  mismatch(() => a.sum({dim: 0}, true), 'sum: dim must be array of integers or null, got object');
});

// ---------------------------------------------------------------------------------------------------- paths

test('einsumPath() returns the cost of an order', () => {
  const {report, ...found} = flow.einsumPath('ij,jk,kl->il', [2, 100], flow.ones(100, 3), Int32Array.of(3, 50));
  assert.deepEqual(found, {path: [[0, 1], [0, 1]], flops: 1800, naiveFlops: 90000, largestIntermediate: 100});
  assert.match(report, /3 operands, 2 products/);
  assert.deepEqual(flow.einsumPath('ij,jk', [[2, 3], a.transpose(0, 1)]).path, [[0, 1]]);
  const chain = [[2, 2], [2, 2], [2, 2], [2, 2]];
  for (const optimize of ['none', false]) {
    assert.deepEqual(flow.einsumPath('ij,jk,kl,lm->im', ...chain, {optimize}).path, [[0, 1], [0, 2], [0, 1]]);
  }
  assert.deepEqual(flow.einsumPath('ij,jk,kl', [2, 1], [1, 50], [50, 2], {optimize: true}).path, [[1, 2], [0, 1]]);
  const one = flow.einsumPath('ij->', [20n, 30]);
  assert.deepEqual([one.path, one.flops], [[], 1200]);
  assert.deepEqual(flow.einsumPath('i,i', [2], [2], {optimize: null, memoryLimit: null}).path, [[0, 1]]);
});

test('memoryLimit is kept if possible', () => {
  const request = ['cda,bd,cdb->', [7, 4, 3], [3, 4], [7, 4, 3]];
  assert.equal(flow.einsumPath(...request).largestIntermediate, 28);
  assert.equal(flow.einsumPath(...request, {memoryLimit: null}).largestIntermediate, 28);
  for (const memoryLimit of [1, 12n, 27]) {
    assert.equal(flow.einsumPath(...request, {memoryLimit}).largestIntermediate, 12);
  }
});

test('all orders give the same result', () => {
  const equation = 'abc,cd,bde,ef->af';
  const operands = [random(2, 3, 4), random(4, 5), random(3, 5, 6), random(6, 2)];
  const expected = flow.einsum(equation, ...operands).toArray();
  for (const optimize of ['auto', 'optimal', 'greedy', 'none', true, false]) {
    const expression = flow.einsumExpression(equation, ...operands, {optimize});
    for (const result of [
      flow.einsum(equation, ...operands, {optimize}), expression(...operands), expression(operands),
      flow.einsum(equation, ...operands, {optimize: expression.path}),
    ]) {
      assert.ok(agree(result.toArray(), expected, 1e-9, 1e-9));
    }
    const again = flow.einsumExpression(equation, ...operands, {optimize: expression.path});
    assert.deepEqual([again.path, again.flops], [expression.path, expression.flops]);
  }
});

test('hundreds of operands', () => {
  const count = 400;
  const equation = Array.from({length: count}, (_, i) => `[${i},${i + 1}]`).join(',');
  const {path} = flow.einsumPath(equation, Array.from({length: count}, (_, i) => [2 + i % 3, 2 + (i + 1) % 3]));
  assert.equal(path.length, count - 1);
});

test('invalid arguments of einsumPath() and einsumExpression()', () => {
  const cases = [
    [['ij,jk', [2, 3], [4, 5]], 'ShapeError',
      "einsum: label 'j' is 3 in operand 0 and 4 in operand 1\n  ij,jk\n     ^"],
    [['ij', [2, -3]], 'ShapeError', 'einsum: size must not be negative, got -3'],
    [['ij', Array(33).fill(1)], 'ShapeError', '*: operands[0] must have at most 32 dimensions, got 33'],
    [[Array(40).fill('i').join(','), Array(40).fill(new Int8Array(2 ** 24).fill(1))], 'ShapeError',
      '*: operands[0] must have at most 32 dimensions, got 16777216'],
    [['i', Array(2 ** 21).fill([2])], 'InvalidArgument', '*: operands must have at most 1048576 items, got 2097152'],
    [['ij', 'ab'], 'TypeMismatch', '*: operands[0] must be Tensor or array of integers, got string'],
    [['ij,j', [2, 3], [3.5]], 'TypeMismatch', '*: operands[1] must be Tensor or array of integers, got array'],
    [['ij', [2, 2n ** 70n]], 'InvalidArgument', '*: operands[0][1] must fit into 64 bits, got a larger integer'],
    [['ij,i', [2, 2], [2n ** 63n]], 'InvalidArgument', '*: operands[1][0] must fit into 64 bits, got a larger integer'],
    [['i,i', [2], [2], {optimize: [[0, 2 ** 64]]}], 'InvalidArgument',
      '*: optimize[0][1] must fit into 64 bits, got a larger integer'],
    [['ij', {operands: Int32Array.of(2, 2)}], 'TypeMismatch',
      '*: operands must be array of Tensors or shapes, got Int32Array'],
    [['ij', {operands: 5}], 'TypeMismatch', '*: operands must be array of Tensors or shapes, got number'],
    [[5, [2, 3]], 'TypeMismatch', '*: equation must be string, got number'],
    [['i,i', [2], [2], {memoryLimit: -1}], 'InvalidArgument', 'einsum: memoryLimit must not be negative, got -1'],
    [['i,i', [2], [2], {memoryLimit: 2n ** 63n}], 'InvalidArgument',
      '*: memoryLimit must fit into 64 bits, got a larger integer'],
    [['i,i', [2], [2], {optimize: [[0, 1, 2]]}], 'TypeMismatch',
      '*: optimize[0] must be pair of integers, got array'],
    [['i,i', [2], [2], {optimize: [[0, 2]]}], 'InvalidArgument',
      'einsum: optimize: pair 0 must be two different positions below 2, got 0 and 2'],
    [['i,i', [2], [2], {optimize: []}], 'InvalidArgument',
      'einsum: optimize must be 1 pair of positions for 2 operands, got 0'],
    [['i,i', [2], [2], {optimize: 5}], 'TypeMismatch', '*: optimize must be string or null, got number'],
    [['i,i', [2], [2], {optimize: [0, 1]}], 'TypeMismatch', '*: optimize[0] must be pair of integers, got number'],
    [['i,i', [2], [2], {optimize: 'fast'}], 'InvalidArgument',
      "einsum: optimize must be 'auto', 'optimal', 'greedy' or 'none', got 'fast'"],
    [['i\0', [2]], 'InvalidArgument', '*: equation must not have a null byte'],
    [['i', [2], {optimize: '\0'}], 'InvalidArgument', '*: optimize must not have a null byte'],
    [['i', [2], {optimize: 5}], 'TypeMismatch', '*: optimize must be string or null, got number'],
    [['i', [2], {memoryLimit: '5'}], 'TypeMismatch', '*: memoryLimit must be integer or null, got string'],
    [['i,i', [2], [2], {way: 5}], 'TypeMismatch', '*: unknown argument way'],
    [['i,i', [2], [2], {out: a}], 'TypeMismatch', '*: unknown argument out'],
    [['ij'], 'TypeMismatch', '*: missing argument operands'],
    [['ij', undefined], 'TypeMismatch', '*: missing argument operands'],
    [['ij', undefined, undefined], 'TypeMismatch',
      '*: operands[0] must be Tensor or array of integers, got undefined'],
    [[], 'TypeMismatch', '*: missing argument equation'],
  ];
  for (const [args, code, text] of cases) {
    for (const name of ['einsumPath', 'einsumExpression']) {
      checkFailure(() => flow[name](...args), flow[code], text.replace('*', name));
    }
  }
  const gone = flow.ones(2);
  gone.dispose();
  const text = 'einsumPath: operands must be a live Tensor, got a disposed one';
  checkFailure(() => flow.einsumPath('i', gone), flow.InvalidArgument, text);
});

// ---------------------------------------------------------------------------------------------------- expressions

test('properties of expressions', () => {
  const expression = flow.einsumExpression('ij,jk->ik', [2, 3], [3, 4]);
  const {report, ...known} = {...expression};
  assert.deepEqual(known, {
    equation: 'ij,jk->ik', shapes: [[2, 3], [3, 4]], shape: [2, 4], path: [[0, 1]],
    flops: 48, naiveFlops: 48, largestIntermediate: 8,
  });
  assert.match(report, /2 operands, 1 product/);
  assert.equal(typeof expression, 'function');
  assert.equal(String(expression), "einsumExpression('ij,jk->ik', [ 2, 3 ], [ 3, 4 ])");
  assert.equal(inspect(expression), String(expression));
  assert.throws(() => expression.shapes[0].push(1), TypeError);
  assert.throws(() => {
    expression.path = [];
  }, TypeError);
});

test('sizes that a number cannot represent exactly', () => {
  const size = 2n ** 53n + 1n;
  const text = (method) => `${method}: 9007199254740993 is not exact as a number`;
  checkFailure(() => flow.einsumExpression('i->i', [size]), flow.InvalidArgument, text('einsumExpression'));
  const x = flow.ones(1).expand(size);
  checkFailure(() => x.shape, flow.InvalidArgument, text('shape'));
  checkFailure(() => x.size, flow.InvalidArgument, text('size'));
  assert.equal(x.ndim, 1);
  checkFailure(
    () => flow.einsumPath('i,i', x, [2n ** 53n]), flow.ShapeError,
    "einsum: label 'i' is 9007199254740993 in operand 0 and 9007199254740992 in operand 1\n  i,i\n    ^",
  );
  assert.deepEqual(flow.einsumExpression('i->i', [2n ** 53n]).shape, [2 ** 53]);
});

test('expressions are functions of their operands', async () => {
  const expression = flow.einsumExpression('ij,jk->ik', a, [3, 4]);
  assert.deepEqual(expression(a, b).toArray(), PRODUCT);
  assert.deepEqual(expression([a, b]).toArray(), PRODUCT);
  assert.deepEqual(expression.call(null, a, b).toArray(), PRODUCT);
  assert.deepEqual([b].map((each) => expression(a, each).toArray()), [PRODUCT]);
  const out = flow.zeros(2, 4);
  assert.equal(expression(a, b, {out}), out);
  assert.deepEqual(out.toArray(), PRODUCT);
  assert.equal(expression({out: null}, a, b).dtype, 'float32');
  assert.equal(expression(a.cast('float64'), b).dtype, 'float64');
  const late = expression.async(a, b);
  assert.ok(late instanceof Promise);
  assert.deepEqual((await late).toArray(), PRODUCT);
  assert.deepEqual((await expression.async([a, b])).toArray(), PRODUCT);
  let inner;
  const kept = flow.tidy(() => {
    inner = expression(a, b);
    return inner.add(1);
  });
  assert.equal(inner.isDisposed, true);
  assert.equal(kept.at(0, 0).item(), PRODUCT[0][0] + 1);
});

test('expressions check their operands', async () => {
  const expression = flow.einsumExpression('ij,jk->ik', [2, 3], [3, 4]);
  const cases = [
    [[a, flow.ones(3, 5)], 'ShapeError',
      'einsum: operand 1 must have the shape [3, 4] that the expression was made for, got [3, 5]'],
    [[a], 'InvalidArgument', 'einsum: the expression takes 2 operands, got 1'],
    [[], 'TypeMismatch', 'einsum: missing argument operands'],
    [[a, 'b'], 'TypeMismatch', 'einsum: operands[1] must be Tensor, got string'],
    [[a, b, {optimize: 'auto'}], 'TypeMismatch', 'einsum: unknown argument optimize'],
  ];
  for (const [args, code, text] of cases) {
    checkFailure(() => expression(...args), flow[code], text);
    await assert.rejects(expression.async(...args), failure(flow[code], text));
  }
  checkFailure(() => expression(a, b, {out: 3}), flow.TypeMismatch, 'einsum: out must be Tensor, got number');
  assert.throws(() => expression(a, b, {out: flow.zeros(4, 2)}), flow.ShapeError);
  const out = flow.zeros(2, 4);
  await assert.rejects(expression.async(a, b, {out}), failure(flow.TypeMismatch, 'einsum: unknown argument out'));
});

test('dispose() releases an expression', async () => {
  const expression = flow.einsumExpression('ij,jk->ik', [2, 3], [3, 4]);
  const late = expression.async(a, b);
  assert.equal(expression.isDisposed, false);
  expression.dispose();
  expression[Symbol.dispose]();
  assert.equal(expression.isDisposed, true);
  assert.deepEqual((await late).toArray(), PRODUCT);
  const text = 'einsum: the expression must be live, got a disposed one';
  checkFailure(() => expression(a, b), flow.InvalidArgument, text);
  await assert.rejects(expression.async(a, b), failure(flow.InvalidArgument, text));
  assert.deepEqual(expression.shape, [2, 4]);
});

test('an expression that the getters of its operands dispose of', () => {
  const expression = flow.einsumExpression('i->', [2]);
  const operands = new Proxy([flow.ones(2)], {
    get(target, key) {
      expression.dispose();
      return target[key];
    },
  });
  checkFailure(
    () => expression(operands), flow.InvalidArgument, 'einsum: the expression must be live, got a disposed one',
  );
});

test('nothing holds an expression that the program has dropped', async () => {
  const make = () => flow.einsumExpression('ij,jk->ik', [2, 3], [3, 4]);
  const references = Array.from({length: 100}, () => new WeakRef(make()));
  await setImmediate();
  globalThis.gc();
  assert.ok(references.some((reference) => reference.deref() === undefined));
});

test('the memory of expressions is reported to V8', () => {
  // Each takes some 20 KiB. They are held: young garbage would be collected, whatever it holds.
  checkMemoryIsReported(`
    const shapes = Array(100).fill([2, 2]);
    const equation = shapes.map((_, i) => '[' + i + ',' + (i + 1) + ']').join(',');
    const held = Array.from({length: 5000}, () => flow.einsumExpression(equation, shapes, {optimize: 'none'}));
  `);
});

test('methods of expressions refuse other receivers', async () => {
  const {prototype} = flow.einsumExpression('i->', [2]).constructor;
  const text = (name, found) => `${name}: the receiver must be an expression, got ${found}`;
  checkFailure(() => prototype.dispose.call({}), flow.TypeMismatch, text('dispose', 'object'));
  const {get} = Object.getOwnPropertyDescriptor(prototype, 'isDisposed');
  checkFailure(() => get.call({}), flow.TypeMismatch, text('isDisposed', 'object'));
  await assert.rejects(prototype.async.call(a, a), failure(flow.TypeMismatch, text('async', 'Tensor')));
  checkFailure(() => prototype.toString.call({}), flow.TypeMismatch, text('toString', 'object'));
  assert.throws(() => String(prototype), flow.TypeMismatch);
  assert.equal(inspect(Object.create(prototype)), 'EinsumExpression {}');
});

test('only einsumExpression() creates expressions', async () => {
  const expression = flow.einsumExpression('i->', [2]);
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const external = server._handle._externalStream; // a pointer to memory of another library
  const text = 'EinsumExpression: expressions are made by einsumExpression(...)';
  for (const foreign of [external, {}, 1, undefined]) {
    checkFailure(() => new expression.constructor(foreign), flow.TypeMismatch, text);
    checkFailure(() => new expression.constructor(Symbol('expression'), foreign), flow.TypeMismatch, text);
    if (foreign !== 1) assert.throws(() => native.describeExpression(foreign), flow.OneFlowError);
  }
  server.close();
});

test('a worker may end while it has expressions', async () => {
  const worker = new Worker(`
    const flow = require('oneflow-js');
    globalThis.expressions = Array.from({length: 50}, () => flow.einsumExpression('i->', [2]));
    require('node:worker_threads').parentPort.postMessage(expressions[0](flow.ones(2)).item());
    process.exit(7);
  `, {eval: true});
  const messages = [];
  worker.on('message', (message) => messages.push(message));
  const code = await new Promise((resolve, reject) => worker.on('exit', resolve).on('error', reject));
  assert.deepEqual([messages, code], [[2], 7]);
});
