// What values of Python are, for the shared binder, and results as values of Python.
#ifndef ONEFLOW_PYTHON_LANGUAGE_H_
#define ONEFLOW_PYTHON_LANGUAGE_H_

#include <oneflow/objects.h>

#include <string>
#include <unordered_map>
#include <vector>

#include "objects.h"

namespace oneflow::python {

// What must live until a call is bound.
struct CallContext {
  std::vector<Ref> kept;
  std::unordered_map<PyObject*, Ref> items;  // of dictionaries and sets, as lists
  std::string text;
  PyObject* names = nullptr;   // of the arguments by name, a tuple
  bool shares_arrays = false;  // whether tensors may share the memory of arrays that stand for them
  // Whether a function is called: sets are no lists for it, and objects that hold nothing yet are other data.
  bool is_function = false;
};

// The language, whose calls have a CallContext.
extern const of_language python_language;

// Returns a new reference to the value of a result; NULL with an exception on failure.
PyObject* to_python(const of_type& type, const of_data& data);

}  // namespace oneflow::python

#endif  // ONEFLOW_PYTHON_LANGUAGE_H_
