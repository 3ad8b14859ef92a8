// Conversion of tensors to Python values: item(), tolist(), float(), complex(), int(), bool(), index().

#include <cstring>
#include <vector>

#include "calls/operators.h"
#include "errors.h"
#include "tensor/dtype.h"
#include "tensor/tensor.h"
#include "tensor/tensor_parts.h"

namespace oneflow::python {
namespace {

PyObject* to_object(const of_scalar& scalar) {
  switch (scalar.kind) {
    case OF_SCALAR_BOOL:
      return PyBool_FromLong(scalar.as.integer != 0);
    case OF_SCALAR_INT:
      return PyLong_FromLongLong(scalar.as.integer);
    case OF_SCALAR_FLOAT:
      return PyFloat_FromDouble(scalar.as.real);
    case OF_SCALAR_UINT:
      return PyLong_FromUnsignedLongLong(scalar.as.natural);
  }
  return raise(OF_INTERNAL_ERROR, "a scalar of unknown kind");
}

// Returns the only element of a complex tensor, which an of_scalar cannot hold.
PyObject* complex_item(of_tensor handle) {
  double real = 0, imaginary = 0;
  const auto read = [&] { return of_tensor_complex_item(handle, &real, &imaginary); };
  return check(run_native(handle, read)) ? PyComplex_FromDoubles(real, imaginary) : nullptr;
}

PyObject* item(PyObject* self, PyObject*) {
  if (is_complex(of_tensor_dtype(handle_of(self)))) return complex_item(handle_of(self));
  of_scalar scalar{};
  const of_tensor handle = handle_of(self);
  return check(run_native(handle, [&] { return of_tensor_item(handle, &scalar); })) ? to_object(scalar) : nullptr;
}

PyObject* to_complex(PyObject* self, PyObject*) {
  Ref value(item(self, nullptr));
  if (!value || PyComplex_Check(value.get())) return value.release();
  const double real = PyFloat_AsDouble(value.get());
  return real == -1 && PyErr_Occurred() ? nullptr : PyComplex_FromDoubles(real, 0);
}

PyObject* to_float(PyObject* self) {
  Ref value(item(self, nullptr));
  return value ? PyNumber_Float(value.get()) : nullptr;
}

PyObject* to_int(PyObject* self) {
  Ref value(item(self, nullptr));
  return value ? PyNumber_Long(value.get()) : nullptr;
}

PyObject* to_index(PyObject* self) {
  const of_dtype dtype = of_tensor_dtype(handle_of(self));
  if (of_tensor_count(handle_of(self)) == 1 && (is_integral(dtype) || dtype == OF_BOOL)) return to_int(self);
  return raise(OF_TYPE_MISMATCH, "index: input must be a tensor with one integer, got " +
                                     std::to_string(of_tensor_count(handle_of(self))) + " elements of " +
                                     of_dtype_name(dtype));
}

int to_bool(PyObject* self) {
  const int64_t count = of_tensor_count(handle_of(self));
  if (count != 1) {
    raise(OF_INVALID_ARGUMENT,
          "bool: a tensor with " + std::to_string(count) + " elements is neither true nor false; use any() or all()");
    return -1;
  }
  Ref value(item(self, nullptr));
  return value ? PyObject_IsTrue(value.get()) : -1;
}

// Formats the element of a tensor without dimensions, as in f"{x:.2f}", and other tensors as strings.
PyObject* format(PyObject* self, PyObject* specification) {
  const bool number =
      of_tensor_rank(handle_of(self)) == 0 && PyUnicode_Check(specification) && PyUnicode_GET_LENGTH(specification) > 0;
  Ref value(number ? item(self, nullptr) : PyObject_Str(self));
  return value ? PyObject_Format(value.get(), specification) : nullptr;
}

template <typename T>
T load(const char* bytes) {
  T value;
  memcpy(&value, bytes, sizeof(T));
  return value;
}

template <typename T>
PyObject* load_complex(const char* bytes) {
  return PyComplex_FromDoubles(load<T>(bytes), load<T>(bytes + sizeof(T)));
}

PyObject* element(of_dtype dtype, const char* bytes) {
  switch (dtype) {
    case OF_BOOL:
      return PyBool_FromLong(*bytes);
    case OF_UINT8:
      return PyLong_FromLong(load<uint8_t>(bytes));
    case OF_INT8:
      return PyLong_FromLong(load<int8_t>(bytes));
    case OF_INT16:
      return PyLong_FromLong(load<int16_t>(bytes));
    case OF_INT32:
      return PyLong_FromLong(load<int32_t>(bytes));
    case OF_INT64:
      return PyLong_FromLongLong(load<int64_t>(bytes));
    case OF_UINT16:
      return PyLong_FromLong(load<uint16_t>(bytes));
    case OF_UINT32:
      return PyLong_FromUnsignedLong(load<uint32_t>(bytes));
    case OF_UINT64:
      return PyLong_FromUnsignedLongLong(load<uint64_t>(bytes));
    case OF_FLOAT32:
      return PyFloat_FromDouble(load<float>(bytes));
    case OF_FLOAT64:
      return PyFloat_FromDouble(load<double>(bytes));
    case OF_COMPLEX64:
      return load_complex<float>(bytes);
    case OF_COMPLEX128:
      return load_complex<double>(bytes);
    default:
      return raise(OF_INTERNAL_ERROR, std::string("tolist: elements of ") + of_dtype_name(dtype));
  }
}

// Returns the row-major elements at `*bytes` as nested lists, and advances `*bytes` past them.
PyObject* nested_list(const int64_t* sizes, int32_t rank, of_dtype dtype, const char** bytes) {
  if (rank == 0) {
    PyObject* value = element(dtype, *bytes);
    *bytes += of_dtype_size(dtype);
    return value;
  }
  Ref list(PyList_New(sizes[0]));
  for (int64_t i = 0; list && i < sizes[0]; ++i) {
    PyObject* entry = nested_list(sizes + 1, rank - 1, dtype, bytes);
    if (entry == nullptr) return nullptr;
    PyList_SET_ITEM(list.get(), i, entry);
  }
  return list.release();
}

PyObject* tolist(PyObject* self, PyObject*) {
  Ref tensor = Ref::borrow(self);
  const of_dtype dtype = of_tensor_dtype(handle_of(self));
  if (dtype == OF_FLOAT16 || dtype == OF_BFLOAT16) {  // C++ has no such types; float32 holds all of their values
    Ref wide(dtype_object(OF_FLOAT32));
    PyObject* args[] = {self, wide.get()};
    tensor = Ref(call_function("cast", args));
    if (!tensor) return nullptr;
  }
  const of_tensor handle = handle_of(tensor.get());
  Ref bytes = read_bytes(handle);
  if (!bytes) return nullptr;
  const char* position = PyBytes_AS_STRING(bytes.get());
  return nested_list(of_tensor_sizes(handle), of_tensor_rank(handle), of_tensor_dtype(handle), &position);
}

}  // namespace

std::vector<PyMethodDef> value_methods() {
  return {
      {"item", item, METH_NOARGS,
       "item($self)\n--\n\n"
       "Returns the only element as a Python number. Raises InvalidArgument for tensors with more or fewer elements."},
      {"tolist", tolist, METH_NOARGS,
       "tolist($self)\n--\n\n"
       "Returns the elements as nested lists of Python numbers, or as a number for a tensor without dimensions."},
      {"__complex__", to_complex, METH_NOARGS,
       "__complex__($self)\n--\n\nReturns the only element as a complex number."},
      {"__format__", format, METH_O,
       "__format__($self, format_spec, /)\n--\n\nFormats the element of a scalar tensor, other tensors as str."},
  };
}

void append_value_slots(std::vector<PyType_Slot>* slots) {
  slots->push_back({Py_nb_float, reinterpret_cast<void*>(to_float)});
  slots->push_back({Py_nb_int, reinterpret_cast<void*>(to_int)});
  slots->push_back({Py_nb_index, reinterpret_cast<void*>(to_index)});
  slots->push_back({Py_nb_bool, reinterpret_cast<void*>(to_bool)});
}

}  // namespace oneflow::python
