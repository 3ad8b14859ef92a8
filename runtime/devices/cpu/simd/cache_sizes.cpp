#include "simd/cache_sizes.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

namespace oneflow::cpu {
namespace {

// Returns the size of the last-level cache that Linux reports, at most 32 MiB, or 32 MiB if it reports none. sysconf()
// is not used because it reports the caches of a whole package on some processors. The limit is for processors on which
// dozens of cores share hundreds of megabytes: other cores use most of that cache, and most of it is slow to reach.
int64_t read_last_level_bytes() {
  constexpr int64_t kUsual = int64_t{32} << 20;
  int64_t kibibytes = 0;
  if (std::FILE* file = std::fopen("/sys/devices/system/cpu/cpu0/cache/index3/size", "r")) {
    if (std::fscanf(file, "%" SCNd64 "K", &kibibytes) != 1) kibibytes = 0;
    std::fclose(file);
  }
  return kibibytes > 0 ? std::min(kibibytes << 10, kUsual) : kUsual;
}

}  // namespace

int64_t last_level_bytes() {
  static const int64_t bytes = read_last_level_bytes();
  return bytes;
}

}  // namespace oneflow::cpu
