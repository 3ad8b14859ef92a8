// The C API: index expressions.
#include "ops/indexing.h"

#include "capi/boundary.h"

using namespace oneflow;

namespace {

std::span<const of_index> parts_of(const of_index* parts, size_t count, const char* function) {
  if (count) require(parts, function, "parts");
  return {parts, count};
}

}  // namespace

of_status of_tensor_index(of_tensor handle, const of_index* parts, size_t count, of_tensor* result) {
  return guard([&, function = __func__] {
    const Tensor& tensor = require_tensor(handle, function);
    require(result, function, "result");
    *result = to_handle(get_items(tensor, parts_of(parts, count, function)).detach());
  });
}

of_status of_tensor_set_index(of_tensor handle, const of_index* parts, size_t count, const of_value* value) {
  return guard([&, function = __func__] {
    const Tensor& tensor = require_tensor(handle, function);
    require(value, function, "value");
    set_items(tensor, parts_of(parts, count, function), *value);
  });
}
