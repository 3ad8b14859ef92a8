// Converts single Python objects to values of the runtime.

#include <algorithm>
#include <cstring>

#include "arguments.h"
#include "device.h"
#include "dtype.h"
#include "generator.h"
#include "tensor.h"

namespace oneflow::python {

ValueStore::Lists::~Lists() {
  for (const TensorList& list : tensors) {
    for (Py_ssize_t i = 0; i < list.count; ++i) of_tensor_release(list.items[i]);
  }
}

int64_t* ValueStore::integers(Py_ssize_t count) {
  if (count <= static_cast<Py_ssize_t>(inline_integers_.size()) - inline_used_) {
    inline_used_ += count;
    return inline_integers_.data() + inline_used_ - count;
  }
  return lists().integers.emplace_back(std::make_unique<int64_t[]>(static_cast<size_t>(count))).get();
}

of_device* ValueStore::devices(Py_ssize_t count) {
  return lists().devices.emplace_back(std::make_unique<of_device[]>(static_cast<size_t>(count))).get();
}

of_tensor* ValueStore::tensors(Py_ssize_t count) {
  if (count <= static_cast<Py_ssize_t>(inline_tensors_.size()) - inline_tensors_used_) {
    of_tensor* const tensors = inline_tensors_.data() + inline_tensors_used_;
    std::fill_n(tensors, count, nullptr);
    inline_tensors_used_ += count;
    return tensors;
  }
  return lists()
      .tensors.emplace_back(TensorList{std::make_unique<of_tensor[]>(static_cast<size_t>(count)), count})
      .items.get();
}

bool is_numpy_scalar(PyObject* object) {
  static PyObject* scalar_type = nullptr;  // numpy.generic, once NumPy is loaded
  if (scalar_type == nullptr) {
    PyObject* modules = PyImport_GetModuleDict();
    PyObject* numpy = modules != nullptr ? PyDict_GetItemString(modules, "numpy") : nullptr;
    if (numpy == nullptr) return false;
    scalar_type = PyObject_GetAttrString(numpy, "generic");
    if (scalar_type == nullptr || !PyType_Check(scalar_type)) {  // partly imported, or another module of this name
      PyErr_Clear();
      Py_CLEAR(scalar_type);
      return false;
    }
  }
  return PyObject_TypeCheck(object, reinterpret_cast<PyTypeObject*>(scalar_type)) != 0;
}

bool find_integer(PyObject* integer, of_value* value) {
  int overflow = 0;
  value->kind = OF_VALUE_INT;
  value->as.integer = PyLong_AsLongLongAndOverflow(integer, &overflow);
  if (overflow == 0) return true;
  value->kind = OF_VALUE_UINT;
  value->as.natural = PyLong_AsUnsignedLongLong(integer);
  if (!PyErr_Occurred()) return true;
  PyErr_Clear();
  return false;
}

NumberMatch find_number(PyObject* object, of_value* value) {
  if (PyFloat_Check(object)) {
    value->kind = OF_VALUE_FLOAT;
    value->as.real = PyFloat_AS_DOUBLE(object);
    return NumberMatch::kFound;
  }
  if (PyBool_Check(object)) {
    value->kind = OF_VALUE_BOOL;
    value->as.boolean = object == Py_True;
    return NumberMatch::kFound;
  }
  if (PyLong_Check(object)) {
    return find_integer(object, value) ? NumberMatch::kFound : NumberMatch::kTooLarge;
  }
  if (is_numpy_scalar(object)) {
    Ref item(PyObject_CallMethod(object, "item", nullptr));
    if (item && !is_numpy_scalar(item.get())) return find_number(item.get(), value);
    PyErr_Clear();
  }
  return NumberMatch::kWrongType;
}

namespace {

bool fail(Mismatch::Reason reason, PyObject* found, Mismatch* mismatch) {
  mismatch->reason = reason;
  mismatch->found = Ref::borrow(found);
  return false;
}

bool wrong_type(PyObject* found, Mismatch* mismatch) { return fail(Mismatch::Reason::kWrongType, found, mismatch); }

// Converts an int or an object with __index__. Rejects bool, and tensors, so that x.max(y) selects the overload for two
// tensors.
bool convert_integer(PyObject* object, int64_t* result, Mismatch* mismatch) {
  if (PyBool_Check(object) || is_tensor(object)) return wrong_type(object, mismatch);
  Ref integer;
  if (!PyLong_Check(object)) {
    if (!PyIndex_Check(object)) return wrong_type(object, mismatch);
    integer = Ref(PyNumber_Index(object));
    if (!integer) {  // every array has an __index__, which fails for most of them
      if (PyErr_ExceptionMatches(PyExc_TypeError)) PyErr_Clear();
      return wrong_type(object, mismatch);
    }
    object = integer.get();
  }
  int overflow = 0;
  *result = PyLong_AsLongLongAndOverflow(object, &overflow);
  return overflow == 0 || fail(Mismatch::Reason::kTooLarge, object, mismatch);
}

bool convert_tensor(PyObject* object, bool optional, of_tensor* result, Mismatch* mismatch) {
  if (is_tensor(object)) {
    *result = handle_of(object);
    return true;
  }
  *result = nullptr;
  return (optional && object == Py_None) || wrong_type(object, mismatch);
}

// Converts a list of pairs of integers to a flat list of integers.
bool convert_pairs(const ArgumentRecord& argument, PyObject* pairs, ValueStore* store, of_value* value,
                   Mismatch* mismatch) {
  std::vector<Ref> copies;  // as tuples: conversions run code that could change a list
  std::vector<PyObject*> items;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(pairs); ++i) {
    PyObject* pair = PyTuple_GET_ITEM(pairs, i);
    if ((!PyList_Check(pair) && !PyTuple_Check(pair)) || PySequence_Fast_GET_SIZE(pair) != 2) {
      mismatch->item = i;
      return wrong_type(pair, mismatch);
    }
    PyObject* copy = copies.emplace_back(PySequence_Tuple(pair)).get();
    if (copy == nullptr) return false;
    for (Py_ssize_t k = 0; k < 2; ++k) items.push_back(PyTuple_GET_ITEM(copy, k));
  }
  if (convert_items(argument, items, store, value, mismatch)) return true;
  mismatch->item /= 2;
  return false;
}

bool convert_list(const ArgumentRecord& argument, PyObject* object, ValueStore* store, of_value* value,
                  Mismatch* mismatch) {
  Ref copy;  // as a tuple: conversions run code that could change a list
  if (PyList_Check(object)) {
    copy = Ref(PyList_AsTuple(object));
    if (!copy) return false;
    object = copy.get();
  }
  if (argument.is_pairs)
    return PyTuple_Check(object) ? convert_pairs(argument, object, store, value, mismatch)
                                 : wrong_type(object, mismatch);
  if (PyTuple_Check(object)) {
    const auto count = static_cast<size_t>(PyTuple_GET_SIZE(object));
    return convert_items(argument, {PySequence_Fast_ITEMS(object), count}, store, value, mismatch);
  }
  // A single item stands for a list of one, but None stands for an absent list.
  if (object == Py_None) return wrong_type(object, mismatch);
  if (convert_items(argument, {&object, 1}, store, value, mismatch)) return true;
  mismatch->item = -1;
  return false;
}

bool convert_string(PyObject* object, of_value* value, Mismatch* mismatch) {
  if (!PyUnicode_Check(object)) return wrong_type(object, mismatch);
  Py_ssize_t bytes = 0;
  value->kind = OF_VALUE_STRING;
  value->as.string = PyUnicode_AsUTF8AndSize(object, &bytes);
  value->count = static_cast<int32_t>(bytes);
  if (bytes > INT32_MAX) return fail(Mismatch::Reason::kTooLong, object, mismatch);
  if (value->as.string != nullptr) return true;
  PyErr_Clear();
  return fail(Mismatch::Reason::kNotUnicode, object, mismatch);
}

bool convert_number(PyObject* object, of_value* value, Mismatch* mismatch) {
  switch (find_number(object, value)) {
    case NumberMatch::kFound:
      return true;
    case NumberMatch::kTooLarge:
      return fail(Mismatch::Reason::kTooLarge, object, mismatch);
    case NumberMatch::kWrongType:
      break;
  }
  return wrong_type(object, mismatch);
}

bool convert_real(PyObject* object, of_value* value, Mismatch* mismatch) {
  if (!convert_number(object, value, mismatch)) return false;
  if (value->kind == OF_VALUE_INT) value->as.real = static_cast<double>(value->as.integer);
  if (value->kind == OF_VALUE_UINT) value->as.real = static_cast<double>(value->as.natural);
  if (value->kind == OF_VALUE_BOOL) value->as.real = value->as.boolean ? 1.0 : 0.0;
  value->kind = OF_VALUE_FLOAT;
  return true;
}

bool convert_bool(PyObject* object, of_value* value, Mismatch* mismatch) {
  if (!PyBool_Check(object) && !is_numpy_scalar(object)) return wrong_type(object, mismatch);
  return (find_number(object, value) == NumberMatch::kFound && value->kind == OF_VALUE_BOOL) ||
         wrong_type(object, mismatch);
}

// Returns whether a name contains a null byte, at which it would end for the runtime.
bool has_null_byte(PyObject* name) { return PyUnicode_FindChar(name, 0, 0, PyUnicode_GetLength(name), 1) >= 0; }

bool convert_dtype(PyObject* object, of_value* value, Mismatch* mismatch) {
  value->kind = OF_VALUE_DTYPE;
  switch (find_dtype(object, &value->as.dtype)) {
    case DtypeMatch::kFound:
      return true;
    case DtypeMatch::kUnknown:
      return fail(has_null_byte(object) ? Mismatch::Reason::kNullByte : Mismatch::Reason::kUnknownDtype, object,
                  mismatch);
    case DtypeMatch::kOther:
      break;
  }
  return wrong_type(object, mismatch);
}

bool convert_device(PyObject* object, of_value* value, Mismatch* mismatch) {
  value->kind = OF_VALUE_DEVICE;
  if (is_device(object)) {
    value->as.device = device_of(object);
    return true;
  }
  of_value name{};
  if (!convert_string(object, &name, mismatch)) return false;
  if (has_null_byte(object)) return fail(Mismatch::Reason::kNullByte, object, mismatch);
  if (of_device_parse(name.as.string, &value->as.device) == OF_OK) return true;
  mismatch->detail = of_last_error();
  return fail(Mismatch::Reason::kUnknownDevice, object, mismatch);
}

// Calls `convert(item, i)` for each item until one does not fit, whose index it writes to `mismatch`.
template <class Convert>
bool convert_each(std::span<PyObject* const> items, Mismatch* mismatch, Convert convert) {
  for (size_t i = 0; i < items.size(); ++i) {
    if (!convert(items[i], static_cast<Py_ssize_t>(i))) {
      mismatch->item = static_cast<Py_ssize_t>(i);
      return false;
    }
  }
  return true;
}

}  // namespace

