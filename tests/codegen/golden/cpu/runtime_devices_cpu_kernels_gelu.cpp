// generated from opdefs/arithmetic.yaml by codegen, do not edit
//
// gelu: Gaussian error linear unit.
#include "../../emitted.h"
#include "../../maths.h"

namespace oneflow::cpu::OF_ISA {
namespace {

// 0.5 * input * (1 + erf(input * 0.7071067811865476))
template <class T>
struct gelu_none_kernel {
  static bool loop(const of_value*, const void* const* inputs, void* results, int64_t count) {
    const auto* input_values = static_cast<const T*>(inputs[0]);
    auto* result = static_cast<T*>(results);
#pragma omp simd
    for (int64_t i = 0; i < count / kPadding * kPadding; ++i) {
      const T input = input_values[i];
      result[i] = static_cast<T>(T(0.5) * input * (T(1) + maths::erf(input * T(0.7071067811865476))));
    }
    return false;
  }
  static constexpr ElementwiseKernel kernel = {
      loop,
      1,
      {{0, dtype_of<T>}},
      dtype_of<T>,
      true};
};

// 0.5 * input * (1 + tanh(0.7978845608028654 * (input + 0.044715 * input * input * input)))
template <class T>
struct gelu_tanh_kernel {
  static bool loop(const of_value*, const void* const* inputs, void* results, int64_t count) {
    const auto* input_values = static_cast<const T*>(inputs[0]);
    auto* result = static_cast<T*>(results);
#pragma omp simd
    for (int64_t i = 0; i < count / kPadding * kPadding; ++i) {
      const T input = input_values[i];
      result[i] = static_cast<T>(T(0.5) * input * (T(1) + maths::tanh(T(0.7978845608028654) * (input + T(0.044715) * input * input * input))));
    }
    return false;
  }
  static constexpr ElementwiseKernel kernel = {
      loop,
      1,
      {{0, dtype_of<T>}},
      dtype_of<T>,
      true};
};

}  // namespace

extern const KernelEntry gelu_kernels[] = {
    {"gelu:none", 0x17b5224eee301bc9, OF_FLOAT32, call<gelu_none_kernel<float>::kernel>},
    {"gelu:none", 0x17b5224eee301bc9, OF_FLOAT64, call<gelu_none_kernel<double>::kernel>},
    {"gelu:tanh", 0x17b5224eee301bc9, OF_FLOAT32, call<gelu_tanh_kernel<float>::kernel>},
    {"gelu:tanh", 0x17b5224eee301bc9, OF_FLOAT64, call<gelu_tanh_kernel<double>::kernel>},
    {}};

}  // namespace oneflow::cpu::OF_ISA
