#include "einsum/plan_cache.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/per_thread.h"

namespace oneflow::einsum {

namespace {

// Everything that a plan depends on, as a row of integers: the operator, its arguments, the dtypes and layouts of its
// tensors, and the device.
using Key = std::vector<int64_t>;

// How many parts of a key are hashed at once: keys are filled up to a multiple of it.
constexpr ptrdiff_t kAtOnce = 2;

// Writes keys one after the other to the same memory.
class KeyWriter {
 public:
  std::span<const int64_t> write(const Call& call) {
    end_ = key_.data();
    make_room(2);
    put(reinterpret_cast<intptr_t>(&call.op));
    put(int64_t{call.device.type} << 32 | call.device.index);
    const size_t arguments = call.schema().arguments.size();
    for (size_t i = 0; i < arguments; ++i) put_argument(call.arguments[i]);
    make_room(kAtOnce);
    if ((end_ - key_.data()) % kAtOnce != 0) put(0);
    return {key_.data(), static_cast<size_t>(end_ - key_.data())};
  }

 private:
  void make_room(size_t parts) {
    const size_t length = static_cast<size_t>(end_ - key_.data());
    if (length + parts <= key_.size()) [[likely]]
      return;
    key_.resize(2 * (length + parts));
    end_ = key_.data() + length;
  }
  // Where room was made.
  void put(int64_t part) { *end_++ = part; }

  void put_argument(const of_value& value) {
    make_room(2);
    put(int64_t{value.kind} << 32 | value.count);
    switch (value.kind) {
      case OF_VALUE_TENSOR:
        return put_tensor(*to_tensor(value.as.tensor));
      case OF_VALUE_TENSOR_LIST:
        for (int32_t i = 0; i < value.count; ++i) put_tensor(*to_tensor(value.as.tensors[i]));
        return;
      case OF_VALUE_STRING:
        return put_bytes(value.as.string, static_cast<size_t>(value.count));
      case OF_VALUE_INT_LIST:
        return put_bytes(value.as.integers, static_cast<size_t>(value.count) * sizeof(int64_t));
      case OF_VALUE_INT:
        return put(value.as.integer);
      case OF_VALUE_BOOL:
        return put(value.as.boolean);
      default:
        return;
    }
  }

  void put_tensor(const Tensor& tensor) {
    const int rank = tensor.rank();
    make_room(2 * static_cast<size_t>(rank) + 1);
    const bool is_contiguous = tensor.is_contiguous();  // then the sizes say it all
    put(int64_t{tensor.dtype()} << 32 | rank << 1 | int{is_contiguous});
    const int64_t *sizes = tensor.sizes().data(), *strides = tensor.strides().data();
    for (int d = 0; d < rank; ++d) put(sizes[d]);
    if (is_contiguous) return;
    for (int d = 0; d < rank; ++d) put(strides[d]);
  }

  // The last part is filled up with zeros.
  void put_bytes(const void* bytes, size_t count) {
    const size_t parts = (count + sizeof(int64_t) - 1) / sizeof(int64_t);
    if (parts == 0) return;
    make_room(parts);
    end_[parts - 1] = 0;
    std::memcpy(end_, bytes, count);
    end_ += parts;
  }

  Key key_ = Key(64);
  int64_t* end_ = nullptr;  // of what was written
};

// Sums up products of two parts each, 64 bits by 64, folded. The parts are mixed with where they stand, so that no
// product waits for another.
uint64_t hash_of(std::span<const int64_t> key) {
  const auto fold = [](uint64_t a, uint64_t b) {
    const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  };
  uint64_t hash = key.size(), place = 0;
  for (size_t i = 0; i < key.size(); i += kAtOnce) {
    place += 0x9e3779b97f4a7c15u;
    hash += fold(static_cast<uint64_t>(key[i]) + place, static_cast<uint64_t>(key[i + 1]) ^ place);
  }
  return hash;
}

// Plans by their keys, in slots of which at most half are taken: where std::unordered_map takes a third of the time
// that a small contraction takes, a lookup here is one comparison.
class Plans {
 public:
  using Entry = Ref<const CachedPlan>;

  size_t size() const { return size_; }

  // NULL where there is none.
  const Entry* find(uint64_t hash, std::span<const int64_t> key) const {
    for (size_t i = hash & mask(); !slots_.empty() && slots_[i].plan; i = (i + 1) & mask())
      if (slots_[i].hash == hash && std::ranges::equal(key, slots_[i].key)) return &slots_[i].plan;
    return nullptr;
  }

  // One that is not there yet.
  void add(uint64_t hash, Key key, Entry plan) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    put({hash, std::move(key), std::move(plan)});
    ++size_;
  }

 private:
  struct Slot {
    uint64_t hash = 0;
    Key key;
    Entry plan;
  };

  size_t mask() const { return slots_.size() - 1; }

  void put(Slot slot) {
    size_t i = slot.hash & mask();
    while (slots_[i].plan) i = (i + 1) & mask();
    slots_[i] = std::move(slot);
  }

  void grow() {
    std::vector<Slot> before = std::exchange(slots_, std::vector<Slot>(std::max<size_t>(16, 2 * slots_.size())));
    for (Slot& slot : before)
      if (slot.plan) put(std::move(slot));
  }

  std::vector<Slot> slots_;  // as many as a power of two, or none
  size_t size_ = 0;
};

// Plans are kept in two generations. A plan that is asked for belongs to the young one; when that is full it becomes
// the old one, and what nobody asked for meanwhile goes. Plans of equations of unusual length are not kept.
class Cache {
 public:
  void retire() noexcept {}

  Plans::Entry find_or_make(const Call& call) {
    const std::span<const int64_t> wanted = writer_.write(call);
    const uint64_t hash = hash_of(wanted);
    if (const Plans::Entry* known = young_.find(hash, wanted)) return *known;
    if (wanted.size() > kLongestKey) return make(call);
    Key key(wanted.begin(), wanted.end());  // making a plan may run other calls
    const Plans::Entry* known = old_.find(hash, key);
    Plans::Entry plan = known ? *known : make(call);
    if (young_.find(hash, key)) return plan;
    const size_t weight = 1 + plan->stages.size();
    if (young_weight_ + weight > kGeneration) {
      old_ = std::exchange(young_, {});
      young_weight_ = 0;
    }
    young_weight_ += weight;
    young_.add(hash, std::move(key), plan);
    return plan;
  }

  static Plans::Entry make(const Call& call) { return Plans::Entry::adopt(new CachedPlan(make_plan(call))); }

 private:
  // The weight of a generation, in stages of some 400 bytes: 2,000 plans of three operands and more.
  static constexpr size_t kGeneration = 8192, kLongestKey = 1 << 10;

  Plans young_, old_;
  size_t young_weight_ = 0;
  KeyWriter writer_;
};

}  // namespace

Ref<const CachedPlan> plan_for(const Call& call) {
  Cache* cache = PerThread<Cache>::get();
  return cache ? cache->find_or_make(call) : Cache::make(call);
}

}  // namespace oneflow::einsum
