// A contraction in normal form: no dimensions of size 1, neighbours merged, rows of C as near to unit stride as can be.
#ifndef ONEFLOW_DEVICES_CPU_CONTRACT_PROBLEM_H_
#define ONEFLOW_DEVICES_CPU_CONTRACT_PROBLEM_H_

#include <oneflow/device_plugin.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "thread_pool.h"

namespace oneflow::cpu {

// Which of a dimension's strides.
enum Operand { kA, kB, kC, kBias, kOperands };

struct Dim {
  int64_t size;
  int64_t strides[kOperands];  // in elements; 0 where the operand lacks the dimension
};

// The dimensions of one role, outermost first.
struct DimGroup {
  // Every dimension of the descriptor has one role, and roles may be merged.
  static constexpr int kMaximum = 4 * OF_MAX_RANK;

  int rank = 0;
  int64_t count = 1;  // the product of the sizes
  Dim dims[kMaximum];

  DimGroup() = default;
  DimGroup(const DimGroup& other) { *this = other; }
  DimGroup& operator=(const DimGroup& other) {  // the few dimensions there are, not the room for all
    rank = other.rank;
    count = other.count;
    for (int d = 0; d < rank; ++d) dims[d] = other.dims[d];
    return *this;
  }

  void add(const Dim& dim) {
    dims[rank++] = dim;
    count *= dim.size;
  }
  void resize(int dim, int64_t size) {
    count = count / dims[dim].size * size;
    dims[dim].size = size;
  }
  // All dimensions of another group, but one.
  void add_others(const DimGroup& group, int taken = -1) {
    for (int d = 0; d < group.rank; ++d)
      if (d != taken) add(group.dims[d]);
  }
};

// Takes one out.
Dim take(DimGroup& group, int position);

// C[batch, row, column] = alpha * sum over depth of A[batch, row, depth] * B[batch, depth, column] + beta * C + bias
struct Problem {
  of_dtype dtype;
  DimGroup batch, rows, columns, depth;
  bool rows_are_turned = false, columns_are_turned = false;  // see contract_side.h
  double alpha, beta;
  bool has_bias;

  // Whether C is the plain sum of products, so that kernels may store straight into it.
  bool is_plain() const { return alpha == 1 && beta == 0 && !has_bias; }
};

// The dimensions of C, outermost first.
DimGroup cells_of(const Problem& problem);

// Where the first elements of one call's operands are.
struct Addresses {
  const char* operands[kOperands];  // the bias may be NULL
  char* c;
};

// A way to solve a problem, worked out: for many calls, from one thread at a time.
class Solution {
 public:
  virtual ~Solution() = default;
  virtual of_status run(const Addresses& addresses) const = 0;
};

// A problem worked out.
struct Solved {
  std::unique_ptr<Solution> solution;
  bool is_swapped;  // whether A and B changed places

  of_status run(Addresses addresses) const {
    if (is_swapped) std::swap(addresses.operands[kA], addresses.operands[kB]);
    return solution->run(addresses);
  }
};

of_status no_working_memory();

// A side with this few rows or columns makes a product thin: packing would cost more than it saves.
constexpr int64_t kThin = 2;

// Multiplications that a task should have at least, where nothing is packed.
constexpr int64_t kTaskWork = int64_t{1} << 16;

// Sorts by the distance that a step covers in `operand` (then in `other`), and merges neighbours. The order of the
// dimensions within a group is free.
void canonicalize(DimGroup& group, Operand operand, Operand other);
// The operand with the longer side.
Operand longer_of(const Problem& problem);
// All groups in the order of C, the depth in that of the operand with the longer side.
void bring_in_order(Problem& problem);

// Offsets of the elements [start, start + count) of a group within one operand, into `offsets`.
void fill_offsets(const DimGroup& group, Operand operand, int64_t start, int64_t count, int64_t* offsets);
std::vector<int64_t> all_offsets(const DimGroup& group, Operand operand);
// Lengths of the runs of unit stride that begin at each offset.
void fill_runs(const int64_t* offsets, int64_t count, int64_t* runs);
std::vector<int64_t> all_runs(const std::vector<int64_t>& offsets);
// The offset of one element.
int64_t offset_at(const DimGroup& group, Operand operand, int64_t index);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_CONTRACT_PROBLEM_H_
