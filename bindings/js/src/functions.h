// Registration of the addon's functions, by file, and helpers to write them. The JavaScript modules check the
// arguments, so that an invalid argument here is a bug of this package.
#pragma once

#include <napi.h>

#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "environment.h"

namespace oneflow::node {

// The arguments of one call of a native function, and its environment. A missing argument is undefined; a number,
// boolean or string of another type reads as zero or empty.
class Call : public Napi::CallbackInfo {
 public:
  using Napi::CallbackInfo::CallbackInfo;

  Environment& environment() const { return *static_cast<Environment*>(Data()); }
  // Throws the exception of a failure.
  void check(of_status status) const { environment().check(status); }

  int64_t integer(size_t i) const;
  bool boolean(size_t i) const { return (*this)[i].IsBoolean() && (*this)[i].As<Napi::Boolean>(); }
  // Returns a string for the C API: null bytes, which would end it there, are replaced with the characters \x00.
  std::string string(size_t i) const;
  // Returns the items of an array; none for other values.
  std::vector<int64_t> integers(size_t i) const;
  std::vector<std::string> strings(size_t i) const;
  // Returns the device in argument `i`, a number that parseDevice() returned: its type and index, 16 bits each.
  of_device device(size_t i) const;
  // Returns the handle in the slot that argument `i` names; NULL if the slot does not hold one of this type.
  of_tensor tensor(size_t i) const { return environment().get(integer(i)); }
  of_expression expression(size_t i) const { return environment().expression(integer(i)); }
  of_generator generator(size_t i) const { return environment().generator(integer(i)); }
  template <class T>
  T* external(size_t i) const {
    return (*this)[i].As<Napi::External<T>>().Data();
  }
};

// The object that JavaScript gets, with the functions of the addon.
class Exports {
 public:
  Exports(Environment* environment, Napi::Object object) : environment_(environment), object_(object) {}

  Napi::Env env() const { return object_.Env(); }
  void add_value(const char* name, napi_value value) { object_.Set(name, value); }

  // Adds a function: a lambda without captures that takes a Call, or the arguments of a napi_callback where the cost of
  // a call counts. It may throw Napi::Error and std::bad_alloc. A missing result is undefined.
  template <class Function>
  void add(const char* name, Function) {
    add_callback(name, [](napi_env env, napi_callback_info info) {
      return guarded(env, info, [](napi_env env, napi_callback_info info) -> napi_value {
        if constexpr (std::is_invocable_v<Function, napi_env, napi_callback_info>) {
          return Function{}(env, info);
        } else if constexpr (std::is_void_v<std::invoke_result_t<Function, const Call&>>) {
          Function{}(Call(env, info));
          return nullptr;
        } else {
          return Napi::Value::From(env, Function{}(Call(env, info)));
        }
      });
    });
  }
  template <auto function>
  void add(const char* name) {
    add(name, [](const auto&... arguments) -> decltype(function(arguments...)) { return function(arguments...); });
  }

  // Adds a function that returns an exception instead of throwing it: the status in the frame then is not OF_OK.
  // Node.js ends the process if a garbage collection calls finalizers while it throws an exception of an addon, so that
  // frequent errors are thrown by JavaScript.
  template <auto function>
  void add_returning(const char* name) {
    add_callback(name, [](napi_env env, napi_callback_info info) {
      return settled(env, info, [](napi_env env, napi_callback_info info) -> napi_value {
        return Napi::Value::From(env, function(Call(env, info)));
      });
    });
  }

 private:
  // Calls a function, and throws its exceptions in JavaScript.
  static napi_value guarded(napi_env env, napi_callback_info info, napi_callback function);
  // Calls a function, and returns its result or its exception.
  static napi_value settled(napi_env env, napi_callback_info info, napi_callback function);
  void add_callback(const char* name, napi_callback function);

  Environment* environment_;
  Napi::Object object_;
};

// Returns what an error throws, which may be any value.
napi_value thrown_by(const Napi::Error& error);
// Throws an error in JavaScript. Does nothing in a worker thread that is being terminated, where nothing can be thrown.
void throw_in_js(const Napi::Error& error);

// Adds the functions of one source file.
void add_call_functions(Exports& exports);
void add_async_functions(Exports& exports);
void add_tensor_functions(Exports& exports);
void add_expression_functions(Exports& exports);
void add_class_functions(Exports& exports);
void add_index_functions(Exports& exports);
void add_library_functions(Exports& exports);
void add_gradient_functions(Exports& exports);
void add_extension_functions(Exports& exports);
void add_operator_library_functions(Exports& exports);

// Packs a device into one integer.
inline int32_t pack_device(of_device device) {
  return static_cast<uint16_t>(device.type) | static_cast<int32_t>(device.index) << 16;
}
inline of_device unpack_device(int64_t integer) {
  const auto packed = static_cast<uint32_t>(integer);
  return {static_cast<int16_t>(packed), static_cast<int16_t>(packed >> 16)};
}
inline of_device Call::device(size_t i) const { return unpack_device(integer(i)); }

// Makes an array of `count` items, of which item(i) returns one each.
template <class Item>
Napi::Array array_of(Napi::Env env, size_t count, Item item) {
  auto array = Napi::Array::New(env, count);
  for (uint32_t i = 0; i < count; ++i) array.Set(i, item(i));
  return array;
}

// Makes an array of two strings or numbers.
template <class First, class Second>
Napi::Array pair_of(Napi::Env env, First first, Second second) {
  auto array = Napi::Array::New(env, 2);
  array.Set(0u, first);
  array.Set(1u, second);
  return array;
}

// Converts integers to an array; those that a number cannot represent exactly become BigInts.
Napi::Array integers_to_js(Napi::Env env, const int64_t* integers, size_t count);

// Returns a text that the C API has allocated, and frees it.
std::string take_text(char* text);

// Makes a value that owns a handle, and releases it with `release`.
template <auto release, class Handle>
Napi::Value owner_of(Environment& environment, Handle* handle) {
  std::unique_ptr<Handle, decltype(release)> owned(handle, release);
  const auto value = Napi::External<Handle>::New(environment.env(), handle);
  environment.own(value, environment.put(owned.release(), [](void* kept) { release(static_cast<Handle*>(kept)); }));
  return value;
}

}  // namespace oneflow::node
