#include "parallel/local/ranks.h"

namespace oneflow::collective {

std::vector<const Tensor*> ranks(const Call& call, int argument) {
  std::vector<const Tensor*> tensors;
  for (const of_tensor handle : call.tensors(argument)) tensors.push_back(to_tensor(handle));
  const char* name = call.schema().arguments[argument].name;
  if (tensors.empty()) fail(OF_INVALID_ARGUMENT, "%s must not be empty", name);
  const of_dtype dtype = tensors[0]->dtype();
  for (size_t i = 1; i < tensors.size(); ++i)
    if (tensors[i]->dtype() != dtype)
      fail(OF_DTYPE_ERROR, "%s[%zu] must be %s, as %s[0] is, got %s", name, i, dtype_name(dtype), name,
           dtype_name(tensors[i]->dtype()));
  return tensors;
}

void check_same_shape(const std::vector<const Tensor*>& tensors) {
  const Shape& sizes = tensors[0]->sizes();
  for (size_t i = 1; i < tensors.size(); ++i)
    if (tensors[i]->sizes() != sizes)
      fail(OF_SHAPE_ERROR, "tensors[%zu] must have shape %s, as tensors[0] has, got %s", i, to_text(sizes).c_str(),
           to_text(tensors[i]->sizes()).c_str());
}

void check_same_shape_outside(const std::vector<const Tensor*>& tensors, int64_t dim) {
  const Shape& sizes = tensors[0]->sizes();
  const int rank = sizes.rank();
  for (size_t i = 1; i < tensors.size(); ++i) {
    const Shape& other = tensors[i]->sizes();
    if (other.rank() != rank)
      fail(OF_SHAPE_ERROR, "tensors[%zu] must have %d dimension%s, as tensors[0] has, got %d", i, rank,
           rank == 1 ? "" : "s", other.rank());
    for (int d = 0; d < rank; ++d)
      if (d != dim && other[d] != sizes[d])
        fail(OF_SHAPE_ERROR, "tensors[%zu] must have shape %s outside of dimension %lld, as tensors[0] has, got %s", i,
             to_text(sizes).c_str(), static_cast<long long>(dim), to_text(other).c_str());
  }
}

TensorRef flat(const Tensor& tensor) { return flat(tensor, {0, tensor.count()}); }

TensorRef flat(const Tensor& tensor, Part part) {
  return Tensor::view(tensor, Shape{part.size}, Shape{1}, tensor.offset() + part.start);
}

}  // namespace oneflow::collective
