// The micro-kernel of strips, a register tile of one vector by several columns, and transposing sums into C; compiled
// once per instruction set.
#include "contract/direct/kernels.h"
#include "contract/kernels.h"
#include "simd/vectors.h"

namespace oneflow::cpu::OF_ISA {
namespace {

#if defined(__AVX512F__)
constexpr int kStripColumns = 24;  // sums in 32 registers; elements of the panel are broadcast from memory
#else
constexpr int kStripColumns = 12;  // sums in 16 registers
#endif
static_assert(kStripColumns <= ContractKernels::kMaxStripColumns);

// Stores the first `count` lanes of a vector.
template <class T>
inline void put(T* to, const Vector<T>& value, int64_t count, bool streams) {
  if (count < kLanes<T>)
    store_some(to, value, 0, count);
  else if (streams && can_store_non_temporal(to))
    store_non_temporal(to, value);
  else
    store(to, value);
}

template <class T, int columns>
void strip(const Strip& strip) {
  Vector<T> sums[columns] = {};
  const auto run = [&](auto&& load_vector) {
    const T* panel = static_cast<const T*>(strip.panel);
    for (int64_t p = 0; p < strip.depth; ++p, panel += columns) {
      const Vector<T> vector = load_vector(static_cast<const T*>(strip.vector) + strip.depth_offsets[p]);
#pragma GCC unroll 32
      for (int j = 0; j < columns; ++j) sums[j] += vector * (panel[j] - Vector<T>{});
    }
  };
  const auto prefetch = [&](const T* from) {
    for (const int64_t ahead : strip.prefetch_offsets) __builtin_prefetch(from + ahead, 0, 2);
    return from;
  };
  if (strip.lane_count < kLanes<T>)
    run([&](const T* from) { return load_some(prefetch(from), strip.lane_count); });
  else if (strip.prefetches)
    run([&](const T* from) { return load(prefetch(from)); });
  else
    run([](const T* from) { return load(from); });
#pragma GCC unroll 32
  for (int j = 0; j < columns; ++j)
    put(static_cast<T*>(strip.c) + strip.column_offsets[j], sums[j], strip.lane_count, strip.streams);
}

// Transposes a square of the sums, from `from` on, and stores it from `to` on. A partial one has `count` vectors, of
// which sums.lane_count lanes are stored.
template <class T, bool is_whole>
inline void transpose_square(const TransposedSums& sums, const T* from, T* to, int64_t count) {
  constexpr int lanes = kLanes<T>;
  Vector<T> square[lanes];
#pragma GCC unroll 16
  for (int i = 0; i < lanes; ++i) square[i] = is_whole || i < count ? load(from + i * sums.stride) : Vector<T>{};
  transpose<T>(square);
#pragma GCC unroll 16
  for (int i = 0; i < lanes; ++i)
    if (is_whole || i < sums.lane_count) {
      T* line = to + sums.lane_offsets[i];
      const int64_t stored = is_whole ? lanes : count;
      if (sums.accumulate) square[i] += load_some(line, stored);
      put(line, square[i], stored, sums.streams);
    }
}

template <class T, int columns>
void fill_strips(ContractKernels& kernels) {
  kernels.strip[columns] = strip<T, columns>;
  if constexpr (columns > 1) fill_strips<T, columns - 1>(kernels);
}

}  // namespace

template <class T>
void transpose_sums(const TransposedSums& sums) {
  constexpr int lanes = kLanes<T>;
  for (int64_t first = 0; first < sums.count; first += lanes) {
    const T* from = static_cast<const T*>(sums.sums) + first * sums.stride;
    T* to = static_cast<T*>(sums.c) + first;
    const int64_t count = sums.count - first;
    if (count >= lanes && sums.lane_count == lanes)
      transpose_square<T, true>(sums, from, to, lanes);
    else
      transpose_square<T, false>(sums, from, to, count < lanes ? count : lanes);
  }
}

template <class T>
void add_strip_kernels(ContractKernels& kernels) {
  kernels.strip_columns = kStripColumns;
  fill_strips<T, kStripColumns>(kernels);
  kernels.transpose_sums = transpose_sums<T>;
}

template void add_strip_kernels<float>(ContractKernels&);
template void transpose_sums<float>(const TransposedSums&);
template void add_strip_kernels<double>(ContractKernels&);
template void transpose_sums<double>(const TransposedSums&);
template void add_strip_kernels<uint32_t>(ContractKernels&);
template void transpose_sums<uint32_t>(const TransposedSums&);
template void add_strip_kernels<uint64_t>(ContractKernels&);
template void transpose_sums<uint64_t>(const TransposedSums&);

}  // namespace oneflow::cpu::OF_ISA
