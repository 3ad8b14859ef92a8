// What a generated source contains, as the drivers see it: per operator, variant and compute type a few inner loops
// over contiguous memory of that type, described by one of the structs below, and an entry in the table of kernels.
//
// Generated sources are compiled once per instruction set: see isa.h for what that forbids here.
#ifndef ONEFLOW_DEVICES_CPU_EMITTED_H_
#define ONEFLOW_DEVICES_CPU_EMITTED_H_

#include <oneflow/device_plugin.h>

#include "element.h"
#include "host.h"

namespace oneflow::cpu {

constexpr int kMaxInputs = 8;
constexpr int kMaxResults = 4;
constexpr int kMaxStates = 4;

// Loops with functions that are computed approximately, in vectors, run over multiples of this many elements only. What
// is left over at an end would be computed by another piece of code, with other bits; instead it is filled up.
constexpr int64_t kPadding = 64;
static inline int64_t padded(int64_t count) { return (count + kPadding - 1) / kPadding * kPadding; }

// What an inner loop reads an operand as: the compute type, or bool.
struct OperandForm {
  int position;  // among the inputs
  of_dtype dtype;
};

// An elementwise operator, in one compute type. Operands and the result are contiguous.
struct ElementwiseKernel {
  // Returns whether an integer was divided by zero.
  bool (*loop)(const of_value* arguments, const void* const* inputs, void* result, int64_t count);
  int input_count;
  OperandForm inputs[kMaxInputs];
  of_dtype result;
  bool padded;
};

// An elementwise operator whose result is one of its operands, converted.
struct CopyKernel {
  int input;
};

struct IndexRange {
  int64_t first, count;  // logical indices; when the kernel asks for rows, within one row
  int64_t row, column;   // of the first index
  uint64_t seed, offset;
  uint32_t kept_bits;  // of a random word, in an evenly distributed number that the result can hold without rounding
};

struct GeneratorKernel {
  // Returns whether an integer was divided by zero.
  bool (*loop)(const of_value* arguments, IndexRange range, void* result);
  of_dtype result;
  bool uses_rows, padded;
};

// Elements to fold: `steps` rows of `lanes` neighbouring elements each, `stride` elements apart. The element at
// (step, lane) has the position first + step * step_index + lane * lane_index within the folded dimensions.
struct FoldRows {
  const void* input;
  int64_t steps, lanes, stride;
  int64_t first, step_index, lane_index;
  // Other than 1 for fold_lines() only. Of rows that interleave `together` lines, which is then a divisor of
  // kShortLineLanes, each is folded by itself.
  int64_t lane_stride = 1, together = 1;
};

// How many running states a line is folded into, which merge in the end: four of the widest vectors of float32; one for
// lines of fewer elements than kShortLine.
constexpr int64_t kLineLanes = 64, kShortLineLanes = 16;
constexpr int64_t kShortLine = 384;

// Whether part of a vector is loaded by one instruction: a loop then goes over the whole vector, under a condition.
#ifdef __AVX2__
constexpr bool kMasksLoads = true;
#else
constexpr bool kMasksLoads = false;
#endif

// The same function, but one that the compiler does not inline. In a loop around it, it would keep in memory what is in
// registers otherwise: folding lines of 300 elements took 1.6 times as long.
template <class Function>
static inline Function* out_of_line(Function* function) {
  asm("" : "+r"(function));
  return function;
}

// A reduction in one compute type. A state is one array of `lanes` elements per part.
struct ReductionKernel {
  void (*clear)(const of_value* arguments, void* const* state, int64_t lanes);
  void (*fold)(const of_value* arguments, void* const* state, const FoldRows& rows);
  // Sets one lane of the state, from `position` on, to the fold of each line.
  void (*fold_lines)(const of_value* arguments, void* const* state, int64_t position, const FoldRows& rows);
  void (*merge)(const of_value* arguments, void* const* state, const void* const* later, int64_t lanes);
  void (*finish)(const of_value* arguments, const void* const* state, int64_t count, void* const* results,
                 int64_t lanes);
  of_dtype input;
  bool uses_index;  // which rows that interleave lines have not
  int state_count, result_count;
  of_dtype states[kMaxStates], results[kMaxResults];
};

// Rows to scan, one position of the scanned dimension each; results have rows of `lanes` elements without gaps.
struct ScanRows {
  const void* input;
  void* const* results;
  int64_t steps, lanes, stride;
  int64_t first;  // position of the first row
};

struct ScanKernel {
  void (*clear)(const of_value* arguments, void* const* state, int64_t lanes);
  void (*scan)(const of_value* arguments, void* const* state, const ScanRows& rows);
  of_dtype input;
  int state_count, result_count;
  of_dtype states[kMaxStates], results[kMaxResults];
};

// Where the elements along one dimension come from.
struct GatherRow {
  const int64_t* indices;  // what the index tensor holds for these elements; NULL without one
  int64_t first, step;     // coordinates along the dimension: first, first + step, ...
  int64_t count;
  int64_t size;     // of the input's dimension
  int64_t ordinal;  // which of the named dimensions this is
};

struct GatherKernel {
  void (*map)(const of_value* arguments, const GatherRow& row, int64_t* sources);
  int dims_argument;
  int index_input;        // the operand that holds indices; -1 without one
  bool index_everywhere;  // whether it has an index for each element of the result, rather than along the dimension
};

of_status run_kernel(const ElementwiseKernel& kernel, const of_kernel_context& context);
of_status run_kernel(const CopyKernel& kernel, const of_kernel_context& context);
of_status run_kernel(const GeneratorKernel& kernel, const of_kernel_context& context);
of_status run_kernel(const ReductionKernel& kernel, const of_kernel_context& context);
of_status run_kernel(const ScanKernel& kernel, const of_kernel_context& context);
of_status run_kernel(const GatherKernel& kernel, const of_kernel_context& context);

// One row of the table of kernels.
struct KernelEntry {
  const char* name;  // "gelu:tanh"; NULL ends a table
  uint64_t schema_hash;
  of_dtype compute;  // OF_DTYPE_COUNT: any
  of_kernel kernel;
};

// The function that the runtime calls for a kernel.
template <const auto& kernel>
static of_status call(const of_kernel_context* context) {
  try {
    return run_kernel(kernel, *context);
  } catch (...) {
    return fail_without_memory();
  }
}

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

// What scans keep their running values in: each one goes into all that follow, so that errors would pile up.
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

// A number among the arguments; 0 when it was not given. int64 stands for uint64 as well.
template <class T>
static inline T number(const of_value& value) {
  switch (value.kind) {
    case OF_VALUE_FLOAT:
      if constexpr (is_same_type<T, int64_t>) return static_cast<T>(convert<uint64_t>(value.as.real));
      return convert<T>(value.as.real);
    case OF_VALUE_INT:
      return convert<T>(value.as.integer);
    case OF_VALUE_BOOL:
      return convert<T>(value.as.boolean);
    default:
      return T{};
  }
}

static inline bool given(const of_value& value) { return value.kind != OF_VALUE_NONE; }

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_EMITTED_H_
