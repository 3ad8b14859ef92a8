#include "simd/non_temporal.h"

#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace oneflow::cpu {

#if defined(__SSE2__)

constexpr int64_t kUnit = 16;  // bytes of a store

bool can_copy_non_temporal(const void* to) { return reinterpret_cast<uintptr_t>(to) % 64 == 0; }

void copy_non_temporal(void* to, const void* from, int64_t bytes) {
  auto* target = static_cast<char*>(to);
  const auto* source = static_cast<const char*>(from);
  int64_t done = 0;
  for (; done + kUnit <= bytes; done += kUnit)
    _mm_stream_si128(reinterpret_cast<__m128i*>(target + done),
                     _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + done)));
  std::memcpy(target + done, source + done, static_cast<size_t>(bytes - done));
}

void end_non_temporal() { _mm_sfence(); }

#else

bool can_copy_non_temporal(const void*) { return false; }
void copy_non_temporal(void* to, const void* from, int64_t bytes) { std::memcpy(to, from, static_cast<size_t>(bytes)); }
void end_non_temporal() {}

#endif

}  // namespace oneflow::cpu
