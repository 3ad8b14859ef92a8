// Strides for tests with permuted dimensions.
#ifndef ONEFLOW_DEVICES_CPU_COPY_TEST_ORDERS_H_
#define ONEFLOW_DEVICES_CPU_COPY_TEST_ORDERS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace oneflow::cpu {

// Returns the strides of a tensor without gaps whose dimensions are stored in `order`, outermost first: sizes {2, 3} in
// the order {1, 0} have the strides {1, 2}.
inline std::vector<int64_t> strides_in(const std::vector<int64_t>& sizes, const std::vector<size_t>& order) {
  std::vector<int64_t> strides(sizes.size());
  int64_t next = 1;
  for (size_t i = order.size(); i > 0; --i) {
    strides[order[i - 1]] = next;
    next *= sizes[order[i - 1]];
  }
  return strides;
}

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_COPY_TEST_ORDERS_H_
