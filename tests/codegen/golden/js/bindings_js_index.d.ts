// generated from opdefs by codegen, do not edit

import type {DType, Integer, Scalar, Tensor} from '../lib/index.js';

export * from '../lib/index.js';

/**
 * Adds two tensors, element by element.
 *
 * @param input Tensor|Number
 * @param other Tensor|Number
 * @param out Tensor of the result's shape, written to and returned
 * @returns Tensor
 */
export function add(input: Tensor | Scalar, other: Tensor | Scalar, options?: {out?: Tensor}): Tensor;
/** Adds two tensors, element by element. Runs on another thread; the arguments count as they are now. */
export function addAsync(input: Tensor | Scalar, other: Tensor | Scalar): Promise<Tensor>;

/**
 * Every second of every second element, twice over.
 *
 * @param input Tensor
 * @returns Tensor
 */
export function doubleSlice(input: Tensor): Tensor;
/** Every second of every second element, twice over. Runs on another thread; the arguments count as they are now. */
export function doubleSliceAsync(input: Tensor): Promise<Tensor>;

/**
 * Every second of every second element, twice over.
 *
 * @param input Tensor
 * @returns Tensor
 */
export function doubled(input: Tensor): Tensor;
/** Every second of every second element, twice over. Runs on another thread; the arguments count as they are now. */
export function doubledAsync(input: Tensor): Promise<Tensor>;

/**
 * Gaussian error linear unit.
 *
 * @param input Tensor
 * @param approximate str; 'none' unless given
 * @param out Tensor of the result's shape, written to and returned
 * @returns Tensor
 */
export function gelu(input: Tensor, options?: {approximate?: string; out?: Tensor}): Tensor;
/** Gaussian error linear unit. Runs on another thread; the arguments count as they are now. */
export function geluAsync(input: Tensor, options?: {approximate?: string}): Promise<Tensor>;

/**
 * The largest element along one dimension, and where it is.
 *
 * Of equal elements the first counts.
 *
 * NaN counts as the largest of all.
 *
 * @param input Tensor
 * @param dim dim
 * @param keepdim bool; false unless given
 * @returns values and indices
 */
export function max(input: Tensor, dim: Integer, keepdim: boolean, options?: {out?: readonly Tensor[]}): [Tensor, Tensor] & {values: Tensor; indices: Tensor};
/**
 * The largest element along one dimension, and where it is.
 *
 * Of equal elements the first counts.
 *
 * NaN counts as the largest of all.
 *
 * @param input Tensor
 * @param dim dim
 * @param keepdim bool; false unless given
 * @returns values and indices
 */
export function max(input: Tensor, dim: Integer, options?: {keepdim?: boolean; out?: readonly Tensor[]}): [Tensor, Tensor] & {values: Tensor; indices: Tensor};
/**
 * The largest element along one dimension, and where it is.
 *
 * Of equal elements the first counts.
 *
 * NaN counts as the largest of all.
 *
 * @param input Tensor
 * @param dim dim
 * @param keepdim bool; false unless given
 * @returns values and indices
 */
export function max(input: Tensor, options: {dim: Integer; keepdim?: boolean; out?: readonly Tensor[]}): [Tensor, Tensor] & {values: Tensor; indices: Tensor};
/**
 * The largest element along one dimension, and where it is. Runs on another thread; the arguments count as they are
 * now.
 */
export function maxAsync(input: Tensor, dim: Integer, keepdim: boolean): Promise<[Tensor, Tensor] & {values: Tensor; indices: Tensor}>;
/**
 * The largest element along one dimension, and where it is. Runs on another thread; the arguments count as they are
 * now.
 */
export function maxAsync(input: Tensor, dim: Integer, options?: {keepdim?: boolean}): Promise<[Tensor, Tensor] & {values: Tensor; indices: Tensor}>;
/**
 * The largest element along one dimension, and where it is. Runs on another thread; the arguments count as they are
 * now.
 */
export function maxAsync(input: Tensor, options: {dim: Integer; keepdim?: boolean}): Promise<[Tensor, Tensor] & {values: Tensor; indices: Tensor}>;

/**
 * The elements from `start` up to `end` along a dimension, in steps. The result is a view.
 *
 * @param input Tensor
 * @param dim dim; 0 unless given
 * @param start int?; null unless given
 * @param end int?; null unless given
 * @param step int; 1 unless given
 * @returns Tensor
 */
