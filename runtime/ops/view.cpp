// Views: another layout over the same memory, from the record's stride map.
#include "dispatch/call.h"
#include "ops/kinds.h"

namespace oneflow {

namespace {

void check_bounds(const Tensor& input, const ViewLayout& layout) {
  if (!input.has_memory()) return;
  const Extent reach = extent(layout.sizes, layout.strides);
  const int64_t elements = static_cast<int64_t>(input.storage()->bytes()) / input.element_bytes();
  const bool is_empty = reach.highest < reach.lowest;
  const int64_t first = layout.offset, room = elements - (is_empty ? 0 : reach.highest);
  if (first < (is_empty ? 0 : -reach.lowest) || first > room - (is_empty ? 0 : 1))
    fail(OF_INVALID_ARGUMENT, "size %s, stride %s and offset %lld reach outside of the storage of %lld elements",
         to_text(layout.sizes).c_str(), to_text(layout.strides).c_str(), static_cast<long long>(layout.offset),
         static_cast<long long>(elements));
}

}  // namespace

void run_view(Call& call) {
  const Tensor& input = call.tensor(0);
  const ViewLayout layout = std::get<ViewRule>(call.schema().rule).layout(call);
  count_elements(layout.sizes);
  check_bounds(input, layout);
  set_result(call, 0,
             call.infer_only || !input.has_memory()
                 ? Tensor::without_memory(layout.sizes, input.dtype(), input.device())
                 : Tensor::view(input, layout.sizes, layout.strides, layout.offset));
}

}  // namespace oneflow
