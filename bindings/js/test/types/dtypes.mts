// The element types that the compiler knows. tsc checks this file; it is never run.

import flow, {tensor, type Complex, type DType, type Tensor, type TypedArray} from 'oneflow-js';

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
/** Fails to compile unless both types are the same. */
function same<A, B>(..._: Same<A, B> extends true ? [] : [never]): void {}

const floats = tensor([[1, 2]], {dtype: 'float32'});
same<typeof floats, Tensor<'float32'>>();
const data = floats.dataSync();
same<typeof data, Float32Array>();
const late = await floats.data();
same<typeof late, Float32Array>();
const element = floats.at(0, 0).item();
same<typeof element, number>();
same<typeof floats.dtype, 'float32'>();
const transposed = floats.T;
same<typeof transposed, Tensor<'float32'>>();

const longs = floats.long();
const big = longs.item({bigint: true});
same<typeof big, bigint>();
const bigs = longs.dataSync();
same<typeof bigs, BigInt64Array>();
const truth = floats.bool().item();
same<typeof truth, boolean>();
const wave = tensor({re: 1, im: 2}, {dtype: 'complex64'}).item();
same<typeof wave, Complex>();
const bytes = tensor(Uint8Array.of(1));
same<typeof bytes, Tensor<'uint8'>>();
const doubles = tensor(Float64Array.of(1), {shape: [1]});
same<typeof doubles, Tensor<'float64'>>();
const converted = tensor(Float64Array.of(1), {dtype: flow.float16});
same<typeof converted, Tensor<'float16'>>();
const copied = tensor(doubles);
same<typeof copied, Tensor<'float64'>>();
for (const row of floats) same<typeof row, Tensor<'float32'>>();

// The results of operators have element types that only the run knows: they go everywhere.
const sum = floats.add(1);
const unknown = sum.dataSync();
same<typeof unknown, TypedArray>();
same<typeof sum.dtype, DType>();
let hidden = floats;
hidden = flow.relu(hidden);
const plain: Tensor = hidden;
const chosen: Tensor<'float32'> = plain;
const any: number[][] = floats.toArray();

// @ts-expect-error: a tensor of int64 is none of float32
const wrong: Tensor<'float32'> = longs;
// @ts-expect-error: there is no such element type
tensor([1], {dtype: 'float31'});
// @ts-expect-error: the elements are no BigInts
const bigint: bigint = floats.item();
export {any, bigint, chosen, wrong};
