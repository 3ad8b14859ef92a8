#include "onnx/arranging.h"

namespace oneflow::onnx {

std::vector<int64_t> sizes_of(const Tensor& tensor) { return {tensor.sizes().begin(), tensor.sizes().end()}; }

Tensor pad_dim(const Tensor& x, int64_t dim, int64_t before, int64_t after) {
  std::vector<int64_t> amounts(static_cast<size_t>(2 * (x.rank() - dim)), 0);
  amounts[amounts.size() - 2] = before;
  amounts[amounts.size() - 1] = after;
  return pad(x, amounts, "constant", 0);
}

Tensor range_of_dim(const Tensor& x, int64_t dim, int64_t start, int64_t end) {
  const int64_t missing = end - x.size(dim);
  return slice(missing > 0 ? pad_dim(x, dim, 0, missing) : x, dim, start, end);
}

Tensor reversed_places(int64_t time, const Tensor& lengths) {
  const Tensor steps = reshape(arange(time, int64, lengths.device()), {time, 1});
  const Tensor ends = reshape(lengths.to(int64), {1, lengths.count()});
  return where(lt(steps, ends), sub(sub(ends, 1), steps), steps);
}

}  // namespace oneflow::onnx
