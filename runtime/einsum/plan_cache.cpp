#include "einsum/plan_cache.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "base/per_thread.h"

namespace oneflow::einsum {

namespace {

// Everything that a plan depends on, as a list of integers: the operator, its arguments, the dtypes and layouts of its
// tensors, and the device.
using Key = std::vector<int64_t>;

// The number of parts of a key that are hashed together. Keys are padded to a multiple of it.
constexpr ptrdiff_t kHashStep = 2;

// Writes keys, reusing the memory of the previous one.
class KeyWriter {
 public:
  // Returns the key of a call, which is valid until the next call of this function.
  std::span<const int64_t> write(const Call& call) {
    end_ = key_.data();
    make_room(2);
    put(reinterpret_cast<intptr_t>(&call.op));
    put(int64_t{call.device.type} << 32 | call.device.index);
    const size_t arguments = call.schema().arguments.size();
    for (size_t i = 0; i < arguments; ++i) put_argument(call.arguments[i]);
    make_room(kHashStep);
    if ((end_ - key_.data()) % kHashStep != 0) put(0);
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
  // Requires a preceding make_room().
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
      case OF_VALUE_DEVICE_LIST:
        return put_bytes(value.as.devices, static_cast<size_t>(value.count) * sizeof(of_device));
      case OF_VALUE_INT:
      case OF_VALUE_UINT:
        return put(value.as.integer);
      case OF_VALUE_FLOAT:
        return put(std::bit_cast<int64_t>(value.as.real));
      case OF_VALUE_BOOL:
        return put(value.as.boolean);
      case OF_VALUE_DTYPE:
        return put(value.as.dtype);
      case OF_VALUE_DEVICE:
        return put(int64_t{value.as.device.type} << 32 | value.as.device.index);
      case OF_VALUE_ABSENT:
      case OF_VALUE_NONE:
        return;
    }
  }

  void put_tensor(const Tensor& tensor) {
    const int rank = tensor.rank();
    make_room(2 * static_cast<size_t>(rank) + 1);
    const bool is_contiguous = tensor.is_contiguous();  // then the strides follow from the sizes
    put(int64_t{tensor.dtype()} << 32 | rank << 1 | int{is_contiguous});
    const int64_t *sizes = tensor.sizes().data(), *strides = tensor.strides().data();
    for (int d = 0; d < rank; ++d) put(sizes[d]);
    if (is_contiguous) return;
    for (int d = 0; d < rank; ++d) put(strides[d]);
  }

  // Pads the last part with zeros.
  void put_bytes(const void* bytes, size_t count) {
    const size_t parts = (count + sizeof(int64_t) - 1) / sizeof(int64_t);
    if (parts == 0) return;
    make_room(parts);
    end_[parts - 1] = 0;
    std::memcpy(end_, bytes, count);
    end_ += parts;
  }

  Key key_ = Key(64);
  int64_t* end_ = nullptr;  // the end of the written parts
};

// Hashes pairs of parts by folded 64 x 64-bit products, and sums these. Each pair is mixed with its position instead of
// with the previous product, so that the multiplications are independent of each other.
uint64_t hash_of(std::span<const int64_t> key) {
  const auto fold = [](uint64_t a, uint64_t b) {
    const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  };
  uint64_t hash = key.size(), position = 0;
  for (size_t i = 0; i < key.size(); i += kHashStep) {
    position += 0x9e3779b97f4a7c15u;
    hash += fold(static_cast<uint64_t>(key[i]) + position, static_cast<uint64_t>(key[i + 1]) ^ position);
  }
  return hash;
}

// A hash table of plans with linear probing and a load factor of at most 1/2. Most lookups compare a single slot;
// std::unordered_map would take a considerable part of the time of a small contraction.
class Plans {
 public:
  using Entry = Ref<const CachedPlan>;

  size_t size() const { return size_; }

  // Returns the plan with a key, or NULL.
  const Entry* find(uint64_t hash, std::span<const int64_t> key) const {
    for (size_t i = hash & mask(); !slots_.empty() && slots_[i].plan; i = (i + 1) & mask())
      if (slots_[i].hash == hash && std::ranges::equal(key, slots_[i].key)) return &slots_[i].plan;
    return nullptr;
  }

  // Adds a plan whose key is not in the table.
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
    std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(std::max<size_t>(16, 2 * slots_.size())));
    for (Slot& slot : old)
      if (slot.plan) put(std::move(slot));
  }

  std::vector<Slot> slots_;  // empty, or of a length that is a power of two
  size_t size_ = 0;
};

// The cache of a thread, in two generations. A plan that is used moves to the young generation. When the young
// generation is full, it replaces the old one, whose unused plans are destroyed. Plans with very long keys are not
// cached.
class Cache {
 public:
  void retire() noexcept {}

  Plans::Entry find_or_make(const Call& call) {
    const std::span<const int64_t> key_of_call = writer_.write(call);
    const uint64_t hash = hash_of(key_of_call);
    if (const Plans::Entry* known = young_.find(hash, key_of_call)) return *known;
    if (key_of_call.size() > kMaxKeyLength) return make(call);
    Key key(key_of_call.begin(), key_of_call.end());  // making a plan may run other calls
    const Plans::Entry* known = old_.find(hash, key);
    Plans::Entry plan = known ? *known : make(call);
    if (young_.find(hash, key)) return plan;
    const size_t weight = 1 + plan->stages.size();
    if (young_weight_ + weight > kMaxWeight) {
      old_ = std::exchange(young_, {});
      young_weight_ = 0;
    }
    young_weight_ += weight;
    young_.add(hash, std::move(key), plan);
    return plan;
  }

  static Plans::Entry make(const Call& call) { return Plans::Entry::adopt(new CachedPlan(make_plan(call))); }

 private:
  // The maximum weight of a generation. A plan weighs 1, and so does each of its stages, which take some 400 bytes;
  // more than 2,000 plans of a few operands fit.
  static constexpr size_t kMaxWeight = 8192;
  static constexpr size_t kMaxKeyLength = 1 << 10;

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
