#include "ops/view.h"

#include "dispatch/dispatch.h"

namespace oneflow {

namespace {

using Layout = IndexMap<StridedNumbers>;

constinit const OperatorName kClone("clone");
constinit const OperatorName kCopy("copy");

// Throws InvalidArgument if the layout reaches outside of the storage.
void check_bounds(const Tensor& input, const Layout& layout) {
  const Extent reach = extent(layout.sizes, layout.steps);
  const int64_t elements = static_cast<int64_t>(input.storage()->bytes()) / dtype_size(layout.dtype);
  const bool begins_inside = layout.offset >= 0 && layout.offset < elements;
  if (!begins_inside || layout.offset + reach.lowest < 0 || reach.highest >= elements - layout.offset)
    fail(OF_INVALID_ARGUMENT, "size %s, stride %s and offset %lld reach outside of the storage of %lld elements",
         to_text(layout.sizes).c_str(), to_text(layout.steps).c_str(), static_cast<long long>(layout.offset),
         static_cast<long long>(elements));
}

Layout layout_of(const Call& call, const Tensor& input) {
  const Layout own{input.sizes(), input.strides(), input.offset(), input.dtype()};
  return rule_of<ViewRule>(call.schema()).map({call, own});
}

TensorRef view_of(const Tensor& input, const Layout& layout) {
  if (count_elements(layout.sizes) == 0) {  // the offset of an empty view may be out of bounds
    const int64_t offset = layout.dtype == input.dtype() ? input.offset() : int64_t{0};
    return Tensor::view(input, layout.dtype, layout.sizes, layout.steps, offset);
  }
  check_bounds(input, layout);
  return Tensor::view(input, layout.dtype, layout.sizes, layout.steps, layout.offset);
}

}  // namespace

void run_view(Call& call) {
  const Tensor& input = call.tensor(0);
  const Layout layout = layout_of(call, input);
  if (call.infer_only || !input.has_memory())
    return set_result(call, 0, Tensor::without_memory(layout.sizes, layout.dtype, input.device()));
  if (!layout.needs_copy) return set_result(call, 0, view_of(input, layout));
  const TensorRef copy = Body(call).call(kClone, input);
  set_result(call, 0, view_of(*copy, layout_of(call, *copy)));
}

void run_copied_view(Call& call) {
  const Tensor& input = call.tensor(0);
  const Layout layout = layout_of(call, input);
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
