// Tests what strategies cost.
#include "contract/work.h"

#include <gtest/gtest.h>

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
  const double cost = std::min(cost_by(offer_directly, work), cost_by_packing(work));
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
  int estimated = 0;
  for (const of_dtype dtype : kKernelDtypes)
    for (const char* equation : {"ik,jk->ij", "ik,kj->ij", "ki,kj->ji", "bik,bjk->bij", "ikb,jkb->ijb", "ki,k->i"})
      for (const int64_t rows : {1, 2, 3, 40, 700})
        for (const int64_t columns : {1, 2, 8, 100})
          for (const int64_t depth : {1, 3, 33, 600}) {
            const TestContraction contraction(equation, {{'b', 5}, {'i', rows}, {'j', columns}, {'k', depth}}, dtype);
            const Problem problem = contraction.problem();
            const Work work(problem);
            SCOPED_TRACE(contraction.description());
            for (const Strategy strategy : {offer_lines, offer_small, offer_interleaved_dots, offer_copy}) {
              if (cost_by(strategy, work) == INFINITY) continue;
              ++estimated;
              EXPECT_NE(solve_by(strategy, problem), nullptr);
            }
          }
  EXPECT_GT(estimated, 300);
}

}  // namespace
}  // namespace oneflow::cpu
