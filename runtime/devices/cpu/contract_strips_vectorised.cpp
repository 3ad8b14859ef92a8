// Sums of products of lanes that lie next to each other, and putting them elsewhere; compiled once per instruction set.
#include "contract_direct_kernels.h"
#include "contract_kernels.h"
#include "vectors.h"

namespace oneflow::cpu::OF_ISA {
namespace {

#if defined(__AVX512F__)
constexpr int kStripColumns = 24;  // of 32 registers; the columns come from memory
#else
constexpr int kStripColumns = 12;  // of 16
#endif
static_assert(kStripColumns <= ContractKernels::kMaxStripColumns);

template <class T>
inline void put(T* to, const Vector<T>& value, int64_t count, bool streams) {
  if (count < kLanes<T>)
    store_some(to, value, 0, count);
  else if (streams && can_store_past(to))
    store_past(to, value);
  else
    store(to, value);
}

template <class T, int columns>
void strip(const Strip& strip) {
  Vector<T> sums[columns] = {};
  const auto run = [&](auto&& load_lanes) {
    const T* panel = static_cast<const T*>(strip.panel);
    for (int64_t p = 0; p < strip.depth; ++p, panel += columns) {
      const Vector<T> lanes = load_lanes(static_cast<const T*>(strip.lanes) + strip.depths[p]);
#pragma GCC unroll 32
      for (int j = 0; j < columns; ++j) sums[j] += lanes * (panel[j] - Vector<T>{});
    }
  };
  const auto fetch = [&](const T* from) {
    for (const int64_t ahead : strip.ahead) __builtin_prefetch(from + ahead, 0, 2);
    return from;
  };
  if (strip.lane_count < kLanes<T>)
    run([&](const T* from) { return load_some(fetch(from), strip.lane_count); });
  else if (strip.fetches)
    run([&](const T* from) { return load(fetch(from)); });
  else
    run([](const T* from) { return load(from); });
#pragma GCC unroll 32
  for (int j = 0; j < columns; ++j)
    put(static_cast<T*>(strip.c) + strip.places[j], sums[j], strip.lane_count, strip.streams);
}

// A square of sums, from `from` on, to C from `to` on; a whole one, or `count` of as many lanes as there are.
template <class T, bool is_whole>
inline void turn_square(const TurnedSums& turned, const T* from, T* to, int64_t count) {
  constexpr int lanes = kLanes<T>;
  Vector<T> square[lanes];
#pragma GCC unroll 16
  for (int i = 0; i < lanes; ++i) square[i] = is_whole || i < count ? load(from + i * turned.step) : Vector<T>{};
  transpose<T>(square);
#pragma GCC unroll 16
  for (int i = 0; i < lanes; ++i)
    if (is_whole || i < turned.lane_count) {
      T* line = to + turned.places[i];
      const int64_t stored = is_whole ? lanes : count;
      if (turned.accumulate) square[i] += load_some(line, stored);
      put(line, square[i], stored, turned.streams);
    }
}

template <class T, int columns>
void fill_strips(ContractKernels& kernels) {
  kernels.strip[columns] = strip<T, columns>;
  if constexpr (columns > 1) fill_strips<T, columns - 1>(kernels);
}

}  // namespace

template <class T>
void turn_sums(const TurnedSums& turned) {
  constexpr int lanes = kLanes<T>;
  for (int64_t first = 0; first < turned.count; first += lanes) {
    const T* from = static_cast<const T*>(turned.sums) + first * turned.step;
    T* to = static_cast<T*>(turned.c) + first;
    const int64_t count = turned.count - first;
    if (count >= lanes && turned.lane_count == lanes)
      turn_square<T, true>(turned, from, to, lanes);
    else
      turn_square<T, false>(turned, from, to, count < lanes ? count : lanes);
  }
}

template <class T>
void add_strip_kernels(ContractKernels& kernels) {
  kernels.strip_columns = kStripColumns;
  fill_strips<T, kStripColumns>(kernels);
  kernels.turn_sums = turn_sums<T>;
}

template void add_strip_kernels<float>(ContractKernels&);
template void turn_sums<float>(const TurnedSums&);
template void add_strip_kernels<double>(ContractKernels&);
template void turn_sums<double>(const TurnedSums&);
template void add_strip_kernels<uint32_t>(ContractKernels&);
template void turn_sums<uint32_t>(const TurnedSums&);
template void add_strip_kernels<uint64_t>(ContractKernels&);
template void turn_sums<uint64_t>(const TurnedSums&);

}  // namespace oneflow::cpu::OF_ISA
