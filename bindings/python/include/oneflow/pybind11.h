/* Tensors, devices, dtypes and generators of oneflow_py in modules that are written with pybind11 (2.10 or later).
 *
 *     #include <oneflow/pybind11.h>
 *
 *     oneflow::Tensor twice(const oneflow::Tensor& input) { return input + input; }
 *
 *     PYBIND11_MODULE(twice, module) {
 *       oneflow::python::initialize();
 *       oneflow::python::def(module, "twice", twice, pybind11::arg("input"));
 *     }
 *
 * Functions take and return oneflow::Tensor, Device, DType and Generator, also in what pybind11/stl.h converts, such as
 * std::optional and std::vector. They share the memory of the caller's objects. An empty Tensor becomes None. Any
 * oneflow::Error that they throw becomes the exception of oneflow_py. */
#ifndef ONEFLOW_PYBIND11_H_
#define ONEFLOW_PYBIND11_H_

#include <pybind11/pybind11.h>

#include <oneflow/extension.hpp>
#include <optional>
#include <string>
#include <utility>

#pragma GCC visibility push(hidden)
namespace oneflow::python {
namespace detail {

inline const of_extension_api* table = nullptr;

inline of_object object_of(pybind11::handle handle) { return reinterpret_cast<of_object>(handle.ptr()); }
inline pybind11::handle handle_of(of_object object) { return reinterpret_cast<PyObject*>(object); }

// Makes an error the current exception.
inline void raise(const Error& error) {
  of_object object = 0;
  if (table->make_error(table, error.status(), error.what(), &object) != OF_OK) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
    return;
  }
  const auto owned = pybind11::reinterpret_steal<pybind11::object>(handle_of(object));
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(owned.ptr())), owned.ptr());
}

}  // namespace detail

/// Imports oneflow_py, and makes errors its exceptions. Call it first in PYBIND11_MODULE. Throws the ImportError of
/// oneflow_py, or one that says that the installed version is too old.
inline void initialize() {
  const void* table = PyCapsule_Import("oneflow_py._native._extension_api", 0);
  if (table == nullptr) throw pybind11::error_already_set();
  try {
    detail::table = &extension::accept(table, "oneflow_py");
  } catch (const Error& error) {
    throw pybind11::import_error(error.what());
  }
  pybind11::register_local_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const Error& error) {
      detail::raise(error);
    }
  });
}

/// Returns the table of oneflow_py.
inline const of_extension_api& api() {
  if (detail::table == nullptr) pybind11::pybind11_fail("oneflow::python::initialize() was not called");
  return *detail::table;
}

namespace detail {

// The first object that no type caster below has taken, since the fields were reset.
struct Refused {
  PyObject* object = nullptr;
  // Throws the error for it as an argument.
  void (*explain)(pybind11::handle object, const char* function, const char* argument) = nullptr;
};
inline thread_local Refused refused;

template <extension::Exchanged T>
class Caster {
 public:
  template <class U>
  using cast_op_type = pybind11::detail::movable_cast_op_type<U>;

  bool load(pybind11::handle source, bool) {
    typename extension::Exchange<T>::Handle found{};
    if ((api().*extension::Exchange<T>::find)(table, object_of(source), nullptr, nullptr, &found) == OF_OK) {
      value_.emplace(extension::Exchange<T>::adopt(found));
      return true;
    }
    const auto explain = [](pybind11::handle object, const char* function, const char* argument) {
      extension::from_object<T>(api(), object_of(object), function, argument);
    };
    if (refused.object == nullptr) refused = {source.ptr(), explain};
    return false;
  }

  static pybind11::handle cast(const T& value, pybind11::return_value_policy, pybind11::handle) {
    return handle_of(extension::to_object(api(), value));
  }
  static pybind11::handle cast(const T* value, pybind11::return_value_policy policy, pybind11::handle parent) {
    return value == nullptr ? pybind11::none().release() : cast(*value, policy, parent);
  }

