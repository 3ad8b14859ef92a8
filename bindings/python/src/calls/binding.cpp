#include "calls/binding.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "calls/operators.h"
#include "devices/device.h"
#include "errors.h"
#include "tensor/dtype.h"
#include "tensor/tensor.h"

namespace oneflow::python {
namespace {

// Returns the characters of a str in UTF-8; empty for one that has none, or zero bytes.
std::string_view plain_text(PyObject* object) {
  Py_ssize_t length = 0;
  const char* text = PyUnicode_AsUTF8AndSize(object, &length);
  if (text == nullptr) PyErr_Clear();
  const bool is_plain = text != nullptr && std::memchr(text, 0, static_cast<size_t>(length)) == nullptr;
  return is_plain ? std::string_view(text, static_cast<size_t>(length)) : std::string_view();
}

}  // namespace

inline bool PlainValues::read(PyObject* object, of_value* value, ShortMemory*) {
  if (is_tensor(object)) {
    value->kind = OF_VALUE_TENSOR;
    value->as.tensor = handle_of(object);
  } else if (PyLong_CheckExact(object)) {
    int overflow = 0;
    value->kind = OF_VALUE_INT;
    value->as.integer = PyLong_AsLongLongAndOverflow(object, &overflow);
    return overflow == 0;
  } else if (object == Py_True || object == Py_False) {
    value->kind = OF_VALUE_BOOL;
    value->as.boolean = object == Py_True;
  } else if (object == Py_None) {
    value->kind = OF_VALUE_NONE;
  } else if (PyFloat_CheckExact(object)) {
    value->kind = OF_VALUE_FLOAT;
    value->as.real = PyFloat_AS_DOUBLE(object);
  } else if (PyUnicode_CheckExact(object)) {
    const std::string_view text = plain_text(object);
    value->kind = OF_VALUE_STRING;
    value->as.string = text.data();
    value->count = static_cast<int32_t>(text.size());
    return !text.empty() && text.size() <= INT32_MAX;
  } else if (is_dtype(object)) {
    value->kind = OF_VALUE_DTYPE;
    return find_dtype(object, &value->as.dtype) == DtypeMatch::kFound;
  } else if (is_device(object)) {
    value->kind = OF_VALUE_DEVICE;
    value->as.device = device_of(object);
  } else {
    return false;
  }
  return true;
}

inline bool PlainValues::items(PyObject* object, PyObject* const** items, size_t* count) {
  return (PyTuple_Check(object) || PyList_Check(object)) && few_items(object, items, count);
}

inline std::string_view PlainValues::text(PyObject* name) { return plain_text(name); }

Function::Function(const of_public_function& function) : table_(function) {
  const auto count = static_cast<size_t>(function.overload_count);
  names_ = std::make_unique<Names[]>(count);
  for (size_t i = 0; i < count; ++i) {
    const of_overload& overload = function.overloads[i];
    operators_.push_back({overload.op != nullptr ? of_op_find(overload.op) : nullptr,
                          overload.result_names != nullptr ? python::result_type(overload.result_names) : nullptr});
    for (int32_t p = 0; p < overload.parameter_count; ++p)
      names_[i][p] = PyUnicode_InternFromString(overload.parameters[p].name);
  }
}

std::vector<const char*> names_of(PyObject* keywords) {
  const Py_ssize_t count = keywords != nullptr ? PyTuple_GET_SIZE(keywords) : 0;
  std::vector<const char*> names;
  for (Py_ssize_t i = 0; i < count; ++i) {
    const std::string_view name = plain_text(PyTuple_GET_ITEM(keywords, i));
    names.push_back(name.empty() ? nullptr : name.data());
  }
  return names;
}

bool UnpackedArguments::unpack(PyObject* arguments, PyObject* keywords) {
  count_ = PyTuple_GET_SIZE(arguments);
  for (Py_ssize_t i = 0; i < count_; ++i) values_.push_back(PyTuple_GET_ITEM(arguments, i));
  const Ref list(keywords != nullptr ? PyDict_Keys(keywords) : PyList_New(0));
  names_ = Ref(list ? PyList_AsTuple(list.get()) : nullptr);
  if (!names_) return false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names_.get()); ++i)
    values_.push_back(PyDict_GetItemWithError(keywords, PyTuple_GET_ITEM(names_.get(), i)));
  return true;
}

// Calls `work` for the tensors of each list that other code may change during the call.
template <class Work>
void BoundCall::each_kept_list(const Work& work) const {
  for (int32_t i = 0; i < overload_->parameter_count; ++i) {
    const of_value& value = short_.values[i];
    if (value.kind == OF_VALUE_TENSOR_LIST && short_.natives[i] != nullptr && PyList_Check(short_.natives[i]))
      std::for_each_n(value.as.tensors, value.count, work);
  }
}

BoundCall::~BoundCall() {
  if (keeps_lists_) each_kept_list(of_tensor_release);
}

bool BoundCall::bind_plain(of_manner manner) {
  const ItemsOf names(given_.keywords);
  const auto count = static_cast<size_t>(given_.count);
  const std::span<PyObject* const> keywords = names;
  const int32_t found = short_.bind(function_->table(), function_->names(), manner,
                                    {given_.values, count, keywords.data(), given_.values + count, keywords.size()});
  if (found < 0) return false;
  overload_ = &function_->table().overloads[found];
  values_ = short_.values;
  each_kept_list([this](of_tensor tensor) {
    of_tensor_retain(tensor);
    keeps_lists_ = true;
  });
  return true;
}

of_status BoundCall::bind_others(of_manner manner, bool shares_arrays) try {
  others_ = std::make_unique<Others>();
  others_->context.names = given_.keywords;
  others_->context.shares_arrays = shares_arrays;
  others_->context.is_function = true;
  const std::vector<const char*> names = names_of(given_.keywords);
  const std::vector<of_native> values(given_.values, given_.values + given_.count + names.size());
  const of_status status =
      of_bind_function(&function_->table(), manner, &python_language, &others_->context, values.data(),
                       static_cast<size_t>(given_.count), names.data(), names.size(), &others_->arguments);
  if (status != OF_OK) return status;
  overload_ = others_->arguments->overload;
  values_ = others_->arguments->values;
  return OF_OK;
} catch (const std::bad_alloc&) {
  PyErr_NoMemory();
  return OF_INTERRUPTED;
}

of_status BoundCall::try_bind(const Function& function, const Arguments& arguments, of_manner manner,
                              bool shares_arrays) {
  function_ = &function;
  given_ = arguments;
  return bind_plain(manner) ? OF_OK : bind_others(manner, shares_arrays);
}

bool BoundCall::bind(const Function& function, const Arguments& arguments, of_manner manner) {
  return check(try_bind(function, arguments, manner, false));
}

PyObject* BoundCall::native(int32_t position) const {
  if (others_ == nullptr) return short_.natives[position];
  const of_arguments& found = *others_->arguments;
  return found.is_given[position] ? static_cast<PyObject*>(found.natives[position]) : nullptr;
}

std::span<PyObject* const> BoundCall::items() const {
  const auto first = static_cast<size_t>(overload_->positional_count) - 1;
  return std::span(given_.values, static_cast<size_t>(given_.count)).subspan(first);
}

std::span<PyObject* const> BoundCall::outputs() const {
  if (others_ == nullptr) return {&short_.out, short_.out != nullptr ? 1U : 0U};
  return {reinterpret_cast<PyObject* const*>(others_->arguments->outputs), others_->arguments->output_count};
}

}  // namespace oneflow::python
