// The vectors of one instruction set, for sources that are compiled once per instruction set: see isa.h.
#ifndef ONEFLOW_DEVICES_CPU_VECTORS_H_
#define ONEFLOW_DEVICES_CPU_VECTORS_H_

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
  typedef T loose __attribute__((vector_size(kVectorBytes), aligned(alignof(T)), may_alias));
};
template <class T>
using Vector = typename Vectors<T>::aligned;

template <class T>
inline Vector<T> load(const T* from) {
  return *reinterpret_cast<const typename Vectors<T>::loose*>(from);
}
template <class T>
inline void store(T* to, Vector<T> value) {
  *reinterpret_cast<typename Vectors<T>::loose*>(to) = value;
}

// What numbers the lanes of a vector of T.
template <class T>
struct LaneIndex;
template <>
struct LaneIndex<float> {
  using type = int32_t;
};
template <>
struct LaneIndex<uint32_t> {
  using type = int32_t;
};
template <>
struct LaneIndex<double> {
  using type = int64_t;
};
template <>
struct LaneIndex<uint64_t> {
  using type = int64_t;
};

// Transposes a square of vectors in log2(lanes) rounds of perfect shuffles.
template <class T>
inline void transpose(Vector<T>* square) {
  constexpr int lanes = kLanes<T>;
  using Index = typename LaneIndex<T>::type;
  Vector<Index> low, high;
  for (int i = 0; i < lanes; ++i) {
    low[i] = static_cast<Index>(i / 2 + i % 2 * lanes);
    high[i] = low[i] + lanes / 2;
  }
  Vector<T> other[lanes];
#pragma GCC unroll 4
  for (int span = 1; span < lanes; span *= 2) {
#pragma GCC unroll 16
    for (int i = 0; i < lanes / 2; ++i) {
      other[2 * i] = __builtin_shuffle(square[i], square[i + lanes / 2], low);
      other[2 * i + 1] = __builtin_shuffle(square[i], square[i + lanes / 2], high);
    }
#pragma GCC unroll 16
    for (int i = 0; i < lanes; ++i) square[i] = other[i];
  }
}

}  // namespace
}  // namespace oneflow::cpu::OF_ISA

#endif  // ONEFLOW_DEVICES_CPU_VECTORS_H_
