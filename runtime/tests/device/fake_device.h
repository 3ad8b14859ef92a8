// A device table over malloc() for tests, which counts allocations and fails on demand.
#ifndef ONEFLOW_TESTS_DEVICE_FAKE_DEVICE_H_
#define ONEFLOW_TESTS_DEVICE_FAKE_DEVICE_H_

#include <oneflow/device_plugin.h>

#include <atomic>
#include <cstdlib>

namespace oneflow {

// The hooks of the device, and its state.
struct FakeDevice {
  static inline std::atomic<int64_t> bytes{0};     // allocated
  static inline std::atomic<int64_t> calls{0};     // of allocate()
  static inline std::atomic<int64_t> capacity{0};  // bytes beyond which allocate() fails; 0: unlimited
  static inline const char* limited_by = nullptr;  // what get_info() says that limits the memory

  static void reset() {
    bytes = calls = capacity = 0;
    limited_by = nullptr;
  }

  static of_status allocate(of_device, uint64_t wanted, void** memory) {
    ++calls;
    if (capacity && bytes + static_cast<int64_t>(wanted) > capacity) return OF_OUT_OF_MEMORY;
    if (posix_memalign(memory, 64, wanted) != 0) return OF_OUT_OF_MEMORY;
    bytes += static_cast<int64_t>(wanted);
    return OF_OK;
  }

  static void deallocate(of_device, void* memory, uint64_t size) {
    bytes -= static_cast<int64_t>(size);
    std::free(memory);
  }

  static of_status get_info(of_device, of_device_info* info) {
    info->total_memory = 64 << 20;  // the cache limit of the allocator is a quarter of it
    info->limited_by = limited_by;
    return OF_OK;
  }

  static const of_device_table& table() {
    static const of_device_table table = [] {
      of_device_table t{};
      t.struct_size = sizeof(t);
      t.api_version = OF_DEVICE_API_VERSION;
      t.name = "fake";
      t.host_accessible = true;
      t.get_info = get_info;
      t.allocate = allocate;
      t.deallocate = deallocate;
      return t;
    }();
    return table;
  }
};

}  // namespace oneflow

#endif  // ONEFLOW_TESTS_DEVICE_FAKE_DEVICE_H_
