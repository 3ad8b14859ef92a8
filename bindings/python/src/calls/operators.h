// The generated functions and methods: callable objects over the tables of function_table.h.
#ifndef ONEFLOW_PYTHON_OPERATORS_H_
#define ONEFLOW_PYTHON_OPERATORS_H_

#include <oneflow/oneflow.h>

#include <span>
#include <string_view>

#include "calls/binding.h"
#include "objects.h"

namespace oneflow::python {

// Returns the function of a full name; NULL if there is none.
const Function* find_function(std::string_view name);

// Calls the function of a full name with positional arguments. Returns NULL with an exception on failure.
PyObject* call_function(std::string_view name, std::span<PyObject* const> args);

// Returns the class of the named tuple with these fields, borrowed; NULL if there is none.
PyTypeObject* result_type(std::string_view fields);
// Makes the class of the named tuple with these fields, whose text lives as long as the process, an attribute of a
// module. Returns it, borrowed; NULL with an exception on failure.
PyTypeObject* add_result_type(PyObject* module, const char* name, const char* fields);

// Returns the module "oneflow_py.<name>", which is created on first use, as are its parents; the module for "".
Ref namespace_module(PyObject* module, std::string_view name);

bool add_operators(PyObject* module);

}  // namespace oneflow::python

#endif  // ONEFLOW_PYTHON_OPERATORS_H_