bool convert_items(const ArgumentRecord& argument, std::span<PyObject* const> items, ValueStore* store, of_value* value,
                   Mismatch* mismatch) {
  const auto count = static_cast<Py_ssize_t>(items.size());
  if (count > INT32_MAX) return fail(Mismatch::Reason::kTooLong, Py_None, mismatch);
  value->count = static_cast<int32_t>(count);
  switch (argument.kind) {
    case ArgumentKind::kTensor: {
      of_tensor* handles = store->tensors(count);
      value->kind = OF_VALUE_TENSOR_LIST;
      value->as.tensors = handles;
      return convert_each(items, mismatch, [&](PyObject* item, Py_ssize_t i) {
        if (!convert_tensor(item, argument.optional_items, &handles[i], mismatch)) return false;
        if (handles[i] != nullptr) of_tensor_retain(handles[i]);
        return true;
      });
    }
    case ArgumentKind::kDevice: {
      of_device* devices = store->devices(count);
      value->kind = OF_VALUE_DEVICE_LIST;
      value->as.devices = devices;
      return convert_each(items, mismatch, [&](PyObject* item, Py_ssize_t i) {
        of_value device{};
        if (!convert_device(item, &device, mismatch)) return false;
        devices[i] = device.as.device;
        return true;
      });
    }
    default: {
      int64_t* integers = store->integers(count);
      value->kind = OF_VALUE_INT_LIST;
      value->as.integers = integers;
      return convert_each(items, mismatch,
                          [&](PyObject* item, Py_ssize_t i) { return convert_integer(item, &integers[i], mismatch); });
    }
  }
}

