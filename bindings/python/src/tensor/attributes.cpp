// The attributes of a tensor: shape, dtype, device, strides, T and others.

#include "calls/binding.h"
#include "calls/call.h"
#include "calls/operators.h"
#include "devices/device.h"
#include "errors.h"
#include "tensor/dtype.h"
#include "tensor/tensor.h"
#include "tensor/tensor_parts.h"

namespace oneflow::python {
namespace {

bool get_info(PyObject* self, of_tensor_info* info) {
  info->struct_size = sizeof(*info);
  return check(of_tensor_get_info(handle_of(self), info));
}

PyObject* get_shape(PyObject* self, void*) {
  return tuple_of(of_tensor_sizes(handle_of(self)), of_tensor_rank(handle_of(self)));
}

PyObject* get_dtype(PyObject* self, void*) { return dtype_object(of_tensor_dtype(handle_of(self))); }

PyObject* get_device(PyObject* self, void*) {
  of_tensor_info info{};
  return get_info(self, &info) ? device_object(info.device) : nullptr;
}

PyObject* get_ndim(PyObject* self, void*) { return PyLong_FromLong(of_tensor_rank(handle_of(self))); }

PyObject* get_itemsize(PyObject* self, void*) {
  return PyLong_FromSize_t(of_dtype_size(of_tensor_dtype(handle_of(self))));
}

PyObject* get_nbytes(PyObject* self, void*) {
  const Py_ssize_t bytes = byte_count(handle_of(self));
  return bytes >= 0 ? PyLong_FromSsize_t(bytes) : nullptr;
}

PyObject* get_version(PyObject* self, void*) {
  of_tensor_info info{};
  return get_info(self, &info) ? PyLong_FromUnsignedLongLong(info.version) : nullptr;
}

// Returns a view with the dimensions in the order that order_of(i) gives.
template <class OrderOf>
PyObject* permuted(PyObject* self, int32_t rank, OrderOf order_of) {
  static const Function* const permute = find_function("permute");
  if (permute == nullptr) return raise(OF_UNSUPPORTED, "this build of oneflow has no operator permute");
  int64_t order[OF_MAX_RANK];
  for (int32_t i = 0; i < rank; ++i) order[i] = order_of(i);
  of_value values[2]{};
  values[0].kind = OF_VALUE_TENSOR;
  values[0].as.tensor = handle_of(self);
  values[1].kind = OF_VALUE_INT_LIST;
  values[1].count = rank;
  values[1].as.integers = order;
  return run_operator(*permute, values, nullptr);
}

PyObject* get_transposed(PyObject* self, void*) {
  const int32_t rank = of_tensor_rank(handle_of(self));
  return permuted(self, rank, [rank](int32_t i) { return rank - 1 - i; });
}

PyObject* get_matrix_transposed(PyObject* self, void*) {
  const int32_t rank = of_tensor_rank(handle_of(self));
  if (rank < 2) {
    return raise(OF_SHAPE_ERROR, "mT: input must have at least 2 dimensions, got " + std::to_string(rank));
  }
  return permuted(self, rank, [rank](int32_t i) { return i < rank - 2 ? i : 2 * rank - 3 - i; });
}

PyObject* get_adjoint(PyObject* self, void*) {
  const Ref transposed(get_matrix_transposed(self, nullptr));
  PyObject* args[] = {transposed.get()};
  return transposed ? call_function("conj", args) : nullptr;
}

// Implements size() and stride(): returns the tuple of all values, or the value of one dimension.
PyObject* tuple_or_item(const Function& function, const int64_t* values, int32_t rank, PyObject* const* args,
                        Py_ssize_t count, PyObject* keywords) {
  BoundCall call;
  if (!call.bind(function, {args, count, keywords})) return nullptr;
  if (call.values()[0].kind != OF_VALUE_INT) return tuple_of(values, rank);
  const int64_t dim = call.values()[0].as.integer;
  if (rank == 0 || dim < -rank || dim >= rank) {
    const std::string range = "between " + std::to_string(-rank) + " and " + std::to_string(rank - 1);
    return raise(OF_INDEX_OUT_OF_RANGE, std::string(function.name(OF_CALLED_AS_FUNCTION)) + ": dim must be " +
                                            (rank == 0 ? "absent" : range) + " for a tensor with " +
                                            std::to_string(rank) + " dimension" + (rank == 1 ? "" : "s") + ", got " +
                                            std::to_string(dim));
  }
  return PyLong_FromLongLong(values[dim < 0 ? dim + rank : dim]);
}

constexpr of_parameter kDim[] = {optional("dim", kIntOrNone)};
const Function kSizeFunction("size", kDim);
const Function kStrideFunction("stride", kDim);

PyObject* size(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  const of_tensor handle = handle_of(self);
  return tuple_or_item(kSizeFunction, of_tensor_sizes(handle), of_tensor_rank(handle), args, count, keywords);
}

PyObject* stride(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  const of_tensor handle = handle_of(self);
  return tuple_or_item(kStrideFunction, of_tensor_strides(handle), of_tensor_rank(handle), args, count, keywords);
}

PyObject* numel(PyObject* self, PyObject*) { return PyLong_FromLongLong(of_tensor_count(handle_of(self))); }
PyObject* dim(PyObject* self, PyObject*) { return get_ndim(self, nullptr); }
PyObject* element_size(PyObject* self, PyObject*) { return get_itemsize(self, nullptr); }

PyObject* storage_offset(PyObject* self, PyObject*) {
  of_tensor_info info{};
  return get_info(self, &info) ? PyLong_FromLongLong(info.offset) : nullptr;
}

PyObject* is_contiguous(PyObject* self, PyObject*) {
  of_tensor_info info{};
  return get_info(self, &info) ? PyBool_FromLong(info.is_contiguous) : nullptr;
}

PyObject* is_pinned(PyObject* self, PyObject*) {
  of_tensor_info info{};
  return get_info(self, &info) ? PyBool_FromLong(info.is_pinned) : nullptr;
}

PyObject* is_floating(PyObject* self, PyObject*) {
  return PyBool_FromLong(is_floating_point(of_tensor_dtype(handle_of(self))));
}

PyObject* has_complex_elements(PyObject* self, PyObject*) {
  return PyBool_FromLong(is_complex(of_tensor_dtype(handle_of(self))));
}

PyObject* data_ptr(PyObject* self, PyObject*) {
  void* data = nullptr;
  const of_tensor handle = handle_of(self);
  if (!check(run_native(handle, [&] { return of_tensor_mutable_data(handle, &data); }))) return nullptr;
  return PyLong_FromVoidPtr(data);
}

constexpr of_parameter kOther[] = {required("other", kTensorType)};
const Function kSharesFunction("shares_memory_with", kOther);

PyObject* shares_memory_with(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  BoundCall call;
  of_tensor_info mine{}, theirs{};
  if (!call.bind(kSharesFunction, {args, count, keywords}) || !get_info(self, &mine) ||
      !get_info(call.native(0), &theirs)) {
    return nullptr;
  }
  return PyBool_FromLong(mine.storage == theirs.storage);
}

const Function kEqualFunction("equal", kOther);

PyObject* equal(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  BoundCall call;
  bool result = false;
  if (!call.bind(kEqualFunction, {args, count, keywords})) return nullptr;
  const of_tensor mine = handle_of(self), theirs = handle_of(call.native(0));
  return check(run_native(mine, [&] { return of_tensor_equal(mine, theirs, &result); })) ? PyBool_FromLong(result)
                                                                                         : nullptr;
}

}  // namespace

std::vector<PyGetSetDef> tensor_attributes() {
  return {
      {"shape", get_shape, nullptr, "The size of each dimension, as a tuple.", nullptr},
      {"dtype", get_dtype, nullptr, "The dtype of the elements.", nullptr},
      {"device", get_device, nullptr, "The device that holds the data.", nullptr},
      {"ndim", get_ndim, nullptr, "The number of dimensions.", nullptr},
      {"itemsize", get_itemsize, nullptr, "The size of one element in bytes.", nullptr},
      {"nbytes", get_nbytes, nullptr, "The size of all elements in bytes.", nullptr},
      {"T", get_transposed, nullptr, "A view with the dimensions in reverse order.", nullptr},
      {"mT", get_matrix_transposed, nullptr,
       "A view with the last two dimensions swapped. Raises ShapeError for fewer than 2 dimensions.", nullptr},
      {"H", get_adjoint, nullptr, "The conjugate of `mT`. Raises ShapeError for fewer than 2 dimensions.", nullptr},
      {"_version", get_version, nullptr, "The number of writes to the memory, which views share.", nullptr},
  };
}

std::vector<PyMethodDef> attribute_methods() {
  return {
      fast_method("size", size,
                  "size($self, dim=None)\n--\n\n"
                  "Returns the shape, or the size of one dimension.\n\n"
                  "Raises IndexOutOfRange for a dimension that does not exist."),
      fast_method("stride", stride,
                  "stride($self, dim=None)\n--\n\n"
                  "Returns the strides of all dimensions, or of one, in elements. They may be negative.\n\n"
                  "Raises IndexOutOfRange for a dimension that does not exist."),
      {"numel", numel, METH_NOARGS, "numel($self)\n--\n\nReturns the number of elements."},
      {"nelement", numel, METH_NOARGS, "nelement($self)\n--\n\nReturns the number of elements, like numel()."},
      {"dim", dim, METH_NOARGS, "dim($self)\n--\n\nReturns the number of dimensions."},
      {"element_size", element_size, METH_NOARGS,
       "element_size($self)\n--\n\nReturns the size of one element in bytes."},
      {"storage_offset", storage_offset, METH_NOARGS,
       "storage_offset($self)\n--\n\nReturns the offset of the first element in the memory, in elements."},
      {"is_contiguous", is_contiguous, METH_NOARGS,
       "is_contiguous($self)\n--\n\nReturns whether the elements are contiguous in row-major order."},
      {"is_pinned", is_pinned, METH_NOARGS,
       "is_pinned($self)\n--\n\nReturns whether the data is in page-locked host memory; see pin_memory()."},
      {"is_floating_point", is_floating, METH_NOARGS,
       "is_floating_point($self)\n--\n\nReturns whether the elements are real floating-point numbers."},
      {"is_complex", has_complex_elements, METH_NOARGS,
       "is_complex($self)\n--\n\nReturns whether the elements are complex numbers."},
      {"data_ptr", data_ptr, METH_NOARGS,
       "data_ptr($self)\n--\n\n"
       "Returns the address of the first element as an int, which is valid as long as the tensor.\n\n"
       "Raises DeviceError for memory that the host cannot access."},
      fast_method("shares_memory_with", shares_memory_with,
                  "shares_memory_with($self, other)\n--\n\nReturns whether both tensors are views of the same memory."),
      fast_method("equal", equal,
                  "equal($self, other)\n--\n\n"
                  "Returns whether shape, dtype and all elements are equal, as one bool. NaN is not equal to itself."),
  };
}

}  // namespace oneflow::python
