#include "arguments.h"

#include <cstring>

#include "functions.h"

namespace oneflow::node {
namespace {

// Up to here, every integer is exact as a double.
constexpr int64_t kExactInteger = int64_t{1} << 53;

// Puts a tensor into a new slot and returns {slot}. Takes ownership of the handle.
napi_value tensor_to_js(Environment* environment, of_tensor tensor) {
  const napi_env env = environment->env();
  napi_value object = nullptr, slot = nullptr;
  napi_create_int32(env, environment->put(tensor), &slot);
  napi_create_object(env, &object);
  napi_set_named_property(env, object, "slot", slot);
  return object;
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
      case OF_VALUE_GENERATOR:
        value.as.generator = environment.generator(value.as.integer);
        if (value.as.generator == nullptr) return of_fail(OF_INTERNAL_ERROR, "a generator's slot is empty");
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
      case OF_VALUE_DEVICE_LIST: {
        uint8_t* list = memory + value.as.integer;  // of 64-bit integers, each as long as two devices
        for (int32_t k = 0; k < value.count; ++k) {
          std::memmove(list + k * sizeof(of_device), list + k * sizeof(int64_t), sizeof(of_device));
        }
        value.as.devices = reinterpret_cast<const of_device*>(list);
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

napi_value result_to_js(Environment* environment, of_value* result) {
  const napi_env env = environment->env();
  napi_value value = nullptr;
  switch (result->kind) {
    case OF_VALUE_TENSOR:
      value = tensor_to_js(environment, result->as.tensor);
      result->kind = OF_VALUE_ABSENT;  // the slot owns the tensor
      break;
    case OF_VALUE_TENSOR_LIST:
      napi_create_array_with_length(env, result->count, &value);
      for (int32_t i = 0; i < result->count; ++i) {
        of_tensor tensor = of_tensor_retain(result->as.tensors[i]);
        napi_set_element(env, value, i, tensor_to_js(environment, tensor));
      }
      break;
    case OF_VALUE_INT_LIST:
      napi_create_array_with_length(env, result->count, &value);
      for (int32_t i = 0; i < result->count; ++i) {
        napi_set_element(env, value, i, integer_to_js(env, result->as.integers[i]));
      }
      break;
    case OF_VALUE_INT:
      value = integer_to_js(env, result->as.integer);
      break;
    case OF_VALUE_FLOAT:
      napi_create_double(env, result->as.real, &value);
      break;
    case OF_VALUE_BOOL:
      napi_get_boolean(env, result->as.boolean, &value);
      break;
    case OF_VALUE_STRING:
      napi_create_string_utf8(env, result->as.string, result->count, &value);
      break;
    case OF_VALUE_DTYPE:
      napi_create_string_utf8(env, of_dtype_name(result->as.dtype), NAPI_AUTO_LENGTH, &value);
      break;
    case OF_VALUE_DEVICE: {
      char name[64];
      napi_create_string_utf8(env, of_device_name(result->as.device, name), NAPI_AUTO_LENGTH, &value);
      break;
    }
    default:
      napi_get_null(env, &value);
      break;
  }
  of_value_release(result);
  return value;
}

}  // namespace oneflow::node
