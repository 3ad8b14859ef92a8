#include "threads/scratch.h"

#include <pthread.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <memory>
#include <new>

#include "plugin/host.h"
#include "threads/thread_pool.h"

namespace oneflow::cpu {
namespace {

// A thread's cache of the blocks that it freed last, of power-of-two sizes. A matrix product holds about ten blocks at
// a time; a block that is not cached has to map new pages at each call, which takes longer than packing a panel into
// it.
class Cache {
 public:
  ~Cache() {
    while (count_ > 0) std::free(remove(0).data);
  }

  // Returns a cached block of `bytes`, a power of two, or else a new one.
  void* allocate(int64_t bytes) {
    for (int i = count_ - 1; i >= 0; --i)
      if (blocks_[i].bytes == bytes) return remove(i).data;
    return std::aligned_alloc(64, static_cast<size_t>(bytes));
  }

  // Caches a block, and frees the oldest ones that exceed the limits of the cache.
  void release(void* data, int64_t bytes) {
    while (count_ == kBlocks || (count_ > 0 && bytes_ + bytes > kMaxBytes)) std::free(remove(0).data);
    blocks_[count_++] = {data, bytes};
    bytes_ += bytes;
  }

 private:
  struct Block {
    void* data;
    int64_t bytes;
  };
  static constexpr int kBlocks = 16;
  static constexpr int64_t kMaxBytes = int64_t{1} << 24;

  Block remove(int i) {
    const Block block = blocks_[i];
    std::copy(blocks_ + i + 1, blocks_ + count_, blocks_ + i);
    --count_;
    bytes_ -= block.bytes;
    return block;
  }

  Block blocks_[kBlocks];  // oldest first
  int count_ = 0;
  int64_t bytes_ = 0;
};

// The cache of this thread. It is destroyed by a pthread key rather than the destructor of a thread_local object, whose
// registration ends the process if it runs out of memory.
thread_local constinit Cache* own = nullptr;
const pthread_key_t key = [] {
  pthread_key_t created = PTHREAD_KEYS_MAX;  // an invalid key, which pthread_setspecific() rejects
  pthread_key_create(&created, [](void* cache) {
    own = nullptr;
    delete static_cast<Cache*>(cache);
  });
  return created;
}();

// Returns this thread's cache, or NULL if it cannot be allocated.
Cache* cache() {
  if (own != nullptr) return own;
  auto created = std::unique_ptr<Cache>(new (std::nothrow) Cache);
  if (created != nullptr && pthread_setspecific(key, created.get()) == 0) own = created.release();
  return own;
}

// The largest block that is cached: 8 MiB.
constexpr int64_t kLargestKept = int64_t{1} << 23;

// Returns the smallest power of two that is at least `bytes`, and at least a page; `bytes` itself for a large block.
int64_t rounded(int64_t bytes) {
  if (bytes > kLargestKept) return bytes;
  int64_t size = 4096;
  while (size < bytes) size *= 2;
  return size;
}

}  // namespace

Scratch::Scratch(int64_t bytes) : bytes_(rounded(bytes)) {
  if (bytes_ > kLargestKept) {
    data_ = allocate_counted(bytes_);
    if (data_ == nullptr) data_ = allocate_on_opening_thread(allocate_counted, bytes_);
    return;
  }
  Cache* kept = cache();
  data_ = kept != nullptr ? kept->allocate(bytes_) : nullptr;
}

Scratch::~Scratch() {
  if (data_ == nullptr) return;
  if (bytes_ > kLargestKept)
    release_counted(data_, bytes_);
  else if (Cache* kept = cache())
    kept->release(data_, bytes_);
  else
    std::free(data_);
}

}  // namespace oneflow::cpu
