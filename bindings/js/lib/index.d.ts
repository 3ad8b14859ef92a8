/// <reference lib="esnext.disposable" />

/** The hand-written part of oneflow-js. The operators are declared in generated/index.d.ts. */

/** Name of an element type. */
export type DType =
  | 'bool' | 'uint8' | 'int8' | 'int16' | 'int32' | 'int64' | 'uint16' | 'uint32' | 'uint64'
  | 'float16' | 'bfloat16' | 'float32' | 'float64' | 'complex64' | 'complex128';

/** A number where an integer is meant; a BigInt says it exactly beyond 2^53. */
export type Integer = number | bigint;

/** A number that takes part in an operator. An integral `number` counts as an integer; see `float()`. */
export type Scalar = number | bigint | boolean | Float;

/** A complex number, as an element of a tensor: its real part and its imaginary one. */
export interface Complex {
  /** The real part. */
  re: number;
  /** The imaginary part. */
  im: number;
}

/** Nested arrays of numbers. */
export type Nested = Scalar | Complex | readonly Nested[];

/** Arrays that tensors are made of and read into. */
export type TypedArray =
  | Int8Array | Uint8Array | Uint8ClampedArray | Int16Array | Uint16Array | Int32Array | Uint32Array | BigInt64Array
  | BigUint64Array | Float32Array | Float64Array;

/** A device, or its name; `index` 0 may be left out of one. */
export type DeviceLike = string | Device;

/** Integers: one, or an array of them. */
export type Integers = Integer | readonly Integer[] | TypedArray;

/** One part of an index: an integer, `null` for a new dimension, positions, a mask, or text: `'1:3, ..., None'`. */
export type Index = Integer | boolean | null | string | Tensor | readonly unknown[] | TypedArray;

/** Labels of an operand's dimensions; `'...'` stands for any number of further ones. */
export type Labels = readonly (Integer | '...')[] | TypedArray;

/** How tensor() reads its data. */
export interface TensorOptions {
  /** The element type; that of the data unless given. */
  dtype?: DType | null;
  /** Where the tensor is to be; the default device unless given. */
  device?: DeviceLike | null;
  /** The sizes, where the data is a typed array. */
  shape?: readonly number[] | null;
  /** The steps between elements, in elements; row by row unless given. For typed arrays. */
  strides?: readonly number[] | null;
  /** Where the first element is. For typed arrays. */
  offset?: number | null;
  /** Use the memory itself, which must be a SharedArrayBuffer; both sides then see each other's writes. */
  share?: boolean | null;
  /** Take the memory over without a copy; the caller's buffer is detached. */
  transfer?: boolean | null;
}

/** A tensor: numbers of one type in any number of dimensions. Made by tensor() and by operators. */
export class Tensor implements Iterable<Tensor> {
  private constructor();
  /** Which tensor of its thread this is. So no two are taken for one by `assert.deepEqual()`; compare with equal(). */
  readonly id: number;
  /** The sizes of the dimensions. */
  readonly shape: number[];
  /** The steps, in elements, from one index to the next of each dimension. */
  readonly strides: number[];
  /** The element type. */
  readonly dtype: DType;
  /** The number of dimensions. */
  readonly ndim: number;
  /** The number of elements. */
  readonly size: number;
  /** Where the elements are: 'cpu:0' and so on. */
  readonly device: string;
  /** How often the memory was written to; views share it. */
  readonly version: number;
  /** Whether the elements lie row by row without gaps. */
  readonly isContiguous: boolean;
  /** Whether the tensor shares the memory of another one that it was made from. */
  readonly isView: boolean;
  /** Whether the memory is page-locked memory of the host, as pinMemory gives it. */
  readonly isPinned: boolean;
  /** Whether dispose() was called, or the tidy() that the tensor belonged to has ended. */
  readonly isDisposed: boolean;

  /** Gives the memory back now. Views of it stay valid. Doing it twice is allowed. */
  dispose(): void;
  /** The same as dispose(), for `using`. */
  [Symbol.dispose](): void;

