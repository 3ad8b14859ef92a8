// generated from opdefs/shape.yaml by codegen, do not edit
//
// zeros: A tensor of zeros.
#include "../../emitted.h"
#include "../../maths.h"
#include "../../random.h"

namespace oneflow::cpu::OF_ISA {
namespace {

// 0
template <class T>
struct zeros_kernel {
  static bool loop(const of_value*, const IndexRange& range, void* results) {
    auto* result = static_cast<T*>(results);
#pragma omp simd
    for (int64_t i = 0; i < range.count; ++i) {
      result[i] = static_cast<T>(T(0));
    }
    return false;
  }
  static constexpr GeneratorKernel kernel = {loop, dtype_of<T>, false, false};
};

}  // namespace

extern const KernelEntry zeros_kernels[] = {
    {"zeros", 0x67c8dc2d233f7f5c, OF_FLOAT32, call<zeros_kernel<float>::kernel>},
    {"zeros", 0x67c8dc2d233f7f5c, OF_FLOAT64, call<zeros_kernel<double>::kernel>},
    {"zeros", 0x67c8dc2d233f7f5c, OF_INT32, call<zeros_kernel<int32_t>::kernel>},
    {"zeros", 0x67c8dc2d233f7f5c, OF_INT64, call<zeros_kernel<int64_t>::kernel>},
    {"zeros", 0x67c8dc2d233f7f5c, OF_BOOL, call<zeros_kernel<bool>::kernel>},
    {}};

}  // namespace oneflow::cpu::OF_ISA
