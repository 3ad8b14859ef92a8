// What stands for a tensor without being one: nested lists, arrays of other libraries, numbers.
#ifndef ONEFLOW_PYTHON_ARRAY_LIKE_H_
#define ONEFLOW_PYTHON_ARRAY_LIKE_H_

#include <oneflow/oneflow.h>

#include <span>

#include "objects.h"

namespace oneflow::python {

// Returns whether an object is a number, a list or another sequence of them, or an array, and no tensor. Strings, bytes
// and dictionaries are none.
bool is_array_like(PyObject* object);

// Makes tensors of the array-likes among the arguments of a call.
class ArrayReader {
 public:
  // Error texts begin with the name of the function. The tensors are made on the device of the first tensor among the
  // arguments, also within lists, or on the default device.
  ArrayReader(const char* function, std::span<PyObject* const> arguments);

  // Returns a tensor with a copy of the data and the dtype that tensor() gives it; an empty Ref with an exception for
  // ragged lists and the like. `name` is that of the argument.
  Ref read(PyObject* array_like, const char* name) const;

 private:
  const char* function_;
  of_device device_;
};

}  // namespace oneflow::python

#endif  // ONEFLOW_PYTHON_ARRAY_LIKE_H_
