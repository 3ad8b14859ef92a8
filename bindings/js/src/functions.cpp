#include "functions.h"

#include "arguments.h"

namespace oneflow::node {

void add_callback(Environment* environment, napi_value exports, const char* name, napi_callback function) {
  const napi_env env = environment->env();
  napi_value value;
  if (napi_create_function(env, name, NAPI_AUTO_LENGTH, function, environment, &value) == napi_ok) {
    napi_set_named_property(env, exports, name, value);
  }
}

void throw_out_of_memory(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  call.environment().fail(OF_OUT_OF_MEMORY, "out of host memory");
}

int64_t Call::integer(size_t i) const {
  int64_t integer = 0;
  napi_get_value_int64(env_, values_[i], &integer);
  return integer;
}

bool Call::boolean(size_t i) const {
  bool boolean = false;
  napi_get_value_bool(env_, values_[i], &boolean);
  return boolean;
}

namespace {

std::string to_string(napi_env env, napi_value value) {
  size_t length = 0;
  if (napi_get_value_string_utf8(env, value, nullptr, 0, &length) != napi_ok) return {};
  std::string text(length, '\0');
  napi_get_value_string_utf8(env, value, text.data(), length + 1, &length);
  for (size_t at = 0; (at = text.find('\0', at)) != std::string::npos;) text.replace(at, 1, "\\x00");
  return text;
}

}  // namespace

std::string Call::string(size_t i) const { return to_string(env_, values_[i]); }

std::vector<std::string> Call::strings(size_t i) const {
  uint32_t length = 0;
  napi_get_array_length(env_, values_[i], &length);
  std::vector<std::string> strings(length);
  for (uint32_t k = 0; k < length; ++k) {
    napi_value element;
    napi_get_element(env_, values_[i], k, &element);
    strings[k] = to_string(env_, element);
  }
  return strings;
}

std::vector<int64_t> Call::integers(size_t i) const {
  uint32_t length = 0;
  napi_get_array_length(env_, values_[i], &length);
  std::vector<int64_t> integers(length);
  for (uint32_t k = 0; k < length; ++k) {
    napi_value element;
    napi_get_element(env_, values_[i], k, &element);
    napi_get_value_int64(env_, element, &integers[k]);
  }
  return integers;
}

napi_value done(const Call& call, of_status status) {
  return status == OF_OK ? nullptr : call.environment().fail(status);
}

napi_value done(const Call& call, of_status status, of_tensor tensor) {
  if (status != OF_OK) return call.environment().fail(status);
  return to_js(call.environment().env(), call.environment().put(tensor));
}

napi_value to_js(napi_env env, double number) {
  napi_value value = nullptr;
  napi_create_double(env, number, &value);
  return value;
}

napi_value to_js(napi_env env, bool boolean) {
  napi_value value = nullptr;
  napi_get_boolean(env, boolean, &value);
  return value;
}

napi_value to_js(napi_env env, const char* text) {
  napi_value value = nullptr;
  napi_create_string_utf8(env, text, NAPI_AUTO_LENGTH, &value);
  return value;
}

napi_value to_js(napi_env env, const int64_t* integers, int32_t count) {
  napi_value value = nullptr;
  napi_create_array_with_length(env, count, &value);
  for (int32_t i = 0; i < count; ++i) napi_set_element(env, value, i, integer_to_js(env, integers[i]));
  return value;
}

napi_value to_js(napi_env env, std::initializer_list<Property> properties) {
  napi_value object = nullptr;
  napi_create_object(env, &object);
  for (const Property& property : properties) napi_set_named_property(env, object, property.name, property.value);
  return object;
}

}  // namespace oneflow::node
