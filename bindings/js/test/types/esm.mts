// A program with ES modules, and calls that must be type errors. tsc checks its types; it is never run.

import flow, {add, Tensor, tidy, type Complex, type DType} from 'oneflow-js';

const x: Tensor = flow.tensor([[1, 2], [3, 4]], {dtype: flow.float64});
const y: Tensor = add(x, 1).sum({dim: 1, keepdim: true}).mul_(2n);
const dtype: DType = y.dtype;
const {values, indices} = flow.max(x, 1);
const [first]: Tensor[] = [values, indices];
const late: Promise<Tensor> = flow.matmulAsync(x, x);
const view: Tensor = x.at('1:3, ..., None').at([0, 1], null).set(':', 5).permute(1, 0).permute([1, 0]);
const summed: Tensor = tidy(() => flow.einsum('ij,jk->ik', x, x).add(first, {out: y}));
const grid: Tensor = flow.zeros(new Int32Array([2, 3])).sum(Int32Array.of(0));
const listed: Tensor = flow.einsum(x, [0, '...'], x, new Int32Array([1, 2]), ['...'], {optimize: 'greedy', out: y});
const early: Tensor = flow.einsum('ij,jk->ik', {optimize: true}, x, x).permute({dims: [1, 0]});
const {path, report}: flow.EinsumPath = flow.einsumPath('ij,jk->ik', x, [2, 3], {memoryLimit: 10n, optimize: false});
const trailing: Tensor = flow.einsum('ij,jk->ik', x, x, {optimize: path}).add(flow.zeros({dtype: 'int64'}, 2, 2));
const product: flow.EinsumExpression = flow.einsumExpression('ij,jk->ik', {optimize: path}, [2, 2], x);
const products: Tensor[] = [product(x, x), product([x, x], {out: y}), product(x, x, {out: y}), await product.async(x, x)];
const sizes: readonly number[] = product.shapes[0];
const how: flow.EinsumOptions = {optimize: 'auto', memoryLimit: null};
const absent = {optimize: x.size > 4 ? 'auto' : true, memoryLimit: null, out: x.size > 4 ? y : null};
const chosen: Tensor[] = [
  flow.einsum('ij,jk->ik', x, x, how), flow.einsum('ij,jk->ik', [x, x], how), flow.einsum('ij,jk->ik', how, x, x),
  flow.einsum(x, [0, 1], x, [1, 2], how), flow.einsum({equation: 'ij,jk->ik', operands: [x, x], ...how}),
  flow.einsum('ij,jk->ik', x, x, absent), await flow.einsumAsync('ij,jk->ik', x, x, how),
  flow.einsum('ij,jk->ik', x, x, {optimize: x.size > 4 ? path : null}), product({out: null}, x, x),
  product({operands: [x, x]}), await product.async({operands: [x, x]}), x.sum({keepdim: null, out: null}),
  flow.add(x, x, {alpha: x.size > 4 ? 2 : null}), flow.div(x, x, {roundingMode: null}), x.softmax(1, {dtype: null}),
  flow.tensor([1], {dtype: null, device: null}),
];
const planned: flow.EinsumPath[] = [
  flow.einsumPath({equation: 'ij,jk->ik', operands: [[2, 2], x], ...how}), flow.einsumPath('ij->ji', {operands: [x]}),
  flow.einsumExpression({equation: 'ij,jk->ik', operands: [[2, 2], x], optimize: null}),
  flow.einsumExpression('ij->ji', {operands: [x]}),
];
const lateLabelled: Promise<Tensor> = flow.einsumAsync(x, [0, 1], [1]);
product[Symbol.dispose]();
const data: flow.TypedArray = x.dataSync();
const waves: Tensor = flow.tensor([[{re: 1, im: 2}, 3]], {dtype: 'complex64'}).set(0, {re: 0, im: 1}).mul(flow.float(2n));
const wave: Complex = waves.at(0, 0).item();
const parts: Tensor = flow.real(waves).add(waves.imag());
const big: bigint = x.item({bigint: true});
for (const row of x) row.dispose();
x[Symbol.dispose]();
try {
  x.reshape(2, 2);
} catch (error) {
  if (error instanceof flow.OneFlowError) error.code.toLowerCase();
}
export {dtype, late, lateLabelled, view, summed, grid, data, big, listed, early, trailing, report, products, sizes, wave, parts, chosen, planned};

