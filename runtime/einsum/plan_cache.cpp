#include "einsum/plan_cache.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "base/per_thread.h"

namespace oneflow::einsum {

namespace {

// Everything that a plan depends on, as a row of integers: the operator, its arguments, and the dtypes and layouts of
// its tensors.
using Key = std::vector<int64_t>;

void add_tensor(Key& key, const Tensor& tensor) {
  key.push_back(int64_t{tensor.dtype()} << 32 | tensor.rank());
  key.insert(key.end(), tensor.sizes().begin(), tensor.sizes().end());
  key.insert(key.end(), tensor.strides().begin(), tensor.strides().end());
}

void add_text(Key& key, std::string_view text) {
  for (size_t at = 0; at < text.size(); at += sizeof(int64_t)) {
    int64_t part = 0;
    std::memcpy(&part, text.data() + at, std::min(sizeof part, text.size() - at));
    key.push_back(part);
  }
}

void fill_key(Key& key, const Call& call) {
  key.clear();
  key.push_back(reinterpret_cast<intptr_t>(&call.op));
  for (size_t i = 0; i < call.schema().arguments.size(); ++i) {
    const of_value& value = call.arguments[i];
    const int argument = static_cast<int>(i);
    key.push_back(int64_t{value.kind} << 32 | value.count);
    switch (value.kind) {
      case OF_VALUE_TENSOR:
        add_tensor(key, call.tensor(argument));
        break;
      case OF_VALUE_TENSOR_LIST:
        for (const of_tensor tensor : call.tensors(argument)) add_tensor(key, *to_tensor(tensor));
        break;
      case OF_VALUE_STRING:
        add_text(key, call.string(argument));
        break;
      case OF_VALUE_INT_LIST:
        key.insert(key.end(), call.integers(argument).begin(), call.integers(argument).end());
        break;
      case OF_VALUE_INT:
        key.push_back(call.integer(argument));
        break;
      default:
        break;
    }
  }
}

struct Hash {
  size_t operator()(const Key& key) const {
    uint64_t state = key.size();
    for (const int64_t part : key) state = (state ^ static_cast<uint64_t>(part)) * 0x9e3779b97f4a7c15u + (state >> 29);
    return state ^ state >> 32;
  }
};

// Plans are kept in two generations. A plan that is asked for belongs to the young one; when that is full it becomes
// the old one, and what nobody asked for meanwhile goes. Plans of equations of unusual length are not kept.
class Cache {
 public:
  void retire() noexcept {}

  std::shared_ptr<const Plan> find_or_make(const Call& call) {
    fill_key(wanted_, call);
    if (const auto known = young_.find(wanted_); known != young_.end()) return known->second;
    if (wanted_.size() > kLongestKey) return std::make_shared<Plan>(make_plan(call));
    if (young_.size() >= kGeneration) {
      old_ = std::move(young_);
      young_.clear();
    }
    if (const auto known = old_.find(wanted_); known != old_.end()) {
      std::shared_ptr<const Plan> plan = known->second;
      young_.insert(old_.extract(known));
      return plan;
    }
    const Key key = wanted_;  // making a plan may run other calls
    auto plan = std::make_shared<const Plan>(make_plan(call));
    young_.emplace(key, plan);
    return plan;
  }

 private:
  using Plans = std::unordered_map<Key, std::shared_ptr<const Plan>, Hash>;
  static constexpr size_t kGeneration = 2048, kLongestKey = 1 << 10;

  Plans young_, old_;
  Key wanted_;
};

}  // namespace

std::shared_ptr<const Plan> plan_for(const Call& call) {
  Cache* cache = PerThread<Cache>::get();
  return cache ? cache->find_or_make(call) : std::make_shared<const Plan>(make_plan(call));
}

}  // namespace oneflow::einsum
