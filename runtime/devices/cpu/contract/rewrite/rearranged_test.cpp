#include "contract/rewrite/rearranged.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "contract/direct/direct.h"
#include "contract/gemm/gemm.h"
#include "contract/kernels.h"
#include "contract/test_problems.h"
#include "threads/thread_pool.h"

namespace oneflow::cpu {
namespace {

class Rearranged : public testing::TestWithParam<int> {
 protected:
  void SetUp() override { set_thread_count(GetParam()); }
  void TearDown() override { set_thread_count(threads_); }

 private:
  const int threads_ = thread_count();
};
INSTANTIATE_TEST_SUITE_P(Threads, Rearranged, testing::Values(1, 3));

int remaining_problems = 0;

Solved solve_remaining(const Problem& problem) {
  ++remaining_problems;
  auto solution = solve_by(offer_directly, problem);
  if (!solution) solution = solve_by_packing(problem);
  return {std::move(solution), false};
}

std::unique_ptr<Solution> solve(const Problem& problem) { return solve_rearranged(problem, solve_remaining); }

// With narrow vectors, a copy gains less, and may not pay.
void expect_rearranged(const TestContraction& contraction) {
  const Problem problem = contraction.problem();
  if (contract_kernels(problem.dtype).lane_count >= 8) return expect_solved(contraction, solve);
  if (const auto solution = solve(problem)) contraction.expect_computed_by(*solution);
}

constexpr of_dtype kDtypes[] = {OF_FLOAT32, OF_FLOAT64, OF_INT32, OF_INT64};

TEST_P(Rearranged, BatchesThatAreInnermost) {
  for (const of_dtype dtype : kDtypes) {
    for (const auto& [b, i, k, j] : {std::tuple{40, 40, 40, 40}, {33, 50, 29, 31}, {5, 64, 70, 60}}) {
      const std::map<char, int64_t> sizes{{'b', b}, {'i', i}, {'k', k}, {'j', j}};
      expect_rearranged({"ikb,kjb->ijb", sizes, dtype});
      expect_rearranged({"ikb,kjb->bij", sizes, dtype});
    }
  }
  expect_rearranged({"ikb,kjb->ijb", {{'b', 20}, {'i', 40}, {'k', 40}, {'j', 40}}, OF_FLOAT16});
  expect_rearranged({"ikb,kjb->ijb", {{'b', 20}, {'i', 40}, {'k', 40}, {'j', 40}}, OF_BFLOAT16});
}

TEST_P(Rearranged, OperandsThatAreContiguousAlongNothingUseful) {
  const std::map<char, int64_t> sizes{{'a', 40}, {'b', 40}, {'c', 40}, {'d', 40}, {'e', 40}, {'k', 40}};
  for (const of_dtype dtype : kDtypes) {
    expect_rearranged({"abcd,bd->ac", sizes, dtype});
    expect_rearranged({"eba,bce->bce", sizes, dtype});
  }
}

// C is computed with contiguous columns, and then transposed.
TEST_P(Rearranged, ResultsWhoseLongSideIsStrided) {
  for (const of_dtype dtype : kDtypes) {
    for (const int64_t k : {70, 200}) {
      TestContraction contraction("ik,kj->ij", {{'i', 5}, {'k', k}, {'j', 200}}, dtype);
      expect_rearranged(contraction.lay_out(kC, {"ji"}));
    }
  }
}

// Products without a sum, with the dimensions of C in an order that neither operand has.
TEST_P(Rearranged, ProductsWithoutASum) {
  const std::map<char, int64_t> sizes{{'a', 12}, {'c', 13}, {'d', 14}, {'e', 15}, {'f', 16}};
  for (const of_dtype dtype : kDtypes) expect_rearranged({"dfac,acdef->eafdc", sizes, dtype});
}

TEST_P(Rearranged, OperandsThatAreTooLargeArePutInOrderPartByPart) {
  expect_rearranged({"dfac,acdef->eafdc", {{'a', 13}, {'c', 14}, {'d', 15}, {'e', 17}, {'f', 20}}});
  expect_rearranged({"abcd,bd->ac", {{'a', 20}, {'b', 200}, {'c', 20}, {'d', 20}}});
}

TEST_P(Rearranged, RefusesOtherProblems) {
  const std::map<char, int64_t> sizes{{'b', 40}, {'i', 40}, {'k', 40}, {'j', 40}};
  remaining_problems = 0;
  expect_refused(TestContraction("ikb,kjb->ijb", sizes).scale(2, 0), solve);
  expect_refused(TestContraction("ikb,kjb->ijb", sizes).scale(1, 1), solve);
  expect_refused({"ikb,kjb->ijb", {{'b', 4}, {'i', 4}, {'k', 4}, {'j', 4}}}, solve);
  expect_refused({"ikb,kjb->ijb", {{'b', 40}, {'i', 40}, {'k', 0}, {'j', 40}}}, solve);
  // Layouts that kernels read well.
  expect_refused({"bik,bkj->bij", sizes}, solve);
  expect_refused({"ik,kj->ij", sizes}, solve);
  expect_refused({"ik,k->i", sizes}, solve);
  expect_refused({"i,j->ij", sizes}, solve);
  EXPECT_EQ(remaining_problems, 0);
}

}  // namespace
}  // namespace oneflow::cpu
