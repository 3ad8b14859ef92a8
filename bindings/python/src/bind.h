// Binds classes and functions with nanobind.
//
// nanobind's own functions have no signature that inspect.signature() finds, and they word their errors differently.
// Public functions and methods therefore remain entries of PyMethodDef and PyGetSetDef tables, which the templates
// below make from C++ functions: arguments pass the shared binder, nanobind's type casters convert results, and C++
// exceptions become Python exceptions. Private functions and classes are defined by nanobind alone.
#ifndef ONEFLOW_PYTHON_BIND_H_
#define ONEFLOW_PYTHON_BIND_H_

#include <nanobind/nanobind.h>

#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "calls/binding.h"
#include "devices/device.h"
#include "errors.h"
#include "tensor/dtype.h"
#include "tensor/tensor.h"
#include "tensor/tensor_parts.h"

namespace oneflow::python {

namespace nb = nanobind;

template <auto release>
struct Release {
  template <class Handle>
  void operator()(Handle handle) const {
    release(handle);
  }
};
// Owns a handle of the runtime.
template <class Handle, auto release>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, Release<release>>;
using OwnedTensor = Owned<of_tensor, of_tensor_release>;

// The handle of a Tensor object, or NULL for None.
struct BorrowedTensor {
  of_tensor handle = nullptr;
};

// ------------------------------------------------------------------------------------------------ exceptions

// Throws the exception class of a status, with `text` as its message.
[[noreturn]] inline void fail(of_status status, std::string_view text) {
  raise(status, text);
  throw nb::python_error();
}

// Throws the exception of a call that has failed.
inline void require(of_status status) {
  if (!check(status)) throw nb::python_error();
}

// Takes ownership of a new reference. Throws the current exception if it is NULL.
inline nb::object take(PyObject* owned) {
  if (owned == nullptr) throw nb::python_error();
  return nb::steal(owned);
}

// Returns the path of a file, a str or what os.fspath() takes, as bytes. Throws TypeMismatch for other objects, and
// InvalidArgument for a null byte. `function` appears in the error text.
nb::object path_bytes(const char* function, nb::handle path);

// Calls `work` and returns its result as a new reference, None for a status of success. Returns NULL with an exception
// if it throws, or if the status is that of a failure.
template <class Work>
PyObject* guarded(const Work& work) {
  using Result = decltype(work());
  try {
    if constexpr (std::is_void_v<Result>) {
      work();
      Py_RETURN_NONE;
    } else if constexpr (std::is_same_v<Result, of_status>) {
      require(work());
      Py_RETURN_NONE;
    } else {
      return nb::cast(work()).release().ptr();
    }
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    raise(OF_INTERNAL_ERROR, error.what());
  }
  return nullptr;
}

// ------------------------------------------------------------------------------------------------ functions

// The first parameter of a function that needs its receiver as a Python object.
struct Self : nb::handle {
  using nb::handle::handle;
};

// How a C++ function is called with its receiver: a Python object, a tensor, or an object of a class that add_class()
// has added.
template <class Function>
struct Callee;
template <class R, class... A>
struct Callee<R (*)(A...)> {
  using Arguments = std::tuple<std::decay_t<A>...>;
  template <class... Values>
  static R call(R (*function)(A...), PyObject*, Values&&... values) {
    return function(std::forward<Values>(values)...);
  }
};
template <class R, class... A>
struct Callee<R (*)(Self, A...)> {
  using Arguments = std::tuple<std::decay_t<A>...>;
  template <class... Values>
  static R call(R (*function)(Self, A...), PyObject* self, Values&&... values) {
    return function(self, std::forward<Values>(values)...);
  }
};
template <class R, class... A>
struct Callee<R (*)(of_tensor, A...)> {
  using Arguments = std::tuple<std::decay_t<A>...>;
  template <class... Values>
  static R call(R (*function)(of_tensor, A...), PyObject* self, Values&&... values) {
    return function(handle_of(self), std::forward<Values>(values)...);
  }
};
template <class R, class T, class... A>
struct Callee<R (T::*)(A...) const> {
  using Arguments = std::tuple<std::decay_t<A>...>;
  template <class... Values>
  static R call(R (T::*function)(A...) const, PyObject* self, Values&&... values) {
    return (nb::inst_ptr<const T>(self)->*function)(std::forward<Values>(values)...);
  }
};
template <auto function>
using ArgumentsOf = typename Callee<decltype(function)>::Arguments;

// An argument, and the object that it was converted from.
struct Given {
  of_value value;
  nb::handle object;
};

// Converts an argument to the type of a parameter of a C++ function.
template <class T>
T argument(const of_value& value, PyObject* object) {
  if constexpr (std::is_same_v<T, nb::handle>) {
    return object != nullptr ? object : Py_None;
  } else if constexpr (std::is_same_v<T, Given>) {
    return {value, object};
  } else if constexpr (std::is_same_v<T, bool>) {
    return value.as.boolean;
  } else if constexpr (std::is_same_v<T, int64_t>) {
    return value.as.integer;
  } else if constexpr (std::is_same_v<T, of_dtype>) {
    return value.as.dtype;
  } else if constexpr (std::is_same_v<T, of_device>) {
    return value.as.device;
  } else if constexpr (std::is_same_v<T, of_tensor>) {
    return value.as.tensor;
  } else if constexpr (std::is_same_v<T, std::string_view>) {
    return {value.as.string, static_cast<size_t>(value.count)};
  } else {  // std::optional
    if (value.kind == OF_VALUE_ABSENT || value.kind == OF_VALUE_NONE) return std::nullopt;
    return argument<typename T::value_type>(value, object);
  }
}

// Calls a function with converted arguments.
template <auto function>
PyObject* call_converted(PyObject* self, const BoundCall& call) {
  return [&]<size_t... i>(std::index_sequence<i...>) {
    return guarded([&] {
      return Callee<decltype(function)>::call(
          function, self,
          argument<std::tuple_element_t<i, ArgumentsOf<function>>>(call.values()[i], call.native(i))...);
    });
  }
  (std::make_index_sequence<std::tuple_size_v<ArgumentsOf<function>>>());
}

// Calls a function without arguments, or with one that it checks itself.
template <auto function>
PyObject* call_plain(PyObject* self, [[maybe_unused]] PyObject* object) {
  return guarded([&] {
    if constexpr (std::tuple_size_v<ArgumentsOf<function>> == 0) {
      return Callee<decltype(function)>::call(function, self);
    } else {
      return Callee<decltype(function)>::call(function, self, object);
    }
  });
}

// Returns the definition of a function or method whose arguments are those of `signature`.
template <auto function, const Function& signature>
PyMethodDef bound(const char* name, const char* documentation) {
  const auto call = [](PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords) -> PyObject* {
    BoundCall call;
    return call.bind(signature, {args, count, keywords}) ? call_converted<function>(self, call) : nullptr;
  };
  return fast_method(name, call, documentation);
}

// Returns the definition of a function or method without arguments, or with one positional argument.
template <auto function>
PyMethodDef plain(const char* name, const char* documentation) {
  const bool has_argument = std::tuple_size_v<ArgumentsOf<function>> == 1;
  return {name, call_plain<function>, has_argument ? METH_O : METH_NOARGS, documentation};
}

// Returns the definition of an attribute, which is read-only without a function that sets it.
template <auto function>
PyGetSetDef attribute(const char* name, const char* documentation, setter set = nullptr) {
  const auto get = [](PyObject* self, void*) { return call_plain<function>(self, nullptr); };
  return {name, get, set, documentation, nullptr};
}

// ------------------------------------------------------------------------------------------------ classes

// Returns the function of a slot without arguments, such as Py_tp_repr.
template <auto function>
void* unary_slot() {
  return reinterpret_cast<void*>(+[](PyObject* self) { return call_plain<function>(self, nullptr); });
}

// Returns the function of Py_tp_new for a class whose arguments are those of `signature`.
template <auto function, const Function& signature>
void* new_slot() {
  const auto create = [](PyTypeObject*, PyObject* arguments, PyObject* keywords) -> PyObject* {
    UnpackedArguments unpacked;
    BoundCall call;
    const bool is_bound = unpacked.unpack(arguments, keywords) && call.bind(signature, unpacked.get());
    return is_bound ? call_converted<function>(nullptr, call) : nullptr;
  };
  return reinterpret_cast<void*>(+create);
}
// The module oneflow_py as the scope of the public classes: pickles and error texts do not name its compiled part.
nb::module_ package_scope();

// The Py_tp_new of classes of which Python code cannot create instances.
PyObject* refuse_new(PyTypeObject* type, PyObject*, PyObject*);

// Makes a class of nanobind what other classes of C are, and adds it to the module: its instances are created by its
// Py_tp_new alone.
PyTypeObject* seal_class(nb::handle type, PyObject* module);

// Adds a public class, which has no subclasses. `slots` has Py_tp_new and ends with {0, nullptr}. Returns a borrowed
// reference.
template <class T>
PyTypeObject* add_class(PyObject* module, const char* name, const PyType_Slot* slots) {
  return seal_class(nb::class_<T>(package_scope(), name, nb::type_slots(slots), nb::is_final()), module);
}

}  // namespace oneflow::python

