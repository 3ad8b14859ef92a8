// Calls with labelled operands, such as einsum(a, [0, 1], b, [1, 2], [0, 2]), converted to the equivalent call with an
// equation.
#ifndef ONEFLOW_PYTHON_LABELLED_H_
#define ONEFLOW_PYTHON_LABELLED_H_

#include <vector>

#include "calls/binding.h"

namespace oneflow::python {

// A call whose operands may have labels.
class LabelledCall {
 public:
  explicit LabelledCall(const Arguments& arguments) : arguments_(arguments) {}

  // If the first argument is a tensor, replaces the arguments by those of the equivalent call, the equation first. Then
  // each tensor must be followed by its list of labels; one more list at the end has the labels of the result. Raises
  // and returns false for other arguments.
  bool read(const char* function);

  // Returns the arguments, which are valid as long as the object.
  const Arguments& arguments() const { return arguments_; }

 private:
  Arguments arguments_;
  Ref equation_;
  std::vector<PyObject*> values_;  // borrowed; equation_ owns the first one
};

}  // namespace oneflow::python

#endif  // ONEFLOW_PYTHON_LABELLED_H_
