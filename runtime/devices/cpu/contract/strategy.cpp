#include "contract/strategy.h"

#include <vector>

namespace oneflow::cpu {
namespace {

// Collects the costs of all offers.
class Costs final : public Chooser {
 public:
  void consider(const Offer& offer) override { costs.push_back(offer.cost()); }

  std::vector<double> costs;
};

// Makes the solution of one offer, by its position.
class Making final : public Chooser {
 public:
  explicit Making(size_t wanted) : wanted_(wanted) {}
  void consider(const Offer& offer) override {
    if (position_++ == wanted_) solution = offer.make();
  }

  std::unique_ptr<Solution> solution;

 private:
  const size_t wanted_;
  size_t position_ = 0;
};

}  // namespace

std::unique_ptr<Solution> solve_by(Strategy strategy, const Problem& problem) {
  const Work work(problem);
  Costs found;
  strategy(work, found);
  std::vector<double>& costs = found.costs;
  for (;;) {
    const auto cheapest = std::min_element(costs.begin(), costs.end());
    if (cheapest == costs.end() || *cheapest == INFINITY) return nullptr;
    Making making(static_cast<size_t>(cheapest - costs.begin()));
    strategy(work, making);
    if (making.solution) return std::move(making.solution);
    *cheapest = INFINITY;
  }
}

}  // namespace oneflow::cpu
