#include "parallel/processes/split.h"

#include <algorithm>

#include "device/device.h"
#include "dispatch/dispatch.h"

namespace oneflow::processes {

namespace {
constinit const OperatorName kAllGather("comm.all_gather");
}

const Group* split(const Group& group, int64_t color, int64_t key) {
  const TensorRef own = Tensor::allocate(Shape{1, 2}, OF_INT64, kHost);
  auto* const numbers = static_cast<int64_t*>(own->mutable_data());
  numbers[0] = color;
  numbers[1] = key;
  const std::string& text = group.text();
  const TensorRef all = call_operator(kAllGather, own, int64_t{0}, std::string_view(text));
  const auto* const found = static_cast<const int64_t*>(all->data());
  std::vector<std::pair<int64_t, uint32_t>> members;  // key and rank, in the order of the positions
  for (uint32_t i = 0; i < group.size(); ++i)
    if (found[2 * i] == color) members.emplace_back(found[2 * i + 1], group.ranks()[i]);
  if (color < 0) return nullptr;
  std::stable_sort(members.begin(), members.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<uint32_t> ranks;
  for (const auto& [ignored, rank] : members) ranks.push_back(rank);
  return &Group::of(std::move(ranks));
}

}  // namespace oneflow::processes
