// Indexing: x.at(...) and x.set(..., value).
#include <oneflow/values.h>

#include "classes/language.h"
#include "functions.h"

namespace oneflow::node {
namespace {

// The numbers per part of an index: kind, has start, has stop, start, stop, step, slot.
constexpr size_t kNumbersPerPart = 7;

// Returns the parts of an index, which argument 1 has in a Float64Array.
std::vector<of_index> parts_of(const Call& call) {
  const auto array = call[1].As<Napi::Float64Array>();
  const double* numbers = array.Data();
  std::vector<of_index> parts(array.ElementLength() / kNumbersPerPart);
  for (of_index& part : parts) {
    part = {};
    part.kind = static_cast<of_index_kind>(numbers[0]);
    part.has_start = numbers[1] != 0;
    part.has_stop = numbers[2] != 0;
    part.start = static_cast<int64_t>(numbers[3]);
    part.stop = static_cast<int64_t>(numbers[4]);
    part.step = static_cast<int64_t>(numbers[5]);
    part.tensor = call.environment().get(static_cast<int64_t>(numbers[6]));
    numbers += kNumbersPerPart;
  }
  return parts;
}

// Converts the value of set(). Throws the exception of a failure.
of_value value_of(const Call& call, size_t argument) {
  static const of_type type = {OF_TYPE_OPERAND, false,  "Tensor, number, {re, im} or array", nullptr, 0,
                               nullptr,         nullptr};
  CallContext context(call.environment());
  context.is_function = true;
  of_data data{};
  check_call(call.environment(),
             of_convert("set", "value", &type, &javascript, &context, static_cast<napi_value>(call[argument]), &data),
             true);
  switch (data.kind) {
    case OF_DATA_TENSOR:
      return of_tensor_value(data.as.tensor);
    case OF_DATA_BOOL:
      return of_bool_value(data.as.boolean);
    case OF_DATA_INT:
      return of_int_value(data.as.integer);
    case OF_DATA_UINT:
      return of_uint_value(data.as.natural);
    default:
      return of_float_value(data.as.real);
  }
}

}  // namespace

void add_index_functions(Exports& exports) {
  // index(slot, parts, ...keepAlive): returns the slot of the selected elements.
  exports.add("index", [](const Call& call) {
    const std::vector<of_index> parts = parts_of(call);
    of_tensor result = nullptr;
    call.check(of_tensor_index(call.tensor(0), parts.data(), parts.size(), &result));
    return call.environment().put(result);
  });
  // setIndex(slot, parts, value, ...keepAlive): writes a tensor or a number to the selected elements.
  exports.add("setIndex", [](const Call& call) {
    const std::vector<of_index> parts = parts_of(call);
    const of_value value = value_of(call, 2);
    call.check(of_tensor_set_index(call.tensor(0), parts.data(), parts.size(), &value));
  });
}

}  // namespace oneflow::node
