// The kernels of contractions: one table of functions for each instruction set and compute type.
//
// The packing kernels follow GotoBLAS and BLIS. A block of A is packed into panels of MR rows, a block of B into panels
// of NR columns, both depth-major: panel[p][row]. A micro-kernel multiplies one panel of A by one panel of B into a
// register tile of MR x NR sums:
//   for p in depth: tile[MR][NR] += a[p][MR] (outer product) b[p][NR]
// MR is two vectors (`rows`), NR as many columns as registers are left for (`columns`). The other kernels read their
// operands in place, for products too thin or too small to pay for packing.
#ifndef ONEFLOW_DEVICES_CPU_CONTRACT_KERNELS_H_
#define ONEFLOW_DEVICES_CPU_CONTRACT_KERNELS_H_

#include <oneflow/types.h>

#include <cstdint>

namespace oneflow::cpu {

// The partition of the rows of A (or the columns of B) of one block into panels: of one width, where the last one may
// be padded, or as even as possible, without padding.
struct Panels {
  int64_t total, count;  // of rows, and of panels
  int64_t bytes;         // from the start of one panel to the start of the next
  int64_t full;          // the width of each panel; 0: as even as possible
  int64_t group;         // how many panels one packing task packs

  int64_t start(int64_t i) const { return full > 0 ? i * full : total * i / count; }
  // Returns how many rows panel `i` has.
  int64_t rows(int64_t i) const { return (i + 1 == count ? total : start(i + 1)) - start(i); }
  // Returns how many rows panel `i` has memory for: rows(i) and the padding.
  int64_t width(int64_t i) const { return full > 0 ? full : rows(i); }
};

// The indices of the depth in one block, in the order in which packing reads an operand.
struct DepthTable {
  int64_t count;
  const int64_t* offsets;    // of each index, in elements of the operand
  const int64_t* runs;       // runs[p]: how many indices from p on are contiguous in the operand
  const int64_t* positions;  // of each index in the panels; NULL: the same order as in this table
};

// A block of A or B in its current layout: element (row, p) is data[row_offsets[row] + depth.offsets[p]].
struct PanelSource {
  const void* data;
  const int64_t* row_offsets;
  DepthTable depth;
};

// The columns of a register tile that are read in place, not from a panel: element (p, j) is data[depth[p] + j *
// stride] or, where there are offsets of the columns, data[depth[p] + offsets[j]].
struct ColumnSource {
  const void* data;
  int64_t stride;
  const int64_t* depth;
  const int64_t* offsets;
};

// A box of A or B whose contiguous dimension is not the innermost one of the rows. Element (i, j, p) of `contiguous` x
// `strided` x depth is data[start + i + j * stride + depth[p]] and belongs to the row i * row_step + j.
struct TransposedSource {
  static constexpr int64_t kMaxContiguous = 144;

