// What the functions of the C API share: checks of pointers and of structs that may grow.
#ifndef ONEFLOW_CAPI_BOUNDARY_H_
#define ONEFLOW_CAPI_BOUNDARY_H_

#include <oneflow/oneflow.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "base/error.h"
#include "tensor/tensor.h"

namespace oneflow {

// InvalidArgument "of_tensor_data: tensor must not be NULL".
inline void require(const void* pointer, const char* function, const char* argument) {
  if (!pointer) [[unlikely]]
    fail(OF_INVALID_ARGUMENT, "%s: %s must not be NULL", function, argument);
}

inline Tensor& require_tensor(of_tensor handle, const char* function, const char* argument = "tensor") {
  require(handle, function, argument);
  return *to_tensor(handle);
}

// Runs `body` as the public function `name`, which the texts of its failures then begin with.
template <class Body>
decltype(auto) named(const char* name, Body&& body) {
  try {
    return body();
  } catch (const Error& error) {
    if (error.is_complete()) throw;
    throw Error(error.status(), std::string(name) + ": " + error.text());
  }
}

// A caller's struct, as far as it goes: fields that the caller does not know are zero.
template <class Struct>
Struct read_struct(const Struct* given, const char* function, const char* argument) {
  require(given, function, argument);
  if (given->struct_size < sizeof(uint32_t))
    fail(OF_INVALID_ARGUMENT, "%s: struct_size of %s must be set", function, argument);
  Struct result{};
  std::memcpy(&result, given, std::min<size_t>(given->struct_size, sizeof(Struct)));
  return result;
}

// Fills in a caller's struct, as far as it goes.
template <class Struct>
void write_struct(Struct* given, Struct result, const char* function, const char* argument) {
  result.struct_size = read_struct(given, function, argument).struct_size;
  std::memcpy(given, &result, std::min<size_t>(given->struct_size, sizeof(Struct)));
}

}  // namespace oneflow

#endif  // ONEFLOW_CAPI_BOUNDARY_H_
