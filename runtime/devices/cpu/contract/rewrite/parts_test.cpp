#include "contract/rewrite/parts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "contract/gemm/gemm.h"
#include "contract/test_problems.h"
#include "simd/element.h"

namespace oneflow::cpu {
namespace {

Operand largest_operand(const Problem& problem) {
  Operand largest = kA;
  for (const Operand operand : {kB, kC})
    if (elements_of(problem, operand) > elements_of(problem, largest)) largest = operand;
  return largest;
}

// A part must have at most so many bytes of the largest operand, and its solution, repeated, give the whole C.
void expect_cut(const TestContraction& contraction, double most_bytes, size_t cuts) {
  const Problem problem = contraction.problem();
  const auto parts = find_parts(problem, most_bytes);
  ASSERT_TRUE(parts.has_value()) << contraction.description();
  EXPECT_EQ(parts->cuts.size(), cuts) << contraction.description();
  const Operand largest = largest_operand(problem);
  const auto item = static_cast<double>(item_size(problem.dtype));
  EXPECT_LE(elements_of(parts->part, largest) * item, most_bytes) << contraction.description();
  EXPECT_DOUBLE_EQ(elements_of(parts->part, largest), elements_of(problem, largest) * parts->share());
  EXPECT_LT(parts->share(), 1);
  EXPECT_GE(parts->cost, 0);
  const auto solution = solve_parts(*parts, solve_by_packing(parts->part));
  ASSERT_NE(solution, nullptr);
  contraction.expect_computed_by(*solution);
}

TEST(Parts, OneDimensionIsCut) {
  for (const of_dtype dtype : {OF_FLOAT32, OF_FLOAT64, OF_INT32, OF_FLOAT16}) {
    const auto size = static_cast<double>(item_size(dtype));
    // A, B and C are the largest operand. 100 rows of 50 elements are cut into parts of even sizes, or of sizes that
    // make the last part overlap the one before.
    for (const double rows : {50.0, 34.0, 33.0, 7.0, 1.0}) {
      expect_cut({"ik,kj->ij", {{'i', 100}, {'k', 50}, {'j', 9}}, dtype}, rows * 50 * size, 1);
      expect_cut({"ik,kj->ij", {{'i', 9}, {'k', 50}, {'j', 100}}, dtype}, rows * 50 * size, 1);
      expect_cut({"ik,kj->ij", {{'i', 100}, {'k', 9}, {'j', 50}}, dtype}, rows * 50 * size, 1);
    }
  }
}

TEST(Parts, SeveralDimensionsAreCutToSingleElements) {
  const std::map<char, int64_t> sizes{{'a', 8}, {'b', 9}, {'c', 10}, {'k', 6}, {'j', 3}};
  // Of A, with 8 x 9 x 10 rows of 6 elements.
  expect_cut({"abck,kj->abcj", sizes}, 4 * 6 * 90.0, 1);
  expect_cut({"bcak,kj->abcj", sizes}, 4 * 6 * 5.0, 2);
}

TEST(Parts, BatchesAreCut) {
  const std::map<char, int64_t> sizes{{'b', 20}, {'i', 11}, {'k', 30}, {'j', 5}};
  for (const double products : {10.0, 3.0, 1.0}) expect_cut({"bik,bkj->bij", sizes}, products * 11 * 30 * 4, 1);
}

TEST(Parts, NothingIsCutWhereAllFitsOrNothingWould) {
  const TestContraction contraction("ik,kj->ij", {{'i', 100}, {'k', 50}, {'j', 9}});
  EXPECT_FALSE(find_parts(contraction.problem(), 100 * 50 * 4).has_value());
  // One row does not fit.
  EXPECT_FALSE(find_parts(contraction.problem(), 49 * 4).has_value());
}

}  // namespace
}  // namespace oneflow::cpu
