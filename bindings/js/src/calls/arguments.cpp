#include "calls/arguments.h"

#include <cstring>
#include <memory>
#include <string>

#include "functions.h"

namespace oneflow::node {
namespace {

// Up to here, every integer is exact as a double.
constexpr int64_t kExactInteger = int64_t{1} << 53;

Napi::Value result_to_js(Environment& environment, of_value* result) {
  const std::unique_ptr<of_value, decltype(&of_value_release)> owned(result, of_value_release);
  const auto wrap = [&](of_tensor tensor) {
    return environment.host().wrap_tensor(environment.put(of_tensor_retain(tensor)));
  };
  if (result->kind == OF_VALUE_TENSOR) return wrap(result->as.tensor);
  return array_of(environment.env(), static_cast<size_t>(result->count),
                  [&](size_t i) { return wrap(result->as.tensors[i]); });
}

}  // namespace

of_status resolve_values(const Environment& environment, of_value* values, int32_t count) {
  uint8_t* memory = environment.frame.data;
  for (int32_t i = 0; i < count; ++i) {
    of_value& value = values[i];
    switch (value.kind) {
      case OF_VALUE_TENSOR:
        value.as.tensor = environment.get(value.as.integer);
        if (value.as.tensor == nullptr) return of_fail(OF_INTERNAL_ERROR, "a tensor's slot is empty");
        break;
      case OF_VALUE_STRING:
        value.as.string = reinterpret_cast<const char*>(memory + value.as.integer);
        break;
      case OF_VALUE_INT_LIST:
        value.as.integers = reinterpret_cast<const int64_t*>(memory + value.as.integer);
        break;
      case OF_VALUE_TENSOR_LIST: {
        uint8_t* list = memory + value.as.integer;
        for (int32_t k = 0; k < value.count; ++k) {
          int64_t slot;
          std::memcpy(&slot, list + k * sizeof(slot), sizeof(slot));
          const of_tensor tensor = environment.get(slot);
          std::memcpy(list + k * sizeof(tensor), &tensor, sizeof(tensor));
        }
        value.as.tensors = reinterpret_cast<of_tensor*>(list);
        break;
      }
      default:
        break;
    }
  }
  return OF_OK;
}

napi_value integer_to_js(napi_env env, int64_t integer) {
  napi_value value = nullptr;
  if (integer >= -kExactInteger && integer <= kExactInteger) {
    napi_create_int64(env, integer, &value);
  } else {
    napi_create_bigint_int64(env, integer, &value);
  }
  return value;
}

Napi::Value results_to_js(Environment& environment, const of_overload& overload, of_value* results) {
  if (overload.result_count == 1) return result_to_js(environment, &results[0]);
  auto values = Napi::Array::New(environment.env(), static_cast<size_t>(overload.result_count));
  const char* names = overload.result_names != nullptr ? overload.result_names : "";
  for (uint32_t i = 0; i < values.Length(); ++i) {
    const Napi::Value value = result_to_js(environment, &results[i]);
    values.Set(i, value);
    const std::string name(names, std::strcspn(names, " "));
    names += name.size() + std::strspn(names + name.size(), " ");
    if (!name.empty() && name != "_") values.Set(name, value);
  }
  return values;
}

}  // namespace oneflow::node
