// The plan of a reduction: how the elements of its operand are grouped for the inner loops, depending on their layout.
//
// The operand is split into units, each with a state of its own; a unit into lines, a line into rows, and a row into
// columns. A state has one running value per column. Examples, with contiguous operands (the names are those of
// FoldPlan):
//   dim 0 of [1000, 500]         kept columns: one unit, whose state has 500 columns; 1000 rows are folded into it
//   dim 1 of [1000, 500]         deep columns: a unit is a slice of some kept elements, which are its columns; the only
//                                row has 500 elements per column, its depth
//   dim 1 of [10, 100000]        merged columns: a unit per kept element; its only row has 100000 columns, which are
//                                folded to one value
//   dims 0 and 2 of [9, 4, 300]  columns merged late: a unit per element of dim 1, whose state has 300 columns; 9 rows
//                                are folded into it, then the columns merge
//   dim 1 of [256, 1000, 12]     a block: a row has 42 x 12 = 504 columns, both folded and kept elements; 24 rows are
//                                folded into a state, then its columns merge to 12
#ifndef ONEFLOW_DEVICES_CPU_FOLD_PLAN_H_
#define ONEFLOW_DEVICES_CPU_FOLD_PLAN_H_

#include <oneflow/device_plugin.h>

#include <cstdint>
#include <vector>

namespace oneflow::cpu {

// Some dimensions of a tensor, in row-major order.
struct Walk {
  int32_t rank = 0;
  int32_t dims[OF_MAX_RANK];
  int64_t sizes[OF_MAX_RANK];

  // Adds an inner dimension.
  void add(int32_t dim, int64_t size);
  // Returns the number of elements.
  int64_t count() const;
  // Returns the offset of the element at a row-major position, by the strides of all dimensions of a tensor.
  int64_t offset(int64_t position, const int64_t* strides) const;
};

// Columns that are a block of several dimensions.
struct FoldBlock {
  Walk kept;                     // the kept dimensions of a block, innermost last
  int64_t folded = 0;            // the number of columns that merge to each result; 0 if columns are not a block
  int64_t last_row_columns = 0;  // the number of columns of the last row of a line
  std::vector<int64_t> order;    // the columns in an order with folded dimensions outermost; empty if they are in it

  int64_t kept_columns() const { return kept.count(); }
};

// The plan of a reduction. Its columns are one of
//   kept: a unit is a slice of a kept dimension, with one column per element; the last slice may be shorter;
//   deep: as kept, but each row has several folded elements per column, `depth` of them;
//   merged: a unit is one kept element, each line is one row, and the columns are all positions of a folded dimension;
//   merged late: as merged, but rows are short and many, so that they are folded into a state with as many columns,
//   which
//     merge once at the end;
//   a block: all elements, kept and folded ones, of the innermost dimensions, which are contiguous. The columns merge
//     late, too. The outermost of these dimensions may be cut: into rows if it is folded, of which the last one may be
//     shorter, or into slices.
// If a few kept elements are interleaved with the folded ones, as the parts of complex numbers are, they are folded
// together: each kept element above then stands for `interleaved` of them.
struct FoldPlan {
  bool merges_columns, merges_late;  // not both
  int64_t columns;                   // per row, of all units but those of the last slice
  int64_t last_columns;              // per row, of units of the last slice
  int64_t slices;                    // units along the dimension of kept columns; 1 if columns merge
  int64_t depth;                     // 1 unless columns are deep
  int64_t interleaved;               // the number of interleaved kept elements; mostly 1
  int64_t rows_per_line;
  int64_t row_stride, column_stride, depth_stride;  // in the input
  int64_t row_index, column_index, depth_index;     // the same, of positions within the folded dimensions
  int64_t result_column_dim;                        // the dimension of kept columns; -1 if columns merge
  int64_t interleaved_dim;                          // the dimension of interleaved elements; -1 if there are none
  Walk lines;                                       // folded dimensions
  Walk kept;                                        // kept dimensions
  int64_t positions[OF_MAX_RANK];                   // strides of the folded dimensions in their own row-major order
  int64_t folded_count;                             // the number of elements that are folded to one result
  FoldBlock block;

  int64_t units() const { return kept.count() * slices; }
  int64_t rows() const { return lines.count() * rows_per_line; }
};

// Returns the plan of a reduction over the dimensions whose bits are set in `reduced`. `converts`: whether elements are
// folded in another dtype than the input's; `uses_index`: whether the inner loops read positions. No size is zero.
FoldPlan plan_fold(const of_kernel_tensor& input, uint32_t reduced, bool converts, bool uses_index);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_FOLD_PLAN_H_
