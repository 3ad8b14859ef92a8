/// <reference lib="esnext.disposable" />

/** The hand-written part of oneflow-js. The operators are declared in generated/index.d.ts. */

import type {graph, HookHandle, OperatorCost} from '../generated/classes.js';

/** The name of an element type. */
export type DType =
  | 'bool' | 'uint8' | 'int8' | 'int16' | 'int32' | 'int64' | 'uint16' | 'uint32' | 'uint64'
  | 'float16' | 'bfloat16' | 'float32' | 'float64' | 'complex64' | 'complex128';

/** The typed arrays that dataSync() returns, by element type. A complex element takes two items. */
export type DataTypes = {
  bool: Uint8Array; uint8: Uint8Array; int8: Int8Array; int16: Int16Array; int32: Int32Array; int64: BigInt64Array;
  uint16: Uint16Array; uint32: Uint32Array; uint64: BigUint64Array;
  float16: Float32Array; bfloat16: Float32Array; float32: Float32Array; float64: Float64Array;
  complex64: Float32Array; complex128: Float64Array;
};
/** Whether an element type is not known to the compiler: it is `any`, as of the results of operators. */
type IsUnknown<D> = unknown extends D ? true : false;
/** The typed array that dataSync() returns; any if the element type is not known to the compiler. */
export type DataOf<D extends DType> = IsUnknown<D> extends true ? TypedArray : DataTypes[D];
/** The JavaScript value of an element; any if the element type is not known to the compiler. */
export type ElementOf<D extends DType> =
  IsUnknown<D> extends true ? any : D extends 'bool' ? boolean : D extends `complex${string}` ? Complex : number;
/** The element type that tensor() gives the elements of a typed array. */
export type DTypeOf<A extends TypedArray> =
  A extends Float32Array ? 'float32' : A extends Float64Array ? 'float64' : A extends Int32Array ? 'int32'
  : A extends Int16Array ? 'int16' : A extends Int8Array ? 'int8' : A extends Uint32Array ? 'uint32'
  : A extends Uint16Array ? 'uint16' : A extends BigInt64Array ? 'int64' : A extends BigUint64Array ? 'uint64' : 'uint8';

/** An integer of up to 64 bits. Use a BigInt for values beyond 2^53, which a `number` cannot represent exactly. */
export type Integer = number | bigint;

/** A scalar operand of an operator. An integral `number` counts as an integer; see `float()`. */
export type Scalar = number | bigint | boolean | Float;

/** A complex number: the value of one element of a complex tensor. */
export interface Complex {
  /** The real part. */
  re: number;
  /** The imaginary part. */
  im: number;
}

/** A scalar or complex number, or (nested) arrays of them. All arrays at one depth must have the same length. */
export type Nested = Scalar | Complex | TypedArray | readonly Nested[];

/** A tensor, or what stands for one in a call: numbers, (nested) arrays of them, typed arrays. */
export type TensorLike = Tensor | Scalar | TypedArray | readonly Nested[];

/** A typed array, as tensors are created from it and copied to it. */
export type TypedArray =
  | Int8Array | Uint8Array | Uint8ClampedArray | Int16Array | Uint16Array | Int32Array | Uint32Array | BigInt64Array
  | BigUint64Array | Float32Array | Float64Array;

/** A device or its name, such as `'cuda:1'`. `'cuda'` means `'cuda:0'`. */
export type DeviceLike = string | Device;

/** One integer, or an array of integers. */
export type Integers = Integer | readonly Integer[] | TypedArray;

/**
 * One part of an index: an integer, `null` for a new dimension of size 1, integer positions, a boolean mask, or a
 * string with one or more parts: `'1:3, ..., None'`.
 */
export type Index = Integer | boolean | null | string | Tensor | readonly unknown[] | TypedArray;

/** The einsum labels of an operand, one per dimension; `'...'` stands for any number of further dimensions. */
export type Labels = readonly (Integer | '...')[] | TypedArray;

/** Options of tensor(). */
export interface TensorOptions {
  /** The element type. Default: inferred from the data. */
  dtype?: DType | null;
  /** The device of the new tensor. Default: that of `data` if it is a tensor, else the default device. */
  device?: DeviceLike | null;
  /** The shape, for typed and nested arrays. Default: one-dimensional for a typed array, else that of the arrays. */
  shape?: readonly number[] | null;
  /** The strides, in elements, one per dimension. Default: contiguous, row-major. Only for typed arrays. */
  strides?: readonly number[] | null;
  /** The index of the first element within the typed array, in elements. Default: 0. Only for typed arrays. */
  offset?: number | null;
  /**
   * Whether the tensor uses the memory of the typed array instead of a copy, so that both see each other's writes. The
   * memory must be a SharedArrayBuffer and the device `'cpu'`. Default: false.
   */
  share?: boolean | null;
  /**
   * Whether the tensor takes ownership of the memory of the typed array instead of copying it. The caller's ArrayBuffer
   * is detached. Default: false.
   */
  transfer?: boolean | null;
  /** Whether the tensor requires a gradient. Default: false. */
  requiresGrad?: boolean | null;
}

/**
 * A tensor: elements of one type, in any number of dimensions. Tensors are created by tensor() and by operators. Every
 * use of a disposed tensor throws InvalidArgument, except for `isDisposed` and dispose().
 *
 * The compiler knows the element type `D` of what tensor() and the conversions return, such as float(). It is `any` for
 * the results of operators, whose element types follow from those of several operands.
 */