  /**
   * What an index picks: `x.at('1:3, ..., None')`, `x.at(0, -1)`, `x.at([1, 3], null)`, `x.at(mask)`. A view where all
   * parts are integers, slices, `...` and null; a copy where positions or masks are among them.
   * @throws IndexOutOfRange where there is no such element
   */
  at(...indices: Index[]): Tensor;
  /**
   * Writes to what `at(...indices)` picks: `x.set('0, :', 5)`. The value is the last argument and broadcasts.
   * @returns this tensor
   */
  set(...indicesAndValue: [...Index[], Tensor | Nested | TypedArray]): this;

  /**
   * The elements as nested arrays; for a tensor without dimensions the value itself. Complex ones are `{re, im}`.
   * @throws InvalidArgument for an integer that a number cannot hold, unless `bigint` is true
   */
  toArray(options?: {bigint?: boolean | null}): any;
  /**
   * The elements, row by row, in a typed array of their own; half-precision ones as float32, complex ones as pairs: the
   * real part and the imaginary one.
   */
  dataSync(): TypedArray;
  /** The same, read on another thread; later writes do not show. */
  data(): Promise<TypedArray>;
  /**
   * The value of a tensor with one element; `{re, im}` of a complex one.
   * @throws InvalidArgument for an integer that a number cannot hold, unless `bigint` is true
   */
  item(options?: {bigint?: boolean | null}): any;

  /** Whether the other tensor has the same shape, type and elements (NaN differs from itself). */
  equal(other: Tensor): boolean;
  /** `tensor([[1., 2.]])`, shortened where there are many elements; see setPrintOptions(). */
  toString(): string;
  /** The same as toArray(): JSON.stringify(x) gives nested arrays. */
  toJSON(): any;
  /** `Number(x)` and `x < 3` take the value of the only element, which must be real; text is that of toString(). */
  [Symbol.toPrimitive](hint: string): number | string;
  /** The slices along the first dimension. */
  [Symbol.iterator](): IterableIterator<Tensor>;
}

/** A number that counts as floating-point even where its value is integral. Made by float(). */
export interface Float {
  valueOf(): number;
  toString(): string;
}

/**
 * A tensor from data: nested arrays of numbers (float32), BigInts (int64), booleans or complex numbers, `{re, im}`
 * (complex64), a typed array, or another tensor, whose values it copies. `dtype` converts. A typed array for a complex
 * dtype has pairs: the real part and the imaginary one of each element.
 * @throws ShapeError for arrays that are not rectangular, or a shape that does not fit
 * @throws TypeMismatch for data of other types
 * @throws DTypeError for complex numbers where the dtype is a real one
 * @throws InvalidArgument for numbers that the dtype cannot hold, and for detached typed arrays
 */
export function tensor(data: Nested | TypedArray | Tensor, options?: TensorOptions): Tensor;
/** A number that counts as floating-point even where its value is integral: `x.mul(float(2))` of an int64 x is float32. */
export function float(value: number | bigint): Float;
/** Whether a value is a tensor. */
export function isTensor(value: unknown): value is Tensor;

/**
 * Runs a function and disposes of the tensors that were made during it, except for those in what it returns and those
 * given to keep(). Inside, tensors cost less than ones that wait for the garbage collector.
 * @throws InvalidArgument where the function returns a promise
 */
export function tidy<T>(fn: () => T): T;
/** Takes a tensor out of the tidy() that it was made in; it then lives as long as it is referred to. */
export function keep<T extends Tensor>(tensor: T): T;

// ------------------------------------------------------------------------------------------------ einsum

/** An operand of which only the shape counts: a tensor, or the shape itself. */
export type Shaped = Tensor | readonly Integer[] | TypedArray;

/** How einsum's products are to be put in order. */
export interface EinsumOptions {
  /**
   * `'auto'`, the default, `'optimal'`, `'greedy'`, or `'none'`: from left to right; true is 'auto', false is 'none'. Or
   * the order itself: pairs of positions among what is left; each product is put at the end.
   */
  optimize?: string | boolean | readonly (readonly [Integer, Integer])[] | null;
  /** How many elements an intermediate should have at most. */
  memoryLimit?: Integer | null;
}

