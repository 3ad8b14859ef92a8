// The entries of the generated tables of kernels, which the drivers read. For each operator (and each value of the
// attribute that its record matches on) there is a description that all compute types share, and for each compute type
// a set of kernels.
//
// Kernels are named <operator>_flat, <operator>_strided and the like. Each backend defines macros that give the
// Variants of a kernel by its name:
//   OF_KERNEL_HANDLE(T, S, name)  one kernel, for storage S
//   OF_KERNELS(T, name)           kernels for operands stored as T itself, and for any storage
//   OF_FLAT_KERNELS(T, name)      kernels for the storages whose compute type is T
//   OF_CAST_KERNELS(T, name)      the same, and one for operands whose dtypes differ
//   OF_FOLD_KERNELS(W, T, name)   kernels that compute in W, for the storages of OF_FLAT_KERNELS and for any storage
//   OF_STATE_KERNELS(T, name)     kernels that read states in place of operands
#ifndef ONEFLOW_DEVICES_GRID_ENTRIES_H_
#define ONEFLOW_DEVICES_GRID_ENTRIES_H_

#include <span>

#include "driver.h"

namespace oneflow::grid {

// The type of an operand, a setting or a result: the compute type, or a fixed one.
enum class Form : uint8_t { kCompute, kBool, kInt64 };

// Returns the dtype of a form, given the storage of operands of the compute type.
constexpr of_dtype dtype_of(Form form, of_dtype storage) {
  return form == Form::kBool ? OF_BOOL : form == Form::kInt64 ? OF_INT64 : storage;
}

struct Operand {
  int position;  // among the inputs
  Form form;
};

// A kernel parameter that holds an argument of the call, or whether it was given.
struct Setting {
  int position;  // among the arguments
  Form form;
  bool given;  // whether it holds the flag that the argument was given, in place of its value
};

struct Elementwise {
  std::span<const Operand> operands;
  std::span<const Setting> settings;
  std::span<const Form> results;
  bool fails;  // whether an integer may be divided by zero
};
struct ElementwiseKernels {
  of_dtype compute;
  Variants flat, strided;
};

struct Generator {
  std::span<const Setting> settings;
  bool fails;
  bool uses_rows, is_random;
};
struct GeneratorKernels {
  of_dtype compute;
  Variants kernels;
};

// result[..., i, ...] = input[..., source(i), ...] along the dimensions that an argument names.
struct Gather {
  std::span<const Setting> settings;  // of int64 and bool
  std::span<const int> lists;         // the list arguments with an item for each named dimension
  int dims_argument;
  int index_input;        // the position of the operand that holds indices, or -1
  bool index_everywhere;  // whether it has an index for each element of the result; otherwise it has one dimension
};
struct GatherKernels {
  Variants kernels;
};

struct Reduction {
  std::span<const Setting> settings;
  std::span<const Form> parts;  // the types of the parts of a state
  int results;
};
struct ReductionKernels {
  of_dtype compute;
  Variants lines;  // for lanes that are consecutive elements of one result
  Variants rows;   // for lanes that are consecutive results
  Variants merge;
};

// The type in which scans keep their running values where the device supports it. Each value enters all that follow, so
// that rounding errors would accumulate.
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

struct Scan {
  std::span<const Setting> settings;
  std::span<const Form> parts;  // the types of the parts of a state
  int results;
};
struct ScanKernels {
  struct Kernels {
    Variants lines;  // for lanes that are consecutive elements of one line
    Variants rows;   // for lanes that are elements of consecutive lines
  };
  of_dtype compute, wide_compute;
  Kernels wide, narrow;
};

// Run a call by the kernels of its entry.
of_status run(const Elementwise& entry, const ElementwiseKernels& kernels, const of_kernel_context& context);
of_status run(const Gather& entry, const GatherKernels& kernels, const of_kernel_context& context);
of_status run(const Generator& entry, const GeneratorKernels& kernels, const of_kernel_context& context);
of_status run(const Reduction& entry, const ReductionKernels& kernels, const of_kernel_context& context);
of_status run(const Scan& entry, const ScanKernels& kernels, const of_kernel_context& context);
// Runs an operator whose result is the operand at position `input`, converted to the dtype of the result.
of_status run_copy(int input, const of_kernel_context& context);

// The values of the settings of a call. Arguments refer to them.
class Settings {
 public:
  Settings(std::span<const Setting> settings, of_dtype compute, const of_value* values);
  void add_to(Arguments& arguments) const;

 private:
  static constexpr size_t kMost = 16;
  struct Value {
    alignas(8) unsigned char bytes[8];
    uint32_t size;
  };
  Value values_[kMost];
  size_t count_;
};

// Writes a number as a value of a compute type; returns its size in bytes.
uint32_t put_number(const of_scalar& number, of_dtype type, void* bytes);

// One row of the table of kernels.
struct Row {
  const char* name;  // "gelu:tanh"; NULL ends a table
  uint64_t kernel_id;
  of_dtype compute;  // kAny: every compute type
  of_kernel kernel;
};

// The kernel that a row gives to the runtime: runs an entry.
template <const auto& entry, const auto& kernels>
of_status call(const of_kernel_context* context) {
  return run(entry, kernels, *context);
}
template <int input>
of_status call_copy(const of_kernel_context* context) {
  return run_copy(input, *context);
}

}  // namespace oneflow::grid

#endif  // ONEFLOW_DEVICES_GRID_ENTRIES_H_
