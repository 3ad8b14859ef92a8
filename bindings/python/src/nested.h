// Nested sequences of numbers, flattened.
#ifndef ONEFLOW_PYTHON_NESTED_H_
#define ONEFLOW_PYTHON_NESTED_H_

#include <oneflow/oneflow.h>

#include <string>
#include <vector>

#include "objects.h"

namespace oneflow::python {

// Whether an object is a list in the wide sense. Text is not, as each of its members is a text again.
bool is_sequence(PyObject* object);

// Collects the numbers of nested sequences, with the sizes of the array that they form and the element type that
// holds them all. Every object is looked at once, so that code which conversions run cannot change the sizes later.
class NestedNumbers {
 public:
  NestedNumbers(const char* function, const char* name) : prefix_(std::string(function) + ": " + name) {}

  // False with an exception where the data is ragged, too deep, or holds something else.
  bool collect(PyObject* data) { return visit(data, 0); }

  const std::vector<int64_t>& sizes() const { return sizes_; }
  size_t count() const { return numbers_.size(); }
  of_dtype dtype() const { return dtype_; }  // OF_DTYPE_COUNT: there are no numbers

  // Writes the numbers as elements of a type, which is not a half-precision one. False with an exception where one
  // does not fit.
  bool store(of_dtype dtype, void* destination) const;

 private:
  bool visit(PyObject* object, size_t depth);
  bool visit_array(PyObject* array, size_t depth);
  bool visit_sequence(PyObject* sequence, size_t depth);
  bool visit_number(PyObject* number, of_dtype dtype, size_t depth);
  bool add_integer(PyObject* integer);
  bool check_is_real(of_dtype dtype) const;
  bool raise_ragged(size_t depth, const std::string& found) const;
  std::string place(size_t depth) const;  // "data[1][0]"

  std::string prefix_;
  std::vector<int64_t> sizes_;
  bool sizes_known_ = false;       // the first number or empty sequence fixes the number of dimensions
  std::vector<int64_t> position_;  // where the visit is
  std::vector<of_scalar> numbers_;
  std::vector<double> imaginary_;  // parts of the first so many numbers; the others have none
  of_dtype dtype_ = OF_DTYPE_COUNT;
};

}  // namespace oneflow::python

#endif  // ONEFLOW_PYTHON_NESTED_H_
