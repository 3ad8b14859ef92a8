#include "rows/contiguous_rows.h"
#include "rows/rows.h"
#include "rows/softmax_loops.h"

namespace oneflow::cpu {
namespace {

template <class T>
const SoftmaxLoops<T>& loops_of();
template <>
const SoftmaxLoops<float>& loops_of() {
  return OF_BEST_ISA(kFloatSoftmax);
}
template <>
const SoftmaxLoops<double>& loops_of() {
  return OF_BEST_ISA(kDoubleSoftmax);
}

// Returns the rows along the dimension in argument 1, for operands of one shape.
Rows rows_along(const of_kernel_context& context, const of_kernel_tensor& a, const of_kernel_tensor& b) {
  if (a.rank == 0) return {};
  return rows_of(context, {&a, &b, &context.outputs[0]}, uint64_t{1} << context.arguments[1].as.integer, 1);
}

// Runs a function of (input, result), or of (gradient, result, gradient of the input).
template <bool is_gradient, class Loop>
of_status run_along(const of_kernel_context& context, Loop loop) {
  const of_kernel_tensor &first = context.inputs[0], &second = context.inputs[is_gradient ? 1 : 0];
  const Rows rows = rows_along(context, first, second);
  if (!rows) return OF_UNSUPPORTED;
  return with_type(context, [&](auto type) {
    using T = decltype(type);
    const auto run = loop(loops_of<T>());
    const T *a = data_of<T>(first), *b = data_of<T>(second);
    T* result = data_of<T>(context.outputs[0]);
    for_each_row(rows, [&](int64_t at) {
      if constexpr (is_gradient)
        run(a + at, b + at, result + at, rows.length);
      else
        run(a + at, result + at, rows.length);
    });
    return OF_OK;
  });
}

}  // namespace

of_status softmax(const of_kernel_context& context) {
  return run_along<false>(context, [](const auto& loops) { return loops.softmax; });
}

of_status softmax_gradient(const of_kernel_context& context) {
  return run_along<true>(context, [](const auto& loops) { return loops.softmax_gradient; });
}

of_status log_softmax(const of_kernel_context& context) {
  return run_along<false>(context, [](const auto& loops) { return loops.log_softmax; });
}

of_status log_softmax_gradient(const of_kernel_context& context) {
  return run_along<true>(context, [](const auto& loops) { return loops.log_softmax_gradient; });
}

}  // namespace oneflow::cpu
