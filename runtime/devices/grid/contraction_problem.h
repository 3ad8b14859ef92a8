// The normal form of a contraction: it has no dimensions of size 1, dimensions are merged where possible, and rows and
// columns are swapped where that gives the columns of C the smaller stride.
#ifndef ONEFLOW_DEVICES_GRID_CONTRACTION_PROBLEM_H_
#define ONEFLOW_DEVICES_GRID_CONTRACTION_PROBLEM_H_

#include <oneflow/device_plugin.h>

#include <cstdint>

#include "../shared/contraction_dims.h"

namespace oneflow::grid {

enum Side { kA, kB, kC, kBias, kSides };

// The dimensions of one role (batch, rows, columns or depth), the slowest-varying first.
struct Role {
  static constexpr int kMost = OF_MAX_RANK;

  int32_t rank = 0;
  int64_t count = 1;  // the product of the sizes
  int64_t sizes[kMost];
  int64_t strides[kSides][kMost];  // in elements; 0 where the operand lacks the dimension

  // Returns the absolute stride of the fastest-varying dimension; INT64_MAX for a role without dimensions.
  int64_t step(Side side) const;
};

using Dim = ContractionDim;

Role role_of(const Dim* dims, size_t count);

// C[batch, row, column] = alpha * sum over depth of A[batch, row, depth] * B[batch, depth, column] + beta * C + bias
struct Problem {
  of_dtype dtype;
  of_dtype type;  // the type of sums: float32, float64, uint32 or uint64
  Role batch, rows, columns, depth;
  const char* operands[kSides];  // first elements; the bias may be NULL
  double alpha, beta;
  bool is_sums = false;     // whether C has elements of `type`
  bool is_swapped = false;  // whether A is the descriptor's B, and B its A

  // Returns whether C is the plain sum of products.
  bool is_plain() const { return alpha == 1 && beta == 0 && operands[kBias] == nullptr; }
  of_dtype result_dtype() const { return is_sums ? type : dtype; }
  int64_t result_count() const { return batch.count * rows.count * columns.count; }
};

// Brings a contraction into normal form. Returns false where grid devices do not implement it.
bool make_problem(const of_contraction& contraction, Problem& problem);
// Sets the addresses of the operands, which may differ in each call of a contraction.
void set_operands(const of_contraction& contraction, Problem& problem);
// Returns the problem of the plain sums: without factors and bias, and with a C of the type of sums that is contiguous
// in `memory`.
Problem sums_of(const Problem& problem, void* memory);

}  // namespace oneflow::grid

#endif  // ONEFLOW_DEVICES_GRID_CONTRACTION_PROBLEM_H_
