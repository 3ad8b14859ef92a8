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

// The cost of an offer without an estimate.
constexpr double kNotEstimated = INFINITY;

// A solution that is not made yet.
class Offer {
 public:
  virtual ~Offer() = default;
  virtual double cost() const = 0;
  // Returns the solution, or NULL where parts of it turn out to have none.
  virtual std::unique_ptr<Solution> make() const = 0;
};

// What strategies make their offers to.
class Chooser {
 public:
  virtual ~Chooser() = default;
  virtual void consider(const Offer& offer) = 0;
  // Returns whether no further offers are needed.
  virtual bool is_done() const { return false; }

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

// Makes the first solution that is offered.
class FirstSolution final : public Chooser {
 public:
  void consider(const Offer& offer) override {
    if (!solution) solution = offer.make();
  }
  bool is_done() const override { return solution != nullptr; }

  std::unique_ptr<Solution> solution;
};

// Finds the least cost.
class LeastCost final : public Chooser {
 public:
  void consider(const Offer& offer) override { cost = std::min(cost, offer.cost()); }

  double cost = INFINITY;
};

// Asks strategies in order.
inline void ask(std::initializer_list<Strategy> strategies, const Work& work, Chooser& chooser) {
  for (const Strategy strategy : strategies)
    if (!chooser.is_done()) strategy(work, chooser);
}
// Returns the solution by a strategy, or NULL.
inline std::unique_ptr<Solution> solve_by(Strategy strategy, const Problem& problem) {
  FirstSolution first;
  strategy(Work(problem), first);
  return std::move(first.solution);
}
// Returns the cost of a strategy; INFINITY where it does not take the problem.
inline double cost_by(Strategy strategy, const Work& work) {
  LeastCost least;
  strategy(work, least);
  return least.cost;
}

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_CONTRACT_STRATEGY_H_
