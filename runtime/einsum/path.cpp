#include "einsum/path.h"

#include <algorithm>
#include <bit>

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
    for (size_t i = 0; i < count_; ++i) list_.push_back(size_t{1} << i);
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

  void emit(size_t set) {
    if (std::has_single_bit(set)) return;
    const size_t left = best_[set].left, right = set ^ left;
    emit(left);
    emit(right);
    int a = static_cast<int>(std::find(list_.begin(), list_.end(), left) - list_.begin());
    int b = static_cast<int>(std::find(list_.begin(), list_.end(), right) - list_.begin());
    if (a > b) std::swap(a, b);
    steps_.push_back({a, b});
    list_.erase(list_.begin() + b);
    list_.erase(list_.begin() + a);
    list_.push_back(set);
  }

  size_t count_;
  std::vector<Best> best_;
  std::vector<size_t> list_;  // what is still to be multiplied, as in the steps
  std::vector<Step> steps_;
};

std::vector<Step> greedy_path(std::span<const LabelSet> operands, const LabelSet& output,
                              std::span<const int64_t> sizes) {
  struct Member {
    LabelSet labels;
    double volume;
  };
  std::vector<Member> list;
  std::vector<int> uses(sizes.size());  // operands, and the output, that have the label
  const auto count_uses = [&](const LabelSet& labels, int change) {
    for (size_t label = 0; label < sizes.size(); ++label)
      if (labels[label]) uses[label] += change;
  };
  count_uses(output, 1);
  for (const LabelSet& operand : operands) {
    list.push_back({operand, volume(operand, sizes)});
    count_uses(operand, 1);
  }
  const auto product = [&](const LabelSet& a, const LabelSet& b) {
    LabelSet kept;
    for (size_t label = 0; label < sizes.size(); ++label) {
      const int inside = a[label] + b[label];
      kept[label] = inside > 0 && uses[label] > inside;
    }
    return kept;
  };

  std::vector<Step> steps;
  while (list.size() > 1) {
    Step best{0, 1};
    double best_growth = 0;
    bool best_shares = false, has_best = false;
    for (size_t i = 0; i < list.size(); ++i) {
      for (size_t j = i + 1; j < list.size(); ++j) {
        // Pairs without a common label only when there are no others.
        const bool shares = (list[i].labels & list[j].labels).any();
        if (has_best && best_shares && !shares) continue;
        const double growth = volume(product(list[i].labels, list[j].labels), sizes) - list[i].volume - list[j].volume;
        if (!has_best || (shares && !best_shares) || growth < best_growth) {
          best = {static_cast<int>(i), static_cast<int>(j)};
          best_growth = growth;
          best_shares = shares;
          has_best = true;
        }
      }
    }
    const auto left = list.begin() + best.left, right = list.begin() + best.right;
    const LabelSet kept = product(left->labels, right->labels);
    count_uses(left->labels, -1);
    count_uses(right->labels, -1);
    count_uses(kept, 1);
    list.erase(right);
    list.erase(left);
    list.push_back({kept, volume(kept, sizes)});
    steps.push_back(best);
  }
  return steps;
}

}  // namespace

std::vector<Step> find_path(std::span<const LabelSet> operands, const LabelSet& output,
                            std::span<const int64_t> sizes) {
  if (operands.size() < 2) return {};
  if (operands.size() == 2) return {{0, 1}};
  if (operands.size() <= kOptimalOperands) return Optimal(operands, output, sizes).path();
  return greedy_path(operands, output, sizes);
}

}  // namespace oneflow::einsum
