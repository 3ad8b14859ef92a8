// Flattens nested sequences of numbers.
#ifndef ONEFLOW_PYTHON_NESTED_H_
#define ONEFLOW_PYTHON_NESTED_H_

#include <oneflow/oneflow.h>

#include <string>
#include <vector>

#include "objects.h"

namespace oneflow::python {

// Returns whether an object counts as a list: a sequence other than str, bytes and dict. Strings are excluded because
// their items are strings again.
bool is_sequence(PyObject* object);

// Collects the numbers of nested sequences, the shape of the array that they form, and the dtype that they promote to.
// Each object is read once: conversions run Python code, which could change a sequence between two reads.
class NestedNumbers {
 public:
  NestedNumbers(const char* function, const char* name) : prefix_(std::string(function) + ": " + name) {}

  // Returns false with an exception if the data is ragged, nested too deeply, or contains other objects.
  bool collect(PyObject* data) { return visit(data, 0); }

  const std::vector<int64_t>& sizes() const { return sizes_; }
  size_t count() const { return numbers_.size(); }
  of_dtype dtype() const { return dtype_; }  // OF_DTYPE_NONE if there are no numbers

  // Writes the numbers to `destination` as elements of a dtype other than float16 and bfloat16. Returns false with an
  // exception if a number does not fit the dtype.
  bool store(of_dtype dtype, void* destination) const;

 private:
  bool visit(PyObject* object, size_t depth);
  bool visit_array(PyObject* array, size_t depth);
  bool visit_sequence(PyObject* sequence, size_t depth);
  bool visit_number(PyObject* number, of_dtype dtype, size_t depth);
  bool add_integer(PyObject* integer);
  bool check_is_real(of_dtype dtype) const;
  bool raise_ragged(size_t depth, const std::string& found) const;
  std::string path(size_t depth) const;  // the current position in error texts: "data[1][0]"

  std::string prefix_;
  std::vector<int64_t> sizes_;
  bool sizes_known_ = false;       // the first number or empty sequence fixes the number of dimensions
  std::vector<int64_t> position_;  // index of the current object at each depth
  std::vector<of_scalar> numbers_;
  std::vector<double> imaginary_;  // imaginary parts of the first numbers; those of the others are 0
  of_dtype dtype_ = OF_DTYPE_NONE;
};

}  // namespace oneflow::python

#endif  // ONEFLOW_PYTHON_NESTED_H_