/** The order in which operands are multiplied, and what that costs. */
export interface EinsumPath {
  /** Which operands are multiplied: pairs of positions among what is left; each product is put at the end. */
  readonly path: readonly (readonly [number, number])[];
  /** Multiplications and additions. */
  readonly flops: number;
  /** Those of one sum over the products of all operands. */
  readonly naiveFlops: number;
  /** Elements of the largest tensor that is made, the result included. */
  readonly largestIntermediate: number;
  /** A table of the products to read. */
  readonly report: string;
}

/**
 * An einsum equation that was worked out for operands of given shapes: a function of such operands. Made by
 * einsumExpression().
 * @throws ShapeError for operands of other shapes
 */
export interface EinsumExpression extends EinsumPath {
  /** The result for these operands. */
  (...operands: readonly Tensor[]): Tensor;
  (options: {out?: Tensor | null}, ...operands: readonly Tensor[]): Tensor;
  (...operandsAndOptions: [...readonly Tensor[], {out?: Tensor | null}]): Tensor;
  (operands: readonly Tensor[], options?: {out?: Tensor | null}): Tensor;
  (options: {operands: readonly Tensor[]; out?: Tensor | null}): Tensor;
  /** The same on another thread; the operands count as they are now. */
  async(...operands: readonly Tensor[]): Promise<Tensor>;
  async(operands: readonly Tensor[] | {operands: readonly Tensor[]}): Promise<Tensor>;
  /** The equation, as it was given. */
  readonly equation: string;
  /** The shape of each operand. */
  readonly shapes: readonly (readonly number[])[];
  /** The shape of the result. */
  readonly shape: readonly number[];
  /** Whether dispose() was called. */
  readonly isDisposed: boolean;
  /** Gives its memory back now; it cannot be called any more. Doing it twice is allowed. */
  dispose(): void;
  /** The same as dispose(), for `using`. */
  [Symbol.dispose](): void;
  /** `einsumExpression('ij,jk->ik', [ 2, 3 ], [ 3, 4 ])` */
  toString(): string;
}

/**
 * The order in which einsum() multiplies operands, and what that costs:
 * `einsumPath('ij,jk,kl->il', [2, 100], [100, 3], [3, 50]).path` is `[[0, 1], [0, 1]]`. Tensors may come with their labels
 * in place of an equation, as those of einsum().
 */
export function einsumPath(equation: string, ...operands: readonly Shaped[]): EinsumPath;
export function einsumPath(equation: string, options: EinsumOptions, ...operands: readonly Shaped[]): EinsumPath;
export function einsumPath(equation: string, ...operandsAndOptions: [...readonly Shaped[], EinsumOptions]): EinsumPath;
export function einsumPath(equation: string, operands: readonly Shaped[], options?: EinsumOptions): EinsumPath;
export function einsumPath(equation: string, options: EinsumOptions & {operands: readonly Shaped[]}): EinsumPath;
export function einsumPath(options: EinsumOptions & {equation: string; operands: readonly Shaped[]}): EinsumPath;
export function einsumPath(...labelled: [Tensor, Labels, ...(Tensor | Labels)[]]): EinsumPath;
export function einsumPath(
  ...labelledAndOptions: [Tensor, Labels, ...(Tensor | Labels)[], EinsumOptions]
): EinsumPath;

/**
 * An einsum equation worked out for operands of these shapes, or of the shapes of these tensors, to be called with
 * operands: `const product = einsumExpression('ij,jk->ik', [2, 3], [3, 4])`, then `product(a, b)`.
 */
