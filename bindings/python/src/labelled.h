// Calls with labelled operands, such as einsum(a, [0, 1], b, [1, 2], [0, 2]), converted to the equivalent call with an
// equation.
#ifndef ONEFLOW_PYTHON_LABELLED_H_
#define ONEFLOW_PYTHON_LABELLED_H_

#include <vector>

#include "objects.h"

namespace oneflow::python {

class LabelledCall {
 public:
  // Reads `positional` arguments, the first of which is a tensor, followed by the values of `keywords`. Each tensor
  // must be followed by its list of labels; one more list at the end has the labels of the result. Raises and returns
  // false for other arguments.
  bool read(const char* function, PyObject* const* args, Py_ssize_t positional, PyObject* keywords);

  // Returns the arguments of the equivalent call, the equation first, laid out as in the vectorcall protocol.
  PyObject* const* args() const { return args_.data(); }
  Py_ssize_t positional() const { return positional_; }

 private:
  Ref equation_;
  std::vector<PyObject*> args_;  // borrowed; equation_ owns the first one
  Py_ssize_t positional_ = 0;
};

}  // namespace oneflow::python

#endif  // ONEFLOW_PYTHON_LABELLED_H_
