// Tensors of which the dimensions lie in any order.
#ifndef ONEFLOW_DEVICES_CPU_TESTS_ORDERS_H_
#define ONEFLOW_DEVICES_CPU_TESTS_ORDERS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace oneflow::cpu {

// The strides of a tensor whose dimensions lie in that order, outermost first.
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

#endif  // ONEFLOW_DEVICES_CPU_TESTS_ORDERS_H_
