#include "contract/rewrite/costs.h"

#include <gtest/gtest.h>

#include <map>

#include "contract/test_problems.h"

namespace oneflow::cpu {
namespace {

TEST(Costs, OperandsHaveRoles) {
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

TEST(Costs, SortsDimensionsAndFindsContiguousOnes) {
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

double cost(const char* equation, const std::map<char, int64_t>& sizes) {
  const Problem problem = TestContraction(equation, sizes).problem();
  const double cost = cost_in_current_layout(problem);
  EXPECT_GE(cost, least_cost(problem)) << equation;
  return cost;
}

TEST(Costs, IncreaseWithTheWorkAndWithStrides) {
  const std::map<char, int64_t> sizes{{'a', 20}, {'b', 20}, {'c', 20}, {'d', 20}};
  EXPECT_LT(cost("ab,bc->ac", sizes), cost("abd,bdc->ac", sizes));
  EXPECT_LT(cost("dab,dbc->dac", sizes), cost("abd,bcd->acd", sizes));
  EXPECT_LT(cost("ab,b->a", sizes), cost("abc,bc->ac", sizes));
}

}  // namespace
}  // namespace oneflow::cpu
