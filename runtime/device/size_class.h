// The sizes in which memory is kept for reuse: multiples of 64 bytes up to 1 KiB, then eight steps per doubling, so
// that at most an eighth of a block is lost.
#ifndef ONEFLOW_DEVICE_SIZE_CLASS_H_
#define ONEFLOW_DEVICE_SIZE_CLASS_H_

#include <bit>
#include <cstdint>

namespace oneflow {

// The number of the smallest class that holds so many bytes (0 holds 64, 1 holds 128 …).
constexpr int size_class(uint64_t bytes) {
  if (bytes <= 1024) return bytes == 0 ? 0 : static_cast<int>((bytes - 1) >> 6);
  const int doubling = std::bit_width(bytes - 1) - 1;  // 2^doubling < bytes <= 2^(doubling + 1)
  const int step = static_cast<int>((bytes - 1) >> (doubling - 3)) - 8;
  return 16 + (doubling - 10) * 8 + step;
}

// The bytes of a block of a class.
constexpr uint64_t class_bytes(int number) {
  if (number < 16) return static_cast<uint64_t>(number + 1) << 6;
  const int doubling = 10 + (number - 16) / 8;
  return static_cast<uint64_t>(9 + (number - 16) % 8) << (doubling - 3);
}

constexpr uint64_t kLargestBlock = uint64_t{1} << 56;  // no machine has more; keeps the arithmetic in range
constexpr int kClassCount = size_class(kLargestBlock) + 1;

}  // namespace oneflow

#endif  // ONEFLOW_DEVICE_SIZE_CLASS_H_