export class Tensor<D extends DType = any> implements Iterable<Tensor<D>> {
  private constructor();
  /**
   * A number that identifies the tensor within its thread. It makes `assert.deepEqual()` distinguish tensors; use
   * equal() to compare their elements.
   */
  readonly id: number;
  /** The size of each dimension. */
  readonly shape: number[];
  /** The strides: for each dimension, the distance between consecutive indices, in elements. */
  readonly strides: number[];
  /** The element type. */
  readonly dtype: IsUnknown<D> extends true ? DType : D;
  /** The number of dimensions. */
  readonly ndim: number;
  /** The number of dimensions, like `ndim`. */
  readonly rank: number;
  /** A view with the dimensions in reverse order. */
  readonly T: Tensor<D>;
  /** A view with the last two dimensions swapped. Throws ShapeError for fewer than two dimensions. */
  readonly mT: Tensor<D>;
  /** The conjugate of `mT`. */
  readonly H: Tensor<D>;
  /** The number of elements. */
  readonly size: number;
  /** The name of the device that holds the elements, such as `'cpu:0'`. */
  readonly device: string;
  /** A counter that increases with each write to the memory; all views of the memory share it. */
  readonly version: number;
  /** Whether the elements are contiguous in memory, in row-major order. */
  readonly isContiguous: boolean;
  /** Whether the tensor is a view: it shares the memory of the tensor that it was made from. */
  readonly isView: boolean;
  /** Whether the memory is page-locked host memory, as allocated by pinMemory(). */
  readonly isPinned: boolean;
  /** Whether the tensor was disposed of, by dispose() or at the end of the tidy() that it was created in. */
  readonly isDisposed: boolean;

  /** Returns the tensor, converted to float32; the tensor itself if it has this dtype already. */
  float(): Tensor<'float32'>;
  /** Returns the tensor, converted to float64; the tensor itself if it has this dtype already. */
  double(): Tensor<'float64'>;
  /** Returns the tensor, converted to float16; the tensor itself if it has this dtype already. */
  half(): Tensor<'float16'>;
  /** Returns the tensor, converted to bfloat16; the tensor itself if it has this dtype already. */
  bfloat16(): Tensor<'bfloat16'>;
  /** Returns the tensor, converted to int64; the tensor itself if it has this dtype already. */
  long(): Tensor<'int64'>;
  /** Returns the tensor, converted to int32; the tensor itself if it has this dtype already. */
  int(): Tensor<'int32'>;
  /** Returns the tensor, converted to int16; the tensor itself if it has this dtype already. */
  short(): Tensor<'int16'>;
  /** Returns the tensor, converted to int8; the tensor itself if it has this dtype already. */
  char(): Tensor<'int8'>;
  /** Returns the tensor, converted to uint8; the tensor itself if it has this dtype already. */
  byte(): Tensor<'uint8'>;
  /** Returns the tensor, converted to bool; the tensor itself if it has this dtype already. */
  bool(): Tensor<'bool'>;
  /** Returns the tensor, converted to complex64; the tensor itself if it has this dtype already. */
  cfloat(): Tensor<'complex64'>;
  /** Returns the tensor, converted to complex128; the tensor itself if it has this dtype already. */
  cdouble(): Tensor<'complex128'>;
  /** Returns the tensor on the host; the tensor itself if it is there already. */
  cpu(): Tensor<D>;
  /** Returns the number of elements, like `size`. */
  numel(): number;
  /** Returns the number of elements, like `size`. */
  nelement(): number;
  /** Releases the memory at once. Views of it stay valid. Further calls do nothing. */
  dispose(): void;
  /** Calls dispose(), at the end of the scope of a `using` declaration. */
  [Symbol.dispose](): void;

  /**
   * Returns the elements that an index selects: `x.at('1:3, ..., None')`, `x.at(0, -1)`, `x.at([1, 3], null)`,
   * `x.at(mask)`. The result is a view if all parts are integers, slices, `...` and null. It is a copy if positions or
   * masks are among them.
   * @throws IndexOutOfRange for an index outside of its dimension, or too many parts
   * @throws TypeMismatch for a value that is not an index
   * @throws ShapeError for nested arrays that are not rectangular
   */
  at(...indices: Index[]): Tensor<D>;
  /**
   * Writes to the elements that `at(...indices)` selects: `x.set('0, :', 5)`. The last argument is the value; it is
   * broadcast to the shape of the selection.
   * @returns this tensor
   * @throws IndexOutOfRange for an index outside of its dimension, or too many parts
   * @throws ShapeError for a value that does not broadcast to the selection
   * @throws DTypeError for a complex value if this tensor is real
   */
  set(...indicesAndValue: [...Index[], Tensor | Nested | TypedArray]): this;

