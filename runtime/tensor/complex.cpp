#include "tensor/complex.h"

#include "base/error.h"

namespace oneflow {

namespace {

// Converts strides from complex elements to real parts.
Shape doubled(const Shape& strides) {
  Shape result = strides;
  for (int d = 0; d < result.rank(); ++d) result[d] *= 2;
  return result;
}

// Returns a view of a complex tensor with the dtype of its parts, in which `strides` and `offset` are counted.
TensorRef view_parts(const Tensor& tensor, Sizes sizes, Sizes strides, int64_t offset) {
  const of_dtype dtype = part_dtype(tensor.dtype());
  if (!tensor.has_memory()) return Tensor::without_memory(sizes, dtype, tensor.device());
  return Tensor::view(tensor, dtype, sizes, strides, offset);
}

}  // namespace

TensorRef view_as_real(const Tensor& tensor) {
  if (tensor.rank() == OF_MAX_RANK)
    fail(OF_SHAPE_ERROR, "a complex tensor must have at most %d dimensions, got %d", OF_MAX_RANK - 1, OF_MAX_RANK);
  Shape sizes = tensor.sizes(), strides = doubled(tensor.strides());
  sizes.push_back(2);
  strides.push_back(1);
  return view_parts(tensor, sizes, strides, 2 * tensor.offset());
}

TensorRef view_as_complex(const Tensor& parts) {
  const of_dtype dtype = complex_dtype(parts.dtype());
  if (dtype == OF_DTYPE_NONE)
    fail(OF_DTYPE_ERROR, "input must be a float32 or float64 tensor, got %s", dtype_name(parts.dtype()));
  const int last = parts.rank() - 1;
  if (last < 0 || parts.size(last) != 2)
    fail(OF_SHAPE_ERROR, "input must have a last dimension of size 2, got shape %s", to_text(parts.sizes()).c_str());
  Shape sizes = parts.sizes(), strides = parts.strides();
  bool is_even = strides[last] == 1 && parts.offset() % 2 == 0;
  sizes.resize(last);
  strides.resize(last);
  for (int d = 0; d < last; ++d) {
    is_even &= strides[d] % 2 == 0 || sizes[d] <= 1;
    strides[d] /= 2;
  }
  if (!parts.has_memory()) return Tensor::without_memory(sizes, dtype, parts.device());
  if (!is_even)
    fail(OF_SHAPE_ERROR,
         "input must have stride 1 in the last dimension, and even other strides and offset, "
         "got strides %s and offset %lld; clone it first",
         to_text(parts.strides()).c_str(), static_cast<long long>(parts.offset()));
  return Tensor::view(parts, dtype, sizes, strides, parts.offset() / 2);
}

TensorRef part_of(const Tensor& tensor, int part) {
  return view_parts(tensor, tensor.sizes(), doubled(tensor.strides()), 2 * tensor.offset() + part);
}

}  // namespace oneflow
