#include "scratch.h"

#include <cstdlib>

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

thread_local Cache cache;

// Beyond this, memory is not kept: 4 MiB.
constexpr int64_t kLargestKept = int64_t{1} << 22;

int64_t rounded(int64_t bytes) {
  int64_t size = 4096;
  while (size < bytes) size *= 2;
  return size;
}

}  // namespace

Scratch::Scratch(int64_t bytes) : bytes_(rounded(bytes)) { data_ = cache.take(bytes_); }

Scratch::~Scratch() {
  if (data_ == nullptr) return;
  if (bytes_ > kLargestKept) {
    std::free(data_);
  } else {
    cache.give(data_, bytes_);
  }
}

}  // namespace oneflow::cpu
