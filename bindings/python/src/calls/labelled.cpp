#include "calls/labelled.h"

#include <oneflow/front_end.h>

#include <algorithm>
#include <string>

#include "errors.h"
#include "tensor/nested.h"
#include "tensor/tensor.h"

namespace oneflow::python {
namespace {

bool raise_mismatch(const char* function, const std::string& expected, PyObject* found) {
  raise(OF_TYPE_MISMATCH, std::string(function) + ": " + expected + ", got " + type_name(found));
  return false;
}

// Returns the number of labels of an object that is accepted as a list of them: a list, a tuple, or another sequence,
// such as a range or an array; -1 for others.
Py_ssize_t count_labels(PyObject* object) {
  const bool is_accepted = PyList_Check(object) || PyTuple_Check(object) || (is_sequence(object) && !is_tensor(object));
  const Py_ssize_t count = is_accepted ? PySequence_Size(object) : -1;
  if (count < 0) PyErr_Clear();
  return count;
}

// Appends labels to an equation in the form "[0,1]". `operand` is -1 for the labels of the result. Raises and returns
// false if an object is not a list of labels.
bool add_labels(const char* function, int operand, PyObject* labels, std::string* equation) {
  const std::string whose = operand < 0 ? "labels of the result" : "labels of operand " + std::to_string(operand);
  const Py_ssize_t count = count_labels(labels);
  if (count < 0) return raise_mismatch(function, whose + " must be list of ints", labels);
  // The conversion of items runs code that could change a list. Of too many, only the count is read.
  const Ref copy(count <= OF_MAX_LABELS ? PySequence_Tuple(labels) : PyTuple_New(0));
  if (!copy) return false;
  const Py_ssize_t copied = std::min<Py_ssize_t>(PyTuple_GET_SIZE(copy.get()), OF_MAX_LABELS);
  int64_t numbers[OF_MAX_LABELS];
  for (Py_ssize_t i = 0; i < copied; ++i) {
    PyObject* label = PyTuple_GET_ITEM(copy.get(), i);
    if (label == Py_Ellipsis) {
      numbers[i] = OF_LABEL_ELLIPSIS;
      continue;
    }
    const Ref number(PyIndex_Check(label) && !PyBool_Check(label) ? PyNumber_Index(label) : nullptr);
    if (!number) {
      if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_TypeError)) return false;
      PyErr_Clear();  // every array has an __index__, which fails for most of them
      return raise_mismatch(function, whose + " must be ints or ...", label);
    }
    int overflow = 0;
    numbers[i] = PyLong_AsLongLongAndOverflow(number.get(), &overflow);
    if (overflow != 0) numbers[i] = overflow < 0 ? -INT64_MAX : INT64_MAX;
  }
  char term[OF_TERM_SIZE];
  const Py_ssize_t given = count <= OF_MAX_LABELS ? PyTuple_GET_SIZE(copy.get()) : count;
  if (!check(of_label_term(function, operand, numbers, static_cast<size_t>(given), term))) return false;
  *equation += term;
  return true;
}

}  // namespace

bool LabelledCall::read(const char* function) {
  if (arguments_.count == 0 || !is_tensor(arguments_.values[0])) return true;
  const std::span<PyObject* const> given(arguments_.values, static_cast<size_t>(arguments_.count));
  std::string equation;
  values_.push_back(nullptr);
  size_t at = 0;
  for (; at + 1 < given.size(); at += 2) {
    const auto operand = static_cast<int>(at / 2);
    if (!is_tensor(given[at]))
      return raise_mismatch(function, "operand " + std::to_string(operand) + " must be Tensor", given[at]);
    if (at > 0) equation += ',';
    if (!add_labels(function, operand, given[at + 1], &equation)) return false;
    values_.push_back(given[at]);
  }
  if (at < given.size()) {
    if (is_tensor(given[at])) {
      raise(OF_TYPE_MISMATCH,
            std::string(function) + ": operand " + std::to_string(at / 2) + " must be followed by its labels");
      return false;
    }
    equation += "->";
    if (!add_labels(function, -1, given[at], &equation)) return false;
  }
  equation_ = Ref(PyUnicode_FromStringAndSize(equation.data(), static_cast<Py_ssize_t>(equation.size())));
  if (!equation_) return false;
  values_[0] = equation_.get();
  const auto count = static_cast<Py_ssize_t>(values_.size());
  const Py_ssize_t named = arguments_.keywords != nullptr ? PyTuple_GET_SIZE(arguments_.keywords) : 0;
  values_.insert(values_.end(), given.data() + given.size(), given.data() + given.size() + named);
  arguments_ = {values_.data(), count, arguments_.keywords};
  return true;
}

}  // namespace oneflow::python
