// Products of bfloat16 where an instruction multiplies pairs of them (AVX512-BF16) quickly and adds up in float32:
// panels hold pairs of depths. Numbers below float32's normal ones count as zero there.
#include "contract_direct_kernels.h"
#include "contract_kernels.h"
#include "halves.h"
#include "vectors.h"

namespace oneflow::cpu::OF_ISA {

#if defined(__AVX512F__)

namespace {

// Two depths of one row, the first one in the lower half.
using Pair = uint32_t;
constexpr int kPairLanes = kLanes<Pair>;

int64_t pairs_of(int64_t depth) { return (depth + 1) / 2; }
int64_t lanes_of(int64_t count) { return count < kPairLanes ? count : kPairLanes; }

// The first `count` lanes of a vector, in the lower halves.
Vector<Pair> load_lower(const uint16_t* from, int64_t count) {
  const auto mask = static_cast<__mmask16>((uint32_t{1} << count) - 1);
  return reinterpret_cast<Vector<Pair>>(_mm512_maskz_cvtepu16_epi32(kAll, _mm256_maskz_loadu_epi16(mask, from)));
}

// Rows that lie next to each other, of two depths; `high` is NULL where there is no second one.
void pack_rows(const uint16_t* low, const uint16_t* high, int64_t count, Pair* to) {
  for (int64_t i = 0; i < count; i += kPairLanes) {
    const int64_t lanes = lanes_of(count - i);
    Vector<Pair> pairs = load_lower(low + i, lanes);
    if (high != nullptr) pairs |= load_lower(high + i, lanes) << 16;
    store_some(to + i, pairs, 0, lanes);
  }
}

// Depths that lie next to each other: squares of pairs and rows are transposed in registers.
void pack_lines(const uint16_t* data, const int64_t* rows, int64_t count, int64_t width, int64_t depth, Pair* panel) {
  for (int64_t p = 0; p < depth; p += 2 * kPairLanes) {
    const int64_t left = depth - p, pairs = lanes_of(pairs_of(left));
    const __mmask32 mask = left >= 32 ? ~__mmask32{0} : static_cast<__mmask32>((uint32_t{1} << left) - 1);
    for (int64_t first = 0; first < width; first += kPairLanes) {
      Vector<Pair> square[kPairLanes];
      for (int i = 0; i < kPairLanes; ++i) {
        const bool is_there = first + i < count;
        square[i] = is_there
                        ? reinterpret_cast<Vector<Pair>>(_mm512_maskz_loadu_epi16(mask, data + rows[first + i] + p))
                        : Vector<Pair>{};
        if (is_there) __builtin_prefetch(data + rows[first + i] + p + 4 * kPairLanes);
      }
      transpose<Pair>(square);
      const int64_t lanes = lanes_of(width - first);
      for (int i = 0; i < pairs; ++i) store_some(panel + (p / 2 + i) * width + first, square[i], 0, lanes);
    }
  }
}

// Whatever lies wherever.
void pack_singly(const uint16_t* data, const PanelSource& source, int64_t count, int64_t width, Pair* panel) {
  const DepthWalk& depth = source.depth;
  __builtin_memset(panel, 0, static_cast<size_t>(pairs_of(depth.count) * width) * sizeof(Pair));
  auto* halves = reinterpret_cast<uint16_t*>(panel);
  for (int64_t p = 0; p < depth.count; ++p) {
    const int64_t place = depth.places == nullptr ? p : depth.places[p];
    uint16_t* to = halves + place / 2 * 2 * width + place % 2;
    const uint16_t* from = data + depth.offsets[p];
    for (int64_t row = 0; row < count; ++row) to[2 * row] = from[source.rows[row]];
  }
}

void pack_panel(const uint16_t* data, const PanelSource& source, int64_t count, int64_t width, Pair* panel) {
  const DepthWalk& depth = source.depth;
  const bool in_order = depth.places == nullptr;
  bool has_lines = in_order;  // of pairs
  for (int64_t p = 0; p < depth.count && has_lines; p += depth.runs[p])
    has_lines = depth.runs[p] % 2 == 0 || p + depth.runs[p] >= depth.count;
  if (has_lines) {
    for (int64_t p = 0; p < depth.count; p += depth.runs[p])
      pack_lines(data + depth.offsets[p], source.rows, count, width, depth.runs[p], panel + p / 2 * width);
    return;
  }
  bool is_run = in_order;
  for (int64_t row = 1; row < count && is_run; ++row) is_run = source.rows[row] == source.rows[row - 1] + 1;
  if (!is_run) return pack_singly(data, source, count, width, panel);
  const uint16_t* from = data + source.rows[0];
  for (int64_t p = 0; p < depth.count; p += 2) {
    Pair* to = panel + p / 2 * width;
    pack_rows(from + depth.offsets[p], p + 1 < depth.count ? from + depth.offsets[p + 1] : nullptr, count, to);
    for (int64_t row = count; row < width; ++row) to[row] = 0;
  }
}

void pack(of_dtype, const PanelSource& source, const Panels& panels, int64_t first, int64_t last, void* packed) {
  for (int64_t i = first; i < last; ++i) {
    const PanelSource rows_of{source.data, source.rows + panels.start(i), source.depth};
    pack_panel(static_cast<const uint16_t*>(source.data), rows_of, panels.rows(i), panels.width(i),
               reinterpret_cast<Pair*>(static_cast<char*>(packed) + i * panels.bytes));
  }
}

// C is where sums are collected: the rows of a tile lie next to each other.
template <int columns>
__attribute__((target("avx512bf16"))) void tile(int64_t depth, const void* panel_a, const void* panel_b,
                                                const TileTarget& target) {
  const auto* a = static_cast<const Pair*>(panel_a);
  const auto* b = static_cast<const Pair*>(panel_b);
  __m512 sums[columns][2];
#pragma GCC unroll 16
  for (int j = 0; j < columns; ++j) sums[j][0] = sums[j][1] = _mm512_setzero_ps();
  for (int64_t p = 0; p < depth; p += 2) {
    __builtin_prefetch(target.ahead + target.ahead_offsets[p >> target.ahead_shift], 0, 2);
    if (p + 1 < depth && target.ahead_shift == 0) __builtin_prefetch(target.ahead + target.ahead_offsets[p + 1], 0, 2);
    const auto a0 = reinterpret_cast<__m512bh>(_mm512_loadu_si512(a));
    const auto a1 = reinterpret_cast<__m512bh>(_mm512_loadu_si512(a + kPairLanes));
#pragma GCC unroll 16
    for (int j = 0; j < columns; ++j) {
      const auto b_j = reinterpret_cast<__m512bh>(_mm512_set1_epi32(static_cast<int>(b[j])));
      sums[j][0] = _mm512_dpbf16_ps(sums[j][0], a0, b_j);
      sums[j][1] = _mm512_dpbf16_ps(sums[j][1], a1, b_j);
    }
    a += 2 * kPairLanes;
    b += columns;
  }
  const int64_t rows[2] = {lanes_of(target.rows), target.rows - lanes_of(target.rows)};  // of each half
#pragma GCC unroll 16
  for (int j = 0; j < columns; ++j) {
    float* to = static_cast<float*>(target.c) + target.row_offsets[0] + target.column_offsets[j];
#pragma GCC unroll 2
    for (int half = 0; half < 2; ++half, to += kPairLanes) {
      Vector<float> sum = sums[j][half];
      if (target.accumulate) sum += load_some(to, rows[half]);
      store_some(to, sum, 0, rows[half]);
    }
  }
}

template <int columns>
void fill_tiles(ContractKernels& kernels) {
  kernels.tile[columns] = tile<columns>;
  if constexpr (columns > 1) fill_tiles<columns - 1>(kernels);
}

}  // namespace

void add_pair_kernels(ContractKernels& kernels) {
  // Intel's cores take four times as long for it as for a product of float32: 1,024^3 26.7 ms for 14.8 (Emerald
  // Rapids).
  if (!__builtin_cpu_supports("avx512bf16") || __builtin_cpu_is("intel")) return;
  kernels.depths_together = 2;
  kernels.pack = pack;
  fill_tiles<ContractKernels::kMaxColumns>(kernels);
}

#else

void add_pair_kernels(ContractKernels&) {}

#endif

}  // namespace oneflow::cpu::OF_ISA
