#include "einsum/improve_path.h"

#include <algorithm>

#include "einsum/exact_path.h"

namespace oneflow::einsum {

namespace {

// The number of operands of a subtree. One more triples the time of the exact search and gains little.
constexpr size_t kPartOperands = 8;
constexpr int kMaxRounds = 6;

// The products of a path as a tree, whose leaves are the operands. The labels of a product depend only on the leaves
// below it, so that a subtree can be replaced independently of the rest.
class Tree {
 public:
  Tree(const Network& network, const Path& path) : network_(network), leaves_(network.operands.size()) {
    for (const LabelList& labels : network.operands) nodes_.push_back({labels, 0, 0, 0});
    const std::vector<PairProduct> products = follow(network, path);
    for (size_t i = 0; i < path.size(); ++i)
      nodes_.push_back({products[i].labels, products[i].operations, path[i].left, path[i].right});
  }

  // Optimizes the subtree below each product. Returns whether any became cheaper.
  bool improve(double limit) {
    bool is_better = false;
    std::vector<size_t> order;
    collect_products(nodes_.size() - 1, order);
    for (const size_t root : order) is_better |= improve_part(root, limit);
    return is_better;
  }

  Path path() const {
    Path path;
    std::vector<size_t> numbers(nodes_.size());  // the number of each node in the path
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
  // An operand or a product.
  struct Node {
    LabelList labels;
    double operations;  // of this product only
    size_t left, right;
  };

  bool is_leaf(size_t node) const { return node < leaves_; }

  // Appends all products of the subtree `root`, each before its operands.
  void collect_products(size_t root, std::vector<size_t>& order) const {
    for (size_t next = order.size(), first = (order.push_back(root), next); first < order.size(); ++first) {
      for (const size_t child : {nodes_[order[first]].left, nodes_[order[first]].right})
        if (!is_leaf(child)) order.push_back(child);
    }
  }

  bool improve_part(size_t root, double limit) {
    // Extends the subtree by its most expensive operands first.
    std::vector<size_t> operands{nodes_[root].left, nodes_[root].right}, products{root};
    while (operands.size() < kPartOperands) {
      const auto is_cheaper = [&](size_t a, size_t b) { return nodes_[a].operations < nodes_[b].operations; };
      const auto expanded = std::max_element(operands.begin(), operands.end(), is_cheaper);
      if (is_leaf(*expanded)) break;  // leaves cost nothing, so that all operands are leaves
      const size_t product = *expanded;
      products.push_back(product);
      *expanded = nodes_[product].left;
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

  // Returns the network of a subtree. Its labels are renumbered, because it has few of them.
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

  // Stores the products of a path in the nodes of the former products; the last one becomes the root of the subtree.
  void replace(const std::vector<size_t>& operands, const std::vector<size_t>& nodes, const Path& path,
               const std::vector<PairProduct>& products) {
    const auto node_of = [&](size_t number) {
      return number < operands.size() ? operands[number] : nodes[nodes.size() - 1 - (number - operands.size())];
    };
    for (size_t i = 0; i < path.size(); ++i) {
      Node& node = nodes_[node_of(operands.size() + i)];
      node.left = node_of(path[i].left);
      node.right = node_of(path[i].right);
      node.operations = products[i].operations;
      node.labels.clear();
      for (const int label : products[i].labels) node.labels.push_back(labels_of_part_[static_cast<size_t>(label)]);
    }
  }

  const Network& network_;
  const size_t leaves_;
  std::vector<Node> nodes_;
  mutable LabelList labels_of_part_;  // the label in the network of each label of network_of()'s last result
};

}  // namespace

Path improve_path(const Network& network, const Path& path, double limit) {
  Tree tree(network, path);
  for (int round = 0; round < kMaxRounds && tree.improve(limit); ++round) continue;
  return tree.path();
}

}  // namespace oneflow::einsum
