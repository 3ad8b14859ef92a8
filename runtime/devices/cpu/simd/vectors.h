// The SIMD vectors of one instruction set, for sources that are compiled once per instruction set (see simd/isa.h):
// loads and stores of whole vectors and parts of them, transposition, and sums of lanes. Vector<float> has 16 lanes
// with AVX-512, 8 with AVX2 and 4 otherwise; operators such as + apply to all lanes.
#ifndef ONEFLOW_DEVICES_CPU_SIMD_VECTORS_H_
#define ONEFLOW_DEVICES_CPU_SIMD_VECTORS_H_

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

#include <cstdint>

namespace oneflow::cpu::OF_ISA {
namespace {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif

template <class T>
constexpr int kLanes = kVectorBytes / sizeof(T);
template <class T>
struct Vectors {
  typedef T aligned __attribute__((vector_size(kVectorBytes)));
  typedef T unaligned __attribute__((vector_size(kVectorBytes), aligned(alignof(T)), may_alias));
};
template <class T>
using Vector = typename Vectors<T>::aligned;

template <class T>
inline Vector<T> load(const T* from) {
  return *reinterpret_cast<const typename Vectors<T>::unaligned*>(from);
}
template <class T>
inline void store(T* to, Vector<T> value) {
  *reinterpret_cast<typename Vectors<T>::unaligned*>(to) = value;
}

#if defined(__AVX512F__)
constexpr bool kHasMasks = true;  // whether one instruction loads or stores part of a vector
// Returns the mask of the first `count` lanes.
inline uint32_t first_lanes(int64_t count) { return _bzhi_u32(~uint32_t{0}, static_cast<uint32_t>(count)); }
// Loads and stores by a mask of lanes. Elements that are masked out are not accessed: they may be past the end of the
// memory.
template <class T>
inline Vector<T> load_masked(uint32_t mask, const T* from) {
  if constexpr (sizeof(T) == 4)
    return reinterpret_cast<Vector<T>>(_mm512_maskz_loadu_epi32(static_cast<__mmask16>(mask), from));
  else
    return reinterpret_cast<Vector<T>>(_mm512_maskz_loadu_epi64(static_cast<__mmask8>(mask), from));
}
template <class T>
inline void store_masked(uint32_t mask, T* to, Vector<T> value) {
  if constexpr (sizeof(T) == 4)
    _mm512_mask_storeu_epi32(to, static_cast<__mmask16>(mask), reinterpret_cast<__m512i>(value));
  else
    _mm512_mask_storeu_epi64(to, static_cast<__mmask8>(mask), reinterpret_cast<__m512i>(value));
}
#else
constexpr bool kHasMasks = false;
#endif

// Loads the first `count` lanes of a vector and sets the others to zero.
template <class T>
inline Vector<T> load_some(const T* from, int64_t count) {
  if (count >= kLanes<T>) return load(from);
  Vector<T> value = {};
#if defined(__AVX512F__)
  value = load_masked(first_lanes(count), from);
#else
  for (int64_t i = 0; i < count; ++i) value[i] = from[i];
#endif
  return value;
}
// Stores the lanes [first, first + count) to to[0, count).
template <class T>
inline void store_some(T* to, const Vector<T>& value, int64_t first, int64_t count) {
#if defined(__AVX512F__)
  store_masked(first_lanes(count) << first, to - first, value);
#else
  for (int64_t i = 0; i < count; ++i) to[i] = value[first + i];
#endif
}

// Returns whether store_non_temporal() may be used for to, to + step, to + 2 * step, ...: a vector must be a whole
// cache line, and the addresses aligned to it.
template <class T>
inline bool can_store_non_temporal(const T* to, int64_t step = 0) {
  constexpr bool is_cache_line = kVectorBytes == 64;
  return is_cache_line &&
         (reinterpret_cast<uintptr_t>(to) | static_cast<uintptr_t>(step) * sizeof(T)) % kVectorBytes == 0;
}
// Stores a vector, bypassing the caches with AVX-512. Requires can_store_non_temporal(to).
template <class T>
inline void store_non_temporal(T* to, Vector<T> value) {
#if defined(__AVX512F__)
  _mm512_stream_si512(reinterpret_cast<__m512i*>(to), reinterpret_cast<__m512i>(value));
#else
  store(to, value);
#endif
}

// The integer type of lane indices, for shuffles of vectors with elements of `bytes` bytes.
template <int bytes>
struct LaneIndex;
template <>
struct LaneIndex<4> {
  using type = int32_t;
};
template <>
struct LaneIndex<8> {
  using type = int64_t;
};
template <class T>
using Index = typename LaneIndex<sizeof(T)>::type;
template <class T>
using Indices = Vector<Index<T>>;

// Transposes a square matrix whose rows are the vectors square[0] to square[kLanes<T> - 1]: first within blocks of 16
// bytes, then the blocks. Both consist of rounds of perfect shuffles, which are one instruction each.
template <class T>
inline void transpose(Vector<T>* square) {
  constexpr int lanes = kLanes<T>, part = 16 / sizeof(T), parts = lanes / part;
  // The lanes of two vectors that a shuffle selects: the first (or last) halves of each part, interleaved; the even (or
  // odd) parts.
  Indices<T> first, last, even, odd;
#pragma GCC unroll 16
  for (int i = 0; i < lanes; ++i) {
    first[i] = static_cast<Index<T>>(i / part * part + i % part / 2 + i % 2 * lanes);
    last[i] = first[i] + part / 2;
    even[i] = static_cast<Index<T>>(i / part * 2 * part + i % part);
    odd[i] = even[i] + part;
  }
  Vector<T> other[lanes];
#pragma GCC unroll 4
  for (int span = 1; span < part; span *= 2) {
#pragma GCC unroll 16
    for (int i = 0; i < lanes / 2; ++i) {
      const int from = i / (part / 2) * part + i % (part / 2), to = 2 * i;
      other[to] = __builtin_shuffle(square[from], square[from + part / 2], first);
      other[to + 1] = __builtin_shuffle(square[from], square[from + part / 2], last);
    }
#pragma GCC unroll 16
    for (int i = 0; i < lanes; ++i) square[i] = other[i];
  }
#pragma GCC unroll 4
  for (int span = 1; span < parts; span *= 2) {
#pragma GCC unroll 16
    for (int i = 0; i < lanes / 2; ++i) {
      const int from = i / part * 2 * part + i % part;
      other[i] = __builtin_shuffle(square[from], square[from + part], even);
      other[i + lanes / 2] = __builtin_shuffle(square[from], square[from + part], odd);
    }
#pragma GCC unroll 16
    for (int i = 0; i < lanes; ++i) square[i] = other[i];
  }
}

// Returns the vector whose lane i is the sum of the lanes of vectors[i], for as many vectors as one has lanes. It works
// like a transposition, but adds the results of each pair of shuffles, which halves the number of vectors per round.
template <class T, int span = 1>
inline Vector<T> add_lanes(Vector<T>* vectors) {
  constexpr int lanes = kLanes<T>, part = 16 / sizeof(T);
  // The lanes that the two shuffles select: within parts of 16 bytes, spans of both vectors, interleaved; for larger
  // spans, the even parts and the odd parts.
  Indices<T> first, second;
#pragma GCC unroll 16
  for (int i = 0; i < lanes; ++i) {
    if constexpr (span < part) {
      const int span_index = i % part / span;
      first[i] = static_cast<Index<T>>(i / part * part + span_index / 2 * span + i % span + span_index % 2 * lanes);
      second[i] = first[i] + part / 2;
    } else {
      first[i] = static_cast<Index<T>>(i / part * 2 * part + i % part);
      second[i] = first[i] + part;
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < lanes / span / 2; ++i) {
    const Vector<T> x = vectors[2 * i], y = vectors[2 * i + 1];
    vectors[i] = __builtin_shuffle(x, y, first) + __builtin_shuffle(x, y, second);
  }
  if constexpr (2 * span < lanes)
    return add_lanes<T, 2 * span>(vectors);
  else
    return vectors[0];
}

}  // namespace
}  // namespace oneflow::cpu::OF_ISA

#endif  // ONEFLOW_DEVICES_CPU_SIMD_VECTORS_H_
