// The conversion loops; compiled once per instruction set.
#include "convert.h"
#include "element.h"

#if defined(__F16C__)
#include <immintrin.h>
#endif

namespace oneflow::cpu::OF_ISA {
namespace {

template <class From, class To>
void convert_all(const void* source, void* destination, int64_t count) {
  const auto* from = static_cast<const Stored<From>*>(source);
  auto* to = static_cast<To*>(destination);
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) to[i] = convert<To>(static_cast<From>(from[i]));
}

#if defined(__F16C__)
// GCC does not vectorise these two.
constexpr int64_t kHalfLanes = 8;

template <>
void convert_all<float, float16>(const void* source, void* destination, int64_t count) {
  const auto* from = static_cast<const float*>(source);
  auto* to = static_cast<float16*>(destination);
  int64_t i = 0;
  for (; i + kHalfLanes <= count; i += kHalfLanes) {
    const __m128i halves = _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), halves);
  }
  for (; i < count; ++i) to[i] = convert<float16>(from[i]);
}

template <>
void convert_all<float16, float>(const void* source, void* destination, int64_t count) {
  const auto* from = static_cast<const float16*>(source);
  auto* to = static_cast<float*>(destination);
  int64_t i = 0;
  for (; i + kHalfLanes <= count; i += kHalfLanes) {
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i))));
  }
  for (; i < count; ++i) to[i] = convert<float>(from[i]);
}
#endif

}  // namespace

Convert conversion(of_dtype from, of_dtype to) {
  return visit_dtype(from, [to](auto source) {
    return visit_dtype(
        to, [](auto destination) -> Convert { return convert_all<decltype(source), decltype(destination)>; });
  });
}

}  // namespace oneflow::cpu::OF_ISA