  /**
   * Returns the elements as nested arrays, or the only element of a tensor without dimensions. Complex elements are
   * `{re, im}`; integers are numbers, or BigInts if `bigint` is true.
   * @throws InvalidArgument for an integer that a number cannot represent exactly, unless `bigint` is true
   * @throws OutOfMemory if the arrays do not fit into the heap
   */
  toArray(options?: {bigint?: boolean | null}): any;
  /**
   * Copies the elements, in row-major order, to a new typed array. float16 and bfloat16 elements are converted to
   * float32; booleans are 0 or 1 in a Uint8Array. A complex element takes two items: its real and its imaginary part.
   * @throws OutOfMemory if the typed array cannot be allocated
   */
  dataSync(): DataOf<D>;
  /**
   * Copies the elements as dataSync() does, on another thread. The result has the values at the time of the call,
   * whatever is written to the tensor later.
   */
  data(): Promise<DataOf<D>>;
  /**
   * Returns the value of a tensor with one element: a number or boolean, `{re, im}` for a complex tensor, a BigInt for
   * an integer one if `bigint` is true.
   * @throws InvalidArgument if the tensor does not have exactly one element
   * @throws InvalidArgument for an integer that a number cannot represent exactly, unless `bigint` is true
   */
  item(options: {bigint: true}): IsUnknown<D> extends true ? any : D extends `${string}int${string}` ? bigint : ElementOf<D>;
  item(options?: {bigint?: false | null}): ElementOf<D>;
  item(options?: {bigint?: boolean | null}): any;

  /** Whether a gradient of the tensor is wanted. */
  requiresGrad: boolean;
  /** The gradient that backward passes have collected, or null. */
  grad: Tensor | null;
  /** Whether the tensor is not the result of a recorded call. */
  readonly isLeaf: boolean;
  /** The name of the recorded call that the tensor is a result of, or null. */
  readonly gradFn: string | null;
  /** Whether retainGrad() was called. */
  readonly retainsGrad: boolean;
  /**
   * Makes a leaf require a gradient, or not, and returns it.
   * @throws DTypeError for a tensor that is neither floating-point nor complex
   */
  setRequiresGrad(value?: boolean): this;
  /** Makes backward passes collect the gradient of a tensor that is not a leaf. */
  retainGrad(): this;
  /** Returns a tensor over the same memory that has no history and requires no gradient. */
  detach(): Tensor<D>;
  /**
   * Adds the gradients of the tensor to all leaves that it depends on. `gradient` is that of the tensor itself, 1 by
   * default for a tensor with one element.
   * @throws InvalidArgument for a tensor that requires no gradient, or whose graph was freed
   * @throws ShapeError for a gradient of another shape
   */
  backward(gradient?: Tensor | null, options?: BackwardOptions): void;
  backward(options?: BackwardOptions & {gradient?: Tensor | null}): void;
  /** Runs backward() on another thread. JavaScript hooks and functions cannot take part in it. */
  backwardAsync(gradient?: Tensor | null, options?: BackwardOptions): Promise<void>;
  backwardAsync(options?: BackwardOptions & {gradient?: Tensor | null}): Promise<void>;
  /** Makes backward passes call `hook(gradient)`, which may return another gradient. */
  registerHook(hook: (gradient: Tensor) => Tensor | void | null): HookHandle;

  /** Returns whether all elements are close to those of `other`, as isclose() compares them. */
  allclose(other: TensorLike, rtol?: number, atol?: number, equalNan?: boolean): boolean;
  allclose(other: TensorLike, options?: ClosenessOptions): boolean;
  /** Returns whether both tensors have the same shape, type and elements. NaN is not equal to itself. */
  equal(other: Tensor): boolean;
  /** Returns the elements as a string, `tensor([[1., 2.]])`, abbreviated for large tensors; see setPrintOptions(). */
  toString(): string;
  /** Returns the elements as toArray() does: JSON.stringify(x) gives nested arrays. */
  toJSON(): any;
  /**
   * Returns the only element of a real tensor as a number, for `Number(x)` and `x < 3`; returns toString() where a
   * string is wanted.
   */
  [Symbol.toPrimitive](hint: string): number | string;
  /**
   * Iterates over the first dimension. Each step gives a view with one dimension less.
   * @throws TypeMismatch for a tensor without dimensions
   */
  [Symbol.iterator](): IterableIterator<Tensor<D>>;
}

/** A number that counts as floating-point even if its value is integral. Created by float(). */
export interface Float {
  /** Returns the number. */
  valueOf(): number;
  /** Returns a string such as `'float(2)'`. */
  toString(): string;
}

/** How close the elements of tensors must be: `|input - other| <= atol + rtol * |other|`. */
export interface ClosenessOptions {
  /** The allowed difference relative to `other`, by default 1e-5. */
  rtol?: number;
  /** The allowed difference, by default 1e-8. */
  atol?: number;
  /** Whether NaN is close to NaN, by default false. */
  equalNan?: boolean;
}

/**
 * Creates a tensor from data: nested arrays of numbers (default dtype: float32), BigInts (int64), booleans (bool) or
 * complex numbers `{re, im}` (complex64), a typed array, or another tensor, which is copied. `dtype` converts the data.
 * With a complex dtype, a typed array has two items per element: the real part and the imaginary part. With `float16`
 * or `bfloat16`, a Uint16Array has the bits of the elements.
 * @throws ShapeError for arrays that are not rectangular, or a shape that does not fit the data
 * @throws TypeMismatch for data of other types, and for unknown options
 * @throws DTypeError for complex numbers if the dtype is real
 * @throws InvalidArgument for numbers that the dtype cannot represent, and for detached typed arrays
 */