export function einsumExpression(equation: string, ...operands: readonly Shaped[]): EinsumExpression;
export function einsumExpression(
  equation: string, options: EinsumOptions, ...operands: readonly Shaped[]
): EinsumExpression;
export function einsumExpression(
  equation: string, ...operandsAndOptions: [...readonly Shaped[], EinsumOptions]
): EinsumExpression;
export function einsumExpression(
  equation: string, operands: readonly Shaped[], options?: EinsumOptions
): EinsumExpression;
export function einsumExpression(
  equation: string, options: EinsumOptions & {operands: readonly Shaped[]}
): EinsumExpression;
export function einsumExpression(
  options: EinsumOptions & {equation: string; operands: readonly Shaped[]}
): EinsumExpression;
export function einsumExpression(...labelled: [Tensor, Labels, ...(Tensor | Labels)[]]): EinsumExpression;
export function einsumExpression(
  ...labelledAndOptions: [Tensor, Labels, ...(Tensor | Labels)[], EinsumOptions]
): EinsumExpression;

// ------------------------------------------------------------------------------------------------ printing

/** How tensors are printed. */
export interface PrintOptions {
  /** Digits behind the point. */
  precision: number;
  /** Number of elements above which the text is shortened. */
  threshold: number;
  /** Elements shown at each end of a shortened dimension. */
  edgeItems: number;
  /** Columns of a line. */
  lineWidth: number;
}
/** Changes how tensors are printed; returns the options in force. */
export function setPrintOptions(changes?: Partial<Record<keyof PrintOptions, number | null>>): PrintOptions;

// ------------------------------------------------------------------------------------------------ errors

/** What every error of oneflow is an `instanceof`; `code` is the name of its class. */
export class OneFlowError extends Error {
  readonly code: string;
}
/** A value outside of what an argument allows. */
export class InvalidArgument extends RangeError {
  readonly code: 'InvalidArgument';
}
/** An argument of the wrong type, missing, or unknown. */
export class TypeMismatch extends TypeError {
  readonly code: 'TypeMismatch';
}
/** Shapes that do not fit each other or the operator. */
export class ShapeError extends RangeError {
  readonly code: 'ShapeError';
}
/** An element type that the operator does not take. */
export class DTypeError extends TypeError {
  readonly code: 'DTypeError';
}
/** A dimension or an element that does not exist. */
export class IndexOutOfRange extends RangeError {
  readonly code: 'IndexOutOfRange';
}
/** A device that is missing, mixed up or dead. */
export class DeviceError extends Error {
  readonly code: 'DeviceError';
}
/** No memory, also after a garbage collection. */
export class OutOfMemory extends RangeError {
  readonly code: 'OutOfMemory';
}
/** A valid request that nothing here implements. */
export class Unsupported extends Error {
  readonly code: 'Unsupported';
}
/** Processes that could not talk to each other. */
export class CommunicationError extends Error {
  readonly code: 'CommunicationError';
}
/** A mistake of oneflow's. */
export class InternalError extends Error {
  readonly code: 'InternalError';
}

// ------------------------------------------------------------------------------------------------ element types

/** True or false, one byte. */
export const bool: 'bool';
/** Whole numbers from 0 to 255. */
export const uint8: 'uint8';
/** Whole numbers of 8 bits. */
export const int8: 'int8';
/** Whole numbers of 16 bits. */
export const int16: 'int16';
/** Whole numbers of 32 bits. */
export const int32: 'int32';
/** Whole numbers of 64 bits. */
export const int64: 'int64';
/** Whole numbers from 0 to 2^16 - 1; to store and convert. */
export const uint16: 'uint16';
/** Whole numbers from 0 to 2^32 - 1; to store and convert. */
export const uint32: 'uint32';
/** Whole numbers from 0 to 2^64 - 1; to store and convert. */
export const uint64: 'uint64';
/** Half precision, 11 significant bits. */
export const float16: 'float16';
/** Half precision with the range of float32, 8 significant bits. */
export const bfloat16: 'bfloat16';
/** Single precision, the default. */
export const float32: 'float32';
/** Double precision, that of JavaScript's numbers. */
export const float64: 'float64';
/** Complex numbers of two float32. */
export const complex64: 'complex64';
/** Complex numbers of two float64. */
export const complex128: 'complex128';

/** The type of new floating-point tensors. */
export function getDefaultDtype(): DType;
/** Changes the type of new floating-point tensors, for the whole process. */
export function setDefaultDtype(dtype: DType): void;
/** The type of a result of two operands of these types. */
export function promoteTypes(a: DType, b: DType): DType;

