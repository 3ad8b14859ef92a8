#include "einsum/exact_path.h"

#include <oneflow/types.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>

namespace oneflow::einsum {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
// Volumes are clamped to this value, so that sums of them stay finite.
constexpr double kHuge = 1e290;

// A set of labels as a bit set.
template <size_t words>
struct LabelSet {
  static constexpr size_t kCapacity = words * 64;

  uint64_t bits[words] = {};

  void add(size_t label) { bits[label / 64] |= uint64_t{1} << label % 64; }

  LabelSet& operator|=(const LabelSet& other) {
    for (size_t i = 0; i < words; ++i) bits[i] |= other.bits[i];
    return *this;
  }
  LabelSet& operator&=(const LabelSet& other) {
    for (size_t i = 0; i < words; ++i) bits[i] &= other.bits[i];
    return *this;
  }
  friend LabelSet operator|(LabelSet a, const LabelSet& b) { return a |= b; }
  bool operator==(const LabelSet&) const = default;
};

// The labels of a network, where labels that the same operands have are fused into one.
class FusedLabels {
 public:
  explicit FusedLabels(const Network& network) : operands_(network.operands.size()) {
    std::vector<uint32_t> owners(network.sizes.size());  // of each label: a bit for each operand, and for the output
    const auto add = [&](const LabelList& labels, size_t owner) {
      for (const int label : labels) owners[static_cast<size_t>(label)] |= uint32_t{1} << owner;
    };
    for (size_t i = 0; i < operands_; ++i) add(network.operands[i], i);
    add(network.output, operands_);
    for (size_t label = 0; label < owners.size(); ++label) {
      if (owners[label] == 0) continue;
      const auto at = static_cast<size_t>(std::find(owners_.begin(), owners_.end(), owners[label]) - owners_.begin());
      if (at == owners_.size()) {
        owners_.push_back(owners[label]);
        sizes_.push_back(1);
      }
      sizes_[at] *= network.sizes[label];
    }
    for (size_t label = 0; label < count(); label += kGroup) {
      auto& products = products_.emplace_back();
      products[0] = 1;
      for (size_t subset = 1; subset < kProducts; ++subset) {
        const size_t lowest = label + static_cast<size_t>(std::countr_zero(subset));
        products[subset] = products[subset & (subset - 1)] * (lowest < count() ? sizes_[lowest] : 1);
      }
    }
  }

  size_t count() const { return owners_.size(); }

  // Returns the labels of an operand, or of the output, whose number is the number of operands.
  template <class Set>
  Set of(size_t owner) const {
    Set labels;
    for (size_t label = 0; label < count(); ++label)
      if (owners_[label] >> owner & 1) labels.add(label);
    return labels;
  }

  template <size_t words>
  double volume(const LabelSet<words>& labels) const {
    double product = 1;
    for (size_t word = 0; word < words; ++word) {
      uint64_t left = labels.bits[word];
      for (size_t i = word * (64 / kGroup); left != 0; ++i, left >>= kGroup) product *= products_[i][left % kProducts];
    }
    return std::min(product, kHuge);
  }

 private:
  static constexpr size_t kGroup = 4, kProducts = size_t{1} << kGroup;

  const size_t operands_;
  std::vector<uint32_t> owners_;
  std::vector<double> sizes_;
  std::vector<std::array<double, kProducts>> products_;  // for each group of labels, the volume of each of its subsets
};

// Computes the best way to multiply each subset of the operands from the best ways for its subsets.
template <class Set>
class ExactSearch {
 public:
  ExactSearch(const FusedLabels& labels, size_t operands) : labels_(labels), best_(size_t{1} << operands) {
    for (size_t i = 0; i < operands; ++i) best_[size_t{1} << i].labels = labels.of<Set>(i);
    for (size_t set = 1; set < best_.size(); ++set)
      best_[set].labels = best_[set & (set - 1)].labels | best_[set & (~set + 1)].labels;
    std::vector<Set> inside;  // for each subset, the labels of its operands
    inside.reserve(best_.size());
    for (const Best& best : best_) inside.push_back(best.labels);
    const Set output = labels.of<Set>(operands);
    for (size_t set = 1; set < best_.size(); ++set) {
      if (!is_single(set)) best_[set].labels &= inside[all() ^ set] | output;
      best_[set].volume = labels.volume(best_[set].labels);
    }
  }

