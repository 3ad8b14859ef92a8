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
// Volumes beyond this are all the same; some more of them can still be added up.
constexpr double kHuge = 1e290;

// A set of labels, by their numbers.
template <size_t words>
struct LabelSet {
  static constexpr size_t kMost = words * 64;

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

// Labels that the same operands have are as one.
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
    for (size_t label = 0; label < count(); label += kPart) {
      auto& products = products_.emplace_back();
      products[0] = 1;
      for (size_t part = 1; part < kProducts; ++part) {
        const size_t lowest = label + static_cast<size_t>(std::countr_zero(part));
        products[part] = products[part & (part - 1)] * (lowest < count() ? sizes_[lowest] : 1);
      }
    }
  }

  size_t count() const { return owners_.size(); }

  // Those of an operand; of the output, whose number is behind the operands'.
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
      for (size_t i = word * (64 / kPart); left != 0; ++i, left >>= kPart) product *= products_[i][left % kProducts];
    }
    return std::min(product, kHuge);
  }

 private:
  static constexpr size_t kPart = 4, kProducts = size_t{1} << kPart;

  const size_t operands_;
  std::vector<uint32_t> owners_;
  std::vector<double> sizes_;
  std::vector<std::array<double, kProducts>> products_;  // of the sizes of any labels of each part
};

// The best way to multiply each subset of the operands, by the best ways for its parts.
template <class Set>
class ExactSearch {
 public:
  ExactSearch(const FusedLabels& labels, size_t operands) : labels_(labels), best_(size_t{1} << operands) {
    for (size_t i = 0; i < operands; ++i) best_[size_t{1} << i].labels = labels.of<Set>(i);
    for (size_t set = 1; set < best_.size(); ++set)
      best_[set].labels = best_[set & (set - 1)].labels | best_[set & (~set + 1)].labels;
    std::vector<Set> inside;  // the labels of a set's operands
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
  struct Best {
    Set labels;  // of the product
    double volume;
    double cost = 0;    // operations up to and with this product
    double memory = 0;  // elements of all products up to this one: decides between equal costs
    size_t left = 0;    // the part that holds the lowest member; the other is what remains
  };

  size_t all() const { return best_.size() - 1; }
  static bool is_single(size_t set) { return std::has_single_bit(set); }

  // Calls `visit` with the part that holds the lowest member, for all ways to split a set in two.
  template <class Visit>
  static void for_each_split(size_t set, Visit&& visit) {
    const size_t lowest = set & (~set + 1);
    const size_t rest = set ^ lowest;
    for (size_t part = rest; part != 0;) {
      part = (part - 1) & rest;  // all subsets of the rest but itself, down to the empty one
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
      // Of equals the last one, which keeps neighbours together: their labels are most often neighbours in the result.
      if (cost < best.cost || (cost == best.cost && memory <= best.memory)) {
        best.cost = cost;
        best.memory = memory;
        best.left = part;
      }
    });
  }

  // The fewest elements that the largest intermediate of any path can have.
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

  // The number of the set's product, once the steps to it are there.
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
  if (operands < 2 || operands > kMostExactOperands) return {};
  if (operands == 2) return {{0, 1}};
  const FusedLabels labels(network);
  // As many as so many operands may have; hardly ever more than one word holds.
  using Few = LabelSet<1>;
  using Many = LabelSet<kMostExactOperands * OF_MAX_RANK / 64>;
  return labels.count() <= Few::kMost ? ExactSearch<Few>(labels, operands).find(limit)
                                      : ExactSearch<Many>(labels, operands).find(limit);
}

}  // namespace oneflow::einsum
