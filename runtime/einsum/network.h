// Tensor networks: the labels of each operand and their sizes, on which searches for a path work.
#ifndef ONEFLOW_EINSUM_NETWORK_H_
#define ONEFLOW_EINSUM_NETWORK_H_

#include <span>
#include <vector>

#include "einsum/equation.h"

namespace oneflow::einsum {

// Distinct labels in ascending order.
using LabelList = std::vector<int>;

// The labels of operands and output. Dimensions of size 1 are left out.
struct Network {
  std::vector<LabelList> operands;
  LabelList output;
  std::vector<double> sizes;  // of the labels

  // Returns the number of elements of a tensor with the given labels, as a double, because the intermediates of bad
  // paths overflow any integer.
  double volume(const LabelList& labels) const {
    double product = 1;
    for (const int label : labels) product *= sizes[static_cast<size_t>(label)];
    return product;
  }
};

// Returns the network of an equation with operands of the given shapes.
Network make_network(const Equation& equation, std::span<const Sizes> shapes, std::span<const int64_t> label_sizes);

// The numbers of two operands to multiply. The product of step i has the number of operands plus i.
struct Step {
  size_t left, right;
};

// The order in which to multiply. The last step computes the result.
using Path = std::vector<Step>;

// The cost of a path.
struct Cost {
  double operations = 0;  // multiplications and additions
  double largest = 0;     // the elements of the largest intermediate or result
};

// The product of two operands.
struct PairProduct {
  LabelList labels;   // those that the output or another operand has
  double operations;  // the multiplications, and as many additions if a label is summed over
};

// The state of a network while the products of a path are computed: for each label, how many operands have it, from
// which the labels of a product follow.
class Contraction {
 public:
  explicit Contraction(const Network& network);

  // Returns the product of two operands without changing the state.
  PairProduct product(const LabelList& left, const LabelList& right) const;
  // Replaces two operands by their product.
  void replace(const LabelList& left, const LabelList& right, const LabelList& product);

 private:
  void count(const LabelList& labels, int change);

  const Network& network_;
  std::vector<int> uses_;  // for each label, how many operands have it, plus 1 if the output does
};

// Returns the operations of a single sum over the products of all operands, without intermediates.
double operations_at_once(const Network& network);

// Returns the product of each step of a path.
std::vector<PairProduct> follow(const Network& network, const Path& path);
// Returns the cost of a path.
Cost cost_of(const Network& network, const Path& path);

}  // namespace oneflow::einsum

#endif  // ONEFLOW_EINSUM_NETWORK_H_
