#include "stream.h"

#include <unistd.h>

#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace oneflow::cpu {

int64_t streamed_bytes() {
  static const int64_t bytes = [] {
    constexpr int64_t kUsual = int64_t{32} << 20;
    const long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
    return (cache > 0 ? int64_t{cache} : kUsual) / 4 * 3;
  }();
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
