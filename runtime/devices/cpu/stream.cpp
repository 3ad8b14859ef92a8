#include "stream.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace oneflow::cpu {

namespace {

// What sysconf() says is the cache of a whole package, ten times as much on some processors. Where dozens of cores
// share one of hundreds of megabytes, a few of them do not have it to themselves, and are slow to reach most of it
// (dbea,ec->abcd, which scatters its results where they stay in the cache, 111 ms for 32).
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

#if defined(__SSE2__)

constexpr int64_t kUnit = 16;

bool can_stream(const void* to) { return reinterpret_cast<uintptr_t>(to) % 64 == 0; }

void stream_copy(void* to, const void* from, int64_t bytes) {
  auto* target = static_cast<char*>(to);
  const auto* source = static_cast<const char*>(from);
  int64_t done = 0;
  for (; done + kUnit <= bytes; done += kUnit)
    _mm_stream_si128(reinterpret_cast<__m128i*>(target + done),
                     _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + done)));
  std::memcpy(target + done, source + done, static_cast<size_t>(bytes - done));
}

void end_stream() { _mm_sfence(); }

#else

bool can_stream(const void*) { return false; }
void stream_copy(void* to, const void* from, int64_t bytes) { std::memcpy(to, from, static_cast<size_t>(bytes)); }
void end_stream() {}

#endif

}  // namespace oneflow::cpu
