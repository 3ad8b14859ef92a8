// The inner loops of contractions, one table per instruction set and compute type.
#ifndef ONEFLOW_DEVICES_CPU_CONTRACT_KERNELS_H_
#define ONEFLOW_DEVICES_CPU_CONTRACT_KERNELS_H_

#include <oneflow/types.h>

#include <cstdint>

namespace oneflow::cpu {

// How the rows (or columns) of a block are cut into panels: all but the last of full width, or as even as possible.
struct Panels {
  int64_t total, count;
  int64_t bytes;  // from one panel to the next
  int64_t full;   // the width that all but the last have; 0: as even as possible
  int64_t group;  // how many are packed at once

  int64_t start(int64_t i) const { return full > 0 ? i * full : total * i / count; }
  // How many rows a panel has, and how many there is room for.
  int64_t rows(int64_t i) const { return (i + 1 == count ? total : start(i + 1)) - start(i); }
  int64_t width(int64_t i) const { return full > 0 ? full : rows(i); }
};

// The depths of a block, in the order in which an operand is read.
struct DepthWalk {
  int64_t count;
  const int64_t* offsets;
  const int64_t* runs;    // runs[p]: how many depths from p on lie next to each other
  const int64_t* places;  // where each goes in the panels; NULL: they are in order
};

// A part of A or B: element (i, p) is data[rows[i] + depth.offsets[p]].
struct PanelSource {
  const void* data;
  const int64_t* rows;
  DepthWalk depth;
};

// The columns of a tile where they lie: element (p, j) is data[depth[p] + j * step].
struct ColumnSource {
  const void* data;
  int64_t step;
  const int64_t* depth;
};

// A part of A or B whose memory runs across the order of the rows: element (line, i, p), of `lines` x `length` x depth,
// is data[start + line + i * stride + depth[p]]. It is the row line * row_step + i.
struct TurnedSource {
  static constexpr int64_t kMostLines = 144;

  const void* data;
  int64_t start;
  int64_t lines, length;  // at most kMostLines, and as many as a vector has lanes
  int64_t stride, row_step;
  const int64_t* depth;
};
// Where its rows go: row r of the depth p to packed[places[r] + p * widths[r]], with left[r] rows from r on next to it.
struct TurnedRows {
  TurnedSource source;
  const int64_t *places, *widths, *left;
};

// A block of C of `rows` x `columns`: element (i, j) is c[row_offsets[i] + column_offsets[j]].
struct TileTarget {
  void* c;
  const int64_t* row_offsets;
  const int64_t* column_offsets;
  int64_t rows;
  const int64_t* row_runs;  // row_runs[i]: how many rows from i on lie next to each other
  bool accumulate;          // add to C rather than replace it
  bool streams;             // past the caches, where a vector of C is a whole cache line
  // Memory that is needed soon: every 2^ahead_shift steps of the depth fetch one line, at the next of these offsets.
  // Where there is none, all fetch the same.
  static constexpr int64_t kNowhere = 0;
  const char* ahead = reinterpret_cast<const char*>(&kNowhere);
  const int64_t* ahead_offsets = &kNowhere;
  int ahead_shift = 62;
};

// The last step where sums were collected outside of C: C = alpha * sum + beta * C + bias.
struct FinishTarget {
  TileTarget tile;
  int64_t columns;
  double alpha, beta;
  const void* bias;  // NULL: none; else bias[bias_rows[i] + bias_columns[j]]
  const int64_t* bias_rows;
  const int64_t* bias_columns;
};

// Products along lanes: one dimension whose elements lie next to each other in A or B (or both) is walked in vectors.
//   C[at, i, lane] = sum over depth of A[at, i, lane, depth] * B[at, i, lane, depth]
// `at` goes over `count` places, which begin at the offsets in `places`; i over `inner`.
struct LaneProduct {
  struct Strides {
    int64_t a, b, c;
  };
  const void* a;
  const void* b;
  void* c;
  int64_t lanes;
  Strides lane;  // of A and B: 0 or 1
  int64_t inner;
  Strides inner_step;
  bool streams;  // whether C does not stay in the caches
  int64_t count;
  const int64_t *places_a, *places_b, *places_c;
  int64_t depth;
  const int64_t *depth_a, *depth_b;  // offsets
};

// A product of matrices of which one stays in the first-level cache:
//   C[i, lane] = sum over depth of factors[i, depth] * lanes[depth, lane], added to C where it accumulates
// Lanes lie next to each other, in C too.
struct SmallProduct {
  const void *lanes, *factors;
  void* c;
  int64_t lane_count, inner, depth;
  bool accumulate;
  int64_t factor_step, c_step;                 // along `inner`
  const int64_t *depth_lanes, *depth_factors;  // offsets
};

// The sums of one vector of lanes, which lie next to each other in one operand, for the columns of a panel of the
// other:
//   C[places[column] + lane] = sum over depth of lanes[depths[depth] + lane] * panel[depth][column]
struct Strip {
  const void* lanes;
  int64_t lane_count;  // at most those of a vector
  const int64_t* depths;
  int64_t depth;
  int64_t ahead[2];  // so many elements from the first one of each vector on lies what is needed soon
  bool fetches;      // that; strips of fewer lanes than a vector has always do
  const void* panel;
  void* c;
  const int64_t* places;
  bool streams;  // past the caches, where a vector of C is a whole cache line
};
// Sums that such strips, or tiles, left, to where C runs across their lanes: C[places[lane] + i] = sums[i * step +
// lane], added to C where it accumulates.
struct TurnedSums {
  const void* sums;
  int64_t step, count;  // of i
  void* c;
  const int64_t* places;
  int64_t lane_count;
  bool streams, accumulate;
};

// Many products whose operands are so small that each lies within one vector, whatever their layouts: element i of C is
// the sum over the depth p of A[from_a[p][i]] * B[from_b[p][i]].
struct VectorProduct {
  static constexpr int64_t kMostDepth = 16;

