#include "scratch.h"

#include <pthread.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <memory>
#include <new>

namespace oneflow::cpu {
namespace {

// Blocks of power-of-two sizes, those that were given back last. A block is only ever in one thread's cache. A product
// has about ten at a time: one that is not kept is new pages at each call, which take longer than packing does. (With a
// cache of six, which forgot the panels at every other call, packing columns of 1024^3 took four times as long in
// those.)
class Cache {
 public:
  ~Cache() {
    while (count_ > 0) std::free(remove(0).data);
  }

  void* take(int64_t bytes) {
    for (int i = count_ - 1; i >= 0; --i)
      if (blocks_[i].bytes == bytes) return remove(i).data;
    return std::aligned_alloc(64, static_cast<size_t>(bytes));
  }

  void give(void* data, int64_t bytes) {
    while (count_ == kBlocks || (count_ > 0 && bytes_ + bytes > kMostBytes)) std::free(remove(0).data);
    blocks_[count_++] = {data, bytes};
    bytes_ += bytes;
  }

 private:
  struct Block {
    void* data;
    int64_t bytes;
  };
  static constexpr int kBlocks = 16;
  static constexpr int64_t kMostBytes = int64_t{1} << 24;

  Block remove(int i) {
    const Block block = blocks_[i];
    std::copy(blocks_ + i + 1, blocks_ + count_, blocks_ + i);
    --count_;
    bytes_ -= block.bytes;
    return block;
  }

  Block blocks_[kBlocks];  // the oldest first
  int count_ = 0;
  int64_t bytes_ = 0;
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

// Beyond this, memory is not kept: 8 MiB.
constexpr int64_t kLargestKept = int64_t{1} << 23;

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
