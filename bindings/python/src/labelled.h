// Operands that come with their labels, as in einsum(a, [0, 1], b, [1, 2], [0, 2]): the call with an equation that
// means the same.
#ifndef ONEFLOW_PYTHON_LABELLED_H_
#define ONEFLOW_PYTHON_LABELLED_H_

#include <vector>

#include "objects.h"

namespace oneflow::python {

class LabelledCall {
 public:
  // Reads positional arguments, the first of which is a tensor, and what follows them by keyword. Raises where they are
  // not tensors each with a list of labels behind it, and maybe one more such list, that of the result.
  bool read(const char* function, PyObject* const* args, Py_ssize_t positional, PyObject* keywords);

  // The arguments with the equation in front, in the order of the vectorcall protocol.
  PyObject* const* args() const { return args_.data(); }
  Py_ssize_t positional() const { return positional_; }

 private:
  Ref equation_;
  std::vector<PyObject*> args_;  // borrowed, but for the equation
  Py_ssize_t positional_ = 0;
};

}  // namespace oneflow::python

#endif  // ONEFLOW_PYTHON_LABELLED_H_
