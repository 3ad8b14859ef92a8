// Converts single Python objects to values of the runtime.

#include <algorithm>
#include <cstring>

#include "arguments.h"
#include "classes/classes.h"
#include "device.h"
#include "dtype.h"
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

// Converts an int.
bool convert_long(PyObject* integer, int64_t* result, Mismatch* mismatch) {
  int overflow = 0;
  *result = PyLong_AsLongLongAndOverflow(integer, &overflow);
  return overflow == 0 || fail(Mismatch::Reason::kTooLarge, integer, mismatch);
}

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
  return convert_long(object, result, mismatch);
}

// Makes a tensor of an array-like, and returns a reference to it for a ValueStore; NULL if it is no array-like, or with
// an exception.
of_tensor read_array(const ArgumentRecord& argument, PyObject* object, const ValueStore& store, Mismatch* mismatch) {
  if (store.arrays() == nullptr || argument.is_written || !is_array_like(object)) {
    wrong_type(object, mismatch);
    return nullptr;
  }
  const Ref tensor = store.arrays()->read(object, argument.name);
  return tensor ? of_tensor_retain(handle_of(tensor.get())) : nullptr;
}

// Converts an item of a list of tensors to a new reference; to NULL for None where that is allowed.
bool convert_tensor_item(const ArgumentRecord& argument, PyObject* object, const ValueStore& store, of_tensor* result,
                         Mismatch* mismatch) {
  if (is_tensor(object)) {
    *result = of_tensor_retain(handle_of(object));
    return true;
  }
  if (argument.optional_items && object == Py_None) return true;
  *result = read_array(argument, object, store, mismatch);
  return *result != nullptr;
}

bool convert_array(const ArgumentRecord& argument, PyObject* object, ValueStore* store, of_value* value,
                   Mismatch* mismatch) {
  of_tensor* const kept = store->tensors(1);
  *kept = read_array(argument, object, *store, mismatch);
  value->kind = OF_VALUE_TENSOR;
  value->as.tensor = *kept;
  return *kept != nullptr;
}

// Returns the number that a tensor without dimensions stands for, and other objects themselves.
Ref number_in(PyObject* object, const ValueStore& store) {
  if (store.arrays() == nullptr || !is_tensor(object) || of_tensor_rank(handle_of(object)) != 0)
    return Ref::borrow(object);
  return Ref(PyObject_CallMethod(object, "item", nullptr));
}

// Converts a list of pairs or lists of integers to one list of integers, in which the length of a list precedes it.
bool convert_nested(const ArgumentRecord& argument, PyObject* lists, ValueStore* store, of_value* value,
                    Mismatch* mismatch) {
  std::vector<Ref> kept;  // as tuples: conversions run code that could change a list
  std::vector<PyObject*> items;
  std::vector<Py_ssize_t> owners;  // of each item, the index of its list
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(lists); ++i) {
    PyObject* list = PyTuple_GET_ITEM(lists, i);
    mismatch->item = i;
    const bool is_list = PyList_Check(list) || PyTuple_Check(list);
    const bool is_pair = is_list && PySequence_Size(list) == 2;
    if (argument.kind == ArgumentKind::kInts ? !is_list && !PyIndex_Check(list) : !is_pair)
      return wrong_type(list, mismatch);
    PyObject* copy = kept.emplace_back(is_list ? PySequence_Tuple(list) : PyTuple_Pack(1, list)).get();
    if (copy == nullptr) return false;
    if (argument.kind == ArgumentKind::kInts)
      items.push_back(kept.emplace_back(PyLong_FromSsize_t(PyTuple_GET_SIZE(copy))).get());
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(copy); ++k) items.push_back(PyTuple_GET_ITEM(copy, k));
    owners.resize(items.size(), i);
  }
  mismatch->item = -1;
  if (convert_items(argument, items, store, value, mismatch)) return true;
  mismatch->item = mismatch->item < 0 ? -1 : owners[static_cast<size_t>(mismatch->item)];
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
  if (store->arrays() != nullptr && is_tensor(object) && argument.kind == ArgumentKind::kInt &&
      of_tensor_rank(handle_of(object)) == 1) {
    copy = Ref(PyObject_CallMethod(object, "tolist", nullptr));
    return copy && convert_list(argument, copy.get(), store, value, mismatch);
  }
  if (argument.is_nested)
    return PyTuple_Check(object) ? convert_nested(argument, object, store, value, mismatch)
                                 : wrong_type(object, mismatch);
  if (PyTuple_Check(object)) return convert_items(argument, ItemsOf(object), store, value, mismatch);
  // A single item stands for a list of one, but None stands for an absent list, and arrays stand for tensors only.
  if (object == Py_None || (argument.kind == ArgumentKind::kTensor && !is_tensor(object)))
    return wrong_type(object, mismatch);
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
        return convert_tensor_item(argument, item, *store, &handles[i], mismatch);
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
      return convert_each(items, mismatch, [&](PyObject* item, Py_ssize_t i) {
        if (PyLong_CheckExact(item)) [[likely]]
          return convert_long(item, &integers[i], mismatch);
        const Ref number = number_in(item, *store);
        return number && convert_integer(number.get(), &integers[i], mismatch);
      });
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
  Ref number;
  if (argument.kind >= ArgumentKind::kNumber && argument.kind <= ArgumentKind::kFalse) {
    number = number_in(object, *store);
    if (!number) return false;
    object = number.get();
  }
  switch (argument.kind) {
    case ArgumentKind::kTensor:
      return convert_array(argument, object, store, value, mismatch);
    case ArgumentKind::kOperand:
      if (convert_number(object, value, mismatch)) return true;
      return mismatch->reason == Mismatch::Reason::kWrongType &&
             convert_array(argument, object, store, value, mismatch);
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
      value->kind = OF_VALUE_GENERATOR;
      value->as.generator = static_cast<of_generator>(handle_of_class(object, "Generator"));
      if (value->as.generator == nullptr) break;
      return true;
    case ArgumentKind::kInts:  // only in lists
      break;
    case ArgumentKind::kObject:
      return true;
  }
  return wrong_type(object, mismatch);
}

}  // namespace oneflow::python
