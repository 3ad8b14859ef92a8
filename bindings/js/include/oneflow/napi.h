/* Tensors, devices, dtypes and generators of oneflow-js in addons that are written with node-addon-api, whose C++
 * exceptions must be enabled (NODE_ADDON_API_CPP_EXCEPTIONS), with NAPI_VERSION 8 or later.
 *
 *     #include <oneflow/napi.h>
 *
 *     oneflow::Tensor twice(const oneflow::Tensor& input) { return input + input; }
 *
 *     Napi::Object initialize(Napi::Env env, Napi::Object exports) {
 *       oneflow::node::initialize(env);
 *       oneflow::node::define<twice>(exports, "twice", {"input"});
 *       return exports;
 *     }
 *     NODE_API_MODULE(twice, initialize)
 *
 * Functions take and return oneflow::Tensor, Device, DType and Generator, numbers, bools and strings, and std::optional
 * and std::vector of these. They share the memory of the caller's objects. A device or a dtype becomes its name, an
 * empty Tensor or optional null. A oneflow::Error that they throw becomes the error class of oneflow-js, and a
 * Napi::Error stays what it is. */
#ifndef ONEFLOW_NAPI_H_
#define ONEFLOW_NAPI_H_

#include <napi.h>

#include <cmath>
#include <initializer_list>
#include <memory>
#include <new>
#include <oneflow/extension.hpp>
#include <string>
#include <vector>

