// The interface between generated kernels and the hand-written drivers that call them.
//
// For each operator, variant and compute type, codegen emits a few inner loops over contiguous memory, one of the
// structs below that describes them, and an entry in a table of kernels. The drivers (elementwise/, fold/, gather/,
// copy/) read any strided layout and dtype, and call the loops on contiguous elements of the compute type. Example:
// `add` in float32 is one ElementwiseKernel with two float32 operands; it also serves float16 tensors, which the driver
// converts chunk by chunk.
//
// Generated sources are compiled once per instruction set: see simd/isa.h for what this header must not contain.
#ifndef ONEFLOW_DEVICES_CPU_PLUGIN_EMITTED_H_
#define ONEFLOW_DEVICES_CPU_PLUGIN_EMITTED_H_

#include <oneflow/device_plugin.h>

#include "plugin/host.h"
#include "simd/element.h"

namespace oneflow::cpu {

constexpr int kMaxInputs = 8;
constexpr int kMaxResults = 4;
constexpr int kMaxStates = 4;

// Loops that call approximate functions (exp, sin, ...) run over multiples of this many elements only. The scalar code
// for the elements after the last whole vector would give other bits than the vector code, so that a result would
// depend on the position of its element. The drivers pad the operands instead.
constexpr int64_t kPadding = 64;
// Returns `count` rounded up to a multiple of kPadding.
static inline int64_t padded(int64_t count) { return (count + kPadding - 1) / kPadding * kPadding; }

// The dtype in which an inner loop reads an operand: the compute type, or bool.
struct OperandForm {
  int position;  // index among the operator's inputs
  of_dtype dtype;
};

// The inner loop of an elementwise operator in one compute type.
struct ElementwiseKernel {
  // Computes `count` contiguous elements of each result from contiguous operands. Returns whether an integer was
  // divided by zero.
  bool (*loop)(const of_value* arguments, const void* const* inputs, void* const* results, int64_t count);
  int input_count;
  OperandForm inputs[kMaxInputs];
  int result_count;
  of_dtype results[kMaxResults];
  bool padded;  // whether the loop requires a multiple of kPadding elements
};

// An elementwise operator whose result is one of its operands, converted to the result's dtype.
struct CopyKernel {
  int input;  // index among the operator's inputs
};

// A range of consecutive elements that a generator computes.
struct IndexRange {
  int64_t first, count;   // linear indices in the result; all in one row if the kernel uses rows
  int64_t row, column;    // of element `first`
  uint64_t seed, offset;  // of the random numbers
  uint32_t kept_bits;     // mask of the random bits that a uniform number of the result's dtype holds exactly
};

// The inner loop of an operator that computes its result from the index of each element, such as `arange` or `rand`.
struct GeneratorKernel {
  // Computes `range.count` contiguous results. Returns whether an integer was divided by zero.
  bool (*loop)(const of_value* arguments, IndexRange range, void* result);
  of_dtype result;
  bool uses_rows;  // whether the loop reads `row` and `column`
  bool padded;     // whether the loop requires a multiple of kPadding elements
};

// Elements to fold: `steps` rows of `columns` elements each. The element in row `step` and column `column` is
// input[step * stride + column * column_stride]. Its position within the folded dimensions, in row-major order, is
// first + step * step_index + column * column_index. Strides count elements.
struct FoldRows {
  const void* input;
  int64_t steps, columns, stride;
  int64_t first, step_index, column_index;
  // Only fold_lines() receives other values than 1. If a row interleaves several lines, as in a0 b0 a1 b1 ...,
  // `interleaved` is their number, a divisor of kShortLineStates, and `columns` counts the elements of all of them.
  // Each line is folded by itself.
  int64_t column_stride = 1, interleaved = 1;
};

// The number of running states that a line is folded into before they merge: four of the widest vectors of elements of
// up to 4 bytes, or one vector of float32 for lines of fewer than kShortLine elements.
template <class T>
constexpr int64_t kLineStates = sizeof(Stored<T>) < 4 ? 256 / sizeof(Stored<T>) : 64;
constexpr int64_t kShortLineStates = 16;
constexpr int64_t kShortLine = 384;

// Whether one instruction loads part of a vector. The loop over the last elements of a line then covers a whole vector
// under a condition, which vectorises.
#ifdef __AVX2__
constexpr bool kMasksLoads = true;
#else
constexpr bool kMasksLoads = false;
#endif

// Returns `function` as a pointer that the compiler cannot see through, so that it does not inline the call. Inlined
// into a loop, the running states would be kept in memory rather than in registers.
template <class Function>
static inline Function* out_of_line(Function* function) {
  asm("" : "+r"(function));
  return function;
}

// The loops that fold elements into a state, in one compute type. A state has one or more parts (a count, a mean and a
// sum of squares for the variance); each part is an array with one running value per column.
struct FoldLoops {
  // Sets `columns` values of each part to the identity of the reduction.
  void (*clear)(const of_value* arguments, void* const* state, int64_t columns);
  // Folds each row into the state, element by element: sum over dim 0 of a [steps, columns] matrix.
  void (*fold)(const of_value* arguments, void* const* state, const FoldRows& rows);
  // Folds each line of each row to one value of the state, from index `position` on: sum over dim 1 of such a matrix.
  void (*fold_lines)(const of_value* arguments, void* const* state, int64_t position, const FoldRows& rows);
  // Merges `columns` values of `later` into those of `state`.
  void (*merge)(const of_value* arguments, void* const* state, const void* const* later, int64_t columns);
  of_dtype input;
  bool uses_index;  // whether the loops read positions; they then accept no interleaved lines
  int state_count;
  of_dtype states[kMaxStates];
};

// A reduction in one compute type. Reductions that differ only in what they compute from the state share their loops.
struct ReductionKernel {
  const FoldLoops& loops;
  // Computes `columns` results from the state; `count` elements were folded into each.
  void (*finish)(const of_value* arguments, const void* const* state, int64_t count, void* const* results,
                 int64_t columns);
  int result_count;
  of_dtype results[kMaxResults];
};

// Rows to scan, one for each position along the scanned dimension. Each row has `columns` contiguous elements; rows of
// the input are `stride` elements apart, rows of the results are contiguous.
struct ScanRows {
  const void* input;
  void* const* results;
  int64_t steps, columns, stride;
  int64_t first;  // position of the first row
};

// The inner loops of a scan (cumsum, cumprod) in one compute type. States are as in FoldLoops.
struct ScanKernel {
  void (*clear)(const of_value* arguments, void* const* state, int64_t columns);
  // Writes the running result of each row and leaves that of the last row in the state.
  void (*scan)(const of_value* arguments, void* const* state, const ScanRows& rows);
  of_dtype input;
  int state_count, result_count;
  of_dtype states[kMaxStates], results[kMaxResults];
};

// Elements of a gather's result along one dimension.
struct GatherRow {
  const int64_t* indices;  // the values of the index tensor for these elements; NULL if the operator has none
  int64_t first, step;     // coordinates in the result: first, first + step, ...
  int64_t count;
  int64_t size;     // of the input's dimension
  int64_t ordinal;  // index of the dimension among those that the operator names
};

// The index map of a gather such as `index_select`.
struct GatherKernel {
  // Computes the coordinate in the input, along the dimension, of each element of `row`. Returns whether all are in
  // range, and no division by zero occurred.
  bool (*map)(const of_value* arguments, const GatherRow& row, int64_t* sources);
  int dims_argument;      // index of the argument that names the dimensions
  int index_input;        // index of the input that holds indices; -1 if there is none
  bool index_everywhere;  // whether it has an index for each element of the result, rather than one per coordinate
};

// The functions that the runtime calls: run the kernel that is the user pointer of `context`, one of the structs above.
template <class Kernel>
of_status run(const of_kernel_context* context);

// Runs a kernel over the operands of `context`, of any layout and dtype, on all threads of the pool.
of_status run_kernel(const ElementwiseKernel& kernel, const of_kernel_context& context);
of_status run_kernel(const CopyKernel& kernel, const of_kernel_context& context);
of_status run_kernel(const GeneratorKernel& kernel, const of_kernel_context& context);
of_status run_kernel(const ReductionKernel& kernel, const of_kernel_context& context);
of_status run_kernel(const ScanKernel& kernel, const of_kernel_context& context);
of_status run_kernel(const GatherKernel& kernel, const of_kernel_context& context);

// An entry of a table of kernels.
struct KernelEntry {
  const char* name;  // of the operator and its variant, "gelu:tanh"; NULL ends a table
  uint64_t kernel_id;
  of_dtype compute;  // OF_DTYPE_NONE: any
  of_kernel run;
  const void* kernel;  // its user pointer
};

// The dtype of a compute type.
template <class T>
constexpr of_dtype dtype_of = OF_INT64;
template <>
inline constexpr of_dtype dtype_of<bool> = OF_BOOL;
template <>
inline constexpr of_dtype dtype_of<int32_t> = OF_INT32;
template <>
inline constexpr of_dtype dtype_of<float> = OF_FLOAT32;
template <>
inline constexpr of_dtype dtype_of<double> = OF_FLOAT64;
template <>
inline constexpr of_dtype dtype_of<complex64> = OF_COMPLEX64;
template <>
inline constexpr of_dtype dtype_of<complex128> = OF_COMPLEX128;

// The type in which scans keep their running values: wider than float, because each value enters all later results and
// rounding errors would accumulate.
template <class T>
struct WideType {
  using Type = T;
};
template <>
struct WideType<float> {
  using Type = double;
};
template <class T>
using Wide = typename WideType<T>::Type;

// Returns a number argument as a T, or 0 if it was not passed. T = int64_t also serves uint64 tensors, so that a float
// argument above the range of int64 is converted by way of uint64.
template <class T>
static inline T number(const of_value& value) {
  switch (value.kind) {
    case OF_VALUE_FLOAT:
      if constexpr (is_same_type<T, int64_t>) return static_cast<T>(convert<uint64_t>(value.as.real));
      return convert<T>(value.as.real);
    case OF_VALUE_INT:
      return convert<T>(value.as.integer);
    case OF_VALUE_UINT:
      return convert<T>(value.as.natural);
    case OF_VALUE_BOOL:
      return convert<T>(value.as.boolean);
    default:
      return T{};
  }
}

// Returns whether an optional argument was passed.
static inline bool given(const of_value& value) { return value.kind != OF_VALUE_NONE; }

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_PLUGIN_EMITTED_H_