export function tensor<D extends DType>(
  data: Nested | TypedArray | Tensor, options: TensorOptions & {dtype: D},
): Tensor<D>;
export function tensor<A extends TypedArray>(data: A, options?: TensorOptions & {dtype?: null}): Tensor<DTypeOf<A>>;
export function tensor<D extends DType>(data: Tensor<D>, options?: TensorOptions & {dtype?: null}): Tensor<D>;
export function tensor(data: Nested | TypedArray | Tensor, options?: TensorOptions): Tensor;
/**
 * Marks a number as floating-point even if its value is integral: `x.mul(float(2))` of an int64 tensor is float32.
 * @throws TypeMismatch for a value that is not a number or BigInt
 */
export function float(value: number | bigint): Float;
/** Options of a backward pass. */
export interface BackwardOptions {
  /** Whether to keep what another pass needs. Default: that of createGraph. */
  retainGraph?: boolean;
  /** Whether to record the pass, so that its gradients have gradients. Default: false. */
  createGraph?: boolean;
}

/** Calls a function without recording its calls. The mode of an asynchronous function follows its awaits. */
export function noGrad<T>(fn: () => T): T;
/** Calls a function with its calls recorded, also within noGrad(). */
export function enableGrad<T>(fn: () => T): T;
/** The same as noGrad(). */
export function inferenceMode<T>(fn: () => T): T;
/** Returns whether calls are recorded. */
export function isGradEnabled(): boolean;
/** Switches recording on or off. */
export function setGradEnabled(enabled: boolean): void;
/**
 * Returns the gradients of the sum of `outputs` for `inputs`. With `allowUnused`, an input that the outputs do not depend
 * on has null.
 * @throws InvalidArgument for an input that the outputs do not depend on, without `allowUnused`
 */
export function grad(
  outputs: Tensor | readonly Tensor[], inputs: Tensor | readonly Tensor[],
  options: BackwardOptions & {gradOutputs?: Tensor | readonly (Tensor | null)[] | null; allowUnused: true}
): (Tensor | null)[];
export function grad(
  outputs: Tensor | readonly Tensor[], inputs: Tensor | readonly Tensor[],
  options?: BackwardOptions & {gradOutputs?: Tensor | readonly (Tensor | null)[] | null; allowUnused?: false}
): Tensor[];
/** Returns the function of the gradient of `fn`, whose value has one element, for its argument number `argnums`. */
export function grad<A extends unknown[]>(
  fn: (...args: A) => Tensor, options: {argnums: readonly number[]}
): (...args: A) => Tensor[];
export function grad<A extends unknown[]>(
  fn: (...args: A) => Tensor, options?: {argnums?: number}
): (...args: A) => Tensor;
/** Returns a function that returns the value of `fn` and its gradient for the argument number `argnums`. */
export function valueAndGrad<A extends unknown[]>(
  fn: (...args: A) => Tensor, options: {argnums: readonly number[]}
): (...args: A) => [Tensor, Tensor[]];
export function valueAndGrad<A extends unknown[]>(
  fn: (...args: A) => Tensor, options?: {argnums?: number}
): (...args: A) => [Tensor, Tensor];
/** Returns the value of `fn(...inputs)`, and a function from a gradient of the value to those of the inputs. */
export function vjp<T extends Tensor | readonly Tensor[]>(
  fn: (...inputs: Tensor[]) => T, ...inputs: Tensor[]
): [T, (gradient?: Tensor | readonly (Tensor | null)[]) => Tensor | Tensor[]];
/** Returns the derivatives of every element of `fn(...inputs)`, of shape value.shape + input.shape. */
export function jacobian(fn: (input: Tensor) => Tensor, input: Tensor, options?: {createGraph?: boolean}): Tensor;
export function jacobian(
  fn: (...inputs: Tensor[]) => Tensor, inputs: readonly Tensor[], options?: {createGraph?: boolean}
): Tensor[];
/** Returns the second derivatives of `fn(...inputs)`, which has one element. */
export function hessian(fn: (input: Tensor) => Tensor, input: Tensor, options?: {createGraph?: boolean}): Tensor;
export function hessian(
  fn: (...inputs: Tensor[]) => Tensor, inputs: readonly Tensor[], options?: {createGraph?: boolean}
): Tensor[][];
/**
 * Compares the gradients of a function of float64 tensors with central differences of its values. Throws
 * InvalidArgument for a difference above `atol + rtol * |difference quotient|`, or, if `raiseException` is false,
 * returns false.
 */
export function gradcheck(
  fn: (...inputs: Tensor[]) => Tensor | Tensor[], inputs: Tensor | readonly Tensor[],
  options?: {eps?: number; atol?: number; rtol?: number; raiseException?: boolean}
): boolean;
/**
 * Returns `fn(...args)`, of which nothing is kept for the backward pass: that calls `fn` again, which draws the same
 * numbers from the default generator.
 */
export function checkpoint<A extends unknown[], T extends Tensor | Tensor[]>(fn: (...args: A) => T, ...args: A): T;

/** What `forward` of a Function keeps for `backward`. */
export interface FunctionContext {
  /** Whether each argument requires a gradient. */
  readonly needsInputGrad: readonly boolean[];
  /** Keeps tensors, which must not be changed in place before `backward` reads them. */
  saveForBackward(...tensors: (Tensor | null)[]): void;
  /** The kept tensors; null stays null. */
  readonly savedTensors: Tensor[];
  [name: string]: any;
}