  const void* a;
  const void* b;
  void* c;
  int64_t count;
  const int64_t *places_a, *places_b, *places_c;  // where each product's vectors begin
  uint32_t mask_a, mask_b, mask_c;                // which of the elements from there on are the operand's
  int64_t depth;
  const int32_t* from_a;  // [depth][lanes of T]
  const int32_t* from_b;
};

// Sums along the memory of both operands: c[to[n]] = the sum of a[from_a[n] + i] * b[from_b[n] + i] over `length`
// elements, for `count` of them.
struct DotProducts {
  int64_t length, count;
  const void *a, *b;
  void* c;
  const int64_t *from_a, *from_b, *to;
};

// The same of each of many lines with each of a few others:
//   C[to_lines[n] + to_others[m]] = the sum of lines[from_lines[n] + i] * others[m][i] over `length` elements
struct LineProduct {
  int64_t length, line_count, other_count;
  const void *lines, *others;
  void* c;
  const int64_t *from_lines, *to_lines, *to_others;
};

// One compute type T: float, double, uint32_t or uint64_t (integers wrap around).
struct ContractKernels {
  static constexpr int kMaxColumns = 14, kMaxStripColumns = 24, kMaxInterleaved = 8;

  of_dtype dtype;               // T itself as an element type
  int64_t size;                 // bytes of T
  int64_t rows;                 // of a full tile
  int64_t columns;              // of the widest tile
  int64_t lane_count;           // elements of a vector
  int64_t depths_together = 1;  // how many depths of a panel are in the room of one T

  // Packs the panels [first, last): T panel[depth][width], zero where rows are missing. It may also write half of
  // `rows` elements behind each panel.
  void (*pack)(of_dtype dtype, const PanelSource& source, const Panels& panels, int64_t first, int64_t last,
               void* packed);
  // The same from elements of T that lie across the rows; it leaves rows that are not there alone.
  void (*pack_turned)(const TurnedRows& rows, int64_t depth, void* packed);
  // Zeros in the rows [from, width) of a panel.
  void (*clear)(void* panel, int64_t from, int64_t width, int64_t depth);
  // C tile of j columns from panels a[depth][rows] and b[depth][j], by j. C holds elements of T.
  void (*tile[kMaxColumns + 1])(int64_t depth, const void* a, const void* b, const TileTarget& target);
  // The same with the columns where they lie, in elements of T.
  void (*tile_in_place[kMaxColumns + 1])(int64_t depth, const void* a, const ColumnSource& b, const TileTarget& target);
  // Directly over operands of T, without packing.
  void (*lanes)(const LaneProduct& product);
  void (*small)(const SmallProduct& product);
  // Strips of so many columns at most, by how many they have.
  int64_t strip_columns;
  void (*strip[kMaxStripColumns + 1])(const Strip& strip);
  void (*turn_sums)(const TurnedSums& turned);
  void (*in_vectors)(const VectorProduct& product);  // NULL where instructions for it are missing
  void (*dots)(const DotProducts& products);
  // The same of pairs, each of A with each of B, as the parts of complex numbers are multiplied: c[to[n] + x * step_a
  // + y * step_b] = the sum of a[from_a[n] + 2 * i + x] * b[from_b[n] + 2 * i + y] over `length` pairs, for x and y 0
  // and 1.
  void (*pair_dots)(const DotProducts& products, int64_t step_a, int64_t step_b);
  // Sums that lie interleaved in A, by how many they are, of at least so many elements (shorter ones are as quick along
  // lanes): c[to[n] + j * step] = the sum of a[from_a[n] + i * number + j] * b[from_b[n] + i] over i of `length`, or of
  // the element of b at the same place as that of a.
  int64_t least_interleaved;
  void (*interleaved_dots[kMaxInterleaved + 1])(const DotProducts& products, int64_t step, bool is_same_place);
  // The others m, at others[from[m]], as lines() takes them: in vectors, the last of each filled up with zeros.
  void (*collect_others)(const LineProduct& product, const int64_t* from, void* collected);
  void (*lines)(const LineProduct& product);
  // From T sums[column][ld] to C of `dtype`.
  void (*finish)(of_dtype dtype, const void* sums, int64_t ld, const FinishTarget& target);
};

// The table for contractions of tensors of this dtype on this machine.
const ContractKernels& contract_kernels(of_dtype dtype);

// Whether elements of this dtype are what its kernels compute with, so that they may be read and stored as they lie.
bool computes_in_itself(of_dtype dtype);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_CONTRACT_KERNELS_H_
