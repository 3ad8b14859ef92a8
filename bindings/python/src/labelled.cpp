#include "labelled.h"

#include <string>

#include "errors.h"
#include "nested.h"
#include "tensor.h"

namespace oneflow::python {
namespace {

bool raise_mismatch(const char* function, const std::string& expected, PyObject* found) {
  raise(OF_TYPE_MISMATCH, std::string(function) + ": " + expected + ", got " + type_name(found));
  return false;
}

// Returns whether an object is accepted as a list of labels: a list, a tuple, or another sequence of limited length,
// such as a range or an array.
bool is_list_of_labels(PyObject* object) {
  if (PyList_Check(object) || PyTuple_Check(object)) return true;
  constexpr Py_ssize_t kMaxLabels = 1 << 16;
  if (!is_sequence(object) || is_tensor(object)) return false;
  const Py_ssize_t count = PySequence_Size(object);
  if (count < 0) PyErr_Clear();
  return count >= 0 && count <= kMaxLabels;
}

// Appends labels to an equation in the form "[0,1]". `whose` is the name of the labels in error texts. Raises and
// returns false if an object is not a list of labels.
bool add_labels(const char* function, const std::string& whose, PyObject* labels, std::string* equation) {
  if (!is_list_of_labels(labels)) return raise_mismatch(function, whose + " must be list of ints", labels);
  const Ref copy(PySequence_Tuple(labels));  // the conversion of items runs code that could change a list
  if (!copy) return false;
  *equation += '[';
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(copy.get()); ++i) {
    PyObject* label = PyTuple_GET_ITEM(copy.get(), i);
    if (i > 0) *equation += ',';
    if (label == Py_Ellipsis) {
      *equation += "...";
      continue;
    }
    const Ref number(PyIndex_Check(label) && !PyBool_Check(label) ? PyNumber_Index(label) : nullptr);
    if (!number) {
      if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_TypeError)) return false;
      PyErr_Clear();  // every array has an __index__, which fails for most of them
      return raise_mismatch(function, whose + " must be ints or ...", label);
    }
    const Ref text(PyObject_Str(number.get()));
    const char* digits = text ? PyUnicode_AsUTF8(text.get()) : nullptr;
    if (digits == nullptr) return false;
    if (*digits == '-') {
      raise(OF_INVALID_ARGUMENT, std::string(function) + ": " + whose + " must not be negative, got " + digits);
      return false;
    }
    *equation += digits;
  }
  *equation += ']';
  return true;
}

}  // namespace

bool LabelledCall::read(const char* function, PyObject* const* args, Py_ssize_t positional, PyObject* keywords) {
  std::string equation;
  args_.push_back(nullptr);
  Py_ssize_t at = 0;
  while (at + 1 < positional) {
    const auto operand = std::to_string(at / 2);
    if (!is_tensor(args[at])) return raise_mismatch(function, "operand " + operand + " must be Tensor", args[at]);
    if (at > 0) equation += ',';
    if (!add_labels(function, "labels of operand " + operand, args[at + 1], &equation)) return false;
    args_.push_back(args[at]);
    at += 2;
  }
  if (at < positional) {
    if (is_tensor(args[at])) {
      raise(OF_TYPE_MISMATCH,
            std::string(function) + ": operand " + std::to_string(at / 2) + " must be followed by its labels");
      return false;
    }
    equation += "->";
    if (!add_labels(function, "labels of the result", args[at], &equation)) return false;
  }
  equation_ = Ref(PyUnicode_FromStringAndSize(equation.data(), static_cast<Py_ssize_t>(equation.size())));
  if (!equation_) return false;
  args_[0] = equation_.get();
  positional_ = static_cast<Py_ssize_t>(args_.size());
  if (keywords != nullptr) args_.insert(args_.end(), args + positional, args + positional + PyTuple_GET_SIZE(keywords));
  return true;
}

}  // namespace oneflow::python
