#include "tensor/nested.h"

#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "calls/scalars.h"
#include "errors.h"
#include "tensor/dlpack.h"
#include "tensor/dtype.h"
#include "tensor/tensor.h"

namespace oneflow::python {
namespace {

// Rounds a number towards zero to an integer type. Returns false if it does not fit.
template <typename T>
bool truncate(double value, T* result) {
  const double truncated = std::trunc(value);
  // Both bounds are exact doubles: the lowest value, and the highest value plus 1.
  const double end = std::ldexp(1.0, std::numeric_limits<T>::digits);
  if (!(truncated >= static_cast<double>(std::numeric_limits<T>::lowest()) && truncated < end)) return false;
  *result = static_cast<T>(truncated);
  return true;
}

// Converts a number to an element type. Returns false if it does not fit.
template <typename T>
bool narrow(const of_scalar& number, T* result) {
  if constexpr (std::is_same_v<T, bool>) {
    *result = number.kind == OF_SCALAR_FLOAT ? number.as.real != 0 : number.as.integer != 0;
    return true;
  } else if constexpr (std::is_floating_point_v<T>) {
    *result = number.kind == OF_SCALAR_FLOAT  ? static_cast<T>(number.as.real)
              : number.kind == OF_SCALAR_UINT ? static_cast<T>(number.as.natural)
                                              : static_cast<T>(number.as.integer);
    return true;
  } else {
    if (number.kind == OF_SCALAR_FLOAT) return truncate(number.as.real, result);
    *result = static_cast<T>(number.as.integer);
    if (number.kind == OF_SCALAR_UINT) return std::is_same_v<T, uint64_t>;
    return std::in_range<T>(number.as.integer);
  }
}

std::string text_of(const of_scalar& number) {
  if (number.kind == OF_SCALAR_FLOAT) {
    Ref object(PyFloat_FromDouble(number.as.real));
    Ref text(object ? PyObject_Repr(object.get()) : nullptr);
    const char* words = text ? PyUnicode_AsUTF8(text.get()) : nullptr;
    return words != nullptr ? words : "a number";
  }
  return number.kind == OF_SCALAR_UINT ? std::to_string(number.as.natural) : std::to_string(number.as.integer);
}

template <typename T>
bool store_as(const std::vector<of_scalar>& numbers, const std::string& prefix, of_dtype dtype, void* destination) {
  T* elements = static_cast<T*>(destination);
  for (const of_scalar& number : numbers) {
    if (!narrow(number, elements++)) {
      raise(OF_INVALID_ARGUMENT, prefix + " must fit into " + of_dtype_name(dtype) + ", got " + text_of(number));
      return false;
    }
  }
  return true;
}

// Stores complex numbers: real and imaginary parts are interleaved.
template <typename T>
bool store_parts(const std::vector<of_scalar>& numbers, const std::vector<double>& imaginary, void* destination) {
  T* parts = static_cast<T*>(destination);
  for (size_t i = 0; i < numbers.size(); ++i) {
    narrow(numbers[i], parts++);
    *parts++ = i < imaginary.size() ? static_cast<T>(imaginary[i]) : T{0};
  }
  return true;
}

// Returns the dtype of Python's complex numbers: complex128 if the default dtype is float64, else complex64.
of_dtype default_complex_dtype() { return of_promote_types(of_default_dtype(), OF_COMPLEX64); }

// Returns the dtype of a NumPy scalar or array; `otherwise` if oneflow lacks it.
of_dtype numpy_dtype(PyObject* scalar, of_dtype otherwise) {
  Ref dtype(PyObject_GetAttrString(scalar, "dtype"));
  Ref name(dtype ? PyObject_GetAttrString(dtype.get(), "name") : nullptr);
  of_dtype found = otherwise;
  if (name && find_dtype(name.get(), &found) == DtypeMatch::kFound) return found;
  PyErr_Clear();
  return otherwise;
}

}  // namespace

bool is_sequence(PyObject* object) {
  return PyList_Check(object) || PyTuple_Check(object) ||
         (PySequence_Check(object) && !PyUnicode_Check(object) && !PyBytes_Check(object) && !PyDict_Check(object));
}

std::string NestedNumbers::path(size_t depth) const {
  std::string text = prefix_;
  for (size_t i = 0; i < depth; ++i) text.append("[").append(std::to_string(position_[i])).append("]");
  return text;
}

bool NestedNumbers::raise_ragged(size_t depth, const std::string& found) const {
  const std::string expected =
      depth < sizes_.size() ? "a list of length " + std::to_string(sizes_[depth]) : std::string("a number");
  raise(OF_SHAPE_ERROR, path(depth) + " must be " + expected + ", like the ones before it, got " + found);
  return false;
}

bool NestedNumbers::visit(PyObject* object, size_t depth) {
  if (PyFloat_CheckExact(object)) return visit_number(object, of_default_dtype(), depth);
  if (PyBool_Check(object)) return visit_number(object, OF_BOOL, depth);
  if (PyLong_Check(object)) return visit_number(object, OF_INT64, depth);
  if (PyComplex_CheckExact(object)) return visit_number(object, default_complex_dtype(), depth);
  if (PyList_Check(object) || PyTuple_Check(object)) return visit_sequence(object, depth);
  if (is_numpy_scalar(object)) {
    Ref item(PyObject_CallMethod(object, "item", nullptr));
    if (!item) return false;
    if (PyFloat_Check(item.get())) return visit_number(item.get(), numpy_dtype(object, OF_FLOAT64), depth);
    if (PyComplex_Check(item.get())) return visit_number(item.get(), numpy_dtype(object, OF_COMPLEX128), depth);
    if (PyBool_Check(item.get())) return visit_number(item.get(), OF_BOOL, depth);
    if (PyLong_Check(item.get())) return visit_number(item.get(), numpy_dtype(object, OF_INT64), depth);
  } else if (PyFloat_Check(object)) {
    return visit_number(object, of_default_dtype(), depth);
  } else if (PyComplex_Check(object)) {
    return visit_number(object, default_complex_dtype(), depth);
  } else if (is_tensor(object) || PyObject_HasAttrString(object, "__array_interface__")) {
    return visit_array(object, depth);
  } else if (has_dlpack(object)) {
    Ref tensor = tensor_from_dlpack(object);
    return tensor && visit_array(tensor.get(), depth);
  } else if (is_sequence(object)) {
    return visit_sequence(object, depth);
  }
  raise(OF_TYPE_MISMATCH, path(depth) + " must be a number or a list, got " + type_name(object));
  return false;
}

// Visits the numbers of an array within a list, which count with the dtype of the array. The tolist() of another
// library's array may return anything, even the array, so Python's recursion limit applies.
bool NestedNumbers::visit_array(PyObject* array, size_t depth) {
  Ref values(PyObject_CallMethod(array, "tolist", nullptr));
  if (!values || Py_EnterRecursiveCall(" in the data of a tensor") != 0) return false;
  const of_dtype dtype = is_tensor(array) ? of_tensor_dtype(handle_of(array)) : numpy_dtype(array, OF_FLOAT64);
  dtype_ = dtype_ == OF_DTYPE_NONE ? dtype : of_promote_types(dtype_, dtype);
  const of_dtype promoted = dtype_;  // without the dtypes of the Python numbers that tolist() returned
  const bool fits = visit(values.get(), depth);
  Py_LeaveRecursiveCall();
  dtype_ = promoted;
  return fits;
}

bool NestedNumbers::visit_sequence(PyObject* sequence, size_t depth) {
  if (depth == OF_MAX_RANK) {
    raise(OF_SHAPE_ERROR, prefix_ + " must have at most " + std::to_string(OF_MAX_RANK) + " dimensions");
    return false;
  }
  Ref items(PySequence_Tuple(sequence));
  if (!items) return false;
  const int64_t count = PyTuple_GET_SIZE(items.get());
  if (!sizes_known_ && depth == sizes_.size()) {
    sizes_.push_back(count);
  } else if (depth >= sizes_.size() || sizes_[depth] != count) {
    return raise_ragged(depth, "a list of length " + std::to_string(count));
  }
  position_.push_back(0);
  for (int64_t i = 0; i < count; ++i) {
    position_.back() = i;
    if (!visit(PyTuple_GET_ITEM(items.get(), i), depth + 1)) return false;
  }
  position_.pop_back();
  sizes_known_ = true;
  return true;
}

bool NestedNumbers::visit_number(PyObject* number, of_dtype dtype, size_t depth) {
  if (depth != sizes_.size()) return raise_ragged(depth, "a number");
  sizes_known_ = true;
  if (PyFloat_Check(number)) {
    numbers_.push_back({.kind = OF_SCALAR_FLOAT, .as = {.real = PyFloat_AS_DOUBLE(number)}});
  } else if (PyComplex_Check(number)) {
    const double real = PyComplex_RealAsDouble(number);
    imaginary_.resize(numbers_.size());
    imaginary_.push_back(PyComplex_ImagAsDouble(number));
    numbers_.push_back({.kind = OF_SCALAR_FLOAT, .as = {.real = real}});
  } else if (PyBool_Check(number)) {
    numbers_.push_back({.kind = OF_SCALAR_BOOL, .as = {.integer = number == Py_True}});
  } else if (!add_integer(number)) {
    return false;
  }
  dtype_ = dtype_ == OF_DTYPE_NONE ? dtype : of_promote_types(dtype_, dtype);
  return true;
}

bool NestedNumbers::add_integer(PyObject* integer) {
  of_value value;
  if (!find_integer(integer, &value)) {
    raise(OF_INVALID_ARGUMENT, prefix_ + " must fit into 64 bits, got a larger integer");
    return false;
  }
  if (value.kind == OF_VALUE_INT)
    numbers_.push_back({.kind = OF_SCALAR_INT, .as = {.integer = value.as.integer}});
  else
    numbers_.push_back({.kind = OF_SCALAR_UINT, .as = {.natural = value.as.natural}});
  return true;
}

// Returns whether all numbers are real; raises DTypeError for the real dtype `dtype` otherwise.
bool NestedNumbers::check_is_real(of_dtype dtype) const {
  if (imaginary_.empty()) return true;
  const size_t last = imaginary_.size() - 1;
  Ref number(PyComplex_FromDoubles(numbers_[last].as.real, imaginary_[last]));
  Ref text(number ? PyObject_Repr(number.get()) : nullptr);
  const char* words = text ? PyUnicode_AsUTF8(text.get()) : nullptr;
  if (words) raise(OF_DTYPE_ERROR, prefix_ + " must be real numbers for " + of_dtype_name(dtype) + ", got " + words);
  return false;
}

bool NestedNumbers::store(of_dtype dtype, void* destination) const {
  if (!is_complex(dtype) && !check_is_real(dtype)) return false;
  switch (dtype) {
    case OF_BOOL:
      return store_as<bool>(numbers_, prefix_, dtype, destination);
    case OF_UINT8:
      return store_as<uint8_t>(numbers_, prefix_, dtype, destination);
    case OF_INT8:
      return store_as<int8_t>(numbers_, prefix_, dtype, destination);
    case OF_INT16:
      return store_as<int16_t>(numbers_, prefix_, dtype, destination);
    case OF_INT32:
      return store_as<int32_t>(numbers_, prefix_, dtype, destination);
    case OF_INT64:
      return store_as<int64_t>(numbers_, prefix_, dtype, destination);
    case OF_UINT16:
      return store_as<uint16_t>(numbers_, prefix_, dtype, destination);
    case OF_UINT32:
      return store_as<uint32_t>(numbers_, prefix_, dtype, destination);
    case OF_UINT64:
      return store_as<uint64_t>(numbers_, prefix_, dtype, destination);
    case OF_FLOAT32:
      return store_as<float>(numbers_, prefix_, dtype, destination);
    case OF_FLOAT64:
      return store_as<double>(numbers_, prefix_, dtype, destination);
    case OF_COMPLEX64:
      return store_parts<float>(numbers_, imaginary_, destination);
    case OF_COMPLEX128:
      return store_parts<double>(numbers_, imaginary_, destination);
    default:
      raise(OF_INTERNAL_ERROR, prefix_ + " cannot be stored as " + of_dtype_name(dtype));
      return false;
  }
}

}  // namespace oneflow::python
