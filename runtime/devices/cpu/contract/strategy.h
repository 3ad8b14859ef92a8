// What strategies offer for a problem.
//
// A strategy decides in one place whether it takes a problem, and says what that costs (work.h has the units) and how
// its solution is made. The cost of a layout and the solution come from the same offers.
#ifndef ONEFLOW_DEVICES_CPU_CONTRACT_STRATEGY_H_
#define ONEFLOW_DEVICES_CPU_CONTRACT_STRATEGY_H_

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <memory>

#include "contract/problem.h"
#include "contract/work.h"

namespace oneflow::cpu {

// A solution that is not made yet.
class Offer {
 public:
  virtual ~Offer() = default;
  // Returns the cost in nanoseconds; INFINITY where no strategy takes a part of the solution.
  virtual double cost() const = 0;
  // Returns the solution, or NULL likewise.
  virtual std::unique_ptr<Solution> make() const = 0;
};

// What strategies make their offers to.
class Chooser {
 public:
  virtual ~Chooser() = default;
  virtual void consider(const Offer& offer) = 0;

  // Considers the offer with this cost and solution, which are functions.
  template <class Cost, class Make>
  void offer(const Cost& cost, const Make& make) {
    struct Made final : Offer {
      Made(const Cost& of_cost, const Make& of_make) : cost_(of_cost), make_(of_make) {}
      double cost() const override { return cost_(); }
      std::unique_ptr<Solution> make() const override { return make_(); }
      const Cost& cost_;
      const Make& make_;
    };
    consider(Made(cost, make));
  }
};

// Makes an offer where it takes the problem.
using Strategy = void (*)(const Work& work, Chooser& chooser);

// Finds the least cost.
class LeastCost final : public Chooser {
 public:
  void consider(const Offer& offer) override { cost = std::min(cost, offer.cost()); }

  double cost = INFINITY;
};

// Asks strategies.
inline void ask(std::initializer_list<Strategy> strategies, const Work& work, Chooser& chooser) {
  for (const Strategy strategy : strategies) strategy(work, chooser);
}
// Returns the solution of the cheapest offer, or NULL where there is none.
std::unique_ptr<Solution> solve_by(Strategy strategy, const Problem& problem);
// Returns the cost of the cheapest offer; INFINITY where there is none.
inline double cost_by(Strategy strategy, const Work& work) {
  LeastCost least;
  strategy(work, least);
  return least.cost;
}

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_CONTRACT_STRATEGY_H_
