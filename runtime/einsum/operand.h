// A tensor whose dimensions carry labels: what contractions work on.
#ifndef ONEFLOW_EINSUM_OPERAND_H_
#define ONEFLOW_EINSUM_OPERAND_H_

#include <memory_resource>
#include <span>
#include <vector>

#include "einsum/equation.h"
#include "tensor/tensor.h"

namespace oneflow::einsum {

struct LabelledDim {
  int label;
  int64_t size, stride;
};

// Short lists of one call, which lie on its stack.
using Dims = std::pmr::vector<LabelledDim>;

// Each label at most once. Dimensions of size 1 are left out: they matter to no product, and broadcasting is then the
// same as lacking a label.
struct Operand {
  TensorRef tensor;
  Dims dims;

  const LabelledDim* find(int label) const {
    for (const LabelledDim& dim : dims)
      if (dim.label == label) return &dim;
    return nullptr;
  }
  // Elements from one position of the label to the next; 0 where the operand lacks it.
  int64_t stride(int label) const {
    const LabelledDim* dim = find(label);
    return dim ? dim->stride : 0;
  }
  LabelSet labels() const {
    LabelSet set;
    for (const LabelledDim& dim : dims) set.set(static_cast<size_t>(dim.label));
    return set;
  }
};

// The tensor's dimensions under `labels`; a label that comes twice stands for the diagonal.
Operand make_operand(TensorRef tensor, const Labels& labels, std::pmr::memory_resource* memory);

// A contiguous tensor that has these dimensions in this order. The strides among them are overwritten.
Operand contiguous_operand(TensorRef tensor, Dims dims);

// The same over fresh memory.
Operand allocate_operand(Dims dims, of_dtype dtype, of_device device);

// The operand's elements as a view whose dimensions are `dims`, in their order and with their sizes.
TensorRef view_as(const Operand& operand, std::span<const LabelledDim> dims);

}  // namespace oneflow::einsum

#endif  // ONEFLOW_EINSUM_OPERAND_H_
