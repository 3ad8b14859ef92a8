// The free memory of an allocator that the work of one stream may use.
#ifndef ONEFLOW_DEVICE_POOL_H_
#define ONEFLOW_DEVICE_POOL_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "device/size_class.h"
#include "device/stream.h"

namespace oneflow {

// The largest block that is cut from a slab.
inline constexpr uint64_t kSmallLimit = 32 << 10;
inline constexpr int kSmallClasses = size_class(kSmallLimit) + 1;
inline constexpr uint64_t kSlabBytes = 128 << 10;  // per slab

// The lists of free blocks: large ones, which were allocated from the device separately, and small ones, with the slabs
// that they were cut from. Calls no hook of the device. Its allocator's mutex guards it.
class Pool {
 public:
  // A free block that work of other streams still uses.
  struct Waiting {
    void* memory;
    int size_class;
    std::vector<Event> ends;  // of that work

    bool is_done() const noexcept;
  };

  // `stream` is the stream whose work uses the blocks; null if it is the host.
  explicit Pool(Stream* stream) : stream_(stream) {}
  Stream* stream() const { return stream_; }

  // Removes a large block of a class or, without one, of the next larger class that has one, up to twice the size. Null
  // if there is none. Throws std::bad_alloc.
  void* take(int size_class);
  // Returns the class of a large block that was allocated, or taken, for a class, and forgets for which one.
  int end_loan(int size_class, void* memory) noexcept;
  // Adds a large block. Throws std::bad_alloc.
  void put(int size_class, void* memory);
  // Removes the large block that was added first, unless it was added after the time `until`; null if there is none.
  void* take_oldest(uint64_t until, int* size_class);
  // Returns the time of the last put().
  uint64_t now() const { return ticks_; }
  // Returns the bytes of large blocks in the lists.
  uint64_t large_bytes() const { return large_bytes_; }

  // Removes up to `wanted` small blocks from the list of their class; returns their number.
  int take_small(int size_class, void** blocks, int wanted);
  // Adds small blocks of this pool's slabs.
  void put_small(int size_class, void* const* blocks, int count) noexcept;
  // Adds the blocks of a new slab. Throws std::bad_alloc.
  void add_slab(int size_class, char* slab);
  // Removes the slabs all of whose blocks are in the list, with their blocks. Throws std::bad_alloc.
  std::vector<char*> take_unused_slabs(int size_class);

  // Adds a block that is in use. Throws std::bad_alloc, and leaves it unchanged.
  void put_waiting(Waiting&& block);
  // Removes all such blocks of a class.
  std::vector<Waiting> take_waiting(int size_class);
  // Removes all such blocks.
  std::vector<Waiting> take_waiting() { return std::exchange(waiting_, {}); }
  // Returns whether there are so many of them that it pays to look for unused ones, which calls reset_many_waiting().
  bool has_many_waiting() const { return waiting_.size() >= many_waiting_; }
  void reset_many_waiting() { many_waiting_ = std::max(kManyWaiting, 2 * waiting_.size()); }

 private:
  struct Block {
    void* memory;
    uint64_t freed_at;  // in ticks; unused for small blocks
  };

  Stream* const stream_;
  std::vector<Block> free_[kClassCount];
  std::vector<char*> slabs_[kSmallClasses];
  std::unordered_map<void*, int> lent_;  // the classes of the blocks that were taken for a smaller one
  static constexpr size_t kManyWaiting = 64;

  std::vector<Waiting> waiting_;
  size_t many_waiting_ = kManyWaiting;
  uint64_t large_bytes_ = 0;
  uint64_t ticks_ = 0;
};

}  // namespace oneflow

#endif  // ONEFLOW_DEVICE_POOL_H_
