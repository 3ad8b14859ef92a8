// The methods that convert a tensor to a dtype or to the host: float(), long(), cpu(), as PyTorch names them.

#include <array>
#include <string>
#include <utility>

#include "calls/operators.h"
#include "devices/device.h"
#include "errors.h"
#include "tensor/creation.h"
#include "tensor/tensor.h"
#include "tensor/tensor_parts.h"

namespace oneflow::python {
namespace {

template <int dtype>
PyObject* convert(PyObject* self, PyObject*) {
  if (of_tensor_dtype(handle_of(self)) == dtype) return Py_NewRef(self);
  return cast_tensor(self, static_cast<of_dtype>(dtype)).release();
}

template <int dtype>
void append_conversion(std::vector<PyMethodDef>* methods) {
  static std::string documentation;  // as long as the type
  const char* name = of_dtype_method(static_cast<of_dtype>(dtype));
  if (name == nullptr) return;
  documentation = std::string(name) + "($self)\n--\n\nReturns the tensor, converted to " +
                  of_dtype_name(static_cast<of_dtype>(dtype)) + "; the tensor itself if it has this dtype already.";
  methods->push_back({name, convert<dtype>, METH_NOARGS, documentation.c_str()});
}

template <int... dtypes>
void append_conversions(std::vector<PyMethodDef>* methods, std::integer_sequence<int, dtypes...>) {
  (append_conversion<dtypes>(methods), ...);
}

constexpr of_device kHost{};

// Returns the name of the type of the host's device, which is that of the method.
const char* host_name() {
  static const std::string name = [] {
    char text[64];
    return std::string(of_device_name(kHost, text));
  }();
  static const std::string type = name.substr(0, name.find(':'));
  return type.c_str();
}

PyObject* to_host(PyObject* self, PyObject*) {
  if (is_same_device(tensor_device(self), kHost)) return Py_NewRef(self);
  const Ref device(device_object(kHost));
  PyObject* args[] = {self, device.get()};
  return device ? call_function("to_device", args) : nullptr;
}

}  // namespace

std::vector<PyMethodDef> conversion_methods() {
  static const std::string documentation =
      std::string(host_name()) +
      "($self)\n--\n\nReturns the tensor on the host; the tensor itself if it is there already.";
  std::vector<PyMethodDef> methods = {{host_name(), to_host, METH_NOARGS, documentation.c_str()}};
  append_conversions(&methods, std::make_integer_sequence<int, OF_DTYPE_COUNT>());
  return methods;
}

}  // namespace oneflow::python
