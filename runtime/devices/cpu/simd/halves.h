// Conversion between float16 in memory and vectors of float32, with the instructions that GCC does not use when it
// vectorises loops. For sources that are compiled once per instruction set: see simd/isa.h.
#ifndef ONEFLOW_DEVICES_CPU_SIMD_HALVES_H_
#define ONEFLOW_DEVICES_CPU_SIMD_HALVES_H_

#include "simd/element.h"
#include "simd/vectors.h"

#if defined(__F16C__)
#include <immintrin.h>
#endif

namespace oneflow::cpu::OF_ISA {
namespace {

// A mask with all lanes set. The intrinsics without a mask make GCC 12 warn about its own header.
[[maybe_unused]] constexpr uint16_t kAll = 0xffff;

// Loads as many elements as a vector of float32 has lanes; element by element where there is no instruction for it.
inline Vector<float> load_halves(const float16* from) {
#if defined(__AVX512F__)
  return _mm512_maskz_cvtph_ps(kAll, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
#elif defined(__F16C__)
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
#else
  Vector<float> values;
  for (int i = 0; i < kLanes<float>; ++i) values[i] = static_cast<float>(from[i]);
  return values;
#endif
}

// Rounds the values to float16, to nearest with ties to even, and stores them.
inline void store_halves(float16* to, const Vector<float>& values) {
#if defined(__AVX512F__)
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_maskz_cvtps_ph(kAll, values, _MM_FROUND_TO_NEAREST_INT));
#elif defined(__F16C__)
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_cvtps_ph(values, _MM_FROUND_TO_NEAREST_INT));
#else
  for (int i = 0; i < kLanes<float>; ++i) to[i] = static_cast<float16>(values[i]);
#endif
}

}  // namespace
}  // namespace oneflow::cpu::OF_ISA

#endif  // ONEFLOW_DEVICES_CPU_SIMD_HALVES_H_
