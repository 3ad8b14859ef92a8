// Tests what strategies cost.
#include "contract/work.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "contract/direct/direct.h"
#include "contract/direct/dots.h"
#include "contract/direct/lines.h"
#include "contract/direct/small.h"
#include "contract/gemm/gemm.h"
#include "contract/rewrite/copied.h"
#include "contract/test_problems.h"

namespace oneflow::cpu {
namespace {

double cost(const char* equation, const std::map<char, int64_t>& sizes) {
  const Problem problem = TestContraction(equation, sizes).problem();
  const Work work(problem);
  const double cost = std::min(cost_directly(work), cost_by_packing(work));
  EXPECT_GE(cost, work.least()) << equation;
  return cost;
}

TEST(Costs, IncreaseWithTheWorkAndWithStrides) {
  const std::map<char, int64_t> sizes{{'a', 20}, {'b', 20}, {'c', 20}, {'d', 20}};
  EXPECT_LT(cost("ab,bc->ac", sizes), cost("abd,bdc->ac", sizes));
  EXPECT_LT(cost("dab,dbc->dac", sizes), cost("abd,bcd->acd", sizes));
  EXPECT_LT(cost("ab,b->a", sizes), cost("abc,bc->ac", sizes));
}

// Where a strategy has a cost, it takes the problem.
TEST(Costs, BelongToStrategiesThatTakeTheProblem) {
  const auto solve_interleaved = [](const Problem& problem) {
    const auto found = find_interleaved(problem);
    return found ? make_interleaved_dots(*found) : nullptr;
  };
  int estimated = 0;
  const auto expect_taken = [&](const Problem& problem, double cost, auto&& solve) {
    if (std::isinf(cost)) return;
    ++estimated;
    EXPECT_NE(solve(problem), nullptr);
  };
  for (const of_dtype dtype : kKernelDtypes)
    for (const char* equation : {"ik,jk->ij", "ik,kj->ij", "ki,kj->ji", "bik,bjk->bij", "ikb,jkb->ijb", "ki,k->i"})
      for (const int64_t rows : {1, 2, 3, 40, 700})
        for (const int64_t columns : {1, 2, 8, 100})
          for (const int64_t depth : {1, 3, 33, 600}) {
            const TestContraction contraction(equation, {{'b', 5}, {'i', rows}, {'j', columns}, {'k', depth}}, dtype);
            const Problem problem = contraction.problem();
            const Work work(problem);
            SCOPED_TRACE(contraction.description());
            expect_taken(problem, cost_by_lines(work), solve_by_lines);
            expect_taken(problem, cost_of_small(work), solve_small);
            expect_taken(problem, cost_of_interleaved_dots(work), solve_interleaved);
            expect_taken(problem, cost_with_copy(work), solve_with_copy);
          }
  EXPECT_GT(estimated, 300);
}

}  // namespace
}  // namespace oneflow::cpu
