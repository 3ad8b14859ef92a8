// The depth of a packed product: how it is cut into blocks, each as deep as a panel, and in which order packing reads a
// block.
//
// Usually a block is a range of the depth. In ipq,jqp->ij, however, A is contiguous along q and B along p: a range with
// q innermost would read single elements of cache lines of B. There, a block is a rectangle of p and q, of which
// packing reads A in runs along q and B in runs along p.
#ifndef ONEFLOW_DEVICES_CPU_CONTRACT_GEMM_DEPTH_H_
#define ONEFLOW_DEVICES_CPU_CONTRACT_GEMM_DEPTH_H_

#include "contract/kernels.h"
#include "contract/problem.h"
#include "threads/partition.h"

namespace oneflow::cpu {

// The depth of one problem, partitioned into blocks.
class Depth {
 public:
  // Cuts the depth into blocks of at most `most` indices.
  Depth(const Problem& problem, int64_t most);

  int64_t blocks() const { return blocks_; }
  bool has_rectangles() const { return crossing_operand_ != kC; }
  // Returns the number of indices of the largest block.
  int64_t most() const { return most_; }

  // Fills `memory`, of table_size() integers, with the indices of a block in the order in which packing reads an
  // operand, or with `in_panel_order` in the order of the panels.
  DepthTable fill_table(int64_t block, Operand operand, int64_t* memory, bool in_panel_order = false) const;
  int64_t table_size() const { return 3 * most_; }

 private:
  struct Rectangle {
    int64_t outer;
    Range crossing, inner;
  };
  Rectangle rectangle(int64_t block) const;

  DimGroup group_;
  // The operand that is contiguous along another dimension than the innermost one, which is then the last but one of
  // the group; kC: neither is.
  int crossing_operand_ = kC;
  int64_t blocks_ = 1, most_ = 1;
  int64_t inner_parts_ = 1, crossing_parts_ = 1;  // into how many ranges those two dimensions are cut for rectangles
};

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_CONTRACT_GEMM_DEPTH_H_
