// Running an operator of the runtime and turning its results into Python objects.
#ifndef ONEFLOW_PYTHON_CALL_H_
#define ONEFLOW_PYTHON_CALL_H_

#include "arguments.h"
#include "operators.h"

namespace oneflow::python {

// Calls the runtime with converted values. `destination` is what results are written to: a Tensor, a tuple of them for
// several results, or NULL or None for fresh memory. `bound` are the objects that the values came from.
PyObject* call_overload(const Overload& overload, const of_value* values, const Bound& bound, PyObject* destination);

// Calls the in-place form of an operator over a list of tensors, and returns a tuple of them.
PyObject* call_on_list(const Overload& overload, const of_value* values, const Bound& bound);

// The same for an operator with one result; `destination` is a Tensor or NULL.
PyObject* run_operator(const Overload& overload, const of_value* values, PyObject* destination);

}  // namespace oneflow::python

#endif  // ONEFLOW_PYTHON_CALL_H_
