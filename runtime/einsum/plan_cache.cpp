#include "einsum/plan_cache.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "base/per_thread.h"

namespace oneflow::einsum {

namespace {

// Everything that a plan depends on, as a row of integers: the operator, its arguments, the dtypes and layouts of its
// tensors, and the device.
using Key = std::vector<int64_t>;

// Writes keys one after the other to the same memory.
class KeyWriter {
 public:
  std::span<const int64_t> write(const Call& call) {
    length_ = 0;
    put(reinterpret_cast<intptr_t>(&call.op));
    put(int64_t{call.device.type} << 32 | call.device.index);
    for (size_t i = 0; i < call.schema().arguments.size(); ++i) put_argument(call, static_cast<int>(i));
    return {key_.data(), length_};
  }

 private:
  void put(int64_t part) {
    if (length_ == key_.size()) [[unlikely]]
      key_.resize(2 * length_);
    key_[length_++] = part;
  }

  void put_argument(const Call& call, int argument) {
    const of_value& value = call.arguments[argument];
    put(int64_t{value.kind} << 32 | value.count);
    switch (value.kind) {
      case OF_VALUE_TENSOR:
        return put_tensor(call.tensor(argument));
      case OF_VALUE_TENSOR_LIST:
        for (const of_tensor tensor : call.tensors(argument)) put_tensor(*to_tensor(tensor));
        return;
      case OF_VALUE_STRING:
        return put_text(call.string(argument));
      case OF_VALUE_INT_LIST:
        for (const int64_t member : call.integers(argument)) put(member);
        return;
      case OF_VALUE_INT:
        return put(call.integer(argument));
      default:
        return;
    }
  }

  void put_tensor(const Tensor& tensor) {
    put(int64_t{tensor.dtype()} << 32 | tensor.rank());
    for (int d = 0; d < tensor.rank(); ++d) put(tensor.size(d));
    for (int d = 0; d < tensor.rank(); ++d) put(tensor.stride(d));
  }

  void put_text(std::string_view text) {
    for (; text.size() >= sizeof(int64_t); text.remove_prefix(sizeof(int64_t))) {
      int64_t part;
      std::memcpy(&part, text.data(), sizeof part);
      put(part);
    }
    int64_t rest = 0;
    if (!text.empty()) std::memcpy(&rest, text.data(), text.size());
    put(rest);
  }

  Key key_ = Key(64);
  size_t length_ = 0;
};

struct Hash {
  using is_transparent = void;
  size_t operator()(std::span<const int64_t> key) const {
    // Two parts at a time: products of 64 bits by 64, folded.
    const auto fold = [](uint64_t a, uint64_t b) {
      const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
      return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
    };
    uint64_t state = key.size();
    size_t i = 0;
    for (; i + 1 < key.size(); i += 2)
      state = fold(static_cast<uint64_t>(key[i]) ^ state ^ 0x9e3779b97f4a7c15u,
                   static_cast<uint64_t>(key[i + 1]) ^ 0xc2b2ae3d27d4eb4fu);
    if (i < key.size()) state = fold(static_cast<uint64_t>(key[i]) ^ state, 0x9e3779b97f4a7c15u);
    return state;
  }
};

struct Equal {
  using is_transparent = void;
  bool operator()(std::span<const int64_t> a, std::span<const int64_t> b) const {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }
};

// Plans are kept in two generations. A plan that is asked for belongs to the young one; when that is full it becomes
// the old one, and what nobody asked for meanwhile goes. Plans of equations of unusual length are not kept.
class Cache {
 public:
  void retire() noexcept {}

  std::shared_ptr<const Plan> find_or_make(const Call& call) {
    const std::span<const int64_t> wanted = writer_.write(call);
    if (const auto known = young_.find(wanted); known != young_.end()) return known->second;
    if (wanted.size() > kLongestKey) return std::make_shared<const Plan>(make_plan(call));
    if (young_.size() >= kGeneration) {
      old_ = std::move(young_);
      young_.clear();
    }
    if (const auto known = old_.find(wanted); known != old_.end()) {
      std::shared_ptr<const Plan> plan = known->second;
      young_.insert(old_.extract(known));
      return plan;
    }
    Key key(wanted.begin(), wanted.end());
    auto plan = std::make_shared<const Plan>(make_plan(call));
    young_.emplace(std::move(key), plan);
    return plan;
  }

 private:
  using Plans = std::unordered_map<Key, std::shared_ptr<const Plan>, Hash, Equal>;
  static constexpr size_t kGeneration = 2048, kLongestKey = 1 << 10;

  Plans young_, old_;
  KeyWriter writer_;
};

}  // namespace

std::shared_ptr<const Plan> plan_for(const Call& call) {
  Cache* cache = PerThread<Cache>::get();
  return cache ? cache->find_or_make(call) : std::make_shared<const Plan>(make_plan(call));
}

}  // namespace oneflow::einsum
