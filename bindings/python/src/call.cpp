#include "call.h"

#include <oneflow/autograd.h>
#include <oneflow/front_end.h>

#include <algorithm>

#include "device.h"
#include "dtype.h"
#include "errors.h"
#include "tensor.h"

namespace oneflow::python {
namespace {

constexpr int kMaxResults = 8;

bool call_runtime(const Overload& overload, const of_value* values, of_value* results) {
  of_status status;
  {
    const auto count = static_cast<size_t>(overload.parameters.count());
    UnlockedScope unlocked(of_call_is_long(overload.op, values, count));
    status = of_call(overload.op, values, count, results, static_cast<size_t>(overload.record->result_count));
  }
  if (status != OF_OK) [[unlikely]]
    of_error_set_caller(overload.parameters.function());
  return check(status);
}

PyObject* wrap_list(const of_value& value) {
  Ref tensors(PyTuple_New(value.count));
  for (int32_t i = 0; tensors && i < value.count; ++i) {
    PyObject* tensor = wrap(of_tensor_retain(value.as.tensors[i]));
    if (tensor == nullptr) return nullptr;
    PyTuple_SET_ITEM(tensors.get(), i, tensor);
  }
  return tensors.release();
}

PyObject* to_object(const of_value& value) {
  switch (static_cast<of_value_kind>(value.kind)) {
    case OF_VALUE_ABSENT:
    case OF_VALUE_NONE:
      return Py_NewRef(Py_None);
    case OF_VALUE_BOOL:
      return PyBool_FromLong(value.as.boolean);
    case OF_VALUE_INT:
      return PyLong_FromLongLong(value.as.integer);
    case OF_VALUE_FLOAT:
      return PyFloat_FromDouble(value.as.real);
    case OF_VALUE_STRING:
      return PyUnicode_DecodeUTF8(value.as.string, value.count, "replace");
    case OF_VALUE_INT_LIST:
      return tuple_of(value.as.integers, value.count);
    case OF_VALUE_DTYPE:
      return dtype_object(value.as.dtype);
    case OF_VALUE_DEVICE:
      return device_object(value.as.device);
    case OF_VALUE_TENSOR:
      return wrap(of_tensor_retain(value.as.tensor));
    case OF_VALUE_TENSOR_LIST:
      return wrap_list(value);
    case OF_VALUE_DEVICE_LIST:
    case OF_VALUE_UINT:
    case OF_VALUE_GENERATOR:
      break;  // only arguments have these kinds
  }
  return raise(OF_INTERNAL_ERROR, "a result of unknown kind");
}

// Converts a result to an object and releases the value. A single tensor, the common case, is moved instead of being
// retained and released.
PyObject* take(of_value* value) {
  if (value->kind == OF_VALUE_TENSOR) [[likely]]
    return wrap(value->as.tensor);
  PyObject* object = to_object(*value);
  of_value_release(value);
  return object;
}

PyObject* take_all(const Overload& overload, of_value* results) {
  const int count = overload.record->result_count;
  PyTypeObject* type = reinterpret_cast<PyTypeObject*>(overload.result_type);
  Ref tuple(type != nullptr ? PyType_GenericAlloc(type, count) : PyTuple_New(count));
  for (int i = 0; i < count; ++i) {
    PyObject* item = tuple ? take(&results[i]) : nullptr;
    if (item == nullptr) {
      for (; i < count; ++i) of_value_release(&results[i]);
      return nullptr;
    }
    PyTuple_SET_ITEM(tuple.get(), i, item);
  }
  return tuple.release();
}

PyObject* raise_destination(const Overload& overload, const char* word, PyObject* found) {
  return raise(OF_TYPE_MISMATCH,
               std::string(overload.parameters.function()) + ": out must be " + word + ", got " + type_name(found));
}

// Reads the option `requires_grad`; raises TypeMismatch and returns false unless it is absent or a bool.
bool read_flag(const Overload& overload, PyObject* given, bool* flag) {
  *flag = given == Py_True;
  if (given == nullptr || PyBool_Check(given)) return true;
  raise(OF_TYPE_MISMATCH,
        std::string(overload.parameters.function()) + ": requires_grad must be bool, got " + type_name(given));
  return false;
}

PyObject* write_all(const Overload& overload, const of_value* values, PyObject* destination) {
  const int count = overload.record->result_count;
  of_value results[kMaxResults]{};
  const std::string word = "tuple of " + std::to_string(count) + " Tensors";
  if (!PyTuple_Check(destination) || PyTuple_GET_SIZE(destination) != count) {
    return raise_destination(overload, word.c_str(), destination);
  }
  for (int i = 0; i < count; ++i) {
    PyObject* item = PyTuple_GET_ITEM(destination, i);
    if (!is_tensor(item)) return raise_destination(overload, word.c_str(), destination);
    results[i].kind = OF_VALUE_TENSOR;
    results[i].as.tensor = handle_of(item);
  }
  if (!call_runtime(overload, values, results)) return nullptr;
  PyTypeObject* type = reinterpret_cast<PyTypeObject*>(overload.result_type);
  Ref tuple(type != nullptr ? PyType_GenericAlloc(type, count) : PyTuple_New(count));
  for (int i = 0; tuple && i < count; ++i) {
    PyTuple_SET_ITEM(tuple.get(), i, Py_NewRef(PyTuple_GET_ITEM(destination, i)));
  }
  return tuple.release();
}

}  // namespace

PyObject* run_operator(const Overload& overload, const of_value* values, PyObject* destination) {
  of_value result{};
  if (destination != nullptr) {
    result.kind = OF_VALUE_TENSOR;
    result.as.tensor = handle_of(destination);
  }
  if (!call_runtime(overload, values, &result)) return nullptr;
  return destination != nullptr ? Py_NewRef(destination) : take(&result);
}

PyObject* call_on_list(const Overload& overload, const of_value* values, const Bound& bound) {
  const int position = overload.record->replaced;
  of_value result = values[position];
  if (!call_runtime(overload, values, &result)) return nullptr;
  PyObject* given = bound.objects[position];
  if (bound.gathered != position) return is_tensor(given) ? PyTuple_Pack(1, given) : PySequence_Tuple(given);
  Ref tensors(PyTuple_New(static_cast<Py_ssize_t>(bound.items.size())));
  for (size_t i = 0; tensors && i < bound.items.size(); ++i)
    PyTuple_SET_ITEM(tensors.get(), static_cast<Py_ssize_t>(i), Py_NewRef(bound.items[i]));
  return tensors.release();
}

PyObject* call_overload(const Overload& overload, const of_value* values, const Bound& bound, PyObject* destination) {
  const OverloadRecord& record = *overload.record;
  if (destination == Py_None) destination = nullptr;
  if (record.result_count != 1) {
    if (destination != nullptr) return write_all(overload, values, destination);
    of_value results[kMaxResults]{};
    return call_runtime(overload, values, results) ? take_all(overload, results) : nullptr;
  }
  if (destination != nullptr && !is_tensor(destination)) return raise_destination(overload, "Tensor", destination);
  bool requires_grad = false;
  if (!read_flag(overload, bound.requires_grad(), &requires_grad)) return nullptr;
  PyObject* result = run_operator(overload, values, destination);
  if (requires_grad && result != nullptr && !check(of_tensor_set_requires_grad(handle_of(result), true))) {
    Py_CLEAR(result);
  }
  if (result == nullptr || record.written < 0) return result;
  Py_DECREF(result);
  return Py_NewRef(bound.objects[record.written]);
}

}  // namespace oneflow::python