/** Classifies images with a small network, in the style of PyTorch, and returns the accuracy plus other numbers. */
export async function classify(images: readonly (readonly number[])[], labels: number[]): Promise<number> {
  const model = {weights: [flow.randn([4, 8]), flow.randn(8, 3)], bias: null as Tensor | null};
  const inputs = flow.tensor(images, {dtype: 'float32'});
  const scores = tidy(() => {
    let hidden = inputs;
    for (const weight of model.weights) hidden = flow.linear(hidden, weight.transpose(0, 1)).relu().clamp({max: 6});
    if (model.bias !== null) hidden.add_(model.bias);
    return {best: hidden.softmax({dim: -1}).argmax(1), largest: hidden.max(1, true).values};
  });
  const right = scores.best.eq(flow.tensor(labels, {dtype: flow.int64})).cast('float32');
  const accuracy: number = (await right.meanAsync()).item();
  {
    using scratch = flow.cat([inputs, inputs], {dim: 0});
    scratch.set([0, 1], 0).set(null, flow.tensor(new Float32Array(4), {shape: [1, 4], strides: [4, 1]}));
  }
  return accuracy + Number(scores.largest.sum()) + flow.memoryStats().inUse;
}

// @ts-expect-error: an option of the wrong type
flow.sum(x, {keepdim: 'yes'});
// @ts-expect-error: an unknown option
flow.sum(x, {dims: 1});
// @ts-expect-error: a string instead of a tensor
flow.relu('a');
// @ts-expect-error: a label that is a string
flow.einsum(x, [0, 'j']);
// @ts-expect-error: an invalid value of optimize
flow.einsum('ij,jk->ik', x, x, {optimize: 5});
// @ts-expect-error: an operand without labels
flow.einsum(x);
// @ts-expect-error: an unknown option in front of the operands
flow.einsum('ij', {order: 'greedy'}, x);
// @ts-expect-error: a string instead of a shape
flow.einsumPath('ij', 'ab');
// @ts-expect-error: shapes instead of tensors as operands of an expression
product([2, 2], [2, 2]);
// @ts-expect-error: an unknown dtype
flow.zeros([2], {dtype: 'float99'});
// @ts-expect-error: a private constructor
new Tensor();
// @ts-expect-error: a missing argument
x.add();
// @ts-expect-error: a positional value for a keyword-only argument
x.sum(1, true, true);
// @ts-expect-error: data that are not numbers
flow.tensor([['a']]);
// @ts-expect-error: a complex number without its imaginary part
flow.tensor([{re: 1}]);
x.add([1, 2]).add(new Float32Array(2)).matmul([[1], [2]]);
flow.real(2);
flow.zeros([2], {requiresGrad: true});
flow.nonzero(x, {asTuple: true}).length;
// @ts-expect-error: without the option, the result is no array
flow.nonzero(x, {asTuple: false}).length;
// @ts-expect-error: a read-only property
x.shape = [1];
// @ts-expect-error: the option out of an in-place method
x.add_(1, {out: x});
// @ts-expect-error: a promise used as a tensor
x.matmulAsync(x).add(1);
// @ts-expect-error: an arithmetic operator on tensors
x + x;
// @ts-expect-error: an unknown name of a result
x.max(1).value;
const model: flow.graph.Graph = flow.onnx.load('model.onnx', {
  sizes: {batch: 1, time: {min: 32, step: 32}}, values: {flag: true, shape: [1, 2], scale: x},
});
flow.onnx.loadAsync(new URL('file:///model.onnx'), {sizes: new Map([['batch', 2]])}).then((g) => g.run(x));
// @ts-expect-error: a range of sizes as an array
flow.onnx.load('model.onnx', {sizes: {batch: [1, 2]}});
// @ts-expect-error: an unknown option
flow.onnx.load('model.onnx', {verify: true});
const results: Promise<any[]> = flow.comm.spawn((a: flow.Tensor) => a.add(1), 2, x);
// @ts-expect-error: the number of ranks is missing
flow.comm.spawn(() => 1);
// @ts-expect-error: no program gets one
flow.comm.Work;
export {results};
