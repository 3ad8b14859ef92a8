// The Kronecker product: an outer product whose dimensions are joined in pairs.
#include <algorithm>

#include "dispatch/dispatch.h"
#include "ops/native.h"

namespace oneflow::native {

namespace {

constexpr int kMostDims = OF_MAX_RANK / 2;

// The size of one of `rank` dimensions, of which the first ones are missing.
int64_t size_of(const Tensor& tensor, int rank, int dim) {
  const int own = dim - (rank - tensor.rank());
  return own < 0 ? 1 : tensor.size(own);
}

// A view with a dimension of size 1 behind each of `rank` dimensions, or in front of each.
TensorRef spread(const Tensor& tensor, int rank, bool in_front) {
  Shape sizes(2 * rank, 1), strides(2 * rank, 0);
  for (int d = 0; d < tensor.rank(); ++d) {
    const int place = 2 * (rank - tensor.rank() + d) + (in_front ? 1 : 0);
    sizes[place] = tensor.size(d);
    strides[place] = tensor.stride(d);
  }
  return Tensor::view(tensor, sizes, strides, tensor.offset());
}

}  // namespace

void kron(Call& call) {
  static const OperatorName mul("mul");
  const Tensor &input = call.tensor(0), &other = call.tensor(1);
  const int rank = std::max(input.rank(), other.rank());
  if (rank > kMostDims)
    fail(OF_SHAPE_ERROR, "input and other must have at most %d dimensions, got %d", kMostDims, rank);
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
  call_into(call, *target, mul, spread(input, rank, false), spread(other, rank, true));
}

}  // namespace oneflow::native