#pragma GCC visibility push(hidden)
namespace oneflow::node {
namespace detail {

inline thread_local const of_extension_api* table = nullptr;  // each thread has an environment of its own

inline of_object object_of(napi_value value) { return reinterpret_cast<of_object>(value); }
inline napi_value value_of(of_object object) { return reinterpret_cast<napi_value>(object); }

}  // namespace detail

/// Finds oneflow-js in an environment. Call it first in the function that initializes the addon. Throws a Napi::Error
/// if oneflow-js is not loaded, or too old.
inline void initialize(Napi::Env env) {
  const Napi::Value holder = env.Global().Get(Napi::Symbol::For(env, "oneflow.extension"));
  const napi_type_tag tag = {OF_EXTENSION_TAG_LOW, OF_EXTENSION_TAG_HIGH};
  bool is_ours = false;
  void* table = nullptr;
  if (!holder.IsObject() || napi_check_object_type_tag(env, holder, &tag, &is_ours) != napi_ok || !is_ours ||
      napi_unwrap(env, holder, &table) != napi_ok) {
    throw Napi::Error::New(env, "this module is an extension of oneflow-js, which must be loaded first");
  }
  try {
    detail::table = &extension::accept(table, "oneflow-js");
  } catch (const Error& error) {
    throw Napi::Error::New(env, error.what());
  }
}

/// Returns the table of oneflow-js in the environment of this thread.
inline const of_extension_api& api() {
  if (detail::table == nullptr) throw InternalError("oneflow::node::initialize() was not called");
  return *detail::table;
}

// ---------------------------------------------------------------- values

namespace detail {

[[noreturn]] inline void refuse(Napi::Value value, const std::string& function, const std::string& argument,
                                const char* word) {
  extension::refuse(api(), object_of(value), function.c_str(), argument.c_str(), word);
}

inline bool is_absent(Napi::Value value) { return value.IsEmpty() || value.IsUndefined() || value.IsNull(); }

}  // namespace detail

/// Converts an argument to a C++ type, or throws the error that names it: "twice: input must be Tensor, got string".
template <class T>
T from_value(Napi::Value value, const std::string& function, const std::string& argument) {
  constexpr double kExact = 9007199254740991.0;  // the largest integer that a number stands for alone
  if constexpr (extension::Exchanged<T>) {
    return extension::from_object<T>(api(), detail::object_of(value), function.c_str(), argument.c_str());
  } else if constexpr (extension::is_optional<T>) {
    if (detail::is_absent(value)) return std::nullopt;
    return from_value<typename T::value_type>(value, function, argument);
  } else if constexpr (extension::is_vector<T>) {
    if (!value.IsArray()) detail::refuse(value, function, argument, "array");
    const auto array = value.As<Napi::Array>();
    T items;
    for (uint32_t i = 0; i < array.Length(); ++i) {
      items.push_back(
          from_value<typename T::value_type>(array.Get(i), function, argument + "[" + std::to_string(i) + "]"));
    }
    return items;
  } else if constexpr (std::is_same_v<T, bool>) {
    if (!value.IsBoolean()) detail::refuse(value, function, argument, "boolean");
    return value.As<Napi::Boolean>();
  } else if constexpr (std::is_floating_point_v<T>) {
    if (!value.IsNumber()) detail::refuse(value, function, argument, "number");
    return static_cast<T>(value.As<Napi::Number>().DoubleValue());
  } else if constexpr (std::is_integral_v<T>) {
    static_assert(std::is_same_v<T, int64_t>, "functions take integers as int64_t");
    const double number = value.IsNumber() ? value.As<Napi::Number>().DoubleValue() : 0.5;
    if (std::trunc(number) == number && std::abs(number) <= kExact) return static_cast<int64_t>(number);
    if (!value.IsBigInt()) detail::refuse(value, function, argument, "integer");
    bool is_exact = false;
    const int64_t integer = value.As<Napi::BigInt>().Int64Value(&is_exact);
    if (is_exact) return integer;
    throw InvalidArgument(function + ": " + argument + " must fit into 64 bits, got a larger integer");
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (!value.IsString()) detail::refuse(value, function, argument, "string");
    return value.As<Napi::String>();
  } else if constexpr (std::is_same_v<T, Napi::Function>) {
    if (!value.IsFunction()) detail::refuse(value, function, argument, "function");
    return value.As<Napi::Function>();
  } else {
    static_assert(std::is_same_v<T, Napi::Value>, "functions cannot take this type");
    return value;
  }
}

/// Converts a C++ value to one of JavaScript. An int64_t beyond what a number stands for becomes a BigInt.
template <class T>
Napi::Value to_value(Napi::Env env, const T& value) {
  if constexpr (extension::Exchanged<T>) {
    return {env, detail::value_of(extension::to_object(api(), value))};
  } else if constexpr (extension::is_optional<T>) {
    return value ? to_value(env, *value) : env.Null();
  } else if constexpr (extension::is_vector<T>) {
    auto array = Napi::Array::New(env, value.size());
    for (size_t i = 0; i < value.size(); ++i) array.Set(static_cast<uint32_t>(i), to_value(env, value[i]));
    return array;
  } else if constexpr (std::is_same_v<T, int64_t>) {
    const int64_t exact = 9007199254740991;
    if (value > exact || value < -exact) return Napi::BigInt::New(env, value);
    return Napi::Number::New(env, static_cast<double>(value));
  } else {
    return Napi::Value::From(env, value);
  }
}

// ---------------------------------------------------------------- functions

namespace detail {

// Returns an error of JavaScript.
inline napi_value error_of(Napi::Env env, of_status status, const char* text) {
  of_object object = 0;
  const bool is_made = table && table->make_error(table, status, text, &object) == OF_OK;
  return is_made ? value_of(object) : Napi::Error::New(env, text).Value();
}

}  // namespace detail

/// Calls `work`, and returns its value. Throws a oneflow::Error, and other exceptions of C++, as an error of
/// JavaScript, and then returns NULL: the value that a callback of Node-API returns.
template <class Work>
napi_value guarded(Napi::Env env, const Work& work) {
  napi_value thrown = nullptr;
  try {
    return work();
  } catch (const Napi::Error& error) {
    error.ThrowAsJavaScriptException();
    return nullptr;
  } catch (const Error& error) {
    thrown = detail::error_of(env, error.status(), error.what());
  } catch (const std::bad_alloc&) {
    thrown = detail::error_of(env, OF_OUT_OF_MEMORY, "the host is out of memory");
  } catch (const std::exception& error) {
    thrown = Napi::Error::New(env, error.what()).Value();
  } catch (...) {
    thrown = Napi::Error::New(env, "an exception of C++ that is not a std::exception").Value();
  }
  napi_throw(env, thrown);
  return nullptr;
}

namespace detail {

// The names of a function and its arguments, for error texts.
struct Names {
  std::string function;
  std::vector<std::string> arguments;
};

template <auto function>
napi_value invoke(napi_env env, napi_callback_info info) {
  using Signature = extension::Signature<decltype(function)>;
  return guarded(env, [=]() -> napi_value {
    const Napi::CallbackInfo call(env, info);
    const Names& names = *static_cast<const Names*>(call.Data());
    check(api().enter(&api()));
    if (call.Length() > Signature::count) {
      throw TypeMismatch(names.function + ": takes at most " + std::to_string(Signature::count) +
                         " positional argument" + (Signature::count == 1 ? "" : "s") + ", got " +
                         std::to_string(call.Length()));
    }
    const auto convert = [&]<class T>(size_t i) {
      if (!extension::is_optional<T> && i >= call.Length()) {
        throw TypeMismatch(names.function + ": missing argument " + names.arguments[i]);
      }
      return from_value<T>(call[i], names.function, names.arguments[i]);
    };
    if constexpr (std::is_void_v<typename Signature::Result>) {
      Signature::call(function, convert);
      return call.Env().Undefined();
    } else {
      return to_value(env, Signature::call(function, convert));
    }
  });
}

}  // namespace detail

/// Makes a function, or a lambda without captures, a property of an object. It has one name for each of its
/// arguments; those that are std::optional may be absent.
template <auto function>
void define(Napi::Object object, const char* name, std::initializer_list<std::string> arguments) {
  const Napi::Env env = object.Env();
  if (arguments.size() != extension::Signature<decltype(function)>::count) {
    throw Napi::Error::New(env, std::string(name) + ": each argument of the C++ function needs a name");
  }
  auto names = std::make_unique<detail::Names>(detail::Names{name, arguments});
  napi_value value = nullptr;
  napi_status status = napi_create_function(env, name, NAPI_AUTO_LENGTH, detail::invoke<function>, names.get(), &value);
  const auto release = [](napi_env, void* data, void*) { delete static_cast<detail::Names*>(data); };
  if (status == napi_ok) status = napi_add_finalizer(env, value, names.get(), release, nullptr, nullptr);
  if (status != napi_ok) throw Napi::Error::New(env);
  names.release();
  object.Set(name, value);
}

}  // namespace oneflow::node
#pragma GCC visibility pop

#endif  // ONEFLOW_NAPI_H_
