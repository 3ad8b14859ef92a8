// generated from opdefs/reduction.yaml by codegen, do not edit
//
// max.dim: The largest element along one dimension, and where it is.
#include "../../emitted.h"
#include "../../maths.h"

namespace oneflow::cpu::OF_ISA {
namespace {

// value <- input; at <- index
template <class T>
struct max_dim_kernel {
  static void clear(const of_value*, void* const* state, int64_t lanes) {
    auto* value_lanes = static_cast<T*>(state[0]);
    auto* at_lanes = static_cast<int64_t*>(state[1]);
    for (int64_t lane = 0; lane < lanes; ++lane) {
      value_lanes[lane] = static_cast<T>(maths::lowest<T>());
      at_lanes[lane] = static_cast<int64_t>(maths::last_index());
    }
  }
  static void fold(const of_value*, void* const* state, const FoldRows& rows) {
    auto* value_lanes = static_cast<T*>(state[0]);
    auto* at_lanes = static_cast<int64_t*>(state[1]);
    for (int64_t step = 0; step < rows.steps; ++step) {
      const auto* values = static_cast<const T*>(rows.input) + step * rows.stride;
      const int64_t first = rows.first + step * rows.step_index;
#pragma omp simd
      for (int64_t lane = 0; lane < rows.lanes; ++lane) {
        const T input = values[lane];
        const int64_t index = first + lane * rows.lane_index;
        [[maybe_unused]] const T a_value = value_lanes[lane];
        [[maybe_unused]] const T b_value = static_cast<T>(input);
        [[maybe_unused]] const int64_t a_at = at_lanes[lane];
        [[maybe_unused]] const int64_t b_at = static_cast<int64_t>(index);
        value_lanes[lane] = static_cast<T>(maths::first_of_max(a_value, a_at, b_value, b_at) ? a_value : b_value);
        at_lanes[lane] = static_cast<int64_t>(maths::first_of_max(a_value, a_at, b_value, b_at) ? a_at : b_at);
      }
    }
  }
  static void merge(const of_value*, void* const* state, const void* const* later, int64_t lanes) {
    auto* value_lanes = static_cast<T*>(state[0]);
    const auto* value_later = static_cast<const T*>(later[0]);
    auto* at_lanes = static_cast<int64_t*>(state[1]);
    const auto* at_later = static_cast<const int64_t*>(later[1]);
#pragma omp simd
    for (int64_t lane = 0; lane < lanes; ++lane) {
      [[maybe_unused]] const T a_value = value_lanes[lane];
      [[maybe_unused]] const T b_value = value_later[lane];
      [[maybe_unused]] const int64_t a_at = at_lanes[lane];
      [[maybe_unused]] const int64_t b_at = at_later[lane];
      value_lanes[lane] = static_cast<T>(maths::first_of_max(a_value, a_at, b_value, b_at) ? a_value : b_value);
      at_lanes[lane] = static_cast<int64_t>(maths::first_of_max(a_value, a_at, b_value, b_at) ? a_at : b_at);
    }
  }
  static void finish(const of_value*, const void* const* state, int64_t, void* const* results, int64_t lanes) {
    const auto* value_lanes = static_cast<const T*>(state[0]);
    const auto* at_lanes = static_cast<const int64_t*>(state[1]);
    auto* result_0 = static_cast<T*>(results[0]);
    auto* result_1 = static_cast<int64_t*>(results[1]);
    for (int64_t lane = 0; lane < lanes; ++lane) {
      [[maybe_unused]] const T value = value_lanes[lane];
      [[maybe_unused]] const int64_t at = at_lanes[lane];
      result_0[lane] = static_cast<T>(value);
      result_1[lane] = static_cast<int64_t>(at);
    }
  }
  static constexpr ReductionKernel kernel = {
      clear,
      fold,
      merge,
      finish,
      dtype_of<T>,
      2,
      2,
      {dtype_of<T>, OF_INT64},
      {dtype_of<T>, OF_INT64}};
};

}  // namespace

extern const KernelEntry max_dim_kernels[] = {
    {"max.dim", 0xca479aeea31ee462, OF_FLOAT32, call<max_dim_kernel<float>::kernel>},
    {"max.dim", 0xca479aeea31ee462, OF_FLOAT64, call<max_dim_kernel<double>::kernel>},
    {"max.dim", 0xca479aeea31ee462, OF_INT32, call<max_dim_kernel<int32_t>::kernel>},
    {"max.dim", 0xca479aeea31ee462, OF_INT64, call<max_dim_kernel<int64_t>::kernel>},
    {"max.dim", 0xca479aeea31ee462, OF_BOOL, call<max_dim_kernel<bool>::kernel>},
    {}};

}  // namespace oneflow::cpu::OF_ISA
