// Contractions for the tests of the strategies: a Problem is built from an equation such as "bik,bkj->bij", a Solution
// of it runs on small integers, whose products and sums are exact, and C is compared with the result of a naive loop.
#ifndef ONEFLOW_DEVICES_CPU_CONTRACT_TEST_PROBLEMS_H_
#define ONEFLOW_DEVICES_CPU_CONTRACT_TEST_PROBLEMS_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "contract/strategy.h"

namespace oneflow::cpu {

// Dtypes that kernels compute with, one for each compute type.
inline constexpr of_dtype kKernelDtypes[] = {OF_FLOAT32, OF_FLOAT64, OF_INT32, OF_INT64};

// The layout of one operand in memory.
struct TestLayout {
  std::string order = "";  // its labels from the outermost to the innermost dimension; empty: as in the equation
  int64_t padding = 0;     // elements between two rows of the innermost dimension
  int64_t step = 1;        // the stride of the innermost dimension; may be negative
};

class TestContraction {
 public:
  // All operands are row-major and contiguous, until lay_out() changes that.
  TestContraction(const std::string& equation, const std::map<char, int64_t>& sizes, of_dtype dtype = OF_FLOAT32);

  TestContraction& lay_out(Operand operand, const TestLayout& layout);

  // Makes it C = alpha * (sum of products) + beta * C.
  TestContraction& scale(double alpha, double beta) {
    alpha_ = alpha;
    beta_ = beta;
    return *this;
  }

  // Adds a bias that has the dimensions of the columns.
  TestContraction& add_bias() {
    has_bias_ = true;
    return *this;
  }

  // Returns the problem with merged and sorted dimensions; unlike contract(), it never exchanges rows and columns.
  Problem problem() const;

  // Calls visit(group of the problem, dimension) for all dimensions, in the order of C and then that of the depth.
  template <class Visit>
  void for_each_dim(Visit&& visit) const {
    for (size_t d = 0; d < dims_.size(); ++d) {
      const char label = all_labels_[d];
      visit(!has(kC, label)                    ? &Problem::depth
            : has(kA, label) && has(kB, label) ? &Problem::batch
            : has(kA, label)                   ? &Problem::rows
                                               : &Problem::columns,
            dims_[d]);
    }
  }

  // Runs the solution. Its results must be right, and the memory around C and between its rows unchanged.
  void expect_computed_by(const Solution& solution) const {
    expect_computed([&](const Addresses& addresses) { return solution.run(addresses); });
  }

  // Does the same for run(addresses), which returns a status.
  void expect_computed(const std::function<of_status(const Addresses&)>& run) const;

  // Returns the equation, the sizes, the dtype and the layouts as operand=order:padding:step, for messages.
  std::string description() const;

 private:
  // Elements before and after C, which no strategy may change. A and B end where their memory does, for sanitizers.
  static constexpr int64_t kGuard = 64;
  static int64_t guard_of(Operand operand) { return operand == kC ? kGuard : 0; }

  struct alignas(64) CacheLine {
    char bytes[64];
  };

  bool has(Operand operand, char label) const { return labels_[operand].find(label) != std::string::npos; }

  // Calls visit(offsets of each operand) for all indices of `dims`, the last of which changes first. A dimension of
  // size 0 counts as one index.
  template <class Visit>
  void for_each_index(const std::vector<Dim>& dims, Visit&& visit) const;

  // The dimensions of one operand.
  std::vector<Dim> dims_of(Operand operand) const;
  static bool has_elements(const std::vector<Dim>& dims) {
    return std::all_of(dims.begin(), dims.end(), [](const Dim& dim) { return dim.size > 0; });
  }

  std::vector<double> expected_c(const std::vector<double>& a, const std::vector<double>& b, std::vector<double> c,
                                 const std::vector<double>& bias) const;

  // Small integers as the elements of an operand, NaN (99 for integers) around and between its rows. C holds only the
  // latter where beta is 0, as it must not be read.
  std::vector<double> values_of(Operand operand) const;

  void store(const std::vector<double>& values, void* to) const;
  std::vector<char> stored(const std::vector<double>& values) const;

  std::string equation_, layouts_, all_labels_;  // those of C come first
  std::map<char, int64_t> sizes_;
  of_dtype dtype_;
  double alpha_ = 1, beta_ = 0;
  bool has_bias_ = false;
  std::vector<Dim> dims_;  // by all_labels_
  // By operand; `first` is the offset of the element whose indices are all 0, `count` the elements of the memory.
  std::string labels_[kOperands];
  int64_t first_[kOperands] = {}, count_[kOperands] = {};
};

// Expects that `solve` takes the contraction and computes it right.
template <class Solve>
void expect_solved(const TestContraction& contraction, Solve&& solve) {
  const auto solution = solve(contraction.problem());
  ASSERT_NE(solution, nullptr) << contraction.description();
  contraction.expect_computed_by(*solution);
}

// Expects that `solve` leaves the contraction to other strategies.
template <class Solve>
void expect_refused(const TestContraction& contraction, Solve&& solve) {
  EXPECT_EQ(solve(contraction.problem()), nullptr) << contraction.description();
}

inline void expect_solved(const TestContraction& contraction, Strategy strategy) {
  expect_solved(contraction, [&](const Problem& problem) { return solve_by(strategy, problem); });
}
inline void expect_refused(const TestContraction& contraction, Strategy strategy) {
  expect_refused(contraction, [&](const Problem& problem) { return solve_by(strategy, problem); });
}

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_CONTRACT_TEST_PROBLEMS_H_
