#include "arguments.h"

#include <oneflow/front_end.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <string_view>

#include "tensor.h"

namespace oneflow::python {
namespace {

bool is_list(PyObject* object) { return PyList_Check(object) || PyTuple_Check(object); }

// Returns whether the last positional arguments are the items of one list. A list is an item only where it may stand
// for a tensor, among other lists and tensors.
bool are_items(const ArgumentRecord& argument, std::span<PyObject* const> values) {
  if (!argument.is_list() || !is_list(values.front())) return argument.is_list();
  const auto may_be_tensor = [](PyObject* value) { return is_list(value) || is_tensor(value); };
  return argument.kind == ArgumentKind::kTensor && std::all_of(values.begin(), values.end(), may_be_tensor);
}

}  // namespace

Parameters::Parameters(const char* function, std::span<const ArgumentRecord> arguments, int receiver,
                       std::span<const char* const> options)
    : function_(function), arguments_(arguments), options_(options) {
  int method = 0;
  if (receiver >= 0) method_order_[method++] = static_cast<int8_t>(receiver);
  for (int i = 0; i < count() && !arguments[i].keyword_only; ++i) {
    order_[positional_++] = static_cast<int8_t>(i);
    if (receiver >= 0 && i != receiver) method_order_[method++] = static_cast<int8_t>(i);
  }
}

bool Parameters::bind(bool as_method, PyObject* const* args, Py_ssize_t positional, PyObject* keywords, Bound* bound,
                      Mismatch* mismatch) const {
  std::fill_n(bound->objects.begin(), arguments_.size(), nullptr);
  bound->options.fill(nullptr);
  bound->gathered = -1;
  const auto& order = as_method ? method_order_ : order_;
  Py_ssize_t direct = positional;
  if (positional > positional_) {
    const int last = positional_ > 0 ? order[positional_ - 1] : -1;
    if (last < 0 || !are_items(arguments_[last], {args + positional_ - 1, args + positional})) {
      mismatch->reason = Mismatch::Reason::kTooMany;
      mismatch->given = positional - as_method;
      mismatch->allowed = positional_ - as_method;
      mismatch->arguments = arguments_;
      mismatch->rank = of_refusal_rank(OF_REFUSAL_TOO_MANY, positional_, false);
      return false;
    }
    direct = positional_;
    bound->gathered = last;
    bound->items = {args + positional_ - 1, static_cast<size_t>(positional - positional_ + 1)};
  }
  for (Py_ssize_t i = 0; i < direct; ++i) bound->objects[order[i]] = args[i];

  const Py_ssize_t keyword_count = keywords != nullptr ? PyTuple_GET_SIZE(keywords) : 0;
  for (Py_ssize_t i = 0; i < keyword_count; ++i) {
    if (!bind_keyword(PyTuple_GET_ITEM(keywords, i), args[positional + i], bound, mismatch)) {
      const bool is_unknown = mismatch->reason == Mismatch::Reason::kUnknown;
      mismatch->rank = is_unknown ? of_refusal_rank(OF_REFUSAL_NAME, static_cast<int>(i), !mismatch->detail.empty())
                                  : of_refusal_rank(OF_REFUSAL_ABSENT, static_cast<int>(keyword_count), false);
      return false;
    }
  }
  for (int i = 0; i < count(); ++i) {
    if (bound->objects[i] == nullptr && arguments_[i].required) {
      mismatch->reason = Mismatch::Reason::kMissing;
      mismatch->argument = &arguments_[i];
      mismatch->rank = of_refusal_rank(OF_REFUSAL_ABSENT, static_cast<int>(keyword_count), false);
      return false;
    }
  }
  return true;
}

bool Parameters::bind_keyword(PyObject* keyword, PyObject* value, Bound* bound, Mismatch* mismatch) const {
  const int position = find(keyword);
  if (position < 0) {
    mismatch->reason = Mismatch::Reason::kUnknown;
    mismatch->found = Ref::borrow(keyword);
    mismatch->detail = nearest(keyword);
    return false;
  }
  PyObject*& object = position >= count() ? bound->options[position - count()] : bound->objects[position];
  if (object != nullptr) {
    mismatch->reason = Mismatch::Reason::kTwice;
    mismatch->argument = &arguments_[position];  // options are keyword-only, and Python rejects f(out=a, out=b)
    return false;
  }
  object = value;
  return true;
}

// Returns the index of the parameter named `keyword`, from count() on that of an option, -1 if there is none. Keywords
// are nearly always interned, so the first loop, which compares addresses, finds most of them.
int Parameters::find(PyObject* keyword) const {
  for (int i = 0; i < name_count(); ++i) {
    if (names_[i] == nullptr) names_[i] = PyUnicode_InternFromString(name(i));
    if (names_[i] == keyword) return i;
  }
  for (int i = 0; i < name_count(); ++i) {
    if (PyUnicode_CompareWithASCIIString(keyword, name(i)) == 0) return i;
  }
  return find_other_name(keyword);
}

// Returns the index of the parameter that has `keyword` among its other names, -1 if there is none.
int Parameters::find_other_name(PyObject* keyword) const {
  Py_ssize_t length = 0;
  const char* text = PyUnicode_AsUTF8AndSize(keyword, &length);
  if (text == nullptr) PyErr_Clear();
  const std::string_view wanted(text != nullptr ? text : "", static_cast<size_t>(length));
  for (int i = 0; i < count() && !wanted.empty(); ++i) {
    for (std::string_view left = arguments_[i].other_names; !left.empty();) {
      const size_t end = left.find(' ');
      if (left.substr(0, end) == wanted) return i;
      left = end == std::string_view::npos ? "" : left.substr(end + 1);
    }
  }
  return -1;
}

// Returns the parameter name most similar to an unknown keyword, "" if none is similar.
std::string Parameters::nearest(PyObject* keyword) const {
  const char* text = PyUnicode_AsUTF8(keyword);
  if (text == nullptr) {
    PyErr_Clear();
    return "";
  }
  std::vector<const char*> names;
  for (int i = 0; i < name_count(); ++i) names.push_back(name(i));
  const int32_t nearest = of_nearest_name(text, names.data(), names.size());
  return nearest < 0 ? "" : names[nearest];
}

bool Parameters::convert(const Bound& bound, ValueStore* store, of_value* values, Mismatch* mismatch) const try {
  for (int i = 0; i < count(); ++i) {
    const ArgumentRecord& argument = arguments_[i];
    of_value* value = &values[i];
    *value = of_value{};
    if (bound.objects[i] == nullptr || argument.kind == ArgumentKind::kObject) continue;
    if (bound.objects[i] == Py_None && !argument.required && !argument.optional) continue;  // stands for the default
    const bool fits = i == bound.gathered ? convert_items(argument, bound.items, store, value, mismatch)
                                          : python::convert(argument, bound.objects[i], store, value, mismatch);
    if (!fits) {
      mismatch->argument = &argument;
      // An unknown string was more likely meant as a device than as a dtype, and a list with one bad item as a list.
      const bool is_likely = mismatch->reason == Mismatch::Reason::kUnknownDevice || mismatch->item >= 0;
      mismatch->rank = of_refusal_rank(OF_REFUSAL_VALUE, i, is_likely);
      return false;
    }
  }
  return true;
} catch (const std::bad_alloc&) {  // a list may have millions of items
  PyErr_NoMemory();
  return false;
}

}  // namespace oneflow::python
