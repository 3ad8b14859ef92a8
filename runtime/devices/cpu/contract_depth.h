// The depth of a product: how it is cut into blocks, as deep as a panel is, and in which order packing walks one.
#ifndef ONEFLOW_DEVICES_CPU_CONTRACT_DEPTH_H_
#define ONEFLOW_DEVICES_CPU_CONTRACT_DEPTH_H_

#include "contract_kernels.h"
#include "contract_problem.h"

namespace oneflow::cpu {

class Depth {
 public:
  // Blocks of at most `most` depths. Where the memory of one operand runs along another dimension of the depth than
  // that of the other one, they are rectangles of both, so that either is read in pieces.
  Depth(const Problem& problem, int64_t most);

  int64_t blocks() const { return blocks_; }
  bool is_in_rectangles() const { return crossing_ != kC; }
  // How deep the deepest is.
  int64_t most() const { return most_; }

  // How packing an operand walks a block; `in_order`: in the order of the panels. `table` has room for table_size()
  // integers.
  DepthWalk walk(int64_t block, Operand operand, int64_t* table, bool in_order = false) const;
  int64_t table_size() const { return 3 * most_; }

 private:
  struct Rectangle {
    int64_t outer;
    Range across, along;
  };
  Rectangle rectangle(int64_t block) const;

  DimGroup group_;
  int crossing_ = kC;  // the operand that runs across the others; kC: none does
  int64_t blocks_ = 1, most_ = 1;
  // Where one runs across: into how many parts the last dimension and the one before it are cut.
  int64_t along_parts_ = 1, across_parts_ = 1;
};

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_CONTRACT_DEPTH_H_
