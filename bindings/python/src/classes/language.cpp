#include "classes/language.h"

#include <span>

#include "calls/scalars.h"
#include "classes/classes.h"
#include "devices/device.h"
#include "errors.h"
#include "tensor/buffer.h"
#include "tensor/creation.h"
#include "tensor/dlpack.h"
#include "tensor/dtype.h"
#include "tensor/nested.h"
#include "tensor/tensor.h"

namespace oneflow::python {
namespace {

PyObject* object_of(of_native value) { return static_cast<PyObject*>(value); }
const of_type kDataType = {OF_TYPE_DATA, false, "any", nullptr, 0, nullptr, nullptr};

CallContext& context_of(void* context) { return *static_cast<CallContext*>(context); }

// ------------------------------------------------------------------------------------------------ arguments

// Says what number a value is that find_number() or find_integer() has found; OF_DATA_LARGE without one.
of_status say_number(bool is_found, const of_value& number, of_data* data) {
  data->as.natural = number.as.natural;
  switch (is_found ? number.kind : OF_VALUE_NONE) {
    case OF_VALUE_BOOL:
      data->kind = OF_DATA_BOOL;
      data->as.boolean = number.as.boolean;
      break;
    case OF_VALUE_INT:
      data->kind = OF_DATA_INT;
      break;
    case OF_VALUE_UINT:
      data->kind = OF_DATA_UINT;
      break;
    case OF_VALUE_FLOAT:
      data->kind = OF_DATA_FLOAT;
      data->as.real = number.as.real;
      break;
    default:
      data->kind = OF_DATA_LARGE;
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

of_status index(void*, of_native value, of_data* data) {
  if (PyIndex_Check(object_of(value)) == 0) return OF_OK;
  const Ref integer(call_python([=] { return PyNumber_Index(object_of(value)); }));
  of_value number{};
  if (integer) return say_number(find_integer(integer.get(), &number), number, data);
  if (!PyErr_ExceptionMatches(PyExc_TypeError)) return OF_INTERRUPTED;
  PyErr_Clear();  // every array has an __index__, which fails for most of them
  return OF_OK;
}

bool is_mapping(PyObject* object) {
  if (PyMapping_Check(object) == 0 || PyObject_CheckBuffer(object) != 0) return false;
  static PyObject* mapping = [] {
    const Ref abc(PyImport_ImportModule("collections.abc"));
    return abc ? PyObject_GetAttrString(abc.get(), "Mapping") : nullptr;
  }();
  const bool found = mapping != nullptr && call_python([=] { return PyObject_IsInstance(object, mapping); }) == 1;
  PyErr_Clear();
  return found;
}

// Keeps a new reference until the call is bound. Returns NULL for NULL.
PyObject* keep(void* context, PyObject* owned) {
  if (owned != nullptr) context_of(context).kept.emplace_back(owned);
  return owned;
}

// Returns the items of a mapping, which are pairs, or of a set as a list, which stays the same until the call is bound,
// borrowed; NULL with an exception on failure.
PyObject* items_of(void* context, PyObject* object) {
  Ref& items = context_of(context).items[object];
  if (items) return items.get();
  const bool is_set = PyAnySet_Check(object) != 0;
  Ref found(call_python([=] { return is_set ? PySequence_List(object) : PyMapping_Items(object); }));
  for (Py_ssize_t i = 0; found && !is_set && i < PyList_Size(found.get()); ++i) {
    PyObject* pair = PyList_GetItem(found.get(), i);
    if (PyTuple_Check(pair) && PyTuple_Size(pair) == 2) continue;
    return raise(OF_TYPE_MISMATCH,
                 "items() of " + type_name(object) + " must give tuples of a key and a value, got " + type_name(pair));
  }
  items = std::move(found);
  return items.get();
}

// Looks at a mapping or a set.
of_status look_at_items(void* context, PyObject* object, of_data* data) {
  PyObject* items = items_of(context, object);
  if (items == nullptr) return OF_INTERRUPTED;
  data->kind = PyAnySet_Check(object) ? OF_DATA_LIST : OF_DATA_MAP;
  data->count = static_cast<uint32_t>(PyList_Size(items));
  return OF_OK;
}

of_status look(void* context, of_native value, of_data* data) {
  PyObject* object = object_of(value);
  of_value number{};
  if (object == Py_None) {
    data->kind = OF_DATA_NONE;
  } else if (is_tensor(object)) {
    data->kind = OF_DATA_TENSOR;
    data->as.tensor = handle_of(object);
  } else if (const NumberMatch match = find_number(object, &number); match != NumberMatch::kWrongType) {
    return say_number(match == NumberMatch::kFound, number, data);
  } else if (PyUnicode_Check(object)) {
    return look_at_text(object, data);
  } else if (PyList_Check(object) || PyTuple_Check(object)) {
    data->kind = OF_DATA_LIST;
    data->count = static_cast<uint32_t>(PyList_Check(object) ? PyList_Size(object) : PyTuple_Size(object));
  } else if (PyDict_Check(object) || (PyAnySet_Check(object) && !context_of(context).is_function)) {
    return look_at_items(context, object, data);
  } else if (find_dtype(object, &data->as.dtype) == DtypeMatch::kFound) {
    data->kind = OF_DATA_DTYPE;
  } else if (is_device(object)) {
    data->kind = OF_DATA_DEVICE;
    data->as.device = device_of(object);
  } else if (const Object* found = as_object(object)) {
    data->kind = found->handle != nullptr ? OF_DATA_OBJECT : OF_DATA_DISPOSED;
    data->as.object = found->handle;
    data->of.object = class_of(object);
  } else if (is_mapping(object)) {
    return look_at_items(context, object, data);
  } else {
    data->kind = PyCallable_Check(object) ? OF_DATA_FUNCTION : OF_DATA_OTHER;
  }
  return OF_OK;
}

of_status items(void* context, of_native list, uint32_t count, of_native* items) {
  PyObject* object = object_of(list);
  if (PyAnySet_Check(object)) object = items_of(context, object);
  if (object == nullptr) return OF_INTERRUPTED;
  PyObject* copy = keep(context, PyList_Check(object) ? PyList_AsTuple(object) : Py_NewRef(object));
  if (copy == nullptr) return OF_INTERRUPTED;
  for (uint32_t i = 0; i < count; ++i) items[i] = i < PyTuple_GET_SIZE(copy) ? PyTuple_GET_ITEM(copy, i) : Py_None;
  return OF_OK;
}

of_status entry(void* context, of_native map, uint32_t position, of_native* key, of_native* item) {
  PyObject* items = items_of(context, object_of(map));
  PyObject* pair = items != nullptr ? PyList_GetItem(items, position) : nullptr;
  if (pair == nullptr) return OF_INTERRUPTED;
  *key = PyTuple_GET_ITEM(pair, 0);
  *item = PyTuple_GET_ITEM(pair, 1);
  return OF_OK;
}

const char* type_name_of(void* context, of_native value) {
  context_of(context).text = type_name(object_of(value));
  return context_of(context).text.c_str();
}

const char* print(void* context, of_native value) {
  const Ref text(call_python([=] { return PyObject_ASCII(object_of(value)); }));
  const char* words = text ? PyUnicode_AsUTF8(text.get()) : nullptr;
  if (words == nullptr) PyErr_Clear();
  context_of(context).text = words != nullptr ? words : "an object";
  return context_of(context).text.c_str();
}

bool is_true(void*, of_native value) {
  return call_python([=] { return PyObject_IsTrue(object_of(value)); }) == 1;
}

of_status path(void* context, of_native value, of_data* data) {
  PyObject* object = object_of(value);
  data->kind = OF_DATA_OTHER;
  if (!PyUnicode_Check(object) && !PyBytes_Check(object) && !PyObject_HasAttrString(object, "__fspath__")) return OF_OK;
  const Ref name(call_python([=] { return PyOS_FSPath(object); }));
  if (!name) return OF_INTERRUPTED;
  PyObject* bytes =
      keep(context, PyUnicode_Check(name.get()) ? PyUnicode_EncodeFSDefault(name.get()) : Py_NewRef(name.get()));
  if (bytes == nullptr) {
    if (!PyErr_ExceptionMatches(PyExc_UnicodeError)) return OF_INTERRUPTED;
    PyErr_Clear();
    return of_fail(OF_INVALID_ARGUMENT, (std::string("be encodable, got ") + print(context, value)).c_str());
  }
  data->kind = OF_DATA_TEXT;
  data->as.text = PyBytes_AS_STRING(bytes);
  data->count = static_cast<uint32_t>(PyBytes_GET_SIZE(bytes));
  return OF_OK;
}

// Reads the number that a range has at a position, or as its step; the largest one for a larger number.
bool read_bound(PyObject* owned, int64_t* bound) {
  const Ref number(owned);
  int overflow = 0;
  if (number) *bound = PyLong_AsLongLongAndOverflow(number.get(), &overflow);
  if (overflow > 0) *bound = INT64_MAX;
  return number && overflow >= 0;
}

of_status range(void* context, of_native value, int64_t bounds[3]) {
  PyObject* object = object_of(value);
  const Ref last(PyLong_FromLong(-1));  // PySequence_GetItem() fails for a range of more items than its positions count
  const bool fits = last && PyRange_Check(object) && PyObject_IsTrue(object) == 1 &&
                    read_bound(PySequence_GetItem(object, 0), &bounds[0]) &&
                    read_bound(PyObject_GetItem(object, last.get()), &bounds[1]) &&
                    read_bound(PyObject_GetAttrString(object, "step"), &bounds[2]) && bounds[2] > 0 && bounds[0] >= 0;
  PyErr_Clear();
  if (fits) return OF_OK;
  return of_fail(OF_TYPE_MISMATCH,
                 (std::string("be a range of sizes that is not empty, got ") + print(context, value)).c_str());
}

// Returns whether an object is a number, a list or another sequence of them, or an array. Strings, bytes and
// dictionaries are none.
bool is_array(void*, of_native value) {
  PyObject* object = object_of(value);
  if (is_tensor(object) || PyUnicode_Check(object) || PyBytes_Check(object) || PyByteArray_Check(object) ||
      PyDict_Check(object) || PyType_Check(object) || object == Py_None) {
    return false;
  }
  return PyList_Check(object) || PyTuple_Check(object) || PyFloat_Check(object) || PyLong_Check(object) ||
         PyComplex_Check(object) || is_numpy_scalar(object) || PyObject_CheckBuffer(object) || is_sequence(object) ||
         has_dlpack(object) || PyObject_HasAttrString(object, "__array_interface__") != 0;
}

of_status tensor(void* context, of_native value, const of_tensor_request* request, of_tensor* tensor) {
  PyObject* object = object_of(value);
  const bool shares = context_of(context).shares_arrays && PyObject_HasAttrString(object, "__array_interface__") != 0;
  const Ref made(
      shares ? tensor_from_buffer(object, request->function, request->argument, false)
             : create_tensor(object,
                             {.function = request->function, .name = request->argument, .device = request->device}));
  if (!made) return OF_INTERRUPTED;
  *tensor = of_tensor_retain(handle_of(made.get()));
  return OF_OK;
}

of_tensor find_tensor(void*, of_native value) {
  PyObject* object = object_of(value);
  if (is_tensor(object)) return handle_of(object);
  if (!PyList_Check(object) && !PyTuple_Check(object)) return nullptr;
  const ItemsOf items(object);
  for (PyObject* item : std::span<PyObject* const>(items))
    if (is_tensor(item)) return handle_of(item);
  return nullptr;
}

const char* text_condition(void*, of_native) { return "valid Unicode, got a lone surrogate"; }

of_status show_name(void* context, size_t position, const char** shown, const char** word) {
  const Ref bytes(
      PyUnicode_AsEncodedString(PyTuple_GET_ITEM(context_of(context).names, position), "utf-8", "backslashreplace"));
  if (!bytes) return OF_INTERRUPTED;
  const std::string name(PyBytes_AS_STRING(bytes.get()), static_cast<size_t>(PyBytes_GET_SIZE(bytes.get())));
  context_of(context).text.clear();
  for (const char c : name) context_of(context).text += c == '\0' ? std::string("\\x00") : std::string(1, c);
  *shown = *word = context_of(context).text.c_str();
  return OF_OK;
}

// ------------------------------------------------------------------------------------------------ functions

// Returns a new reference to an attribute, which may be a property.
PyObject* attribute(PyObject* object, const char* name) {
  return call_python([=] { return PyObject_GetAttrString(object, name); });
}

of_status parameters(void* context, of_native function, uint32_t count, const char** names) {
  const Ref inspect(PyImport_ImportModule("inspect"));
  const auto signature_of = [&] { return PyObject_CallMethod(inspect.get(), "signature", "O", object_of(function)); };
  const Ref signature(inspect ? call_python(signature_of) : nullptr);
  const Ref found(signature ? attribute(signature.get(), "parameters") : nullptr);
  const Ref values(found ? PyObject_CallMethod(found.get(), "values", nullptr) : nullptr);
  const Ref list(values ? PySequence_List(values.get()) : nullptr);
  uint32_t named = 0;
  for (Py_ssize_t i = 0; list && i < PyList_Size(list.get()) && named < count; ++i) {
    PyObject* parameter = PyList_GetItem(list.get(), i);
    const Ref kind(attribute(parameter, "kind"));
    const long number = kind ? PyLong_AsLong(kind.get()) : -1;
    constexpr long kPositionalOrKeyword = 1;  // and 0 for those that are positional only
    if (number < 0 || number > kPositionalOrKeyword) continue;
    PyObject* name = keep(context, attribute(parameter, "name"));
    names[named++] = name != nullptr ? PyUnicode_AsUTF8(name) : nullptr;
  }
  PyErr_Clear();  // a function in C may have no signature
  return OF_OK;
}

void* hold(void*, of_native function) { return Py_NewRef(object_of(function)); }

void drop(void* held) {
  const LockedScope locked;
  if (locked) call_python([=] { Py_DECREF(static_cast<PyObject*>(held)); });
}

of_status call(void* held, const of_data* arguments, uint32_t count, of_receiver receive, void* receiver) {
  const LockedScope locked;
  if (!locked) return of_fail(OF_UNSUPPORTED, "the interpreter is ending");
  const Ref values(PyTuple_New(count));
  if (!values) return keep_exception();
  for (uint32_t i = 0; i < count; ++i) {
    PyObject* value = to_python(kDataType, arguments[i]);
    if (value == nullptr) return keep_exception();
    PyTuple_SET_ITEM(values.get(), i, value);
  }
  const Ref result(call_python([&] { return PyObject_CallObject(static_cast<PyObject*>(held), values.get()); }));
  if (!result) return keep_exception();
  CallContext context;
  const of_status status = receive(receiver, &context, result.get());
  return PyErr_Occurred() != nullptr ? keep_exception() : status;
}

// ------------------------------------------------------------------------------------------------ results

// Returns the type of an item.
const of_type& item_type(const of_type& type, uint32_t position) {
  if (type.kind == OF_TYPE_DATA) return type;
  return type.items[type.kind == OF_TYPE_RECORD ? position : 0];
}

PyObject* tuple_to_python(const of_data& data) {
  Ref items(PyTuple_New(data.count));
  for (uint32_t i = 0; items && i < data.count; ++i) {
    PyObject* item = to_python(kDataType, data.as.items[i]);
    if (item == nullptr) return nullptr;
    PyTuple_SET_ITEM(items.get(), i, item);
  }
  return items.release();
}

PyObject* range_to_python(const of_data& data) {
  const int64_t* bounds[] = {&data.as.items[0].as.integer, &data.as.items[1].as.integer, &data.as.items[2].as.integer};
  return PyObject_CallFunction(reinterpret_cast<PyObject*>(&PyRange_Type), "LKL", static_cast<long long>(*bounds[0]),
                               static_cast<unsigned long long>(*bounds[1]) + 1, static_cast<long long>(*bounds[2]));
}

// Returns a list, or a tuple in a record, which does not change either.
PyObject* list_to_python(const of_type& type, const of_data& data, bool in_record) {
  const bool is_record = type.kind == OF_TYPE_RECORD;
  const bool is_tuple = is_record || in_record;
  Ref items(is_tuple ? PyTuple_New(data.count) : PyList_New(data.count));
  if (!items) return nullptr;
  for (uint32_t i = 0; i < data.count; ++i) {
    const of_type& own = item_type(type, i);
    const bool is_list = is_tuple && own.kind == OF_TYPE_LIST && data.as.items[i].kind == OF_DATA_LIST;
    PyObject* item = is_list ? list_to_python(own, data.as.items[i], true) : to_python(own, data.as.items[i]);
    if (item == nullptr) return nullptr;
    if (is_tuple)
      PyTuple_SET_ITEM(items.get(), i, item);
    else
      PyList_SET_ITEM(items.get(), i, item);
  }
  if (!is_record) return items.release();
  return call_python([&] { return PyObject_CallObject(record_class(type.name), items.get()); });
}

PyObject* map_to_python(const of_type& type, const of_data& data) {
  Ref result(PyDict_New());
  for (uint32_t i = 0; result && i < data.count; ++i) {
    const Ref item(to_python(item_type(type, 0), data.as.items[i]));
    if (!item || PyDict_SetItemString(result.get(), data.of.keys[i], item.get()) != 0) return nullptr;
  }
  return result.release();
}

}  // namespace

const of_language python_language = {
    .struct_size = sizeof(of_language),
    .has_options = false,
    .names_fields = false,
    .text_word = "str",
    .nested_word = "Tensor, dict, list or tuple",
    .list_word = "list",
    .nothing_word = "None",
    .map_word = "dict",
    .disposed_word = "one without a value",
    .hides_positions = false,
    .disposed_text = "must be a live Tensor, got one without a value",
    .outputs_word = "tuple",
    .flag_name = "requires_grad",
    .flag_word = "bool",
    .counts_flags = true,
    .longest_list = INT32_MAX,
    .longest_text = 0,
    .too_large = nullptr,
    .look = look,
    .index = index,
    .items = items,
    .entry = entry,
    .field = nullptr,
    .type_name = type_name_of,
    .print = print,
    .is_true = is_true,
    .path = path,
    .range = range,
    .is_array = is_array,
    .tensor = tensor,
    .find_tensor = find_tensor,
    .text_condition = text_condition,
    .show_name = show_name,
    .parameters = parameters,
    .hold = hold,
    .drop = drop,
    .call = call,
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
      if (type.kind == OF_TYPE_INT) return PyLong_FromDouble(data.as.real);
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
    case OF_DATA_FUNCTION:
      return Py_NewRef(static_cast<PyObject*>(of_function_held(data.as.function)));
    case OF_DATA_RECORD:
      return tuple_to_python(data);
    case OF_DATA_LIST:
      return type.kind == OF_TYPE_RANGE ? range_to_python(data) : list_to_python(type, data, false);
    case OF_DATA_MAP:
      return map_to_python(type, data);
    default:
      Py_RETURN_NONE;
  }
}

}  // namespace oneflow::python
