// generated from opdefs/arithmetic.yaml by codegen, do not edit
//
// add: Adds two tensors, element by element.
#include "../../emitted.h"
#include "../../maths.h"

namespace oneflow::cpu::OF_ISA {
namespace {

// input or other if bool_type(input) else input + other
template <class T>
struct add_kernel {
  static bool loop(const of_value*, const void* const* inputs, void* results, int64_t count) {
    const auto* input_values = static_cast<const T*>(inputs[0]);
    const auto* other_values = static_cast<const T*>(inputs[1]);
    auto* result = static_cast<T*>(results);
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) {
      const T input = input_values[i];
      const T other = other_values[i];
      result[i] = static_cast<T>(is_same_type<T, bool> ? input || other : input + other);
    }
    return false;
  }
  static constexpr ElementwiseKernel kernel = {
      loop,
      2,
      {{0, dtype_of<T>}, {1, dtype_of<T>}},
      dtype_of<T>,
      false};
};

}  // namespace

extern const KernelEntry add_kernels[] = {
    {"add", 0xfb31519d84a897d8, OF_FLOAT32, call<add_kernel<float>::kernel>},
    {"add", 0xfb31519d84a897d8, OF_FLOAT64, call<add_kernel<double>::kernel>},
    {"add", 0xfb31519d84a897d8, OF_INT32, call<add_kernel<int32_t>::kernel>},
    {"add", 0xfb31519d84a897d8, OF_INT64, call<add_kernel<int64_t>::kernel>},
    {"add", 0xfb31519d84a897d8, OF_BOOL, call<add_kernel<bool>::kernel>},
    {}};

}  // namespace oneflow::cpu::OF_ISA
