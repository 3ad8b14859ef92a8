/* What the headers for extensions in each language share: tensors, devices, dtypes and generators as C++ objects, from
 * and to the values of the language. See extension.h. All functions throw an Error on failure. */
#ifndef ONEFLOW_EXTENSION_HPP_
#define ONEFLOW_EXTENSION_HPP_

#include <oneflow/extension.h>

#include <cstddef>
#include <oneflow/oneflow.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

// Each extension has its own copy of what the headers define: a process may hold several, of different versions.
#pragma GCC visibility push(hidden)
namespace oneflow::extension {

/// How a type is exchanged: its handle in the C API, and the functions of the table.
template <class T>
struct Exchange;

template <>
struct Exchange<Tensor> {
  using Handle = of_tensor;
  static constexpr auto find = &of_extension_api::find_tensor;
  static constexpr auto make = &of_extension_api::make_tensor;
  static Tensor adopt(of_tensor handle) { return Tensor(handle); }
  static of_tensor handle_of(const Tensor& tensor) { return tensor.get(); }
};

template <>
struct Exchange<Device> {
  using Handle = of_device;
  static constexpr auto find = &of_extension_api::find_device;
  static constexpr auto make = &of_extension_api::make_device;
  static Device adopt(of_device device) { return device; }
  static of_device handle_of(const Device& device) { return device.get(); }
};

template <>
struct Exchange<DType> {
  using Handle = of_dtype;
  static constexpr auto find = &of_extension_api::find_dtype;
  static constexpr auto make = &of_extension_api::make_dtype;
  static DType adopt(of_dtype dtype) { return dtype; }
  static of_dtype handle_of(of_dtype dtype) { return dtype; }
};

template <>
struct Exchange<Generator> {
  using Handle = of_generator;
  static constexpr auto find = &of_extension_api::find_generator;
  static constexpr auto make = &of_extension_api::make_generator;
  static Generator adopt(of_generator handle) {
    const Generator shared = Generator::share(handle);
    of_generator_release(handle);
    return shared;
  }
  static of_generator handle_of(const Generator& generator) { return generator.get(); }
};

/// The types that front ends exchange.
template <class T>
concept Exchanged = requires {
  typename Exchange<T>::Handle;
};

/// Returns a table that a front end has offered, and checks that it has all members that this header knows. `package`
/// is the name of the front end.
inline const of_extension_api& accept(const void* table, const char* package) {
  const auto* api = static_cast<const of_extension_api*>(table);
  if (api->struct_size >= sizeof(of_extension_api)) return *api;
  throw Unsupported(std::string("this extension was built for a later version of ") + package + " than " +
                    of_version());
}

/// Returns the value of an argument; the names are for error texts.
template <Exchanged T>
T from_object(const of_extension_api& api, of_object object, const char* function, const char* argument) {
  typename Exchange<T>::Handle handle{};
  check((api.*Exchange<T>::find)(&api, object, function, argument, &handle));
  return Exchange<T>::adopt(handle);
}

/// Returns an object of the language; the language's absent value for an empty Tensor.
template <Exchanged T>
of_object to_object(const of_extension_api& api, const T& value) {
  of_object object = 0;
  check((api.*Exchange<T>::make)(&api, Exchange<T>::handle_of(value), &object));
  return object;
}

/// Throws TypeMismatch for an argument that is no `word`, such as "number".
[[noreturn]] inline void refuse(const of_extension_api& api, of_object object, const char* function,
                                const char* argument, const char* word) {
  char name[64];
  check(api.name_type(&api, object, name));
  throw TypeMismatch(std::string(function) + ": " + argument + " must be " + word + ", got " + name);
}

/// The types of a function or of a lambda without captures.
template <class Function>
struct Signature : Signature<decltype(+std::declval<Function>())> {};
template <class R, class... A>
struct Signature<R (*)(A...)> {
  using Result = R;
  static constexpr size_t count = sizeof...(A);

  /// Calls a function with arguments that `convert.template operator()<T>(i)` returns, from the first to the last.
  template <class Function, class Convert>
  static R call(Function function, const Convert& convert) {
    return [&]<size_t... i>(std::index_sequence<i...>) {
      std::tuple<std::decay_t<A>...> values{convert.template operator()<std::decay_t<A>>(i)...};
      return function(static_cast<A&&>(std::get<i>(values))...);
    }
    (std::index_sequence_for<A...>());
  }
};

template <class R, class... A>
struct Signature<R (*)(A...) noexcept> : Signature<R (*)(A...)> {};

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <class T>
inline constexpr bool is_vector = false;
template <class T>
inline constexpr bool is_vector<std::vector<T>> = true;

}  // namespace oneflow::extension
#pragma GCC visibility pop

#endif  // ONEFLOW_EXTENSION_HPP_
