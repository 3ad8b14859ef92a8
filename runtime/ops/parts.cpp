#include "ops/parts.h"

#include <algorithm>

#include "base/error.h"

namespace oneflow {

Part even_part(int64_t size, int64_t index, int64_t count) {
  const int64_t whole = size / count, larger = size % count;
  return {index * whole + std::min(index, larger), whole + (index < larger)};
}

TensorRef narrow(const Tensor& tensor, int64_t dim, Part part) {
  Shape sizes = tensor.sizes();
  sizes[static_cast<int>(dim)] = part.size;
  if (!tensor.has_memory()) return Tensor::without_memory(sizes, tensor.dtype(), tensor.device());
  const int64_t skipped = part.size == 0 ? 0 : part.start * tensor.stride(static_cast<int>(dim));
  return Tensor::view(tensor, sizes, tensor.strides(), tensor.offset() + skipped);
}

void check_has_dims(const Tensor& tensor, const char* argument) {
  if (tensor.rank() == 0) fail(OF_SHAPE_ERROR, "%s must have at least 1 dimension, got 0", argument);
}

}  // namespace oneflow
