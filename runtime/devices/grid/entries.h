// What the generated tables say of kernels, for the drivers: per operator (and value of the attribute that its record
// matches on) what is the same for all compute types, and per compute type the kernels.
//
// A source of kernels has the names <operator>_flat, <operator>_strided and the like. Each backend defines what gives
// the Variants of one of them: OF_FLAT_KERNELS(T, name), OF_CAST_KERNELS(T, name), which are those and one for dtypes
// that differ, OF_KERNELS(T, name), OF_KERNEL_HANDLE(T, S, name), which is one kernel, OF_FOLD_KERNELS(W, T, name),
// which compute in W what is stored as operands of T are, or in any way, and OF_STATE_KERNELS(T, name), which read no
// operands.
#ifndef ONEFLOW_DEVICES_GRID_ENTRIES_H_
#define ONEFLOW_DEVICES_GRID_ENTRIES_H_

#include <span>

#include "driver.h"

namespace oneflow::grid {

// The type of an operand, a setting or a result: the compute type, or a fixed one.
enum class Form : uint8_t { kCompute, kBool, kInt64 };

// The dtype of a form where operands of the compute type are stored as `storage`.
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
  bool given;
};

struct Elementwise {
  std::span<const Operand> operands;
  std::span<const Setting> settings;
  Form result;
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
  std::span<const int> lists;         // the arguments that have a member for each named dimension
  int dims_argument;
  int index_input;        // the operand that holds indices; -1 without one
  bool index_everywhere;  // whether it has an index for each element of the result, rather than along the dimension
};
struct GatherKernels {
  Variants kernels;
};

struct Reduction {
  std::span<const Setting> settings;
  std::span<const Form> parts;  // of the state
  int results;
};
struct ReductionKernels {
  of_dtype compute;
  Variants lines, rows;  // lanes that are neighbouring elements of one result, or of neighbouring results
  Variants merge;
};

// What scans keep their running values in, where the device can: each one goes into all that follow, so that errors
// would pile up.
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
  std::span<const Form> parts;  // of the state
  int results;
};
struct ScanKernels {
  struct Kernels {
    Variants lines, rows;  // lanes that are neighbours on a line, or on several lines
  };
  of_dtype compute, wide_compute;
  Kernels wide, narrow;
};

of_status run(const Elementwise& entry, const ElementwiseKernels& kernels, const of_kernel_context& context);
of_status run(const Gather& entry, const GatherKernels& kernels, const of_kernel_context& context);
of_status run(const Generator& entry, const GeneratorKernels& kernels, const of_kernel_context& context);
of_status run(const Reduction& entry, const ReductionKernels& kernels, const of_kernel_context& context);
of_status run(const Scan& entry, const ScanKernels& kernels, const of_kernel_context& context);
// An operator whose result is one of its operands, converted.
of_status run_copy(int input, const of_kernel_context& context);

// The values of settings, kept while a launch refers to them.
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

// Writes a number as a value of a compute type; returns its bytes.
uint32_t put_number(const of_scalar& number, of_dtype type, void* bytes);

// One row of the table of kernels.
struct Row {
  const char* name;  // "gelu:tanh"; NULL ends a table
  uint64_t schema_hash;
  of_dtype compute;  // kAny: every one
  of_kernel kernel;
};

// The function that the runtime calls for a kernel.
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
