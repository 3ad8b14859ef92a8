// Packing and micro-kernels for bfloat16 where the processor has a fast instruction (AVX512-BF16) that multiplies pairs
// of bfloat16 and adds both products in float32. Panels hold pairs of consecutive indices of the depth for each row:
// panel[p / 2][row][p % 2]. The instruction treats subnormal numbers as zero.
#include "contract/direct/kernels.h"
#include "contract/kernels.h"
#include "simd/halves.h"
#include "simd/vectors.h"

namespace oneflow::cpu::OF_ISA {

#if defined(__AVX512F__)

namespace {

// Two consecutive indices of the depth of one row, the first one in the lower half.
using Pair = uint32_t;
constexpr int kPairLanes = kLanes<Pair>;

int64_t pair_count(int64_t depth) { return (depth + 1) / 2; }
int64_t lanes_of(int64_t count) { return count < kPairLanes ? count : kPairLanes; }

// Loads `count` elements into the lower halves of the lanes.
Vector<Pair> load_lower(const uint16_t* from, int64_t count) {
  const auto mask = static_cast<__mmask16>((uint32_t{1} << count) - 1);
  return reinterpret_cast<Vector<Pair>>(_mm512_maskz_cvtepu16_epi32(kAll, _mm256_maskz_loadu_epi16(mask, from)));
}

// Packs contiguous rows of two indices of the depth; `high` is NULL where there is no second one.
void pack_rows(const uint16_t* low, const uint16_t* high, int64_t count, Pair* to) {
  for (int64_t i = 0; i < count; i += kPairLanes) {
    const int64_t lanes = lanes_of(count - i);
    Vector<Pair> pairs = load_lower(low + i, lanes);
    if (high != nullptr) pairs |= load_lower(high + i, lanes) << 16;
    store_some(to + i, pairs, 0, lanes);
  }
}

// Packs rows that are contiguous along the depth: squares of rows by pairs are transposed in registers.
void pack_depth_runs(const uint16_t* data, const int64_t* rows, int64_t count, int64_t width, int64_t depth,
                     Pair* panel) {
  for (int64_t p = 0; p < depth; p += 2 * kPairLanes) {
    const int64_t left = depth - p, pairs = lanes_of(pair_count(left));
    const __mmask32 mask = left >= 32 ? ~__mmask32{0} : static_cast<__mmask32>((uint32_t{1} << left) - 1);
    for (int64_t first = 0; first < width; first += kPairLanes) {
      Vector<Pair> square[kPairLanes];
      for (int i = 0; i < kPairLanes; ++i) {
        const bool is_row = first + i < count;
        square[i] = is_row ? reinterpret_cast<Vector<Pair>>(_mm512_maskz_loadu_epi16(mask, data + rows[first + i] + p))
                           : Vector<Pair>{};
        if (is_row) __builtin_prefetch(data + rows[first + i] + p + 4 * kPairLanes);
      }
      transpose<Pair>(square);
      const int64_t lanes = lanes_of(width - first);
      for (int i = 0; i < pairs; ++i) store_some(panel + (p / 2 + i) * width + first, square[i], 0, lanes);
    }
  }
}

// Packs rows of any layout, element by element.
void pack_elements(const uint16_t* data, const PanelSource& source, int64_t count, int64_t width, Pair* panel) {
  const DepthTable& depth = source.depth;
  __builtin_memset(panel, 0, static_cast<size_t>(pair_count(depth.count) * width) * sizeof(Pair));
  auto* halves = reinterpret_cast<uint16_t*>(panel);
  for (int64_t p = 0; p < depth.count; ++p) {
    const int64_t position = depth.positions == nullptr ? p : depth.positions[p];
    uint16_t* to = halves + position / 2 * 2 * width + position % 2;
    const uint16_t* from = data + depth.offsets[p];
    for (int64_t row = 0; row < count; ++row) to[2 * row] = from[source.row_offsets[row]];
  }
}

void pack_panel(const uint16_t* data, const PanelSource& source, int64_t count, int64_t width, Pair* panel) {
  const DepthTable& depth = source.depth;
  const bool in_order = depth.positions == nullptr;
  bool has_depth_runs = in_order;  // of pairs
  for (int64_t p = 0; p < depth.count && has_depth_runs; p += depth.runs[p])
    has_depth_runs = depth.runs[p] % 2 == 0 || p + depth.runs[p] >= depth.count;
  if (has_depth_runs) {
    for (int64_t p = 0; p < depth.count; p += depth.runs[p])
      pack_depth_runs(data + depth.offsets[p], source.row_offsets, count, width, depth.runs[p], panel + p / 2 * width);
    return;
  }
  bool is_run = in_order;
  for (int64_t row = 1; row < count && is_run; ++row)
    is_run = source.row_offsets[row] == source.row_offsets[row - 1] + 1;
  if (!is_run) return pack_elements(data, source, count, width, panel);
  const uint16_t* from = data + source.row_offsets[0];
  for (int64_t p = 0; p < depth.count; p += 2) {
    Pair* to = panel + p / 2 * width;
    pack_rows(from + depth.offsets[p], p + 1 < depth.count ? from + depth.offsets[p + 1] : nullptr, count, to);
    for (int64_t row = count; row < width; ++row) to[row] = 0;
  }
}

void pack(of_dtype, const PanelSource& source, const Panels& panels, int64_t first, int64_t last, void* packed) {
  for (int64_t i = first; i < last; ++i) {
    const PanelSource rows_of{source.data, source.row_offsets + panels.start(i), source.depth};
    pack_panel(static_cast<const uint16_t*>(source.data), rows_of, panels.rows(i), panels.width(i),
               reinterpret_cast<Pair*>(static_cast<char*>(packed) + i * panels.bytes));
  }
}

// The micro-kernel. It stores to sums outside of C, where the rows of a tile are contiguous.
template <int columns>
__attribute__((target("avx512bf16"))) void micro_kernel(int64_t depth, const void* panel_a, const void* panel_b,
                                                        const TileTarget& target) {
  const auto* a = static_cast<const Pair*>(panel_a);
  const auto* b = static_cast<const Pair*>(panel_b);
  __m512 sums[columns][2];
#pragma GCC unroll 16
  for (int j = 0; j < columns; ++j) sums[j][0] = sums[j][1] = _mm512_setzero_ps();
  for (int64_t p = 0; p < depth; p += 2) {
    __builtin_prefetch(target.prefetch_base + target.prefetch_offsets[p >> target.prefetch_shift], 0, 2);
    if (p + 1 < depth && target.prefetch_shift == 0)
      __builtin_prefetch(target.prefetch_base + target.prefetch_offsets[p + 1], 0, 2);
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
void add_micro_kernels(ContractKernels& kernels) {
  kernels.micro_kernel[columns] = micro_kernel<columns>;
  if constexpr (columns > 1) add_micro_kernels<columns - 1>(kernels);
}

}  // namespace

void add_pair_kernels(ContractKernels& kernels) {
  // On Intel's cores the instruction is slower than products of float32.
  if (!__builtin_cpu_supports("avx512bf16") || __builtin_cpu_is("intel")) return;
  kernels.depths_per_element = 2;
  kernels.pack = pack;
  add_micro_kernels<ContractKernels::kMaxColumns>(kernels);
}

#else

void add_pair_kernels(ContractKernels&) {}

#endif

}  // namespace oneflow::cpu::OF_ISA
