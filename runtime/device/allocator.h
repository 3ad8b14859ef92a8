// The caching allocator, one per device: freed memory is kept and given out again, because fresh pages cost more than
// most kernels.
#ifndef ONEFLOW_DEVICE_ALLOCATOR_H_
#define ONEFLOW_DEVICE_ALLOCATOR_H_

#include <oneflow/device_plugin.h>
#include <oneflow/oneflow.h>

#include <mutex>

namespace oneflow {

struct MemoryStatistics {
  uint64_t in_use = 0, peak_in_use = 0, cached = 0, limit = 0;
};

class Allocator {
 public:
  Allocator(const of_device_table& table, int32_t device);
  ~Allocator();

  // At least `bytes` bytes, 64-byte aligned. OutOfMemory after the cache was emptied and the memory-pressure callback
  // had its chance.
  void* allocate(uint64_t bytes);
  // Takes back what allocate(bytes) gave.
  void deallocate(void* memory, uint64_t bytes) noexcept;
};

}  // namespace oneflow

#endif  // ONEFLOW_DEVICE_ALLOCATOR_H_
