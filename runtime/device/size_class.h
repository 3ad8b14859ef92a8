// The size classes of the caching allocator: multiples of 64 bytes up to 1 KiB, then eight classes per doubling, so
// that at most an eighth of a larger block is unused.
#ifndef ONEFLOW_DEVICE_SIZE_CLASS_H_
#define ONEFLOW_DEVICE_SIZE_CLASS_H_

#include <bit>
#include <cstdint>

namespace oneflow {

// Returns the number of the smallest class whose blocks hold `bytes` bytes: class 0 holds 64 bytes, class 1 holds 128 …
// `bytes` must be at most kLargestBlock.
constexpr int size_class(uint64_t bytes) {
  if (bytes <= 1024) return bytes == 0 ? 0 : static_cast<int>((bytes - 1) >> 6);
  const int doubling = std::bit_width(bytes - 1) - 1;  // 2^doubling < bytes <= 2^(doubling + 1)
  const int step = static_cast<int>((bytes - 1) >> (doubling - 3)) - 8;
  return 16 + (doubling - 10) * 8 + step;
}

// Returns the size of the blocks of a class in bytes.
constexpr uint64_t class_bytes(int number) {
  if (number < 16) return static_cast<uint64_t>(number + 1) << 6;
  const int doubling = 10 + (number - 16) / 8;
  return static_cast<uint64_t>(9 + (number - 16) % 8) << (doubling - 3);
}

constexpr int kClassesPerDoubling = 8;                 // of blocks of more than 1 KiB
constexpr uint64_t kLargestBlock = uint64_t{1} << 56;  // more than any machine has; the arithmetic cannot overflow
constexpr int kClassCount = size_class(kLargestBlock) + 1;

}  // namespace oneflow

#endif  // ONEFLOW_DEVICE_SIZE_CLASS_H_