// ------------------------------------------------------------------------------------------------ type casters

namespace nanobind::detail {

template <>
struct type_caster<of_dtype> {
  NB_TYPE_CASTER(of_dtype, const_name("dtype"))
  static handle from_cpp(of_dtype dtype, rv_policy, cleanup_list*) noexcept {
    return dtype == OF_DTYPE_NONE ? none().release() : oneflow::python::dtype_object(dtype);
  }
};

template <>
struct type_caster<of_device> {
  NB_TYPE_CASTER(of_device, const_name("device"))
  bool from_python(handle source, uint32_t, cleanup_list*) noexcept {
    if (!oneflow::python::is_device(source.ptr())) return false;
    value = oneflow::python::device_of(source.ptr());
    return true;
  }
  static handle from_cpp(of_device device, rv_policy, cleanup_list*) noexcept {
    return oneflow::python::device_object(device);
  }
};

template <>
struct type_caster<oneflow::python::BorrowedTensor> {
  NB_TYPE_CASTER(oneflow::python::BorrowedTensor, const_name("Tensor | None"))
  bool from_python(handle source, uint32_t, cleanup_list*) noexcept {
    const bool is_tensor = oneflow::python::is_tensor(source.ptr());
    value.handle = is_tensor ? oneflow::python::handle_of(source.ptr()) : nullptr;
    return is_tensor || source.is_none();
  }
};

template <>
struct type_caster<oneflow::python::OwnedTensor> {
  NB_TYPE_CASTER(oneflow::python::OwnedTensor, const_name("Tensor | None"))
  static handle from_cpp(oneflow::python::OwnedTensor&& tensor, rv_policy, cleanup_list*) noexcept {
    return tensor ? oneflow::python::wrap(tensor.release()) : none().release().ptr();
  }
};

}  // namespace nanobind::detail

#endif  // ONEFLOW_PYTHON_BIND_H_
