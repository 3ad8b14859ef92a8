#include "einsum/path.h"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace oneflow::einsum {

namespace {

constexpr size_t kOptimalOperands = 8;

double volume(const LabelSet& labels, std::span<const int64_t> sizes) {
  double product = 1;
  for (size_t label = 0; label < sizes.size(); ++label)
    if (labels[label]) product *= static_cast<double>(sizes[label]);
  return product;
}

// Exact: the best way to multiply each subset of the operands, by the best ways for its parts.
class Optimal {
 public:
  Optimal(std::span<const LabelSet> operands, const LabelSet& output, std::span<const int64_t> sizes)
      : count_(operands.size()), best_(size_t{1} << count_) {
    const size_t all = best_.size() - 1;
    for (size_t set = 1; set <= all; ++set) {
      LabelSet inside, outside = output;
      for (size_t i = 0; i < count_; ++i) (set >> i & 1 ? inside : outside) |= operands[i];
      best_[set].labels = std::has_single_bit(set) ? inside : inside & outside;
      best_[set].memory = volume(best_[set].labels, sizes);
    }
    for (size_t set = 1; set <= all; ++set)
      if (!std::has_single_bit(set)) find_split(set, sizes);
  }

  std::vector<Step> path() {
    emit(best_.size() - 1);
    return std::move(steps_);
  }

 private:
  struct Best {
    LabelSet labels;  // of the product
    double work = 0, memory = 0;
    size_t left = 0;  // the part that holds the lowest member; the other is what remains
  };

  void find_split(size_t set, std::span<const int64_t> sizes) {
    Best& best = best_[set];
    const double own_memory = best.memory;
    const size_t lowest = set & (~set + 1);
    const size_t rest = set ^ lowest;
    for (size_t part = rest;;) {
      part = (part - 1) & rest;  // all subsets of the rest but itself, down to the empty one
      const Best& left = best_[part | lowest];
      const Best& right = best_[set ^ (part | lowest)];
      const double work = left.work + right.work + volume(left.labels | right.labels, sizes);
      const double memory = left.memory + right.memory + own_memory;
      if (best.left == 0 || work < best.work || (work == best.work && memory < best.memory)) {
        best.left = part | lowest;
        best.work = work;
        best.memory = memory;
      }
      if (part == 0) break;
    }
  }

  // The number of the set's product, once the steps to it are there.
  size_t emit(size_t set) {
    if (std::has_single_bit(set)) return static_cast<size_t>(std::countr_zero(set));
    const size_t left = emit(best_[set].left), right = emit(set ^ best_[set].left);
    steps_.push_back({left, right, best_[set].labels});
    return count_ + steps_.size() - 1;
  }

  size_t count_;
  std::vector<Best> best_;
  std::vector<Step> steps_;
};

// Step by step. Each member knows its best partner among those that come after it, so that a step compares no more than
// one pair per member. What a pair is worth changes only by steps that one of the two takes part in.
class Greedy {
 public:
  Greedy(std::span<const LabelSet> operands, const LabelSet& output, std::span<const int64_t> sizes)
      : sizes_(sizes), uses_(sizes.size()) {
    count_uses(output, 1);
    for (const LabelSet& labels : operands) count_uses(labels, 1);
    for (const LabelSet& labels : operands) add(labels);
  }

  std::vector<Step> path() {
    std::vector<Step> steps;
    while (members_.size() > 1) {
      const auto left = std::min_element(members_.begin(), members_.end() - 1,
                                         [](const Member& a, const Member& b) { return a.best < b.best; });
      const auto right = find(left->best.partner);
      const LabelSet labels = product(left->labels, right->labels);
      steps.push_back({left->number, right->number, labels});
      for (const auto& member : {left, right}) count_uses(member->labels, -1);
      count_uses(labels, 1);
      const size_t gone[] = {left->number, right->number};
      members_.erase(right);
      members_.erase(left);
      for (auto member = members_.begin(); member != members_.end(); ++member)
        if (member->best.partner == gone[0] || member->best.partner == gone[1]) find_partner(member);
      add(labels);
    }
    return steps;
  }

 private:
  // What becomes of a pair. Pairs without a common label come last.
  struct Pair {
    size_t partner;
    bool is_outer;
    double growth;

    bool operator<(const Pair& other) const {
      return is_outer != other.is_outer ? other.is_outer : growth < other.growth;
    }
  };
  struct Member {
    size_t number;
    LabelSet labels;
    double volume;
    Pair best{kNone, true, 0};
  };
  static constexpr size_t kNone = SIZE_MAX;
  using Place = std::vector<Member>::iterator;

  void count_uses(const LabelSet& labels, int change) {
    for (size_t label = 0; label < sizes_.size(); ++label)
      if (labels[label]) uses_[label] += change;
  }

  LabelSet product(const LabelSet& a, const LabelSet& b) const {
    LabelSet kept;
    for (size_t label = 0; label < sizes_.size(); ++label) {
      const int inside = a[label] + b[label];
      kept[label] = inside > 0 && uses_[label] > inside;
    }
    return kept;
  }

  void compare(Member& member, const Member& other) const {
    const bool is_outer = (member.labels & other.labels).none();
    if (is_outer && !member.best.is_outer) return;
    const double growth = volume(product(member.labels, other.labels), sizes_) - member.volume - other.volume;
    const Pair pair{other.number, is_outer, growth};
    if (member.best.partner == kNone || pair < member.best) member.best = pair;
  }

  void find_partner(Place member) {
    member->best = {kNone, true, 0};
    for (Place other = member + 1; other != members_.end(); ++other) compare(*member, *other);
  }

  void add(const LabelSet& labels) {
    const Member added{next_++, labels, volume(labels, sizes_)};
    for (Member& member : members_) compare(member, added);
    members_.push_back(added);
  }

  Place find(size_t number) {
    return std::find_if(members_.begin(), members_.end(), [&](const Member& m) { return m.number == number; });
  }

  std::span<const int64_t> sizes_;
  std::vector<int> uses_;  // operands, and the output, that have the label
  std::vector<Member> members_;
  size_t next_ = 0;
};

}  // namespace

std::vector<Step> find_path(std::span<const LabelSet> operands, const LabelSet& output,
                            std::span<const int64_t> sizes) {
  if (operands.size() < 2) return {};
  if (operands.size() == 2) return {{0, 1, output}};
  if (operands.size() <= kOptimalOperands) return Optimal(operands, output, sizes).path();
  return Greedy(operands, output, sizes).path();
}

}  // namespace oneflow::einsum
