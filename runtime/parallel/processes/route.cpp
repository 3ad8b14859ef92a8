#include "parallel/processes/route.h"

#include <algorithm>
#include <numeric>

#include "parallel/local/access.h"

namespace oneflow::processes {

Task cut(Operation& operation, int64_t size, std::optional<int64_t> part, std::vector<Part>& cuts) {
  std::vector<int64_t> sizes;
  if (part) {
    co_await exchange_numbers(operation, *part, sizes);
    check_sum(sizes, size);
  } else {
    for (uint32_t i = 0; i < operation.size(); ++i) sizes.push_back(even_part(size, i, operation.size()).size);
  }
  int64_t start = 0;
  for (const int64_t each : sizes) cuts.push_back({std::exchange(start, start + each), each});
}

void check_sum(const std::vector<int64_t>& sizes, int64_t whole) {
  const __int128 sum = std::accumulate(sizes.begin(), sizes.end(), __int128{0});
  if (sum != whole)
    fail(OF_SHAPE_ERROR, "the parts of all ranks must have the sum %lld, the size of dim, got %lld",
         static_cast<long long>(whole), static_cast<long long>(std::min<__int128>(sum, INT64_MAX)));
}

int64_t total_of(const std::vector<int64_t>& sizes) {
  int64_t total = 0;
  for (const int64_t each : sizes)
    if (each < 0 || __builtin_add_overflow(total, each, &total))
      fail(OF_SHAPE_ERROR, "the result has more elements than can be counted");
  return total;
}

Shape resized(const Shape& sizes, int dim, int64_t size) {
  Shape changed = sizes;
  changed[dim] = size;
  return changed;
}

TensorRef joined(const char* caller, const Tensors& parts, int dim) {
  std::vector<int64_t> sizes;
  for (const TensorRef& each : parts) sizes.push_back(each->size(dim));
  TensorRef whole =
      Tensor::allocate(resized(parts[0]->sizes(), dim, total_of(sizes)), parts[0]->dtype(), parts[0]->device());
  int64_t start = 0;
  for (const TensorRef& each : parts) {
    collective::copy_elements(caller, *narrow(*whole, dim, {start, each->size(dim)}), *each);
    start += each->size(dim);
  }
  return whole;
}

}  // namespace oneflow::processes
