// One side of a product, its rows or its columns: how they are cut into blocks and panels, and how those are packed.
#ifndef ONEFLOW_DEVICES_CPU_CONTRACT_SIDE_H_
#define ONEFLOW_DEVICES_CPU_CONTRACT_SIDE_H_

#include "contract_kernels.h"
#include "contract_problem.h"
#include "thread_pool.h"

namespace oneflow::cpu {

// Puts the dimension that runs along the operand's memory next to the innermost one, so that blocks hold squares of
// both, which packing turns in registers: one that is not the innermost itself, where neither is the depth. Whether it
// did.
bool turn(DimGroup& group, Operand operand, const DimGroup& depth);

class Side {
 public:
  // `operand` is the one that is packed, `widest` the most rows of a panel, which all but the last have where it
  // `pads`. `block` is about how many rows a block has. `is_turned` is what turn() said.
  Side(const DimGroup& group, Operand operand, const ContractKernels& kernels, int64_t widest, bool pads, int64_t block,
       bool is_turned);

  Operand operand() const { return operand_; }
  int64_t blocks() const { return blocks_; }
  Range block(int64_t i) const;
  // How many rows the largest has.
  int64_t most() const { return is_turned_ ? block(0).count : divide_up(units_, blocks_) * unit_; }
  // Where a block's rows begin in the operand.
  void fill_offsets(const Range& block, int64_t* offsets) const {
    cpu::fill_offsets(group_, operand_, block.begin, block.count, offsets);
  }
  // The stretches of a block's rows that lie next to each other in the operand. How many; 0 where there are more than
  // `most`.
  int64_t find_runs(const Range& block, int64_t most, Range* runs) const;
  Panels panels(int64_t count, int64_t depth, bool parallel) const;

  // What packing a block needs to know besides the depth: tables of `table_size(count)` integers.
  int64_t table_size(int64_t count) const { return is_turned_ ? 3 * count : count; }
  void fill_table(const Range& block, const Panels& panels, int64_t* table) const;

  // Packing comes in tasks, each of which may be done by another thread.
  int64_t tasks(const Range& block, const Panels& panels) const;
  void pack(int64_t task, const Range& block, const Panels& panels, const int64_t* table, of_dtype dtype,
            const char* data, const DepthWalk& depth, char* packed) const;

 private:
  const DimGroup& group_;
  const Operand operand_;
  const ContractKernels& kernels_;
  const int64_t widest_;
  const bool pads_, is_turned_;
  int64_t blocks_ = 1;
  int64_t unit_ = 1, units_ = 1;  // a side that is not turned is cut between units of so many rows
  // Of a side that is turned: the size of its last dimension and of those before it that lie next to each other in the
  // operand, how many of these a block has, and of all before them.
  int64_t across_ = 1, along_ = 1;
  int64_t block_across_ = 1, block_outer_ = 1;
};

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_CONTRACT_SIDE_H_
