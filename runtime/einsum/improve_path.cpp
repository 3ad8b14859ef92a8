#include "einsum/improve_path.h"

#include <algorithm>

#include "einsum/exact_path.h"

namespace oneflow::einsum {

namespace {

// Operands of a part: one more takes three times as long and gains little.
constexpr size_t kPartOperands = 8;
constexpr int kRounds = 6;

// The products of a path as a tree, whose leaves are the operands. A product's labels depend on the leaves below it
// alone, so that a part of the tree can be replaced without a look at the rest.
class Tree {
 public:
  Tree(const Network& network, const Path& path) : network_(network), leaves_(network.operands.size()) {
    for (const LabelList& labels : network.operands) nodes_.push_back({labels, 0, 0, 0});
    const std::vector<PairProduct> products = follow(network, path);
    for (size_t i = 0; i < path.size(); ++i)
      nodes_.push_back({products[i].labels, products[i].operations, path[i].left, path[i].right});
  }

  // Whether anything became cheaper.
  bool improve(double limit) {
    bool is_better = false;
    std::vector<size_t> order;
    collect_products(nodes_.size() - 1, order);
    for (const size_t root : order) is_better |= improve_part(root, limit);
    return is_better;
  }

  Path path() const {
    Path path;
    std::vector<size_t> numbers(nodes_.size());  // of a node in the path
    for (size_t i = 0; i < leaves_; ++i) numbers[i] = i;
    std::vector<size_t> order;
    collect_products(nodes_.size() - 1, order);
    for (auto node = order.rbegin(); node != order.rend(); ++node) {
      path.push_back({numbers[nodes_[*node].left], numbers[nodes_[*node].right]});
      numbers[*node] = leaves_ + path.size() - 1;
    }
    return path;
  }

 private:
  struct Node {
    LabelList labels;
    double operations;  // of this product alone
    size_t left, right;
  };

  bool is_leaf(size_t node) const { return node < leaves_; }

  // All products below and including a node, each before those that it is made of.
  void collect_products(size_t root, std::vector<size_t>& order) const {
    for (size_t next = order.size(), first = (order.push_back(root), next); first < order.size(); ++first) {
      for (const size_t child : {nodes_[order[first]].left, nodes_[order[first]].right})
        if (!is_leaf(child)) order.push_back(child);
    }
  }

  bool improve_part(size_t root, double limit) {
    // The most expensive products are opened first.
    std::vector<size_t> operands{nodes_[root].left, nodes_[root].right}, products{root};
    while (operands.size() < kPartOperands) {
      const auto dearer = [&](size_t a, size_t b) { return nodes_[a].operations < nodes_[b].operations; };
      const auto opened = std::max_element(operands.begin(), operands.end(), dearer);
      if (is_leaf(*opened)) break;  // leaves cost nothing: there is none but leaves
      const size_t product = *opened;
      products.push_back(product);
      *opened = nodes_[product].left;
      operands.push_back(nodes_[product].right);
    }
    if (operands.size() < 3) return false;

    double cost = 0;
    for (const size_t product : products) cost += nodes_[product].operations;
    const Network part = network_of(operands, root);
    const Path path = find_exact_path(part, limit);
    if (path.empty() || !(cost_of(part, path).operations < cost)) return false;
    replace(operands, products, path, follow(part, path));
    return true;
  }

  // Labels are numbered anew: a part has few of them.
  Network network_of(const std::vector<size_t>& operands, size_t root) const {
    Network part;
    LabelList known;
    for (const size_t operand : operands)
      known.insert(known.end(), nodes_[operand].labels.begin(), nodes_[operand].labels.end());
    std::sort(known.begin(), known.end());
    known.erase(std::unique(known.begin(), known.end()), known.end());
    for (const int label : known) part.sizes.push_back(network_.sizes[static_cast<size_t>(label)]);
    const auto renumbered = [&](const LabelList& labels) {
      LabelList own;
      for (const int label : labels)
        own.push_back(static_cast<int>(std::lower_bound(known.begin(), known.end(), label) - known.begin()));
      return own;
    };
    for (const size_t operand : operands) part.operands.push_back(renumbered(nodes_[operand].labels));
    part.output = renumbered(nodes_[root].labels);
    labels_of_part_ = std::move(known);
    return part;
  }

  // Puts the path's products in the places of the former ones; the last one stays where it was.
  void replace(const std::vector<size_t>& operands, const std::vector<size_t>& places, const Path& path,
               const std::vector<PairProduct>& products) {
    const auto place = [&](size_t number) {
      return number < operands.size() ? operands[number] : places[places.size() - 1 - (number - operands.size())];
    };
    for (size_t i = 0; i < path.size(); ++i) {
      Node& node = nodes_[place(operands.size() + i)];
      node.left = place(path[i].left);
      node.right = place(path[i].right);
      node.operations = products[i].operations;
      node.labels.clear();
      for (const int label : products[i].labels) node.labels.push_back(labels_of_part_[static_cast<size_t>(label)]);
    }
  }

  const Network& network_;
  const size_t leaves_;
  std::vector<Node> nodes_;
  mutable LabelList labels_of_part_;  // what the part's labels are in the network
};

}  // namespace

Path improve_path(const Network& network, const Path& path, double limit) {
  Tree tree(network, path);
  for (int round = 0; round < kRounds && tree.improve(limit); ++round) continue;
  return tree.path();
}

}  // namespace oneflow::einsum
