#include "classes/language.h"

#include "arguments.h"
#include "classes/classes.h"
#include "device.h"
#include "dtype.h"
#include "tensor.h"

namespace oneflow::python {
namespace {

PyObject* object_of(of_native value) { return static_cast<PyObject*>(value); }
CallContext& context_of(void* context) { return *static_cast<CallContext*>(context); }

// ------------------------------------------------------------------------------------------------ arguments

of_status look_at_integer(PyObject* integer, of_data* data) {
  of_value value;
  if (!find_integer(integer, &value)) {
    data->kind = OF_DATA_LARGE;
  } else if (value.kind == OF_VALUE_INT) {
    data->kind = OF_DATA_INT;
    data->as.integer = value.as.integer;
  } else {
    data->kind = OF_DATA_UINT;
    data->as.natural = value.as.natural;
  }
  return OF_OK;
}

of_status look_at_text(PyObject* text, of_data* data) {
  Py_ssize_t length = 0;
  data->as.text = PyUnicode_AsUTF8AndSize(text, &length);
  data->kind = data->as.text != nullptr ? OF_DATA_TEXT : OF_DATA_BAD_TEXT;
  if (data->as.text == nullptr) {
    if (!PyErr_ExceptionMatches(PyExc_UnicodeError)) return OF_INTERRUPTED;
    PyErr_Clear();
  }
  data->count = static_cast<uint32_t>(length);
  return OF_OK;
}

of_status look_at_index(PyObject* object, of_data* data) {
  const Ref integer(PyNumber_Index(object));
  if (integer) return look_at_integer(integer.get(), data);
  if (!PyErr_ExceptionMatches(PyExc_TypeError)) return OF_INTERRUPTED;
  PyErr_Clear();  // every array has an __index__, which fails for most of them
  data->kind = OF_DATA_OTHER;
  return OF_OK;
}

of_status look(void*, of_native value, of_data* data) {
  PyObject* object = object_of(value);
  if (object == Py_None) {
    data->kind = OF_DATA_NONE;
  } else if (PyBool_Check(object)) {
    data->kind = OF_DATA_BOOL;
    data->as.boolean = object == Py_True;
  } else if (PyLong_Check(object)) {
    return look_at_integer(object, data);
  } else if (PyFloat_Check(object)) {
    data->kind = OF_DATA_FLOAT;
    data->as.real = PyFloat_AS_DOUBLE(object);
  } else if (PyUnicode_Check(object)) {
    return look_at_text(object, data);
  } else if (is_tensor(object)) {
    data->kind = OF_DATA_TENSOR;
    data->as.tensor = handle_of(object);
  } else if (PyList_Check(object) || PyTuple_Check(object)) {
    data->kind = OF_DATA_LIST;
    data->count = static_cast<uint32_t>(PySequence_Size(object));
  } else if (PyDict_Check(object)) {
    data->kind = OF_DATA_MAP;
    data->count = static_cast<uint32_t>(PyDict_Size(object));
  } else if (is_dtype(object)) {
    data->kind = find_dtype(object, &data->as.dtype) == DtypeMatch::kFound ? OF_DATA_DTYPE : OF_DATA_OTHER;
  } else if (is_device(object)) {
    data->kind = OF_DATA_DEVICE;
    data->as.device = device_of(object);
  } else if (const Object* found = as_object(object)) {
    data->kind = found->handle != nullptr ? OF_DATA_OBJECT : OF_DATA_DISPOSED;
    data->as.object = found->handle;
    data->of.object = class_of(object);
  } else if (PyIndex_Check(object)) {
    return look_at_index(object, data);
  } else {
    data->kind = PyCallable_Check(object) ? OF_DATA_FUNCTION : OF_DATA_OTHER;
  }
  return OF_OK;
}

// Keeps a new reference until the call is bound. Returns NULL for NULL.
PyObject* keep(void* context, PyObject* owned) {
  if (owned != nullptr) context_of(context).kept.emplace_back(owned);
  return owned;
}

of_status item(void* context, of_native list, uint32_t position, of_native* item) {
  *item = keep(context, PySequence_GetItem(object_of(list), position));
  return *item != nullptr ? OF_OK : OF_INTERRUPTED;
}

of_status entry(void* context, of_native map, uint32_t position, const char** key, of_native* item) {
  PyObject *name = nullptr, *value = nullptr;
  Py_ssize_t at = 0;
  for (uint32_t i = 0; i <= position; ++i)
    if (PyDict_Next(object_of(map), &at, &name, &value) == 0)
      return of_fail(OF_INVALID_ARGUMENT, "the dict has changed");
  *key = PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : nullptr;
  PyErr_Clear();
  *item = keep(context, Py_NewRef(value));
  return OF_OK;
}

const char* type_name_of(void* context, of_native value) {
  context_of(context).text = type_name(object_of(value));
  return context_of(context).text.c_str();
}

// ------------------------------------------------------------------------------------------------ results

PyObject* list_to_python(const of_type& type, const of_data& data) {
  const bool is_record = type.kind == OF_TYPE_RECORD;
  Ref items(is_record ? PyTuple_New(data.count) : PyList_New(data.count));
  if (!items) return nullptr;
  for (uint32_t i = 0; i < data.count; ++i) {
    PyObject* item = to_python(type.items[is_record ? i : 0], data.as.items[i]);
    if (item == nullptr) return nullptr;
    if (is_record)
      PyTuple_SET_ITEM(items.get(), i, item);
    else
      PyList_SET_ITEM(items.get(), i, item);
  }
  return is_record ? PyObject_CallObject(record_class(type.name), items.get()) : items.release();
}

PyObject* map_to_python(const of_type& type, const of_data& data) {
  Ref result(PyDict_New());
  for (uint32_t i = 0; result && i < data.count; ++i) {
    const Ref item(to_python(*type.items, data.as.items[i]));
    if (!item || PyDict_SetItemString(result.get(), data.of.keys[i], item.get()) != 0) return nullptr;
  }
  return result.release();
}

}  // namespace

const of_language python_language = {
    .struct_size = sizeof(of_language),
    .has_options = false,
    .names_fields = false,
    .too_large = nullptr,
    .look = look,
    .item = item,
    .entry = entry,
    .field = nullptr,
    .type_name = type_name_of,
    .print = nullptr,
};

PyObject* to_python(const of_type& type, const of_data& data) {
  switch (data.kind) {
    case OF_DATA_BOOL:
      return PyBool_FromLong(data.as.boolean);
    case OF_DATA_INT:
      return PyLong_FromLongLong(data.as.integer);
    case OF_DATA_UINT:
      return PyLong_FromUnsignedLongLong(data.as.natural);
    case OF_DATA_FLOAT:
      return PyFloat_FromDouble(data.as.real);
    case OF_DATA_TEXT:
      return PyUnicode_DecodeUTF8(data.as.text, data.count, "replace");
    case OF_DATA_DTYPE:
      return dtype_object(data.as.dtype);
    case OF_DATA_DEVICE:
      return device_object(data.as.device);
    case OF_DATA_TENSOR:
      return wrap(of_tensor_retain(data.as.tensor));
    case OF_DATA_OBJECT:
      return new_object(data.of.object, data.as.object);
    case OF_DATA_LIST:
      return list_to_python(type, data);
    case OF_DATA_MAP:
      return map_to_python(type, data);
    default:
      Py_RETURN_NONE;
  }
}

}  // namespace oneflow::python
