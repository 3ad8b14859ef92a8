// Indexing: x.at(...) and x.set(..., value).
#include "arguments.h"
#include "functions.h"

namespace oneflow::node {
namespace {

// The numbers per part of an index: kind, has start, has stop, start, stop, step, slot.
constexpr size_t kNumbersPerPart = 7;

// Reads the parts of an index from a Float64Array.
std::vector<of_index> read_parts(napi_env env, const Environment& environment, napi_value value) {
  napi_typedarray_type type;
  size_t length = 0;
  void* data = nullptr;
  napi_get_typedarray_info(env, value, &type, &length, &data, nullptr, nullptr);
  const auto* numbers = static_cast<const double*>(data);
  std::vector<of_index> parts(length / kNumbersPerPart);
  for (of_index& part : parts) {
    part = {};
    part.kind = static_cast<of_index_kind>(numbers[0]);
    part.has_start = numbers[1] != 0;
    part.has_stop = numbers[2] != 0;
    part.start = static_cast<int64_t>(numbers[3]);
    part.stop = static_cast<int64_t>(numbers[4]);
    part.step = static_cast<int64_t>(numbers[5]);
    part.tensor = environment.get(static_cast<int64_t>(numbers[6]));
    numbers += kNumbersPerPart;
  }
  return parts;
}

// index(slot, parts, ...keepAlive): returns the slot of the selected elements.
napi_value index(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  const std::vector<of_index> parts = read_parts(env, call.environment(), call.value(1));
  of_tensor result = nullptr;
  const of_status status = of_tensor_index(call.tensor(0), parts.data(), parts.size(), &result);
  return done(call, status, result);
}

// setIndex(slot, parts, ...keepAlive): writes the first value of the frame to the selected elements.
napi_value set_index(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  Environment& environment = call.environment();
  const std::vector<of_index> parts = read_parts(env, environment, call.value(1));
  of_value value = environment.frame.values()[0];
  of_status status = resolve_values(environment, &value, 1);
  if (status == OF_OK) status = of_tensor_set_index(call.tensor(0), parts.data(), parts.size(), &value);
  return done(call, status);
}

}  // namespace

void add_index_functions(Environment* environment, napi_value exports) {
  add_function<index>(environment, exports, "index");
  add_function<set_index>(environment, exports, "setIndex");
}

}  // namespace oneflow::node
