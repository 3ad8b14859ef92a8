#include "plugin/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cinttypes>
#include <cstdlib>
#include <cstring>

#include "plugin/host.h"
#include "plugin/memory_budget.h"
#include "threads/thread_pool.h"

namespace oneflow::cpu {
namespace {

constexpr uint64_t kAlignment = 64;
// Blocks of at least this many bytes are aligned to huge pages: otherwise most of the time to fill a new block is spent
// on page faults.
constexpr uint64_t kHugePage = uint64_t{2} << 20;
// Bytes per task of a parallel copy. Below twice this size, waking a worker costs more than it saves.
constexpr uint64_t kCopyTask = uint64_t{1} << 20;

// Calls work(begin, size) for parts of [0, bytes), in parallel.
template <class Work>
of_status for_each_part(uint64_t bytes, Work work) try {
  parallel_for(static_cast<int64_t>((bytes + kCopyTask - 1) / kCopyTask), [&](int64_t part) {
    const uint64_t begin = static_cast<uint64_t>(part) * kCopyTask;
    work(begin, std::min(kCopyTask, bytes - begin));
  });
  return OF_OK;
} catch (...) {
  return fail_with_exception();
}

MemoryBudget budget;  // of all devices together

}  // namespace

of_status allocate(of_device, uint64_t bytes, void** memory) {
  const uint64_t alignment = bytes >= kHugePage ? kHugePage : kAlignment;
  const uint64_t size = std::max(bytes, uint64_t{1});
  void* block = nullptr;
  const bool fits = size <= uint64_t{PTRDIFF_MAX} && budget.take(size);
  if (!fits || posix_memalign(&block, alignment, size) != 0) {
    if (fits) budget.give_back(size);
    return fail(OF_OUT_OF_MEMORY, "cannot allocate %" PRIu64 " bytes", bytes);
  }
  if (alignment == kHugePage) madvise(block, size, MADV_HUGEPAGE);  // a hint: failure is harmless
  *memory = block;
  return OF_OK;
}

void deallocate(of_device, void* memory, uint64_t bytes) {
  std::free(memory);
  budget.give_back(std::max(bytes, uint64_t{1}));
}

of_status copy_bytes(of_device, void* destination, const void* source, uint64_t bytes, of_device_stream) {
  return for_each_part(bytes, [&](uint64_t begin, uint64_t size) {
    std::memcpy(static_cast<char*>(destination) + begin, static_cast<const char*>(source) + begin, size);
  });
}

of_status copy_between(of_device destination_device, void* destination, of_device, const void* source, uint64_t bytes,
                       of_device_stream stream) {
  return copy_bytes(destination_device, destination, source, bytes, stream);
}

of_status fill_bytes(of_device, void* destination, uint8_t value, uint64_t bytes, of_device_stream) {
  return for_each_part(
      bytes, [&](uint64_t begin, uint64_t size) { std::memset(static_cast<char*>(destination) + begin, value, size); });
}

}  // namespace oneflow::cpu