  const void* data;
  int64_t start;
  int64_t contiguous, strided;  // at most kMaxContiguous, and at most the lanes of a vector
  int64_t stride, row_step;
  const int64_t* depth;
};
// Such a box and where packing stores it: row r at depth p to packed[positions[r] + p * widths[r]]. remaining[r] rows
// of the same panel, r included, follow each other there.
struct TransposedRows {
  TransposedSource source;
  const int64_t *positions, *widths, *remaining;
};

// A block of C of `rows` rows: element (i, j) is c[row_offsets[i] + column_offsets[j]].
struct TileTarget {
  void* c;
  const int64_t* row_offsets;
  const int64_t* column_offsets;
  int64_t rows;
  const int64_t* row_runs;  // row_runs[i]: how many rows from i on are contiguous
  bool accumulate;          // add to C rather than replace it
  bool streams;             // use non-temporal stores where a vector of C is a whole cache line
  // Memory to prefetch into the second-level cache during the micro-kernel: each step p of the depth prefetches
  // prefetch_base + prefetch_offsets[p >> prefetch_shift] (in bytes). By default all steps prefetch one fixed address.
  static constexpr int64_t kNoPrefetch = 0;
  const char* prefetch_base = reinterpret_cast<const char*>(&kNoPrefetch);
  const int64_t* prefetch_offsets = &kNoPrefetch;
  int prefetch_shift = 62;
};

// The target of the epilogue, for sums that were collected outside of C: C = alpha * sum + beta * C + bias.
struct EpilogueTarget {
  TileTarget tile;
  int64_t columns;
  double alpha, beta;
  const void* bias;  // NULL: none; else bias[bias_rows[i] + bias_columns[j]]
  const int64_t* bias_rows;
  const int64_t* bias_columns;
};

// A product of unpacked operands that is vectorised along one dimension of C, j:
//   C[n, i, j] = sum over p of A[n, i, j, p] * B[n, i, j, p]
// Along j, A and B are contiguous or broadcast (stride 0), and at least one of them is contiguous; or C is contiguous,
// one of A and B broadcast, and the other has the stride 2, where kernels read every second element. The elements n
// begin at the offsets in offsets_a, offsets_b and offsets_c.
struct ContiguousProduct {
  struct Strides {
    int64_t a, b, c;
  };
  const void* a;
  const void* b;
  void* c;
  int64_t j_count;
  Strides j_strides;  // of A and B: 0, 1 or 2
  int64_t i_count;
  Strides i_strides;
  bool streams;   // use non-temporal stores, as C is too large for the caches
  int64_t count;  // of n
  const int64_t *offsets_a, *offsets_b, *offsets_c;
  int64_t depth;
  const int64_t *depth_a, *depth_b;  // the offsets of p
};

// A product of matrices of which one stays in the first-level cache, vectorised along j:
//   C[i, j] (+)= sum over p of broadcast[i, p] * contiguous[p, j]
// C and `contiguous` have unit stride along j. Each element of `broadcast` is broadcast to all lanes of a vector.
struct SmallProduct {
  const void *contiguous, *broadcast;
  void* c;
  int64_t j_count, i_count, depth;
  bool accumulate;                                    // add to C rather than replace it
  int64_t broadcast_stride, c_stride;                 // along i
  const int64_t *depth_contiguous, *depth_broadcast;  // the offsets of p
};

// A register tile of one vector by the columns of a packed panel, where the vector is read in place:
//   C[column_offsets[j] + lane] = sum over p of vector[depth_offsets[p] + lane] * panel[p][j]
struct Strip {
  const void* vector;
  int64_t lane_count;  // at most those of a vector
  const int64_t* depth_offsets;
  int64_t depth;
  int64_t prefetch_offsets[2];  // what to prefetch with each vector, in elements from its first one
  bool prefetches;              // whether to do so; strips of less than a full vector always do
  const void* panel;
  void* c;
  const int64_t* column_offsets;
  bool streams;  // use non-temporal stores where a vector of C is a whole cache line
};
// Sums of strips or tiles whose lanes are strided in C: C[lane_offsets[lane] + i] (+)= sums[i * stride + lane].
struct TransposedSums {
  const void* sums;
  int64_t stride, count;  // of i
  void* c;
  const int64_t* lane_offsets;
  int64_t lane_count;
  bool streams, accumulate;
};

// A batch of products whose operands each fit into one vector register, in any layout: lane i of a product's C is the
// sum over p of A[permutation_a[p][i]] * B[permutation_b[p][i]].
struct RegisterProduct {
  static constexpr int64_t kMostDepth = 16;

  const void* a;
  const void* b;
  void* c;
  int64_t count;
  const int64_t *offsets_a, *offsets_b, *offsets_c;  // of the first element of each product
  uint32_t mask_a, mask_b, mask_c;                   // which elements from there on belong to the operand
  int64_t depth;
  const int32_t* permutation_a;  // [depth][lanes of T]
  const int32_t* permutation_b;
};

// `count` dot products of contiguous vectors of `length` elements:
//   c[offsets_c[n]] = sum over i of a[offsets_a[n] + i] * b[offsets_b[n] + i]
struct DotProducts {
  int64_t length, count;
  const void *a, *b;
  void* c;
  const int64_t *offsets_a, *offsets_b, *offsets_c;
};

// A matrix product as dot products of many lines and a few: a line is a row of A, or a column of B, that is contiguous
// along the depth.
//   C[line_offsets_c[n] + few_offsets_c[m]] = sum over i of lines[line_offsets[n] + i] * few_lines[m][i]
struct LineProduct {
  int64_t length, line_count, few_count;
  const void *lines, *few_lines;
  void* c;
  const int64_t *line_offsets, *line_offsets_c, *few_offsets_c;
};

// The kernels of one compute type T: float, double, uint32_t or uint64_t (signed integers wrap around as unsigned
// ones).
struct ContractKernels {
  static constexpr int kMaxColumns = 14, kMaxStripColumns = 24, kMaxInterleaved = 8;

