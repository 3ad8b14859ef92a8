#include "scratch.h"

#include <pthread.h>

#include <climits>
#include <cstdlib>
#include <memory>
#include <new>

namespace oneflow::cpu {
namespace {

// Blocks of power-of-two sizes, the last few given back. A block is only ever in one thread's cache.
class Cache {
 public:
  ~Cache() {
    for (const Block& block : blocks_) std::free(block.data);
  }

  void* take(int64_t bytes) {
    for (Block& block : blocks_) {
      if (block.bytes == bytes) {
        void* data = block.data;
        block = {};
        return data;
      }
    }
    return std::aligned_alloc(64, static_cast<size_t>(bytes));
  }

  void give(void* data, int64_t bytes) {
    for (Block& block : blocks_) {
      if (block.data == nullptr) {
        block = {data, bytes};
        return;
      }
    }
    Block& oldest = blocks_[next_];
    next_ = (next_ + 1) % kBlocks;
    std::free(oldest.data);
    oldest = {data, bytes};
  }

 private:
  struct Block {
    void* data = nullptr;
    int64_t bytes = 0;
  };
  static constexpr int kBlocks = 6;

  Block blocks_[kBlocks];
  int next_ = 0;
};

// This thread's cache; NULL without memory for one. Not an object with a destructor: a process that has no memory to
// register one is ended.
Cache* cache() {
  static thread_local Cache* own = nullptr;
  if (own != nullptr) return own;
  static const pthread_key_t key = [] {
    pthread_key_t created = PTHREAD_KEYS_MAX;  // no key: pthread_setspecific() refuses it
    pthread_key_create(&created, [](void* cache) {
      own = nullptr;
      delete static_cast<Cache*>(cache);
    });
    return created;
  }();
  auto created = std::unique_ptr<Cache>(new (std::nothrow) Cache);
  if (created != nullptr && pthread_setspecific(key, created.get()) == 0) own = created.release();
  return own;
}

// Beyond this, memory is not kept: 4 MiB.
constexpr int64_t kLargestKept = int64_t{1} << 22;

int64_t rounded(int64_t bytes) {
  int64_t size = 4096;
  while (size < bytes) size *= 2;
  return size;
}

}  // namespace

Scratch::Scratch(int64_t bytes) : bytes_(rounded(bytes)) {
  Cache* kept = cache();
  data_ = kept != nullptr ? kept->take(bytes_) : nullptr;
}

Scratch::~Scratch() {
  if (data_ == nullptr) return;
  Cache* kept = bytes_ <= kLargestKept ? cache() : nullptr;
  if (kept != nullptr) {
    kept->give(data_, bytes_);
  } else {
    std::free(data_);
  }
}

}  // namespace oneflow::cpu
