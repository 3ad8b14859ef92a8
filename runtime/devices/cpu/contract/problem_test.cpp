#include "contract/problem.h"

#include <gtest/gtest.h>

#include "contract/test_problems.h"

namespace oneflow::cpu {
namespace {

TEST(Problem, OperandsHaveRoles) {
  for (const Operand operand : {kA, kB, kC}) {
    EXPECT_TRUE(has(operand, kBatch));
    EXPECT_EQ(has(operand, kRows), operand != kB);
    EXPECT_EQ(has(operand, kColumns), operand != kA);
    EXPECT_EQ(has(operand, kDepth), operand != kC);
  }
  const Problem problem = TestContraction("bik,bkj->bij", {{'b', 2}, {'i', 3}, {'k', 5}, {'j', 7}}).problem();
  EXPECT_EQ(elements_of(problem, kA), 2 * 3 * 5);
  EXPECT_EQ(elements_of(problem, kB), 2 * 5 * 7);
  EXPECT_EQ(elements_of(problem, kC), 2 * 3 * 7);
}

TEST(Problem, SortsDimensionsAndFindsContiguousOnes) {
  DimGroup group;
  group.add({4, {1, 30, 0, 0}});
  group.add({5, {4, 1, 0, 0}});
  group.add({6, {20, 5, 0, 0}});
  const DimGroup by_a = sorted_by(kA, group), by_b = sorted_by(kB, group);
  EXPECT_EQ(by_a.dims[0].size, 6);
  EXPECT_EQ(by_a.dims[2].size, 4);
  EXPECT_EQ(contiguous_count(by_a, kA), 120);
  EXPECT_EQ(by_b.dims[0].size, 4);
  EXPECT_EQ(contiguous_count(by_b, kB), 120);
  EXPECT_EQ(contiguous_count(by_b, kA), 1);
  EXPECT_EQ(contiguous_count(group, kA), 1);
}

}  // namespace
}  // namespace oneflow::cpu
