#include "tensor/creation.h"

#include <oneflow/autograd.h>

#include <new>

#include "calls/binding.h"
#include "calls/operators.h"
#include "devices/device.h"
#include "errors.h"
#include "tensor/buffer.h"
#include "tensor/dlpack.h"
#include "tensor/dtype.h"
#include "tensor/nested.h"
#include "tensor/tensor.h"
#include "tensor/tensor_parts.h"

namespace oneflow::python {
namespace {

of_device device_for(const TensorRequest& request) {
  return request.device != nullptr ? *request.device : of_default_device();
}

PyObject* from_nested(PyObject* data, const TensorRequest& request) {
  NestedNumbers nested(request.function, request.name);
  if (!nested.collect(data)) return nullptr;
  of_dtype dtype = nested.dtype();
  if (dtype == OF_DTYPE_NONE) dtype = request.if_empty;
  if (dtype == OF_DTYPE_NONE) dtype = of_default_dtype();
  if (request.dtype != nullptr) dtype = *request.dtype;
  // C++ has no half-precision types: numbers are stored as float64, which the runtime rounds.
  const bool half = dtype == OF_FLOAT16 || dtype == OF_BFLOAT16;
  const of_dtype stored = half ? OF_FLOAT64 : dtype;
  const size_t bytes = nested.count() * of_dtype_size(stored);
  Ref memory(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(bytes)));
  if (!memory || !nested.store(stored, PyBytes_AS_STRING(memory.get()))) return nullptr;
  of_tensor_source source{};
  source.struct_size = sizeof(source);
  source.dtype = stored;
  source.device = device_for(request);
  source.rank = static_cast<int32_t>(nested.sizes().size());
  source.sizes = nested.sizes().data();
  source.data = PyBytes_AS_STRING(memory.get());
  source.bytes = bytes;
  of_tensor handle = nullptr;
  if (!check(create_native(source, &handle))) return nullptr;
  Ref tensor(wrap(handle));
  return tensor && half ? cast_tensor(tensor.get(), dtype).release() : tensor.release();
}

// Returns the tensor if it is on the device, else a copy on the device.
Ref on_device(Ref tensor, of_device device) {
  if (!tensor || is_same_device(tensor_device(tensor.get()), device)) return tensor;
  of_tensor moved = nullptr;
  const of_tensor handle = handle_of(tensor.get());
  const auto move = [&] { return of_tensor_to_device(handle, device, &moved); };
  return check(of_device_waits(device) ? run_unlocked(move) : run_native(handle, move)) ? Ref(wrap(moved)) : Ref();
}

PyObject* copy_of(PyObject* tensor) {
  of_tensor handle = nullptr;
  return check(of_tensor_lazy_clone(handle_of(tensor), &handle)) ? wrap(handle) : nullptr;
}

bool is_plain_data(PyObject* data) {
  return PyList_Check(data) || PyTuple_Check(data) || PyBytes_Check(data) || PyFloat_CheckExact(data) ||
         PyLong_Check(data);
}

// Returns a copy of a tensor or an array, on the device of the data. Returns an empty Ref without an exception for
// other objects.
Ref copy_array(PyObject* data, const TensorRequest& request) {
  if (is_tensor(data)) return Ref(copy_of(data));
  if (is_plain_data(data)) return Ref();
  if (PyObject_CheckBuffer(data)) return Ref(tensor_from_buffer(data, request.function, request.name, true));
  if (!has_dlpack(data)) return Ref();
  Ref shared = tensor_from_dlpack(data);
  return shared ? Ref(copy_of(shared.get())) : Ref();
}

Ref create(PyObject* data, const TensorRequest& request) {
  Ref tensor = copy_array(data, request);
  if (!tensor && PyErr_Occurred() == nullptr) return Ref(from_nested(data, request));
  if (!tensor || request.dtype == nullptr || of_tensor_dtype(handle_of(tensor.get())) == *request.dtype) return tensor;
  return cast_tensor(tensor.get(), *request.dtype);
}

constexpr of_parameter kTensorArguments[] = {
    required("data", kAnyType),
    optional_keyword("dtype", kDTypeOrNone),
    optional_keyword("device", kDeviceOrNone),
    optional_keyword("requires_grad", kBoolOrNone),
};
const Function kTensorFunction("tensor", kTensorArguments);

PyObject* tensor_function(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  BoundCall call;
  if (!call.bind(kTensorFunction, {args, count, keywords})) return nullptr;
  TensorRequest request{.function = "tensor", .name = "data"};
  if (call.values()[1].kind == OF_VALUE_DTYPE) request.dtype = &call.values()[1].as.dtype;
  if (call.values()[2].kind == OF_VALUE_DEVICE) request.device = &call.values()[2].as.device;
  Ref tensor(create_tensor(call.native(0), request));
  const bool requires_grad = call.values()[3].kind == OF_VALUE_BOOL && call.values()[3].as.boolean;
  if (!tensor || !requires_grad || check(of_tensor_set_requires_grad(handle_of(tensor.get()), true)))
    return tensor.release();
  return nullptr;
}

PyObject* is_tensor_function(PyObject*, PyObject* object) { return PyBool_FromLong(is_tensor(object)); }

}  // namespace

PyObject* create_tensor(PyObject* data, const TensorRequest& request) {
  try {
    Ref tensor = create(data, request);
    if (is_tensor(data) && request.device == nullptr) return tensor.release();  // a copy stays on the tensor's device
    return on_device(std::move(tensor), device_for(request)).release();
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  }
}

Ref cast_tensor(PyObject* tensor, of_dtype dtype) {
  Ref object(dtype_object(dtype));
  PyObject* args[] = {tensor, object.get()};
  return Ref(call_function("cast", args));
}

std::vector<PyMethodDef> creation_functions() {
  return {
      fast_method(
          "tensor", tensor_function,
          "tensor(data, *, dtype=None, device=None, requires_grad=False)\n--\n\n"
          "Creates a tensor from numbers, nested lists or tuples of numbers, NumPy arrays, or tensors of oneflow or\n"
          "another library.\n\n"
          "The data is always copied. Without `dtype`, ints give int64, floats the default dtype, bools bool, and\n"
          "arrays and tensors keep their dtype. Raises ShapeError for sequences whose items differ in length, and\n"
          "InvalidArgument for numbers that do not fit the dtype.\n\n"
          "    >>> flow.tensor([[1, 2], [3, 4]])\n"
          "    tensor([[1, 2],\n"
          "            [3, 4]])"),
      {"is_tensor", is_tensor_function, METH_O,
       "is_tensor(object, /)\n--\n\nReturns whether the object is a oneflow tensor."},
  };
}

}  // namespace oneflow::python
