#include "ops/view.h"

namespace oneflow {

namespace {

// Throws InvalidArgument if the layout reaches outside of the storage.
void check_bounds(const Tensor& input, const ViewLayout& layout) {
  const Extent reach = extent(layout.sizes, layout.strides);
  const int64_t elements = static_cast<int64_t>(input.storage()->bytes()) / input.element_bytes();
  const bool begins_inside = layout.offset >= 0 && layout.offset < elements;
  if (!begins_inside || layout.offset + reach.lowest < 0 || reach.highest >= elements - layout.offset)
    fail(OF_INVALID_ARGUMENT, "size %s, stride %s and offset %lld reach outside of the storage of %lld elements",
         to_text(layout.sizes).c_str(), to_text(layout.strides).c_str(), static_cast<long long>(layout.offset),
         static_cast<long long>(elements));
}

}  // namespace

void run_view(Call& call) {
  const Tensor& input = call.tensor(0);
  ViewLayout layout = rule_of<ViewRule>(call.schema()).layout(call);
  const bool is_empty = count_elements(layout.sizes) == 0;
  if (call.infer_only || !input.has_memory())
    return set_result(call, 0, Tensor::without_memory(layout.sizes, input.dtype(), input.device()));
  if (is_empty)
    layout.offset = input.offset();  // the offset of an empty view may be out of bounds
  else
    check_bounds(input, layout);
  set_result(call, 0, Tensor::view(input, layout.sizes, layout.strides, layout.offset));
}

}  // namespace oneflow