/** Backward passes from several tensors, and functions with gradients of their own. */
export namespace autograd {
  /** Adds the gradients of the sum of the tensors to all leaves that they depend on. */
  function backward(
    tensors: Tensor | readonly Tensor[],
    options?: BackwardOptions & {gradTensors?: Tensor | readonly (Tensor | null)[] | null}
  ): void;
  /**
   * Returns `fn()`, during which backward passes fail at the call whose gradient has a NaN, and name it; also of an
   * async function. This holds for the whole process.
   */
  function detectAnomaly<T>(fn: () => T): T;
  /** A function with a gradient of its own: subclasses define forward() and backward(), and callers call apply(). */
  class Function {
    /** Computes the result. Its calls are not recorded. */
    static forward(context: FunctionContext, ...args: any[]): Tensor | Tensor[];
    /** Returns a gradient or null for each argument of forward(), given those of the results. */
    static backward(context: FunctionContext, ...grads: Tensor[]): Tensor | null | (Tensor | null)[];
    /** Calls forward(), and records backward(). */
    static apply(...args: any[]): any;
  }
}

/** Returns whether all elements are close to each other, as isclose() compares them; waits for the device. */
export function allclose(
  input: TensorLike, other: TensorLike, rtol?: number, atol?: number, equalNan?: boolean,
): boolean;
export function allclose(input: TensorLike, other: TensorLike, options?: ClosenessOptions): boolean;

/** Returns whether shape, dtype and all elements are equal; waits for the device. NaN is not equal to itself. */
export function equal(input: TensorLike, other: TensorLike): boolean;

/** Returns whether a value is a tensor. */
export function isTensor(value: unknown): value is Tensor;

/**
 * Calls a function and disposes of the tensors that were created during the call, except for those in its result (in
 * arrays, objects, maps and sets) and those passed to keep(). Tensors that are created inside are cheaper than those
 * that the garbage collector releases.
 * @returns the result of `fn`
 * @throws InvalidArgument if the function returns a promise
 */
export function tidy<T>(fn: () => T): T;
/**
 * Excludes a tensor from the tidy() that it was created in. It then lives as long as it is referenced.
 * @returns the tensor itself
 */
export function keep<T extends Tensor>(tensor: T): T;

// ------------------------------------------------------------------------------------------------ einsum

/** An operand of which only the shape matters: a tensor, or the shape itself. */
export type Shaped = Tensor | readonly Integer[] | TypedArray;

/** Options that choose the order in which einsum multiplies its operands. */
export interface EinsumOptions {
  /**
   * How to choose the order: `'auto'` (the default), `'optimal'`, `'greedy'`, or `'none'` for left to right. True means
   * `'auto'`, false means `'none'`. Alternatively the order itself, as in `EinsumPath.path`.
   */
  optimize?: string | boolean | readonly (readonly [Integer, Integer])[] | null;
  /**
   * The maximal number of elements of an intermediate result, as far as an order that keeps it is found. Default: no
   * limit.
   */
  memoryLimit?: Integer | null;
}

/** The order in which einsum multiplies operands, and its cost. */
export interface EinsumPath {
  /**
   * The pairs of operands to multiply, as positions in the list of remaining operands. Each product replaces its two
   * operands and is appended to the list.
   */
  readonly path: readonly (readonly [number, number])[];
  /** The number of multiplications and additions in this order. */
  readonly flops: number;
  /** The number of multiplications and additions of one sum over the products of all operands at once. */
  readonly naiveFlops: number;
  /** The number of elements of the largest intermediate result or final result. */
  readonly largestIntermediate: number;
  /** A human-readable table with one line per product. */
  readonly report: string;
}

/**
 * An einsum equation that was planned for operands of given shapes. It is a function of such operands. Created by
 * einsumExpression().
 */
export interface EinsumExpression extends EinsumPath {
  /**
   * Computes the contraction of these operands.
   * @throws ShapeError for operands of other shapes than `shapes`
   * @throws InvalidArgument for another number of operands, or a disposed expression
   */
  (...operands: readonly Tensor[]): Tensor;
  /** Computes the contraction. With `out`, writes the result to that tensor and returns it. */
  (options: {out?: Tensor | null}, ...operands: readonly Tensor[]): Tensor;
  /** Computes the contraction. With `out`, writes the result to that tensor and returns it. */
  (...operandsAndOptions: [...readonly Tensor[], {out?: Tensor | null}]): Tensor;
  /** Computes the contraction of a list of operands. With `out`, writes the result to that tensor and returns it. */
  (operands: readonly Tensor[], options?: {out?: Tensor | null}): Tensor;
  /** Computes the contraction of `operands`. With `out`, writes the result to that tensor and returns it. */
  (options: {operands: readonly Tensor[]; out?: Tensor | null}): Tensor;
  /**
   * Computes the contraction on another thread. The operands have their values at the time of the call, whatever is
   * written to them later. The promise is rejected where the call would throw.
   */
  async(...operands: readonly Tensor[]): Promise<Tensor>;
  /** Computes the contraction of a list of operands on another thread. */
  async(operands: readonly Tensor[] | {operands: readonly Tensor[]}): Promise<Tensor>;
  /** The equation that einsumExpression() was given. */
  readonly equation: string;
  /** The shape of each operand. */
  readonly shapes: readonly (readonly number[])[];
  /** The shape of the result. */
  readonly shape: readonly number[];
  /** Whether dispose() was called. */
  readonly isDisposed: boolean;
  /** Releases the memory at once; the expression cannot be called any more. Further calls of dispose() do nothing. */
  dispose(): void;
  /** Calls dispose(), at the end of the scope of a `using` declaration. */
  [Symbol.dispose](): void;
  /** Returns the equation and the shapes: `"einsumExpression('ij,jk->ik', [ 2, 3 ], [ 3, 4 ])"`. */
  toString(): string;
}

