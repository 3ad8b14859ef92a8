// Registration of the addon's functions, by file, and helpers to write them. Each function has the Environment as its
// data. The JavaScript modules check the arguments, so that an invalid argument here is a bug of this package.
#pragma once

#include <node_api.h>

#include <initializer_list>
#include <new>
#include <string>
#include <type_traits>
#include <vector>

#include "environment.h"

namespace oneflow::node {

// An upper bound of the number of results of an operator.
constexpr int32_t kMaxResults = 16;

// Adds the functions of one source file to the exports.
void add_call_functions(Environment* environment, napi_value exports);
void add_async_functions(Environment* environment, napi_value exports);
void add_tensor_functions(Environment* environment, napi_value exports);
void add_expression_functions(Environment* environment, napi_value exports);
void add_generator_functions(Environment* environment, napi_value exports);
void add_index_functions(Environment* environment, napi_value exports);
void add_library_functions(Environment* environment, napi_value exports);
void add_profile_functions(Environment* environment, napi_value exports);
void add_gradient_functions(Environment* environment, napi_value exports);
void add_file_functions(Environment* environment, napi_value exports);

// Adds a function to the exports. Node does not catch C++ exceptions: if the function runs out of memory, it throws an
// OutOfMemory in JavaScript.
void add_callback(Environment* environment, napi_value exports, const char* name, napi_callback function);
void throw_out_of_memory(napi_env env, napi_callback_info info);
template <napi_callback function>
void add_function(Environment* environment, napi_value exports, const char* name) {
  const auto guarded = [](napi_env env, napi_callback_info info) -> napi_value {
    try {
      return function(env, info);
    } catch (const std::bad_alloc&) {
      throw_out_of_memory(env, info);
      return nullptr;
    }
  };
  add_callback(environment, exports, name, guarded);
}

// The arguments of one call of a native function. A missing argument is undefined; one of a wrong type reads as zero or
// empty.
class Call {
 public:
  Call(napi_env env, napi_callback_info info) : env_(env) {
    napi_get_cb_info(env, info, &count_, values_, nullptr, reinterpret_cast<void**>(&environment_));
  }

  Environment& environment() const { return *environment_; }
  napi_value value(size_t i) const { return values_[i]; }
  size_t count() const { return count_ < kMost ? count_ : kMost; }
  int64_t integer(size_t i) const;
  bool boolean(size_t i) const;
  // Returns a string for the C API: null bytes, which would end it there, are replaced with the characters \x00.
  std::string string(size_t i) const;
  std::vector<int64_t> integers(size_t i) const;
  std::vector<std::string> strings(size_t i) const;
  // Returns the device in argument `i`, a number that parseDevice() returned: its type and index, 16 bits each.
  of_device device(size_t i) const {
    const auto packed = static_cast<uint32_t>(integer(i));
    return {static_cast<int16_t>(packed), static_cast<int16_t>(packed >> 16)};
  }
  // Returns the tensor or the expression in the slot that argument `i` names; NULL if the slot does not hold one.
  of_tensor tensor(size_t i) const { return environment_->get(integer(i)); }
  of_expression expression(size_t i) const { return environment_->expression(integer(i)); }

 private:
  static constexpr size_t kMost = 10;
  napi_env env_;
  size_t count_ = kMost;
  napi_value values_[kMost];
  Environment* environment_ = nullptr;
};

// Ends a function with a status: throws the exception of a failure, or returns undefined or the slot of `tensor`, of
// which it takes ownership.
napi_value done(const Call& call, of_status status);
napi_value done(const Call& call, of_status status, of_tensor tensor);

// Converts a value to a JavaScript number, boolean, string, array or object.
napi_value to_js(napi_env env, double number);
napi_value to_js(napi_env env, bool boolean);
template <class T>
requires(std::is_integral_v<T> || std::is_enum_v<T>) napi_value to_js(napi_env env, T number) {
  return to_js(env, static_cast<double>(number));
}
napi_value to_js(napi_env env, const char* text);
// Converts integers to an array; those that a number cannot represent exactly become BigInts.
napi_value to_js(napi_env env, const int64_t* integers, int32_t count);

// A property of an object for to_js().
struct Property {
  const char* name;
  napi_value value;
};
napi_value to_js(napi_env env, std::initializer_list<Property> properties);

}  // namespace oneflow::node
