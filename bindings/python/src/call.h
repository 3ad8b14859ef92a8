// Calls operators of the runtime and converts their results to Python objects.
#ifndef ONEFLOW_PYTHON_CALL_H_
#define ONEFLOW_PYTHON_CALL_H_

#include "arguments.h"
#include "operators.h"

namespace oneflow::python {

// Calls an operator with converted values and returns its results. `destination` is the tensor that the result is
// written to, a tuple of tensors for several results, or NULL or None to allocate the results. `bound` holds the
// objects that the values were converted from.
PyObject* call_overload(const Overload& overload, const of_value* values, const Bound& bound, PyObject* destination);

// Calls the in-place form of an operator that writes to a list of tensors, and returns these tensors as a tuple.
PyObject* call_on_list(const Overload& overload, const of_value* values, const Bound& bound);

// Calls an operator with one result and returns it. `destination` is the Tensor to write to, or NULL to allocate one.
PyObject* run_operator(const Overload& overload, const of_value* values, PyObject* destination);

}  // namespace oneflow::python

#endif  // ONEFLOW_PYTHON_CALL_H_
