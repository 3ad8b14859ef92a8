#include "ops/operations.h"

namespace oneflow {

namespace {

double operations_of(const Call& call, const Tensor& elements) {
  const int64_t each = call.schema().element_operations[static_cast<size_t>(match_variant(call))];
  return static_cast<double>(each) * static_cast<double>(elements.count());
}

}  // namespace

double operations_of_result(const Call& call) { return operations_of(call, *call.outputs[0]); }

double operations_of_input(const Call& call) { return operations_of(call, call.tensor(0)); }

}  // namespace oneflow
