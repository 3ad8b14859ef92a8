#include "ops/view.h"

#include <algorithm>

#include "dispatch/dispatch.h"

namespace oneflow {

namespace {

constinit const OperatorName kClone("clone");
constinit const OperatorName kCopy("copy");

[[noreturn]] void fail_bounds(const Tensor& input, const Layout& layout) {
  const int64_t elements = static_cast<int64_t>(input.storage()->bytes()) / dtype_size(layout.dtype);
  fail(OF_INVALID_ARGUMENT, "size %s, stride %s and offset %lld reach outside of the storage of %lld elements",
       to_text(layout.sizes).c_str(), to_text(layout.steps).c_str(), static_cast<long long>(layout.offset),
       static_cast<long long>(elements));
}

// Throws InvalidArgument if the layout, which has elements, reaches outside of the storage.
void check_bounds(const Tensor& input, const Layout& layout, const Extent& reach) {
  const int64_t offset = layout.offset, bytes = static_cast<int64_t>(input.storage()->bytes());
  int64_t last, end;
  bool is_outside = offset < 0 || offset + reach.lowest < 0;
  is_outside |= __builtin_add_overflow(offset, reach.highest, &last);
  is_outside |= __builtin_mul_overflow(last, dtype_size(layout.dtype), &end);
  if (is_outside | (end > bytes - dtype_size(layout.dtype))) [[unlikely]]
    fail_bounds(input, layout);
}

Layout view_layout(const Call& call, const Layout& own) { return rule_of<ViewRule>(call.schema()).map({call, own}); }

}  // namespace

Layout layout_of(const Tensor& tensor) { return {tensor.sizes(), tensor.strides(), tensor.offset(), tensor.dtype()}; }

Layout view_layout(const Operator& op, const Layout& layout, std::span<const of_value> arguments) {
  return with_name(op.schema(), [&] {
    Call call(op, op.schema().function_name, {}, false, nullptr);
    std::copy(arguments.begin(), arguments.end(), call.arguments);
    return view_layout(call, layout);
  });
}

TensorRef view_of(const Tensor& input, const Layout& layout) {
  const LayoutFacts facts = facts_of(layout.sizes, layout.steps);
  int64_t offset = layout.offset;
  if (facts.count == 0)  // the offset of an empty view may be out of bounds
    offset = layout.dtype == input.dtype() ? input.offset() : 0;
  else
    check_bounds(input, layout, facts.reach);
  return Tensor::view(input, layout.dtype, layout.sizes, layout.steps, offset, facts);
}

void run_view(Call& call) {
  const Tensor& input = call.tensor(0);
  const Layout layout = view_layout(call, layout_of(input));
  if (call.infer_only || !input.has_memory())
    return set_result(call, 0, Tensor::without_memory(layout.sizes, layout.dtype, input.device()));
  if (!layout.needs_copy) return set_result(call, 0, view_of(input, layout));
  const TensorRef copy = Body(call).call(kClone, input);
  set_result(call, 0, view_of(*copy, view_layout(call, layout_of(*copy))));
}

void run_copied_view(Call& call) {
  const Tensor& input = call.tensor(0);
  const Layout layout = view_layout(call, layout_of(input));
  const Tensor& result = prepare_result(call, 0, layout.sizes, layout.dtype, Aliasing::kForbidden);
  if (call.infer_only || result.count() == 0) return;
  call_into(call, result, kCopy, share(result), view_of(input, layout));
}

void view_dimensions(Call& call, const Shape&, DimensionMap& map) {
  const Tensor& input = call.tensor(0);
  const IndexMap<AxisNumbers> own = axes_of(input);
  add_links(0, input.sizes(), rule_of<ViewRule>(call.schema()).axes({call, own}), map);
}

}  // namespace oneflow