  operator T*() { return &*value_; }
  operator T&() { return *value_; }
  operator T&&() && { return std::move(*value_); }

 private:
  std::optional<T> value_;
};

// An attribute of a function without overloads: what the casters above do not take is an error that names the
// argument. All functions with the tag have the same types, and so the same code of pybind11 behind them.
template <class... Tag>
struct NamesArguments {
  static inline pybind11::handle (*original)(pybind11::detail::function_call&) = nullptr;

  static void attach(pybind11::detail::function_record* record) {
    original = record->impl;
    record->impl = [](pybind11::detail::function_call& call) {
      refused = {};
      const pybind11::handle result = original(call);
      if (result.ptr() == PYBIND11_TRY_NEXT_OVERLOAD && call.func.next == nullptr) explain(call, refused);
      return result;
    };
  }

  static void explain(const pybind11::detail::function_call& call, const Refused& found) {
    for (size_t i = 0; found.object != nullptr && i < call.args.size(); ++i) {
      const auto& records = call.func.args;
      std::string name = i < records.size() && records[i].name ? records[i].name : "arg" + std::to_string(i);
      const pybind11::handle object = call.args[i];
      if (object.ptr() != found.object) {
        const Py_ssize_t item = position_in(object, found.object);
        if (item < 0) continue;
        name += "[" + std::to_string(item) + "]";
      }
      found.explain(found.object, call.func.name, name.c_str());
    }
  }

  // Returns the position of an object in a list or tuple, or -1.
  static Py_ssize_t position_in(pybind11::handle list, PyObject* item) {
    if (!PyList_Check(list.ptr()) && !PyTuple_Check(list.ptr())) return -1;
    const auto items = pybind11::reinterpret_borrow<pybind11::sequence>(list);
    for (size_t i = 0; i < items.size(); ++i)
      if (pybind11::object(items[i]).ptr() == item) return static_cast<Py_ssize_t>(i);
    return -1;
  }
};

}  // namespace detail

/// Defines a function of a module, or a method of a class: as scope.def(), but a wrong argument gives the error that
/// operators give, "twice: input must be Tensor, got str". For further overloads of a function, pybind11 lists them
/// all.
template <class Scope, class Function, class... Extra>
Scope& def(Scope& scope, const char* name, Function&& function, const Extra&... extra) {
  if (pybind11::hasattr(scope, name)) {
    scope.def(name, std::forward<Function>(function), extra...);
  } else {
    scope.def(name, std::forward<Function>(function), extra...,
              detail::NamesArguments<Scope, std::decay_t<Function>, Extra...>());
  }
  return scope;
}

}  // namespace oneflow::python
#pragma GCC visibility pop

namespace pybind11::detail {

template <class... Tag>
struct process_attribute<oneflow::python::detail::NamesArguments<Tag...>>
    : process_attribute_default<oneflow::python::detail::NamesArguments<Tag...>> {
  using Attribute = oneflow::python::detail::NamesArguments<Tag...>;
  static void init(const Attribute&, function_record* record) { Attribute::attach(record); }
};

template <>
struct type_caster<oneflow::Tensor> : oneflow::python::detail::Caster<oneflow::Tensor> {
  static constexpr auto name = const_name("oneflow_py.Tensor");
};
template <>
struct type_caster<oneflow::Device> : oneflow::python::detail::Caster<oneflow::Device> {
  static constexpr auto name = const_name("oneflow_py.device");
};
template <>
struct type_caster<oneflow::DType> : oneflow::python::detail::Caster<oneflow::DType> {
  static constexpr auto name = const_name("oneflow_py.dtype");
};
template <>
struct type_caster<oneflow::Generator> : oneflow::python::detail::Caster<oneflow::Generator> {
  static constexpr auto name = const_name("oneflow_py.Generator");
};

}  // namespace pybind11::detail

#endif  // ONEFLOW_PYBIND11_H_
