// What a search for a path looks at: which labels each operand has, and their sizes.
#ifndef ONEFLOW_EINSUM_NETWORK_H_
#define ONEFLOW_EINSUM_NETWORK_H_

#include <span>
#include <vector>

#include "einsum/equation.h"

namespace oneflow::einsum {

// Labels in ascending order, each once.
using LabelList = std::vector<int>;

struct Network {
  std::vector<LabelList> operands;
  LabelList output;
  std::vector<double> sizes;  // of the labels

  // Elements of a tensor with these labels. A double, because what a bad path would need is beyond any integer.
  double volume(const LabelList& labels) const {
    double product = 1;
    for (const int label : labels) product *= sizes[static_cast<size_t>(label)];
    return product;
  }
};

// What an equation with operands of these shapes comes to. Labels of size 1 cost nothing and are left out.
Network make_network(const Equation& equation, std::span<const Sizes> shapes, std::span<const int64_t> label_sizes);

// Multiplies two operands, by their numbers. The products are numbered on behind the operands.
struct Step {
  size_t left, right;
};

// The last step leaves the result.
using Path = std::vector<Step>;

// What a path costs: multiplications and additions, and the elements of the largest intermediate.
struct Cost {
  double operations = 0;
  double largest = 0;
};

// What multiplying two operands comes to.
struct PairProduct {
  LabelList labels;   // of the product: what the result or another operand needs
  double operations;  // twice as many where anything is summed, for the additions
};

// Follows a path: keeps count of who has which label, so that each product is known by its labels alone.
class Contraction {
 public:
  explicit Contraction(const Network& network);

  // Without doing it.
  PairProduct product(const LabelList& left, const LabelList& right) const;
  // Takes the two out and the product in.
  void replace(const LabelList& left, const LabelList& right, const LabelList& product);

 private:
  void count(const LabelList& labels, int change);

  const Network& network_;
  std::vector<int> uses_;  // operands, and the output, that have the label
};

// What one sum over the products of all operands at once would take.
double operations_at_once(const Network& network);

// The products of a path, step by step.
std::vector<PairProduct> follow(const Network& network, const Path& path);
Cost cost_of(const Network& network, const Path& path);

}  // namespace oneflow::einsum

#endif  // ONEFLOW_EINSUM_NETWORK_H_
