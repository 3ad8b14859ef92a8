// A contraction in normal form: no dimensions of size 1, neighbours merged, columns of C as near to unit stride as can
// be.
#ifndef ONEFLOW_DEVICES_GRID_CONTRACTION_PROBLEM_H_
#define ONEFLOW_DEVICES_GRID_CONTRACTION_PROBLEM_H_

#include <oneflow/device_plugin.h>

#include <cstdint>

namespace oneflow::grid {

enum Side { kA, kB, kC, kBias, kSides };

// The dimensions of one role, the slowest first.
struct Role {
  static constexpr int kMost = OF_MAX_RANK;

  int32_t rank = 0;
  int64_t count = 1;  // the product of the sizes
  int64_t sizes[kMost];
  int64_t strides[kSides][kMost];  // in elements; 0 where the operand lacks the dimension

  // The distance in memory of neighbours; that of a role without dimensions is beyond all others.
  int64_t step(Side side) const;
};

// C[batch, row, column] = alpha * sum over depth of A[batch, row, depth] * B[batch, depth, column] + beta * C + bias
struct Problem {
  of_dtype dtype;
  of_dtype type;  // that products are added up in: float32, float64, uint32 or uint64
  Role batch, rows, columns, depth;
  const char* operands[kSides];  // first elements; the bias may be NULL
  double alpha, beta;
  bool is_sums = false;     // whether C has elements of `type`
  bool is_swapped = false;  // whether A and B are the descriptor's B and A

  // Whether C is the plain sum of products.
  bool is_plain() const { return alpha == 1 && beta == 0 && operands[kBias] == nullptr; }
  of_dtype result_dtype() const { return is_sums ? type : dtype; }
  int64_t result_count() const { return batch.count * rows.count * columns.count; }
};

// False where the descriptor is of no kind that grid devices know.
bool make_problem(const of_contraction& contraction, Problem& problem);
void set_operands(const of_contraction& contraction, Problem& problem);
// The plain sums of a problem, one behind the other in memory of their own.
Problem sums_of(const Problem& problem, void* memory);

}  // namespace oneflow::grid

#endif  // ONEFLOW_DEVICES_GRID_CONTRACTION_PROBLEM_H_
