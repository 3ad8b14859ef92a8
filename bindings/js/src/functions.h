// The functions of the addon, by file. Each is called with the Environment as its data; what JavaScript passes was
// checked there, so that a wrong argument here is a mistake of ours.
#pragma once

#include <node_api.h>

#include <initializer_list>
#include <string>
#include <type_traits>
#include <vector>

#include "environment.h"

namespace oneflow::node {

// More results than any operator has.
constexpr int32_t kMaxResults = 16;

void add_call_functions(Environment* environment, napi_value exports);
void add_async_functions(Environment* environment, napi_value exports);
void add_tensor_functions(Environment* environment, napi_value exports);
void add_expression_functions(Environment* environment, napi_value exports);
void add_index_functions(Environment* environment, napi_value exports);
void add_library_functions(Environment* environment, napi_value exports);

void add_function(Environment* environment, napi_value exports, const char* name, napi_callback function);

// The arguments of one call of a native function.
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
  // As the C API takes it, that is with \x00 where there is a null: it must not end the text.
  std::string string(size_t i) const;
  std::vector<int64_t> integers(size_t i) const;
  // The device that argument `i`, from parseDevice(), packs into one number: as it lies in memory.
  of_device device(size_t i) const {
    const auto packed = static_cast<uint32_t>(integer(i));
    return {static_cast<int16_t>(packed), static_cast<int16_t>(packed >> 16)};
  }
  // The tensor in the slot that argument `i` names.
  of_tensor tensor(size_t i) const { return environment_->get(integer(i)); }
  of_expression expression(size_t i) const { return environment_->expression(integer(i)); }

 private:
  static constexpr size_t kMost = 10;
  napi_env env_;
  size_t count_ = kMost;
  napi_value values_[kMost];
  Environment* environment_ = nullptr;
};

// How most functions end: with an exception, or with nothing or the slot of a tensor that they took over.
napi_value done(const Call& call, of_status status);
napi_value done(const Call& call, of_status status, of_tensor tensor);

napi_value to_js(napi_env env, double number);
napi_value to_js(napi_env env, bool boolean);
template <class T>
requires(std::is_integral_v<T> || std::is_enum_v<T>) napi_value to_js(napi_env env, T number) {
  return to_js(env, static_cast<double>(number));
}
napi_value to_js(napi_env env, const char* text);
// Members that a number cannot hold are BigInts.
napi_value to_js(napi_env env, const int64_t* integers, int32_t count);

struct Property {
  const char* name;
  napi_value value;
};
napi_value to_js(napi_env env, std::initializer_list<Property> properties);

}  // namespace oneflow::node