export function slice(input: Tensor, dim: Integer, start: Integer | null, end: Integer | null, step: Integer): Tensor;
/**
 * The elements from `start` up to `end` along a dimension, in steps. The result is a view.
 *
 * @param input Tensor
 * @param dim dim; 0 unless given
 * @param start int?; null unless given
 * @param end int?; null unless given
 * @param step int; 1 unless given
 * @returns Tensor
 */
export function slice(input: Tensor, dim: Integer, start: Integer | null, end: Integer | null, options?: {step?: Integer}): Tensor;
/**
 * The elements from `start` up to `end` along a dimension, in steps. The result is a view.
 *
 * @param input Tensor
 * @param dim dim; 0 unless given
 * @param start int?; null unless given
 * @param end int?; null unless given
 * @param step int; 1 unless given
 * @returns Tensor
 */
export function slice(input: Tensor, dim: Integer, start: Integer | null, options?: {end?: Integer | null; step?: Integer}): Tensor;
/**
 * The elements from `start` up to `end` along a dimension, in steps. The result is a view.
 *
 * @param input Tensor
 * @param dim dim; 0 unless given
 * @param start int?; null unless given
 * @param end int?; null unless given
 * @param step int; 1 unless given
 * @returns Tensor
 */
export function slice(input: Tensor, dim: Integer, options?: {start?: Integer | null; end?: Integer | null; step?: Integer}): Tensor;
/**
 * The elements from `start` up to `end` along a dimension, in steps. The result is a view.
 *
 * @param input Tensor
 * @param dim dim; 0 unless given
 * @param start int?; null unless given
 * @param end int?; null unless given
 * @param step int; 1 unless given
 * @returns Tensor
 */
export function slice(input: Tensor, options?: {dim?: Integer; start?: Integer | null; end?: Integer | null; step?: Integer}): Tensor;

/**
 * A tensor of zeros.
 *
 * @param size size[]
 * @param dtype dtype?; null unless given
 * @param device device?; null unless given
 * @param out Tensor of the result's shape, written to and returned
 * @returns Tensor
 */
export function zeros(size: readonly Integer[] | Integer, options?: {dtype?: DType | null; device?: string | null; out?: Tensor}): Tensor;
/**
 * A tensor of zeros.
 *
 * @param size size[]
 * @param dtype dtype?; null unless given
 * @param device device?; null unless given
 * @param out Tensor of the result's shape, written to and returned
 * @returns Tensor
 */
export function zeros(options: {size: readonly Integer[] | Integer; dtype?: DType | null; device?: string | null; out?: Tensor}): Tensor;
/**
 * A tensor of zeros.
 *
 * @param size size[]
 * @param dtype dtype?; null unless given
 * @param device device?; null unless given
 * @param out Tensor of the result's shape, written to and returned
 * @returns Tensor
 */
export function zeros(...size: readonly Integer[]): Tensor;
/** A tensor of zeros. Runs on another thread; the arguments count as they are now. */
export function zerosAsync(size: readonly Integer[] | Integer, options?: {dtype?: DType | null; device?: string | null}): Promise<Tensor>;
/** A tensor of zeros. Runs on another thread; the arguments count as they are now. */
export function zerosAsync(options: {size: readonly Integer[] | Integer; dtype?: DType | null; device?: string | null}): Promise<Tensor>;
/** A tensor of zeros. Runs on another thread; the arguments count as they are now. */
export function zerosAsync(...size: readonly Integer[]): Promise<Tensor>;

declare module '../lib/index.js' {
  interface Tensor {
    /**
     * Adds two tensors, element by element.
     *
     * @param other Tensor|Number
     * @param out Tensor of the result's shape, written to and returned
     * @returns Tensor
     */
    add(other: Tensor | Scalar, options?: {out?: Tensor}): Tensor;
    /** Adds two tensors, element by element. Runs on another thread; the arguments count as they are now. */
    addAsync(other: Tensor | Scalar): Promise<Tensor>;
    /** Adds two tensors, element by element. The result takes the place of this tensor's elements. */
    add_(other: Tensor | Scalar): this;

    /**
     * Every second of every second element, twice over.
     *
     * @returns Tensor
     */
    doubleSlice(): Tensor;
    /** Every second of every second element, twice over. Runs on another thread; the arguments count as they are now. */
    doubleSliceAsync(): Promise<Tensor>;

    /**
     * Every second of every second element, twice over.
     *
     * @returns Tensor
     */
    doubled(): Tensor;
    /** Every second of every second element, twice over. Runs on another thread; the arguments count as they are now. */
    doubledAsync(): Promise<Tensor>;