// ------------------------------------------------------------------------------------------------ devices and memory

/** The version of the library. */
export const version: string;

/** A device, and what is known of it at the moment. It is taken wherever its name is. */
export class Device {
  /** From a name, of a kind of device or in full, or from another device. */
  constructor(name: DeviceLike);
  /** The full name: kind, colon and index. */
  readonly name: string;
  /** The kind of device: the name before its colon. */
  get type(): string;
  /** Which of the devices of this kind, from 0. */
  get index(): number;
  /** What its maker calls it. */
  get hardware(): string;
  /** Bytes of memory; 0 where unknown. */
  get totalMemory(): number;
  /** Bytes that nobody uses at the moment; 0 where unknown. */
  get freeMemory(): number;
  /** Cores, multiprocessors and the like; 0 where unknown. */
  get computeUnits(): number;
  /**
   * What the device can do itself, as words: kernels, contractions, asynchronous (work goes on after the call),
   * peerCopies, pinnedMemory, hostAccessible.
   */
  get capabilities(): string[];
  /** The full name. */
  toString(): string;
  /** The full name. */
  toJSON(): string;
}
/**
 * A device by its name.
 * @throws DeviceError where there is none; the text lists those that there are
 */
export function device(name: DeviceLike): Device;
/** All devices that there are. */
export function devices(): Device[];
/** Device plugins that were found and give no devices, by path, with the reason. */
export function rejectedPlugins(): Record<string, string>;
/** The name of the device of tensors that are made without one. */
export function getDefaultDevice(): string;
/** The device of tensors that are made without one, for the whole process. */
export function setDefaultDevice(device: DeviceLike): void;
/**
 * Loads a device plugin from a shared library; its devices join devices().
 * @throws DeviceError where it is none
 */
export function loadDevice(path: string): void;
/** Waits until all work of a device is done, and throws the first error of that work. */
export function synchronize(device?: DeviceLike): void;
/** The same on another thread. */
export function synchronizeAsync(device?: DeviceLike): Promise<void>;

/** Memory of a device, in bytes, and the number of this thread's tensors. */
export interface MemoryStats {
  /** Tensors that this thread holds, on all devices. */
  tensors: number;
  /** Bytes held by live tensors of all threads. */
  inUse: number;
  /** The most there was in use since resetPeakMemoryStats(). */
  peakInUse: number;
  /** Bytes kept for reuse. */
  cached: number;
  /** Bytes beyond which allocation fails; 0 for none. */
  limit: number;
}
/** How much memory is in use on a device, the default one unless named. */
export function memoryStats(device?: DeviceLike): MemoryStats;
/** Starts anew to look for the peak. */
export function resetPeakMemoryStats(device?: DeviceLike): void;
/** Gives memory that is kept for reuse back to the system. */
export function emptyCache(device?: DeviceLike): void;
/** Refuses allocations beyond this many bytes in use; 0 takes the limit away. */
export function setMemoryLimit(bytes: number, device?: DeviceLike): void;

/** Operators that ran on the host because their device lacks them, with how often. */
export function fallbacks(): Record<string, number>;
/** Forgets what fallbacks() lists. */
export function resetFallbacks(): void;

// ------------------------------------------------------------------------------------------------ random numbers, options

/** Starts the sequence of random numbers anew. The same seed gives the same numbers in every language. */
export function manualSeed(seed: Integer): void;
/** The seed that the sequence began with. */
export function initialSeed(): bigint;
/** Where the sequence of random numbers is: its seed, and how many were drawn. */
export function getRandomState(): {seed: bigint; offset: bigint};
/** Goes back to a state that getRandomState() gave. */
export function setRandomState(state: {seed: Integer; offset: Integer}): void;

/** The value of a setting: 'numThreads', 'deterministic', 'fallbackIsError', or one of a device plugin's own. */
export function getOption(name: string): number;
/** Changes a setting for the whole process. */
export function setOption(name: string, value: number | boolean): void;
