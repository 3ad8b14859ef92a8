// The Kronecker product: an outer product in which each dimension of the input is merged with that of the other
// operand.
#include <algorithm>

#include "dispatch/dispatch.h"
#include "ops/native.h"

namespace oneflow::native {

namespace {

constexpr int kMaxDims = OF_MAX_RANK / 2;

// Returns the size of dimension `dim` of the tensor with dimensions of size 1 prepended up to `rank`.
int64_t size_of(const Tensor& tensor, int rank, int dim) {
  const int own = dim - (rank - tensor.rank());
  return own < 0 ? 1 : tensor.size(own);
}

// Returns a view with a dimension of size 1 inserted after each of `rank` dimensions, or before each of them.
TensorRef with_inserted_ones(const Tensor& tensor, int rank, bool before) {
  Shape sizes(2 * rank, 1), strides(2 * rank, 0);
  for (int d = 0; d < tensor.rank(); ++d) {
    const int dim = 2 * (rank - tensor.rank() + d) + (before ? 1 : 0);
    sizes[dim] = tensor.size(d);
    strides[dim] = tensor.stride(d);
  }
  return Tensor::view(tensor, sizes, strides, tensor.offset());
}

}  // namespace

void kron(Call& call) {
  static const OperatorName mul("mul");
  const Tensor &input = call.tensor(0), &other = call.tensor(1);
  const int rank = std::max(input.rank(), other.rank());
  if (rank > kMaxDims) fail(OF_SHAPE_ERROR, "input and other must have at most %d dimensions, got %d", kMaxDims, rank);
  Shape sizes, pairs;
  for (int d = 0; d < rank; ++d) {
    const int64_t outer = size_of(input, rank, d), inner = size_of(other, rank, d);
    pairs.push_back(outer);
    pairs.push_back(inner);
    sizes.push_back(0);
    if (__builtin_mul_overflow(outer, inner, &sizes[d]))
      fail(OF_SHAPE_ERROR, "the result has more elements than can be counted");
  }
  const Tensor& result = prepare_result(call, 0, sizes, resolve_dtypes(call).results[0], Aliasing::kForbidden);
  if (call.infer_only || result.count() == 0) return;
  const TensorRef target = Tensor::view(result, pairs, contiguous_strides(pairs), result.offset());
  call_into(call, *target, mul, with_inserted_ones(input, rank, false), with_inserted_ones(other, rank, true));
}

}  // namespace oneflow::native