/**
 * Returns the order in which einsum() multiplies operands, and its cost, without computing anything:
 * `einsumPath('ij,jk,kl->il', [2, 100], [100, 3], [3, 50]).path` is `[[0, 1], [0, 1]]`.
 * @throws InvalidArgument for a malformed equation, or options that do not fit it
 * @throws ShapeError for operands whose shapes do not fit the equation
 */
export function einsumPath(equation: string, ...operands: readonly Shaped[]): EinsumPath;
/** Returns the order in which einsum() multiplies operands, and its cost; with options in front of the operands. */
export function einsumPath(equation: string, options: EinsumOptions, ...operands: readonly Shaped[]): EinsumPath;
/** Returns the order in which einsum() multiplies operands, and its cost; with options after the operands. */
export function einsumPath(equation: string, ...operandsAndOptions: [...readonly Shaped[], EinsumOptions]): EinsumPath;
/** Returns the order in which einsum() multiplies a list of operands, and its cost. */
export function einsumPath(equation: string, operands: readonly Shaped[], options?: EinsumOptions): EinsumPath;
/** Returns the order in which einsum() multiplies operands, and its cost; with the operands among the options. */
export function einsumPath(equation: string, options: EinsumOptions & {operands: readonly Shaped[]}): EinsumPath;
/** Returns the order in which einsum() multiplies operands, and its cost; with all arguments by name. */
export function einsumPath(options: EinsumOptions & {equation: string; operands: readonly Shaped[]}): EinsumPath;
/**
 * Returns the order in which einsum() multiplies tensors, and its cost. Each tensor is followed by its labels, in place
 * of an equation: `einsumPath(a, [0, 1], b, [1, 2], [0, 2])`. The labels of the result may be omitted.
 */
export function einsumPath(...labelled: [Tensor, Labels, ...(Tensor | Labels)[]]): EinsumPath;
/** Returns the order in which einsum() multiplies tensors, each followed by its labels, and its cost; with options. */
export function einsumPath(
  ...labelledAndOptions: [Tensor, Labels, ...(Tensor | Labels)[], EinsumOptions]
): EinsumPath;

/**
 * Plans an einsum equation for operands of these shapes, or of the shapes of these tensors. The result is a function of
 * such operands: `const product = einsumExpression('ij,jk->ik', [2, 3], [3, 4])`, then `product(a, b)`.
 * @throws InvalidArgument for a malformed equation, or options that do not fit it
 * @throws ShapeError for operands whose shapes do not fit the equation
 */
export function einsumExpression(equation: string, ...operands: readonly Shaped[]): EinsumExpression;
/** Plans an einsum equation for operands of these shapes; with options in front of the operands. */
export function einsumExpression(
  equation: string, options: EinsumOptions, ...operands: readonly Shaped[]
): EinsumExpression;
/** Plans an einsum equation for operands of these shapes; with options after the operands. */
export function einsumExpression(
  equation: string, ...operandsAndOptions: [...readonly Shaped[], EinsumOptions]
): EinsumExpression;
/** Plans an einsum equation for a list of operands of these shapes. */
export function einsumExpression(
  equation: string, operands: readonly Shaped[], options?: EinsumOptions
): EinsumExpression;
/** Plans an einsum equation for operands of these shapes; with the operands among the options. */
export function einsumExpression(
  equation: string, options: EinsumOptions & {operands: readonly Shaped[]}
): EinsumExpression;
/** Plans an einsum equation for operands of these shapes; with all arguments by name. */
export function einsumExpression(
  options: EinsumOptions & {equation: string; operands: readonly Shaped[]}
): EinsumExpression;
/**
 * Plans a contraction of tensors of these shapes. Each tensor is followed by its labels, in place of an equation:
 * `einsumExpression(a, [0, 1], b, [1, 2], [0, 2])`. The labels of the result may be omitted.
 */
export function einsumExpression(...labelled: [Tensor, Labels, ...(Tensor | Labels)[]]): EinsumExpression;
/** Plans a contraction of tensors of these shapes, each followed by its labels; with options. */
export function einsumExpression(
  ...labelledAndOptions: [Tensor, Labels, ...(Tensor | Labels)[], EinsumOptions]
): EinsumExpression;

// ------------------------------------------------------------------------------------------------ printing