  Path find(double limit) {
    for (size_t set = 1; set < best_.size(); ++set)
      if (!is_single(set)) find_split(set, limit);
    if (best_[all()].cost == kNever) return find(smallest_limit());
    emit(all());
    return std::move(path_);
  }

 private:
  // The best way to multiply a subset.
  struct Best {
    Set labels;  // of the product
    double volume;
    double cost = 0;    // the operations of this product and of all products that it depends on
    double memory = 0;  // the elements of these products, which decide between equal costs
    size_t left = 0;    // the part of the best split that contains the lowest operand
  };

  size_t all() const { return best_.size() - 1; }
  static bool is_single(size_t set) { return std::has_single_bit(set); }

  // Calls visit(part) for all ways to split a set in two, with the part that contains the lowest operand.
  template <class Visit>
  static void for_each_split(size_t set, Visit&& visit) {
    const size_t lowest = set & (~set + 1);
    const size_t rest = set ^ lowest;
    for (size_t part = rest; part != 0;) {
      part = (part - 1) & rest;  // all proper subsets of the rest, in descending order
      visit(part | lowest);
    }
  }

  void find_split(size_t set, double limit) {
    Best& best = best_[set];
    best.cost = best.memory = kNever;
    if (set != all() && best.volume > limit) return;
    for_each_split(set, [&](size_t part) {
      const Best& left = best_[part];
      const Best& right = best_[set ^ part];
      double cost = left.cost + right.cost;
      if (cost > best.cost) return;
      const Set joined = left.labels | right.labels;
      cost += labels_.volume(joined) * (joined == best.labels ? 1 : 2);
      const double memory = left.memory + right.memory + best.volume;
      // Of equally good splits, the last one groups adjacent operands, whose labels mostly are adjacent in the result.
      if (cost < best.cost || (cost == best.cost && memory <= best.memory)) {
        best.cost = cost;
        best.memory = memory;
        best.left = part;
      }
    });
  }

  // Returns the size of the largest intermediate, minimized over all paths.
  double smallest_limit() const {
    std::vector<double> largest(best_.size(), 0);
    for (size_t set = 1; set < best_.size(); ++set) {
      if (is_single(set)) continue;
      double least = kNever;
      for_each_split(set, [&](size_t part) { least = std::min(least, std::max(largest[part], largest[set ^ part])); });
      largest[set] = set == all() ? least : std::max(least, best_[set].volume);
    }
    return largest[all()];
  }

  // Appends the steps that compute the product of a set to the path, and returns the product's number.
  size_t emit(size_t set) {
    if (is_single(set)) return static_cast<size_t>(std::countr_zero(set));
    const size_t left = emit(best_[set].left), right = emit(set ^ best_[set].left);
    path_.push_back({left, right});
    return static_cast<size_t>(std::countr_one(all())) + path_.size() - 1;
  }

  const FusedLabels& labels_;
  std::vector<Best> best_;
  Path path_;
};

}  // namespace

Path find_exact_path(const Network& network, double limit) {
  const size_t operands = network.operands.size();
  if (operands < 2 || operands > kMaxExactOperands) return {};
  if (operands == 2) return {{0, 1}};
  const FusedLabels labels(network);
  // A set of one word is sufficient for nearly all networks. The large set holds all labels of the most operands.
  using Few = LabelSet<1>;
  using Many = LabelSet<kMaxExactOperands * OF_MAX_RANK / 64>;
  return labels.count() <= Few::kCapacity ? ExactSearch<Few>(labels, operands).find(limit)
                                          : ExactSearch<Many>(labels, operands).find(limit);
}

}  // namespace oneflow::einsum