  of_dtype dtype;                  // the dtype of T
  int64_t size;                    // of T, in bytes
  int64_t rows;                    // MR: rows of a full register tile
  int64_t columns;                 // NR: columns of the widest register tile
  int64_t lane_count;              // elements of a vector
  bool has_masks;                  // whether kernels compute part of a vector at once, or else in smaller steps
  int64_t depths_per_element = 1;  // how many indices of the depth one T of a panel holds: 2 for pairs of bfloat16

  // Packs the panels [first, last) as T panel[depth][width], with zeros as padding. It may also write half of `rows`
  // elements behind each panel.
  void (*pack)(of_dtype dtype, const PanelSource& source, const Panels& panels, int64_t first, int64_t last,
               void* packed);
  // Packs elements of T that are contiguous across the order of the rows. It does not write the padding.
  void (*pack_transposed)(const TransposedRows& rows, int64_t depth, void* packed);
  // Writes zeros to the rows [from, width) of a panel.
  void (*zero_rows)(void* panel, int64_t from, int64_t width, int64_t depth);
  // The micro-kernels by their number of columns j: a tile of C from panels a[depth][rows] and b[depth][j]. C has
  // elements of T.
  void (*micro_kernel[kMaxColumns + 1])(int64_t depth, const void* a, const void* b, const TileTarget& target);
  // The micro-kernels that read B in place, as elements of T: columns at a stride, and columns at offsets.
  void (*micro_kernel_unpacked[kMaxColumns + 1])(int64_t depth, const void* a, const ColumnSource& b,
                                                 const TileTarget& target);
  void (*micro_kernel_windows[kMaxColumns + 1])(int64_t depth, const void* a, const ColumnSource& b,
                                                const TileTarget& target);

  // Kernels for unpacked operands of T.
  void (*contiguous_product)(const ContiguousProduct& product);
  bool reads_every_second;  // whether contiguous_product() takes operands with the stride 2 along j
  void (*small_product)(const SmallProduct& product);
  int64_t strip_columns;                                    // the most columns of a strip
  void (*strip[kMaxStripColumns + 1])(const Strip& strip);  // by its number of columns
  void (*transpose_sums)(const TransposedSums& sums);
  void (*register_product)(
      const RegisterProduct& product);  // NULL where the instruction set has no permutations for it
  void (*dots)(const DotProducts& products);
  // Multiplies vectors of pairs, as of the parts of complex numbers: for x and y of 0 and 1,
  //   c[offsets_c[n] + x * step_a + y * step_b] = sum over i < length of a[offsets_a[n] + 2 * i + x] *
  //                                                                       b[offsets_b[n] + 2 * i + y]
  void (*pair_dots)(const DotProducts& products, int64_t step_a, int64_t step_b);
  // Computes `number` dot products whose elements are interleaved in A, by `number`:
  //   c[offsets_c[n] + j * step] = sum over i < length of a[offsets_a[n] + i * number + j] * b[offsets_b[n] + i]
  // or b[offsets_b[n] + i * number + j] where `b_is_interleaved`. Below min_interleaved_depth, the kernels that are
  // vectorised along j are as fast.
  int64_t min_interleaved_depth;
  void (*interleaved_dots[kMaxInterleaved + 1])(const DotProducts& products, int64_t step, bool b_is_interleaved);
  // Packs the few lines, which begin at few_lines[offsets[m]], for line_product(): interleaved by vectors, the last
  // vector of each padded with zeros.
  void (*pack_few_lines)(const LineProduct& product, const int64_t* offsets, void* packed);
  void (*line_product)(const LineProduct& product);

  // The epilogue: stores T sums[column][ld] to C, which has elements of `dtype`.
  void (*epilogue)(of_dtype dtype, const void* sums, int64_t ld, const EpilogueTarget& target);
};

// Returns the kernels for contractions of tensors of this dtype on this machine.
const ContractKernels& contract_kernels(of_dtype dtype);

// Returns whether the kernels compute in `dtype` itself, so that they can read and store its elements unconverted.
bool computes_in_itself(of_dtype dtype);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_CONTRACT_KERNELS_H_