bool convert(const ArgumentRecord& argument, PyObject* object, ValueStore* store, of_value* value, Mismatch* mismatch) {
  if (argument.kind <= ArgumentKind::kOperand && !argument.is_list() && is_tensor(object)) [[likely]] {
    value->kind = OF_VALUE_TENSOR;
    value->as.tensor = handle_of(object);
    return true;
  }
  if (object == Py_None && argument.optional) {
    value->kind = OF_VALUE_NONE;
    return true;
  }
  if (argument.is_list()) return convert_list(argument, object, store, value, mismatch);
  switch (argument.kind) {
    case ArgumentKind::kTensor:
      break;
    case ArgumentKind::kOperand:
    case ArgumentKind::kNumber:
      return convert_number(object, value, mismatch);
    case ArgumentKind::kInt:
      value->kind = OF_VALUE_INT;
      return convert_integer(object, &value->as.integer, mismatch);
    case ArgumentKind::kFloat:
      return convert_real(object, value, mismatch);
    case ArgumentKind::kBool:
      return convert_bool(object, value, mismatch);
    case ArgumentKind::kTrue:
    case ArgumentKind::kFalse:
      if (!convert_bool(object, value, mismatch)) return false;
      if (value->as.boolean == (argument.kind == ArgumentKind::kTrue)) return true;
      break;
    case ArgumentKind::kString:
      return convert_string(object, value, mismatch);
    case ArgumentKind::kDType:
      return convert_dtype(object, value, mismatch);
    case ArgumentKind::kDevice:
      return convert_device(object, value, mismatch);
    case ArgumentKind::kGenerator:
      if (!is_generator(object)) break;
      value->kind = OF_VALUE_GENERATOR;
      value->as.generator = generator_of(object);
      return true;
    case ArgumentKind::kObject:
      return true;
  }
  return wrong_type(object, mismatch);
}

}  // namespace oneflow::python
