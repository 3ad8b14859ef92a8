// The caching allocator. It keeps freed memory for reuse, because mapping new pages takes longer than most kernels.
// Each device has one for its own memory, and one for page-locked host memory if it offers that.
#ifndef ONEFLOW_DEVICE_ALLOCATOR_H_
#define ONEFLOW_DEVICE_ALLOCATOR_H_

#include <oneflow/device_plugin.h>
#include <oneflow/oneflow.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/fork_safe.h"
#include "device/pool.h"
#include "device/size_class.h"

namespace oneflow {

// The hooks by which an allocator allocates and frees memory of a device, and its properties.
struct MemorySource {
  std::string name;  // "cpu:0", for error texts
  of_device device;
  of_status (*allocate)(of_device device, uint64_t bytes, void** memory);
  void (*deallocate)(of_device device, void* memory, uint64_t bytes);
  bool host_accessible;
  uint64_t cache_limit;  // bytes of unused large blocks, per pool, beyond which the oldest ones are freed
  bool is_page_locked = false;
  of_status (*get_info)(of_device device, of_device_info* info) = nullptr;  // says what limits the memory; optional
};
// Returns the source of a device's own memory.
MemorySource device_memory(const of_device_table& table, of_device device);
// Returns the source of the page-locked host memory of a device, whose table must have allocate_host.
MemorySource page_locked_memory(const of_device_table& table, of_device device);

// The state of an allocator, in bytes.
struct MemoryStatistics {
  uint64_t in_use = 0;       // in blocks that are allocated
  uint64_t peak_in_use = 0;  // inexact by up to 64 KiB of small blocks per thread
  uint64_t cached = 0;       // taken from the device and unused
  uint64_t limit = 0;        // of in_use; 0: none
};

// The caching allocator of one kind of memory of a device. Thread-safe.
//
// Small blocks, of up to 32 KiB, are cut from slabs and cached per thread, so that most calls need no lock. Each larger
// block is allocated from the device separately.
//
// Each stream has a pool of blocks. Work of the stream that still uses a freed block is ordered before the work of the
// block's next owner, so that the block can be reused at once. If other streams have used the block, the next owner's
// work waits for theirs; a block of page-locked memory, which the host uses, is reused after that work is done.
class Allocator {
 public:
  // Creates an allocator that lives as long as the process, because a thread may return its cache at any time.
  static Allocator& create(MemorySource source);
  Allocator(const Allocator&) = delete;
  Allocator& operator=(const Allocator&) = delete;

  // Returns at least `bytes` bytes, 64-byte aligned; 0 bytes give a block of the smallest size. If the device has no
  // memory, empties the cache and tries again. If this fails, or the limit is reached, calls the memory-pressure
  // callback and tries once more; then throws OutOfMemory. Other errors of the device are thrown at once. `pool` is
  // that of the stream whose work uses the block first; null: the default pool.
  void* allocate(uint64_t bytes, Pool* pool = nullptr);
  // Frees a block of allocate(bytes, pool), with the same arguments.
  void deallocate(void* memory, uint64_t bytes, Pool* pool = nullptr) noexcept;
  // The same for a block that work of other streams, or copies of page-locked memory, may use until `ends`.
  void deallocate_after(std::vector<Event> ends, void* memory, uint64_t bytes, Pool* pool) noexcept;

  // Sets the stream of the default pool.
  void set_stream(Stream& stream) { first_ = std::make_unique<Pool>(&stream); }
  // Adds a pool, for a stream.
  Pool* add_pool(Stream& stream);

  // Returns unused memory to the device: large blocks, and slabs without a block that is allocated or in the cache of
  // another thread.
  void empty_cache() noexcept;
  // Stops all calls of the device's hooks, after the device was lost.
  void lose() { is_lost_.store(true, std::memory_order_relaxed); }
  // Sets a limit for the bytes in use, beyond which allocations fail; 0 removes it.
  void set_limit(uint64_t bytes) { limit_.store(bytes, std::memory_order_relaxed); }
  MemoryStatistics statistics();
  // Sets peak_in_use to the bytes that are in use.
  void reset_peak();
  bool is_page_locked() const { return source_.is_page_locked; }

 private:
  friend struct ThreadCaches;

  Allocator(MemorySource source, int slot);

  void* allocate_slowly(uint64_t bytes, Pool& pool);
  void deallocate_slowly(void* memory, uint64_t bytes, Pool& pool) noexcept;
  // Returns a block; null if there is no memory, or the limit is reached.
  void* try_allocate(int size_class, Pool& pool);
  // Allocates from the device. Returns null if the device has no memory or is lost; throws its other errors.
  void* allocate_from_device(uint64_t bytes);
  void free_to_device(void* memory, uint64_t bytes) noexcept;
  // Removes up to `wanted` small blocks from the pool, which a new slab fills if it is empty. Returns their number; 0
  // if the device has no memory.
  int take_small(int size_class, Pool& pool, void** blocks, int wanted);
  // Adds small blocks to the pool.
  void return_small(int size_class, Pool& pool, void* const* blocks, int count) noexcept;
  // Removes a block that other work uses: the pool's stream waits for that work, while the host only takes one whose
  // work is done. Returns null if there is none.
  void* take_waiting(int size_class, Pool& pool);
  // Adds such a block.
  void put_waiting(Pool::Waiting block, Pool& pool) noexcept;
  // Adds a block to the free ones of its pool.
  void put_free(int size_class, Pool& pool, void* memory) noexcept;
  // Waits on the host for the other work that uses such a block, and makes it free.
  void settle(const Pool::Waiting& block, Pool& pool) noexcept;
  // Settles all such blocks, or those whose work is done.
  void settle_waiting(Pool& pool, bool only_done) noexcept;
  // Frees the slabs without a block in use.
  void free_unused_slabs(int size_class, Pool& pool) noexcept;
  // Frees the oldest large blocks until at most `bytes` bytes of them are left. Leaves those that are freed meanwhile,
  // by the device's deallocate() for example.
  void trim_cache(uint64_t bytes, Pool& pool) noexcept;
  void empty_pool(Pool& pool) noexcept;
  void change_in_use(int64_t bytes) noexcept;
  uint64_t in_use();

  const MemorySource source_;
  const int slot_;  // the index of this allocator's cache in each thread
  // Guards the pools. No hook of the device is called while it is held, because the hook may allocate.
  ForkSafe<std::mutex> mutex_{LockLevel::kAllocator};
  std::unique_ptr<Pool> first_;  // the default pool, whose small blocks threads cache
  std::vector<std::unique_ptr<Pool>> more_;
  std::atomic<int64_t> reserved_{0};  // bytes taken from the device
  std::atomic<int64_t> in_use_{0};    // without the changes that threads have not added yet
  std::atomic<int64_t> peak_{0};
  std::atomic<uint64_t> limit_{0};
  std::atomic<bool> is_lost_{false};
};

// Sets the callback of the process; see of_set_memory_pressure_callback().
void set_memory_pressure_callback(of_memory_pressure_callback callback, void* context);

}  // namespace oneflow

#endif  // ONEFLOW_DEVICE_ALLOCATOR_H_