/** Options that determine how tensors are printed. */
export interface PrintOptions {
  /** The number of digits after the decimal point, 0 to 17. Default: 4. */
  precision: number;
  /** The number of elements above which the output is abbreviated. Default: 1000. */
  threshold: number;
  /** The number of elements shown at each end of an abbreviated dimension. Default: 3. */
  edgeItems: number;
  /** The maximal number of characters per line, at least 20. Default: 80. */
  lineWidth: number;
}
/**
 * Changes how tensors are printed, in this thread. Options that are absent or null stay as they are.
 * @returns a copy of all options after the change
 * @throws TypeMismatch for unknown options, and for values that are not integers
 * @throws InvalidArgument for values outside of the allowed range
 */
export function setPrintOptions(changes?: Partial<Record<keyof PrintOptions, number | null>>): PrintOptions;

// ------------------------------------------------------------------------------------------------ errors

/** The common type of all errors of oneflow: each is an `instanceof` it, and its `code` is the name of its class. */
export class OneFlowError extends Error {
  /** The name of the error's class. */
  readonly code: string;
}
/** The error for a value outside of the range that an argument allows, and for a disposed tensor. */
export class InvalidArgument extends RangeError {
  /** The name of the error's class. */
  readonly code: 'InvalidArgument';
}
/** The error for an argument that has the wrong type, is missing, or is unknown. */
export class TypeMismatch extends TypeError {
  /** The name of the error's class. */
  readonly code: 'TypeMismatch';
}
/** The error for shapes that do not fit each other or the operator. */
export class ShapeError extends RangeError {
  /** The name of the error's class. */
  readonly code: 'ShapeError';
}
/** The error for an element type that the operator does not accept. */
export class DTypeError extends TypeError {
  /** The name of the error's class. */
  readonly code: 'DTypeError';
}
/** The error for a dimension or an index that does not exist. */
export class IndexOutOfRange extends RangeError {
  /** The name of the error's class. */
  readonly code: 'IndexOutOfRange';
}
/** The error for a device that does not exist or that fails, and for operands on different devices. */
export class DeviceError extends Error {
  /** The name of the error's class. */
  readonly code: 'DeviceError';
}
/** The error for an allocation that fails, even after a garbage collection. */
export class OutOfMemory extends RangeError {
  /** The name of the error's class. */
  readonly code: 'OutOfMemory';
}
/** The error for a valid request that is not implemented. */
export class Unsupported extends Error {
  /** The name of the error's class. */
  readonly code: 'Unsupported';
}
/** The error for a failure of the communication between processes. */
export class CommunicationError extends Error {
  /** The name of the error's class. */
  readonly code: 'CommunicationError';
}
/** The error for a file that the system cannot read or write. */
export class FileError extends Error {
  /** The name of the error's class. */
  readonly code: 'FileError';
}
/** The error for a bug in oneflow. */
export class InternalError extends Error {
  /** The name of the error's class. */
  readonly code: 'InternalError';
}

// ------------------------------------------------------------------------------------------------ element types

/** The boolean type; one byte per element. */
export const bool: 'bool';
/** The type of 8-bit unsigned integers, 0 to 255. */
export const uint8: 'uint8';
/** The type of 8-bit signed integers. */
export const int8: 'int8';
/** The type of 16-bit signed integers. */
export const int16: 'int16';
/** The type of 32-bit signed integers. */
export const int32: 'int32';
/** The type of 64-bit signed integers. */
export const int64: 'int64';
/** The type of 16-bit unsigned integers, for storage and conversion. Operators compute in int32 or int64. */
export const uint16: 'uint16';
/** The type of 32-bit unsigned integers, for storage and conversion. Operators compute in int32 or int64. */
export const uint32: 'uint32';
/** The type of 64-bit unsigned integers, for storage and conversion. Operators compute in int32 or int64. */
export const uint64: 'uint64';
/** The half-precision floating-point type, with 11 significant bits. */
export const float16: 'float16';
/** The 16-bit floating-point type with the range of float32 and 8 significant bits. */
export const bfloat16: 'bfloat16';
/** The single-precision floating-point type, the initial default dtype. */
export const float32: 'float32';
/** The double-precision floating-point type, as that of JavaScript's numbers. */
export const float64: 'float64';
/** The type of complex numbers whose parts are float32. */
export const complex64: 'complex64';
/** The type of complex numbers whose parts are float64. */
export const complex128: 'complex128';

/** The folder of the header files, for the compiler of addons that are written with `<oneflow/napi.h>`. */
export const include: string;
/** The file of liboneflow, which such addons are linked against. */
export const library: string;

/** Returns the default dtype: the element type of new floating-point tensors. */
export function getDefaultDtype(): DType;
/**
 * Sets the default dtype, the element type of new floating-point tensors, for the whole process.
 * @throws DTypeError for a dtype that is not floating-point
 */
export function setDefaultDtype(dtype: DType): void;
/**
 * Returns the element type of the result of an operator on two operands of these types.
 * @throws DTypeError if the types have no common type
 */
export function promoteTypes(a: DType, b: DType): DType;

// ------------------------------------------------------------------------------------------------ devices and memory

/** The version of the library, such as `'0.1.0'`. */
export const version: string;

