// A contraction in normal form, which all strategies take, and what a strategy returns.
//
// A contraction is a batched matrix product C = A B whose batch, rows, columns and depth are groups of dimensions. The
// equation bhqd,bhkd->bhqk, for example, has the batch (b, h), the rows (q), the columns (k) and the depth (d). In
// normal form, groups have no dimensions of size 1, dimensions that are contiguous in all operands are merged (a
// contiguous b and h are one dimension), and the dimensions of C are ordered from the largest stride to the smallest.
#ifndef ONEFLOW_DEVICES_CPU_CONTRACT_PROBLEM_H_
#define ONEFLOW_DEVICES_CPU_CONTRACT_PROBLEM_H_

#include <oneflow/device_plugin.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "../../shared/contraction_dims.h"

namespace oneflow::cpu {

// An operand, as the index of a dimension's strides.
enum Operand { kA, kB, kC, kBias, kOperands };

using Dim = ContractionDim;

// The dimensions of one role, outermost first.
struct DimGroup {
  // A descriptor has four groups, and strategies may merge them.
  static constexpr int kMaximum = 4 * OF_MAX_RANK;

  int rank = 0;
  int64_t count = 1;  // the product of the sizes
  Dim dims[kMaximum];

  DimGroup() = default;
  DimGroup(const DimGroup& other) { *this = other; }
  DimGroup& operator=(const DimGroup& other) {  // copies the `rank` dimensions only
    rank = other.rank;
    count = other.count;
    for (int d = 0; d < rank; ++d) dims[d] = other.dims[d];
    return *this;
  }

  void add(const Dim& dim) {
    dims[rank++] = dim;
    count *= dim.size;
  }
  // Changes the size of one dimension.
  void resize(int dim, int64_t size) {
    count = count / dims[dim].size * size;
    dims[dim].size = size;
  }
  // Adds the dimensions of another group, except `skipped`.
  void append(const DimGroup& group, int skipped = -1) {
    for (int d = 0; d < group.rank; ++d)
      if (d != skipped) add(group.dims[d]);
  }
};

// Removes a dimension from the group and returns it.
Dim take(DimGroup& group, int position);

// C[batch, row, column] = alpha * sum over depth of A[batch, row, depth] * B[batch, depth, column] + beta * C + bias
struct Problem {
  of_dtype dtype;
  DimGroup batch, rows, columns, depth;
  bool rows_are_transposed = false, columns_are_transposed = false;  // see order_for_transposing() in gemm/side.h
  double alpha, beta;
  bool has_bias;
  bool is_constant[kC] = {};  // whether A and B have the same elements in all runs

  // Returns whether C = A B without a scale, an addend or a bias, so that kernels can store their sums directly into C.
  bool is_plain() const { return alpha == 1 && beta == 0 && !has_bias; }
};

// Returns the dimensions of C: batch, rows and columns.
DimGroup dims_of_c(const Problem& problem);

// The groups by ContractionRole.
constexpr DimGroup Problem::*kGroups[] = {&Problem::batch, &Problem::rows, &Problem::columns, &Problem::depth};
// Returns whether an operand has the dimensions of a role: A has no columns, B no rows, C no depth.
bool has(Operand operand, int role);
// Returns the number of elements of an operand, those of stride 0 counted repeatedly: a double, as it may exceed
// int64_t.
double elements_of(const Problem& problem, Operand operand);
// Returns the dimensions of a group from the largest stride in an operand to the smallest.
DimGroup sorted_by(Operand operand, const DimGroup& group);
// Returns the distance in elements between neighbours along the innermost dimension of a group; the maximum where the
// group has none.
int64_t innermost_stride(const DimGroup& group, Operand operand);
// Returns the product of the sizes of the innermost dimensions that are contiguous together in an operand.
int64_t contiguous_count(const DimGroup& dims, Operand operand);

// The addresses of the first elements of the operands of one call.
struct Addresses {
  const char* operands[kOperands];  // that of the bias may be NULL
  char* c;
};

// A strategy prepared for one problem. It computes the problem for any addresses, from one thread at a time.
class Solution {
 public:
  virtual ~Solution() = default;
  // Computes C. Fails with OutOfMemory.
  virtual of_status run(const Addresses& addresses) const = 0;
};

// The solution of a problem, or of the problem with A and B exchanged.
struct Solved {
  std::unique_ptr<Solution> solution;
  bool is_swapped;  // whether A and B are exchanged

  of_status run(Addresses addresses) const {
    if (is_swapped) std::swap(addresses.operands[kA], addresses.operands[kB]);
    return solution->run(addresses);
  }
};

// Records the error that a solution had no working memory, and returns OF_OUT_OF_MEMORY.
of_status no_working_memory();

// A product with at most so many rows or columns is thin: packing would cost more than it saves.
constexpr int64_t kThin = 2;

// The least number of multiplications of one task, where nothing is packed.
constexpr int64_t kTaskWork = int64_t{1} << 16;

// Sorts the dimensions from the largest stride in `operand` to the smallest (equal ones by `other`), and merges those
// that are contiguous in all operands. The order of the dimensions within a group does not change the result.
void canonicalize(DimGroup& group, Operand operand, Operand other);
// Returns the operand with more rows (A) or columns (B).
Operand longer_operand(const Problem& problem);
// Sorts and merges all groups: the dimensions of C by its strides, the depth by those of longer_operand().
void canonicalize(Problem& problem);

// Returns whether an operand has overlapping windows, as of a convolution: whether packing its rows (or columns) would
// store its elements several times.
bool has_windows(const DimGroup& side, const DimGroup& depth, Operand operand);

// Stores the offsets in one operand of the elements [start, start + count) of a group.
void fill_offsets(const DimGroup& group, Operand operand, int64_t start, int64_t count, int64_t* offsets);
// Returns the offsets of all elements of a group.
std::vector<int64_t> all_offsets(const DimGroup& group, Operand operand);
// Stores how many offsets from each one on increase by 1.
void fill_runs(const int64_t* offsets, int64_t count, int64_t* runs);
// Returns them for all offsets.
std::vector<int64_t> all_runs(const std::vector<int64_t>& offsets);
// Returns the offset of one element.
int64_t offset_at(const DimGroup& group, Operand operand, int64_t index);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_CONTRACT_PROBLEM_H_
