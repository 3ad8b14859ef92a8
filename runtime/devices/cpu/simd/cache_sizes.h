// The sizes of the processor's caches, by which kernels choose the sizes of their blocks.
#ifndef ONEFLOW_DEVICES_CPU_SIMD_CACHE_SIZES_H_
#define ONEFLOW_DEVICES_CPU_SIMD_CACHE_SIZES_H_

#include <cstdint>

namespace oneflow::cpu {

// The bytes of one core's first- and second-level data caches, as common server processors have them. They are
// constants so that block sizes, and with them the order of sums and the results, do not depend on the machine.
constexpr int64_t kL1Bytes = int64_t{32} << 10;
constexpr int64_t kL2Bytes = int64_t{1} << 20;

// Returns the size in bytes of the last-level cache, which several cores share, at most 32 MiB.
int64_t last_level_bytes();

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_SIMD_CACHE_SIZES_H_
