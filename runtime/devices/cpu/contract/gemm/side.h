// One side of a packed product, the rows of A or the columns of B: how it is partitioned into blocks and panels, and
// how those are packed. "Rows" stands for the rows or columns of this side.
//
// Packing reads the rows in the order of C, unless this would read single elements of cache lines. In kba,kn->abn, for
// example, C has the order (a, b), but A is contiguous along a, so that neighbours in the order of C are strided. Such
// a side is packed transposed: a block covers a rectangle of a and b, of which squares are loaded as vectors along a
// and transposed in registers into vectors along b.
#ifndef ONEFLOW_DEVICES_CPU_CONTRACT_GEMM_SIDE_H_
#define ONEFLOW_DEVICES_CPU_CONTRACT_GEMM_SIDE_H_

#include "contract/kernels.h"
#include "contract/problem.h"
#include "threads/partition.h"

namespace oneflow::cpu {

// Reorders the rows for packing them transposed: the dimension that is contiguous in the operand becomes the one next
// to the innermost, so that a block covers a rectangle of both. The innermost dimension is split into parts that fill
// squares. Returns
// false, and leaves the group unchanged, where the innermost dimension or the depth is contiguous, or where the operand
// or its dimensions are too small for it to pay.
bool order_for_transposing(DimGroup& group, Operand operand, const DimGroup& depth);

// The rows of A, or the columns of B, of one product.
class Side {
 public:
  // `operand` is the packed operand, `widest` the most rows of a panel; where the side `pads`, every panel has memory
  // for so many. A block has about `block` rows. `is_transposed`: the group was ordered by order_for_transposing().
  Side(const DimGroup& group, Operand operand, const ContractKernels& kernels, int64_t widest, bool pads, int64_t block,
       bool is_transposed);

  Operand operand() const { return operand_; }
  int64_t blocks() const { return blocks_; }
  // Returns the rows of block `i`.
  Range block(int64_t i) const;
  // Returns the number of rows of the largest block.
  int64_t most() const { return is_transposed_ ? block(0).count : divide_up(units_, blocks_) * unit_; }
  // Stores the offsets of a block's rows in the operand.
  void fill_offsets(const Range& block, int64_t* offsets) const {
    cpu::fill_offsets(group_, operand_, block.begin, block.count, offsets);
  }
  // Stores the ranges of offsets that the rows of a block occupy in the operand, each contiguous. Returns their number,
  // or 0 where there are more than `most`.
  int64_t find_runs(const Range& block, int64_t most, Range* runs) const;
  // Returns the partition of a block of `count` rows into panels; `parallel`: for packing on all threads.
  Panels panels(int64_t count, int64_t depth, bool parallel) const;

  // Fills the table that pack() needs for a block, which has table_size() integers: the offset of each row or, packed
  // transposed, the fields of TransposedRows.
  int64_t table_size(int64_t count) const { return is_transposed_ ? 3 * count : count; }
  void fill_table(const Range& block, const Panels& panels, int64_t* table) const;

  // Returns the number of tasks of packing a block, which may run on different threads.
  int64_t tasks(const Range& block, const Panels& panels) const;
  // Runs one of these tasks: packs rows of `data` into the panels at `packed`.
  void pack(int64_t task, const Range& block, const Panels& panels, const int64_t* table, of_dtype dtype,
            const char* data, const DepthTable& depth, char* packed) const;

 private:
  const DimGroup& group_;
  const Operand operand_;
  const ContractKernels& kernels_;
  const int64_t widest_;
  const bool pads_, is_transposed_;
  int64_t blocks_ = 1;
  int64_t unit_ = 1, units_ = 1;  // not transposed: the rows of a block are a multiple of `unit_`
  // Transposed: the size of the innermost dimension, which is strided in the operand, and of the dimensions before it
  // that are contiguous; how many elements of the contiguous dimensions, and of the dimensions before those, a block
  // has.
  int64_t contiguous_ = 1, strided_ = 1;
  int64_t block_contiguous_ = 1, block_outer_ = 1;
};

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_CONTRACT_GEMM_SIDE_H_
