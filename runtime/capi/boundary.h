// Shared by the functions of the C API: checks of pointers, error texts, and structs that may grow.
#ifndef ONEFLOW_CAPI_BOUNDARY_H_
#define ONEFLOW_CAPI_BOUNDARY_H_

#include <oneflow/oneflow.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "base/error.h"
#include "tensor/tensor.h"

namespace oneflow {

// Throws InvalidArgument "of_tensor_data: tensor must not be NULL" for a null pointer.
inline void require(const void* pointer, const char* function, const char* argument) {
  if (!pointer) [[unlikely]]
    fail(OF_INVALID_ARGUMENT, "%s: %s must not be NULL", function, argument);
}

// Throws InvalidArgument for an empty path.
inline void require_file_name(const char* path) {
  if (!*path) fail(OF_INVALID_ARGUMENT, "path must be the name of a file, got ''");
}

// Returns the tensor of a handle. Throws InvalidArgument for a null handle.
inline Tensor& require_tensor(of_tensor handle, const char* function, const char* argument = "tensor") {
  require(handle, function, argument);
  return *to_tensor(handle);
}

// Runs `body`, and adds the name of a public function to the beginning of the error texts that it throws.
template <class Body>
decltype(auto) named(const char* name, Body&& body) {
  try {
    return body();
  } catch (const Error& error) {
    if (error.is_complete()) throw;
    throw Error(error.status(), std::string(name) + ": " + error.text());
  }
}

// Returns a copy of a caller's struct. Fields that the caller's version of the struct does not have are zero.
template <class Struct>
Struct read_struct(const Struct* given, const char* function, const char* argument) {
  require(given, function, argument);
  if (given->struct_size < sizeof(uint32_t))
    fail(OF_INVALID_ARGUMENT, "%s: struct_size of %s must be set", function, argument);
  Struct result{};
  std::memcpy(&result, given, std::min<size_t>(given->struct_size, sizeof(Struct)));
  return result;
}

// Copies `result` to a caller's struct, as far as the caller's version of the struct extends.
template <class Struct>
void write_struct(Struct* given, Struct result, const char* function, const char* argument) {
  result.struct_size = read_struct(given, function, argument).struct_size;
  std::memcpy(given, &result, std::min<size_t>(given->struct_size, sizeof(Struct)));
}

// Stores a copy of a text that the caller frees with of_free().
inline void store_text(const std::string& text, char** result) {
  char* copy = strdup(text.c_str());
  if (!copy) throw std::bad_alloc();
  *result = copy;
}

}  // namespace oneflow

#endif  // ONEFLOW_CAPI_BOUNDARY_H_
