// Calls public functions: binds the arguments, runs the operator, and returns the results.
#ifndef ONEFLOW_PYTHON_CALL_H_
#define ONEFLOW_PYTHON_CALL_H_

#include "calls/binding.h"

namespace oneflow::python {

// Calls a function. Its in-place form writes the result to the receiver of a method, and returns it; or to a list of
// tensors, and returns a tuple of them.
PyObject* call(const Function& function, of_manner manner, const Arguments& arguments);

// Calls the operator of the first overload of a function, which has one result, with values of its parameters.
// `destination` is the Tensor to write to and return, or NULL to allocate one.
PyObject* run_operator(const Function& function, const of_value* values, PyObject* destination);

}  // namespace oneflow::python

#endif  // ONEFLOW_PYTHON_CALL_H_
