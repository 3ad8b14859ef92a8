#include "einsum/greedy_path.h"

#include <algorithm>
#include <map>
#include <queue>

namespace oneflow::einsum {

namespace {

// The most candidate pairs that are kept per operand. All pairs of thousands of operands with a common label would
// exhaust the memory.
constexpr size_t kMaxCandidates = 256;

// The search of find_greedy_path().
class GreedySearch {
 public:
  GreedySearch(const Network& network, double weight, double limit)
      : network_(network), contraction_(network), weight_(weight), limit_(limit), owners_(network.sizes.size()) {
    nodes_.reserve(2 * network.operands.size());
  }

  Path find() {
    for (const LabelList& labels : network_.operands) nodes_.push_back({labels, network_.volume(labels), true});
    multiply_same_labels();
    while (connect_all()) {  // repeated for nodes whose candidates have all been used by others
      while (!candidates_.empty()) {
        const Candidate best = candidates_.top();
        candidates_.pop();
        if (nodes_[best.left].is_unused && nodes_[best.right].is_unused) connect(multiply(best.left, best.right));
      }
    }
    multiply_unconnected();
    return std::move(path_);
  }

 private:
  // An operand or a product.
  struct Node {
    LabelList labels;
    double volume;
    bool is_unused;  // whether it has not been multiplied yet
  };
  // A pair of nodes that may be multiplied.
  struct Candidate {
    bool exceeds_limit;
    double score;
    size_t left, right;

    bool operator<(const Candidate& other) const {  // the best candidate is the greatest, the top of the queue
      if (exceeds_limit != other.exceeds_limit) return exceeds_limit;
      if (score != other.score) return score > other.score;
      return std::pair(left, right) > std::pair(other.left, other.right);
    }
  };

  // Appends the product of two nodes to the path, and returns its node.
  size_t multiply(size_t left, size_t right) {
    PairProduct product = contraction_.product(nodes_[left].labels, nodes_[right].labels);
    contraction_.replace(nodes_[left].labels, nodes_[right].labels, product.labels);
    nodes_[left].is_unused = nodes_[right].is_unused = false;
    path_.push_back({left, right});
    const double volume = network_.volume(product.labels);
    nodes_.push_back({std::move(product.labels), volume, true});
    return nodes_.size() - 1;
  }

  // Multiplies operands with the same labels first: their product is never larger than they are.
  void multiply_same_labels() {
    std::map<LabelList, size_t> known;
    for (size_t i = 0; i < network_.operands.size(); ++i) {
      const auto [first, is_new] = known.emplace(nodes_[i].labels, i);
      if (!is_new) first->second = multiply(first->second, i);
    }
  }

  // Collects the candidates of all nodes. Returns whether there are any.
  bool connect_all() {
    for (std::vector<size_t>& owners : owners_) owners.clear();
    for (size_t i = 0; i < nodes_.size(); ++i)
      if (nodes_[i].is_unused) connect(i);
    return !candidates_.empty();
  }

  // Adds the pairs of a node with all connected nodes that share a label with it, at most the kMaxCandidates best ones.
  void connect(size_t node) {
    std::vector<size_t> others;
    for (const int label : nodes_[node].labels) {
      std::vector<size_t>& owners = owners_[static_cast<size_t>(label)];
      std::erase_if(owners, [&](size_t owner) { return !nodes_[owner].is_unused; });
      others.insert(others.end(), owners.begin(), owners.end());
      owners.push_back(node);
    }
    std::sort(others.begin(), others.end());
    others.erase(std::unique(others.begin(), others.end()), others.end());
    std::vector<Candidate> found;
    for (const size_t other : others) {
      const double volume = network_.volume(contraction_.product(nodes_[other].labels, nodes_[node].labels).labels);
      const double score = volume - weight_ * (nodes_[other].volume + nodes_[node].volume);
      found.push_back({volume > limit_, score, other, node});
    }
    if (found.size() > kMaxCandidates) {
      const auto comes_first = [](const Candidate& a, const Candidate& b) { return b < a; };
      std::nth_element(found.begin(), found.begin() + kMaxCandidates, found.end(), comes_first);
      found.resize(kMaxCandidates);
    }
    for (const Candidate& each : found) candidates_.push(each);
  }

  // Multiplies the remaining nodes, which have no labels in common, starting with the smallest ones.
  void multiply_unconnected() {
    const auto is_larger = [&](size_t a, size_t b) {
      return std::pair(nodes_[a].volume, a) > std::pair(nodes_[b].volume, b);
    };
    std::priority_queue<size_t, std::vector<size_t>, decltype(is_larger)> left(is_larger);
    for (size_t i = 0; i < nodes_.size(); ++i)
      if (nodes_[i].is_unused) left.push(i);
    while (left.size() > 1) {
      const size_t first = left.top();
      left.pop();
      const size_t second = left.top();
      left.pop();
      left.push(multiply(std::min(first, second), std::max(first, second)));
    }
  }

  const Network& network_;
  Contraction contraction_;
  const double weight_, limit_;
  std::vector<Node> nodes_;
  std::vector<std::vector<size_t>> owners_;  // for each label, the connected nodes that have it
  std::priority_queue<Candidate> candidates_;
  Path path_;
};

}  // namespace

Path find_greedy_path(const Network& network, double weight, double limit) {
  return GreedySearch(network, weight, limit).find();
}

}  // namespace oneflow::einsum