/** A device and its properties. It is accepted wherever the name of a device is. */
export class Device {
  /**
   * Looks up a device by its name, or copies another Device. The index may be omitted: `'cuda'` means `'cuda:0'`.
   * @throws DeviceError for a device that does not exist; the message lists those that do
   */
  constructor(name: DeviceLike);
  /** The full name, `'<type>:<index>'`. */
  readonly name: string;
  /** The type of the device: the part of the name before the colon. */
  get type(): string;
  /** The index among the devices of this type, from 0. */
  get index(): number;
  /** The vendor's name of the hardware. */
  get hardware(): string;
  /** The size of the memory in bytes; 0 if unknown. */
  get totalMemory(): number;
  /** The size of the memory that is currently unused, in bytes; 0 if unknown. */
  get freeMemory(): number;
  /** The number of compute units (cores, multiprocessors); 0 if unknown. */
  get computeUnits(): number;
  /**
   * The capabilities of the device, a subset of: kernels, contractions, asynchronous (a call returns before its work is
   * done), peerCopies, streams, pinnedMemory, hostAccessible.
   */
  get capabilities(): string[];
  /** What is to be known about the device's plugin, such as that it could not be probed; empty for most devices. */
  get notes(): string;
  /** Returns the full name. */
  toString(): string;
  /** Returns the full name. */
  toJSON(): string;
}
/**
 * Looks up a device by its name. The index may be omitted: `'cuda'` means `'cuda:0'`.
 * @throws DeviceError for a device that does not exist; the message lists those that do
 */
export function device(name: DeviceLike): Device;
/** Returns all available devices. */
export function devices(): Device[];
/** Returns the device plugins that were found but could not be used, as a map from path to reason. */
export function rejectedPlugins(): Record<string, string>;
/** Returns the name of the default device, on which tensors are created if no device is given. */
export function getDefaultDevice(): string;
/**
 * Sets the default device, on which tensors are created if no device is given, for the whole process.
 * @throws DeviceError for a device that does not exist
 */
export function setDefaultDevice(device: DeviceLike): void;
/**
 * Loads a device plugin from a shared library and adds its devices to devices().
 * @throws DeviceError if the file cannot be loaded as a device plugin
 */
export function loadDevice(path: string): void;
/** The libraries of operators that loadLibrary() has loaded: an object with the functions of each, by its namespace. */
export const ops: Readonly<Record<string, any>>;
/**
 * Loads a library of operators, and returns the object with its functions. Its type is that of the declarations beside
 * the library: `flow.loadLibrary<typeof import('./my_ops')>('my_ops.so')`.
 * @throws FileError for a file that cannot be loaded
 * @throws Unsupported for one that is not a library of operators, that was built for another version, or whose
 *     namespace another library has
 */
export function loadLibrary<Library = any>(path: string): Library;

/** The memory usage of a device, in bytes, and the number of this thread's tensors. */
export interface MemoryStats {
  /** The number of tensors that this thread holds, on all devices. */
  tensors: number;
  /** The bytes that live tensors of all threads hold. */
  inUse: number;
  /** The maximum of `inUse` since the last resetPeakMemoryStats(). */
  peakInUse: number;
  /** The freed bytes that are kept for reuse. */
  cached: number;
  /** The value of `inUse` beyond which allocations fail; 0 for no limit. */
  limit: number;
}
/** Returns the memory usage of a device, by default the default device. */
export function memoryStats(device?: DeviceLike): MemoryStats;

/** Returns the operators that ran on the host because their device lacks a kernel, with the number of calls. */
export function fallbacks(): Record<string, number>;

/** An option of the promise variants of methods of classes. */
export interface Cancellable {
  /** Ends the work as soon as it can, when it is aborted. The promise is then rejected with its reason. */
  signal?: AbortSignal;
}

/** Tensors in dictionaries and arrays, nested to any depth up to 64. */
export type TensorTree = Tensor | readonly TensorTree[] | {readonly [key: string]: TensorTree} | Map<string, TensorTree>;

/** The values that a size can have. */
export interface SizeRange {
  /** The smallest one. Default: 1. */
  min?: number;
  /** The largest one. Default: any. */
  max?: number;
  /** How far they are apart. Default: 1. */
  step?: number;
}
/** What passes have done to a graph. */
export type OptimizeReport = graph.Report;
/** What calls compute, read and write. */
export type GraphWork = Pick<OperatorCost, 'operations' | 'bytesRead' | 'bytesWritten'>;

// ------------------------------------------------------------------------------------------------ random numbers, options

/**
 * Returns the value of a setting: 'numThreads', 'deterministic', 'fallbackIsError', or a setting of a device plugin.
 * Boolean settings are 0 or 1.
 * @throws InvalidArgument for an unknown setting
 */
export function getOption(name: string): number;
/**
 * Changes a setting for the whole process; see getOption().
 * @throws InvalidArgument for an unknown setting, or a value outside of its range
 */
export function setOption(name: string, value: number | boolean): void;
/**
 * Returns the number of threads that a kernel of the host may use: that of setNumThreads(), or of the environment variable
 * ONEFLOW_NUM_THREADS, or of the processors that the process may use.
 */
export function getNumThreads(): number;
/**
 * Sets the number of threads that a kernel of the host may use, for the whole process. Results do not depend on it.
 * @throws InvalidArgument unless it is from 1 to 1024
 */
export function setNumThreads(threads: number): void;

/** The ratio of the circumference of a circle to its diameter. */
export const pi: number;
/** The base of the natural logarithm. */
export const e: number;
/** Infinity. */
export const inf: number;
/** Not a number. */
export const nan: number;
/** A new dimension in an index: `x.at(flow.newaxis)`. */
export const newaxis: null;
