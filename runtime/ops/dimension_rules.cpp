#include "ops/dimension_rules.h"

namespace oneflow {

namespace {

// Returns the dimensions that arguments of type `dim` name, as a bit set.
uint32_t named_dims(const Call& call) {
  uint32_t named = 0;
  const auto arguments = call.schema().arguments;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].type != ArgumentType::kDim) continue;
    const of_value& value = call.arguments[i];
    if (value.kind == OF_VALUE_INT) named |= uint32_t{1} << value.as.integer;
    if (value.kind == OF_VALUE_INT_LIST)
      for (const int64_t dim : call.integers(static_cast<int>(i))) named |= uint32_t{1} << dim;
  }
  return named;
}

}  // namespace

void broadcast_dimensions(Call& call, const Shape& result, DimensionMap& map) {
  for_each_tensor(call, [&](int operand, int, const Tensor& tensor) { add_broadcast(operand, tensor, result, map); });
}

void kept_dimensions(Call& call, const Shape& result, DimensionMap& map) {
  const uint32_t named = named_dims(call);
  for_each_tensor(call, [&](int operand, int, const Tensor& tensor) {
    if (tensor.rank() != static_cast<int>(result.size())) return;  // an empty vector, which `cat` skips
    for (int d = 0; d < tensor.rank(); ++d)
      map.add({operand, d, d, named >> d & 1 ? Relation::kOpaque : Relation::kSame});
  });
}

void opaque_dimensions(Call& call, const Shape& result, DimensionMap& map) {
  for_each_tensor(call, [&](int operand, int, const Tensor& tensor) {
    for (int d = 0; d < tensor.rank(); ++d) {
      if (result.empty()) map.add({operand, d, -1, Relation::kOpaque});
      for (int to = 0; to < result.rank(); ++to) map.add({operand, d, to, Relation::kOpaque});
    }
  });
}

}  // namespace oneflow
