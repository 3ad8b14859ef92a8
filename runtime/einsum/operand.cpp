#include "einsum/operand.h"

#include <algorithm>

namespace oneflow::einsum {

Operand make_operand(TensorRef tensor, const Labels& labels, std::pmr::memory_resource* memory) {
  Operand operand{nullptr, Dims(memory)};
  operand.dims.reserve(labels.size());
  for (size_t d = 0; d < labels.size(); ++d) {
    const int64_t size = tensor->size(static_cast<int>(d)), stride = tensor->stride(static_cast<int>(d));
    if (size == 1) continue;
    const auto known = std::find_if(operand.dims.begin(), operand.dims.end(),
                                    [&](const LabelledDim& dim) { return dim.label == labels[d]; });
    if (known == operand.dims.end()) {
      operand.dims.push_back({labels[d], size, stride});
    } else {
      known->stride += stride;
    }
  }
  operand.tensor = std::move(tensor);
  return operand;
}

Operand contiguous_operand(TensorRef tensor, Dims dims) {
  for (size_t d = 0; d < dims.size(); ++d) dims[d].stride = tensor->stride(static_cast<int>(d));
  return {std::move(tensor), std::move(dims)};
}

Operand allocate_operand(Dims dims, of_dtype dtype, of_device device) {
  Shape sizes;
  for (const LabelledDim& dim : dims) sizes.push_back(dim.size);
  return contiguous_operand(Tensor::allocate(sizes, dtype, device), std::move(dims));
}

TensorRef view_as(const Operand& operand, std::span<const LabelledDim> dims) {
  Shape sizes, strides;
  for (const LabelledDim& dim : dims) {
    sizes.push_back(dim.size);
    strides.push_back(operand.stride(dim.label));
  }
  return Tensor::view(*operand.tensor, sizes, strides, operand.tensor->offset());
}

}  // namespace oneflow::einsum
