// Conversion from and to NumPy arrays through the buffer protocol, without linking NumPy.

#include <oneflow/autograd.h>

#include "calls/binding.h"
#include "errors.h"
#include "tensor/buffer.h"
#include "tensor/tensor.h"
#include "tensor/tensor_parts.h"

namespace oneflow::python {
namespace {

// Returns a function of NumPy, cached in `*cached`. Returns NULL with an exception if NumPy cannot be imported.
PyObject* numpy_function(const char* name, PyObject** cached) {
  if (*cached == nullptr) {
    Ref numpy(PyImport_ImportModule("numpy"));
    if (numpy) *cached = PyObject_GetAttrString(numpy.get(), name);
  }
  return *cached;
}

// Returns numpy.array(memoryview(self), dtype=dtype, copy=copy). As in NumPy 2, None copies only if necessary.
PyObject* to_numpy(PyObject* self, PyObject* dtype, PyObject* copy) {
  const of_dtype own = of_tensor_dtype(handle_of(self));
  if (own == OF_BFLOAT16) return raise(OF_DTYPE_ERROR, "numpy: NumPy has no bfloat16; cast to float32 first");
  if (of_tensor_requires_grad(handle_of(self)))
    return raise(OF_INVALID_ARGUMENT,
                 "numpy: the tensor requires a gradient, which arrays do not have; detach it first");
  static PyObject *asarray = nullptr, *array_function = nullptr;
  PyObject* share = numpy_function("asarray", &asarray);
  Ref view(share != nullptr ? PyMemoryView_FromObject(self) : nullptr);
  Ref array(view ? PyObject_CallOneArg(share, view.get()) : nullptr);
  if (!array || (dtype == Py_None && copy != Py_True)) return array.release();
  PyObject* function = numpy_function("array", &array_function);
  Ref args(PyTuple_Pack(1, array.get()));
  Ref keywords(Py_BuildValue("{sOsO}", "dtype", dtype, "copy", copy));
  return function != nullptr && args && keywords ? PyObject_Call(function, args.get(), keywords.get()) : nullptr;
}

PyObject* numpy(PyObject* self, PyObject*) { return to_numpy(self, Py_None, Py_None); }

constexpr of_parameter kArrayArguments[] = {
    optional("dtype", kAnyType),
    optional("copy", kAnyType),
};
const Function kArrayFunction("__array__", kArrayArguments);

PyObject* array(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  BoundCall call;
  if (!call.bind(kArrayFunction, {args, count, keywords})) return nullptr;
  return to_numpy(self, call.native(0) != nullptr ? call.native(0) : Py_None,
                  call.native(1) != nullptr ? call.native(1) : Py_None);
}

constexpr of_parameter kFromNumpyArguments[] = {required("array", kAnyType)};
const Function kFromNumpyFunction("from_numpy", kFromNumpyArguments);

PyObject* from_numpy(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  BoundCall call;
  if (!call.bind(kFromNumpyFunction, {args, count, keywords})) return nullptr;
  PyObject* array = call.native(0);
  if (!PyObject_CheckBuffer(array)) {
    return raise(OF_TYPE_MISMATCH,
                 "from_numpy: array must be numpy.ndarray or another object with a buffer, got " + type_name(array));
  }
  return tensor_from_buffer(array, "from_numpy", "array", false);
}

}  // namespace

std::vector<PyMethodDef> exchange_methods() {
  return {
      {"numpy", numpy, METH_NOARGS,
       "numpy($self)\n--\n\n"
       "Returns a NumPy array over the memory of the tensor, which lives as long as the array.\n\n"
       "Raises DTypeError for bfloat16, which NumPy lacks, InvalidArgument for a tensor that requires a gradient, "
       "which\n"
       "must be detached first, and DeviceError for memory that the host cannot access."},
      fast_method("__array__", array,
                  "__array__($self, dtype=None, copy=None)\n--\n\nImplements numpy.asarray(); see numpy()."),
  };
}

std::vector<PyMethodDef> exchange_functions() {
  return {
      fast_method(
          "from_numpy", from_numpy,
          "from_numpy(array)\n--\n\n"
          "Returns a tensor over the memory of a NumPy array, or of any object that exports a buffer.\n\n"
          "Nothing is copied: both see each other's writes, and the memory lives as long as either. A read-only\n"
          "array is copied by the first write to the tensor. Raises DTypeError for dtypes that oneflow lacks, and\n"
          "InvalidArgument if elements are not aligned."),
  };
}

}  // namespace oneflow::python
