// The caching allocator, one per device and one for the page-locked memory of a device: freed memory is kept and given
// out again, because fresh pages cost more than most kernels.
#ifndef ONEFLOW_DEVICE_ALLOCATOR_H_
#define ONEFLOW_DEVICE_ALLOCATOR_H_

#include <oneflow/device_plugin.h>
#include <oneflow/oneflow.h>

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "device/size_class.h"

namespace oneflow {

// Where an allocator takes memory from, and gives it back to.
struct MemorySource {
  std::string name;  // "cpu:0": what errors call it
  of_device device;
  of_status (*allocate)(of_device device, uint64_t bytes, void** memory);
  void (*deallocate)(of_device device, void* memory, uint64_t bytes);
  bool host_accessible;
  uint64_t cache_limit;  // unused large blocks beyond so many bytes are given back
  bool is_page_locked = false;
};
// A device's own memory, and the page-locked host memory that it offers.
MemorySource device_memory(const of_device_table& table, of_device device);
MemorySource page_locked_memory(const of_device_table& table, of_device device);

struct MemoryStatistics {
  uint64_t in_use = 0;       // bytes of the blocks that are given out
  uint64_t peak_in_use = 0;  // small blocks count in steps of 64 KiB per thread
  uint64_t cached = 0;       // bytes taken from the device that nobody uses
  uint64_t limit = 0;
};

// Small blocks (up to 32 KiB) are cut from slabs, and pass through a cache per thread, so that neither giving nor
// taking one needs a lock. Larger ones come from the device one by one.
//
// Reuse needs no events: all work of a device goes through one stream, so whatever still uses a freed block is ordered
// before its next owner's work.
class Allocator {
 public:
  // Lives as long as the process: a thread that ends gives its cache back at any time.
  static Allocator& create(MemorySource source);
  Allocator(const Allocator&) = delete;
  Allocator& operator=(const Allocator&) = delete;

  // At least `bytes` bytes, 64-byte aligned; no bytes are a block as well. OutOfMemory after the cache was emptied and
  // the memory-pressure callback had its chance.
  void* allocate(uint64_t bytes);
  // Takes back what allocate(bytes) gave.
  void deallocate(void* memory, uint64_t bytes) noexcept;

  // Gives unused blocks back to the device, and slabs of which no block is in use or at hand for another thread.
  void empty_cache() noexcept;
  // From now on nothing is asked of the device or given back to it.
  void lose() { is_lost_.store(true, std::memory_order_relaxed); }
  // Refuses allocations beyond so many bytes in use; 0 for none.
  void set_limit(uint64_t bytes) { limit_.store(bytes, std::memory_order_relaxed); }
  MemoryStatistics statistics();
  void reset_peak();
  bool is_page_locked() const { return source_.is_page_locked; }

  static constexpr uint64_t kSmallLimit = 32 << 10;

 private:
  friend struct ThreadCaches;
  struct Block {
    void* memory;
    uint64_t freed_at;  // for throwing away the oldest
  };

  Allocator(MemorySource source, int slot);

  void* allocate_slowly(uint64_t bytes);
  void deallocate_slowly(void* memory, uint64_t bytes) noexcept;
  // NULL when there is no memory, or the limit is reached.
  void* try_allocate(int size_class);
  // NULL when the device has no memory, or is lost; its other failures are thrown.
  void* take_from_device(uint64_t bytes);
  void give_to_device(void* memory, uint64_t bytes) noexcept;
  void* take_cached(int size_class);
  int take_small(int size_class, void** blocks, int wanted);
  void give_small(int size_class, void* const* blocks, int count) noexcept;
  bool cut_slab(int size_class);
  void give_back_slabs(int size_class) noexcept;
  void trim_cache(uint64_t bytes) noexcept;
  void change_in_use(int64_t bytes) noexcept;
  uint64_t in_use();

  static void lock_all() noexcept;
  static void unlock_all() noexcept;

  const MemorySource source_;
  const int slot_;             // which of each thread's caches is this allocator's
  Allocator* next_ = nullptr;  // all allocators form a list
  std::mutex mutex_;           // of the lists below
  std::vector<Block> free_[kClassCount];
  std::vector<char*> slabs_[size_class(kSmallLimit) + 1];
  uint64_t freed_large_ = 0;  // bytes of large blocks in the lists
  uint64_t ticks_ = 0;
  std::atomic<int64_t> reserved_{0};  // bytes taken from the device
  std::atomic<int64_t> in_use_{0};    // without what threads have not added yet
  std::atomic<int64_t> peak_{0};
  std::atomic<uint64_t> limit_{0};
  std::atomic<bool> is_lost_{false};
};

// See of_set_memory_pressure_callback().
void set_memory_pressure_callback(of_memory_pressure_callback callback, void* context);

}  // namespace oneflow

#endif  // ONEFLOW_DEVICE_ALLOCATOR_H_