    /**
     * Gaussian error linear unit.
     *
     * @param approximate str; 'none' unless given
     * @param out Tensor of the result's shape, written to and returned
     * @returns Tensor
     */
    gelu(options?: {approximate?: string; out?: Tensor}): Tensor;
    /** Gaussian error linear unit. Runs on another thread; the arguments count as they are now. */
    geluAsync(options?: {approximate?: string}): Promise<Tensor>;
    /** Gaussian error linear unit. The result takes the place of this tensor's elements. */
    gelu_(options?: {approximate?: string}): this;

    /**
     * The largest element along one dimension, and where it is.
     *
     * Of equal elements the first counts.
     *
     * NaN counts as the largest of all.
     *
     * @param dim dim
     * @param keepdim bool; false unless given
     * @returns values and indices
     */
    max(dim: Integer, keepdim: boolean, options?: {out?: readonly Tensor[]}): [Tensor, Tensor] & {values: Tensor; indices: Tensor};
    /**
     * The largest element along one dimension, and where it is.
     *
     * Of equal elements the first counts.
     *
     * NaN counts as the largest of all.
     *
     * @param dim dim
     * @param keepdim bool; false unless given
     * @returns values and indices
     */
    max(dim: Integer, options?: {keepdim?: boolean; out?: readonly Tensor[]}): [Tensor, Tensor] & {values: Tensor; indices: Tensor};
    /**
     * The largest element along one dimension, and where it is.
     *
     * Of equal elements the first counts.
     *
     * NaN counts as the largest of all.
     *
     * @param dim dim
     * @param keepdim bool; false unless given
     * @returns values and indices
     */
    max(options: {dim: Integer; keepdim?: boolean; out?: readonly Tensor[]}): [Tensor, Tensor] & {values: Tensor; indices: Tensor};
    /**
     * The largest element along one dimension, and where it is. Runs on another thread; the arguments count as they are
     * now.
     */
    maxAsync(dim: Integer, keepdim: boolean): Promise<[Tensor, Tensor] & {values: Tensor; indices: Tensor}>;
    /**
     * The largest element along one dimension, and where it is. Runs on another thread; the arguments count as they are
     * now.
     */
    maxAsync(dim: Integer, options?: {keepdim?: boolean}): Promise<[Tensor, Tensor] & {values: Tensor; indices: Tensor}>;
    /**
     * The largest element along one dimension, and where it is. Runs on another thread; the arguments count as they are
     * now.
     */
    maxAsync(options: {dim: Integer; keepdim?: boolean}): Promise<[Tensor, Tensor] & {values: Tensor; indices: Tensor}>;

    /**
     * The elements from `start` up to `end` along a dimension, in steps. The result is a view.
     *
     * @param dim dim; 0 unless given
     * @param start int?; null unless given
     * @param end int?; null unless given
     * @param step int; 1 unless given
     * @returns Tensor
     */
    slice(dim: Integer, start: Integer | null, end: Integer | null, step: Integer): Tensor;
    /**
     * The elements from `start` up to `end` along a dimension, in steps. The result is a view.
     *
     * @param dim dim; 0 unless given
     * @param start int?; null unless given
     * @param end int?; null unless given
     * @param step int; 1 unless given
     * @returns Tensor
     */
    slice(dim: Integer, start: Integer | null, end: Integer | null, options?: {step?: Integer}): Tensor;
    /**
     * The elements from `start` up to `end` along a dimension, in steps. The result is a view.
     *
     * @param dim dim; 0 unless given
     * @param start int?; null unless given
     * @param end int?; null unless given
     * @param step int; 1 unless given
     * @returns Tensor
     */
    slice(dim: Integer, start: Integer | null, options?: {end?: Integer | null; step?: Integer}): Tensor;
    /**
     * The elements from `start` up to `end` along a dimension, in steps. The result is a view.
     *
     * @param dim dim; 0 unless given
     * @param start int?; null unless given
     * @param end int?; null unless given
     * @param step int; 1 unless given
     * @returns Tensor
     */
    slice(dim: Integer, options?: {start?: Integer | null; end?: Integer | null; step?: Integer}): Tensor;
    /**
     * The elements from `start` up to `end` along a dimension, in steps. The result is a view.
     *
     * @param dim dim; 0 unless given
     * @param start int?; null unless given
     * @param end int?; null unless given
     * @param step int; 1 unless given
     * @returns Tensor
     */
    slice(options?: {dim?: Integer; start?: Integer | null; end?: Integer | null; step?: Integer}): Tensor;
  }
}
