#include "ops/axes.h"

#include <algorithm>

namespace oneflow {

namespace {

Axes related(Axes axes, Relation relation, int64_t factor = 1) {
  for (Axes::Term& term : axes.terms) term.relation = std::max(term.relation, relation);
  return axes * factor;
}

// Adjacent dimensions before and after a change of shape that hold the same elements.
struct Group {
  int begin, end;          // the old dimensions
  int new_begin, new_end;  // the new dimensions
  bool fits;               // whether both have equally many elements
};

// Returns the smallest groups. A dimension of size 1 is a group of its own, unless both sides have one.
std::vector<Group> groups(const Shape& sizes, const Shape& to) {
  std::vector<Group> found;
  int i = 0, k = 0;
  while (i < sizes.rank() || k < to.rank()) {
    Group group{i, i, k, k, true};
    const bool old_is_one = i < sizes.rank() && sizes[i] == 1, new_is_one = k < to.rank() && to[k] == 1;
    int64_t old_count = i < sizes.rank() && !(new_is_one && !old_is_one) ? sizes[i++] : 1;
    int64_t new_count = k < to.rank() && !(old_is_one && !new_is_one) ? to[k++] : 1;
    while (old_count != new_count) {
      if (old_count < new_count && i < sizes.rank())
        old_count *= sizes[i++];
      else if (k < to.rank())
        new_count *= to[k++];
      else
        break;
    }
    group.end = i;
    group.new_end = k;
    group.fits = old_count == new_count;
    found.push_back(group);
  }
  return found;
}

// Returns the steps of the new dimensions of a group.
void append_steps(const Group& group, const AxesList& steps, const Shape& to, AxesList& result) {
  Axes all;
  for (int d = group.begin; d < group.end; ++d) all = all + steps[d];
  const int old_rank = group.end - group.begin, new_rank = group.new_end - group.new_begin;
  const Relation relation = !group.fits || (old_rank > 1 && new_rank > 1) ? Relation::kOpaque
                            : new_rank > 1                                ? Relation::kSplit
                            : old_rank > 1                                ? Relation::kMerged
                                                                          : Relation::kSame;
  for (int d = group.new_begin; d < group.new_end; ++d) {
    int64_t factor = 1;
    if (relation == Relation::kSplit)
      for (int inner = d + 1; inner < group.new_end; ++inner) factor *= to[inner];
    result.push_back(related(all, relation, factor));
  }
}

// Returns in how many dimensions of a view an operand's dimension occurs.
int count_uses(const IndexMap<AxisNumbers>& view, int dim) {
  int uses = 0;
  for (const Axes& axes : view.steps)
    for (const Axes::Term& term : axes.terms) uses += term.dim == dim;
  return uses;
}

}  // namespace

Axes AxisNumbers::repeated(Axes axes) { return related(std::move(axes), Relation::kBroadcast); }

std::optional<AxesList> AxisNumbers::regrouped(const Shape& sizes, const AxesList& steps, const Shape& to) {
  AxesList result;
  for (const Group& group : groups(sizes, to)) append_steps(group, steps, to, result);
  return result;
}

IndexMap<AxisNumbers> axes_of(const Tensor& tensor) {
  IndexMap<AxisNumbers> map{tensor.sizes(), {}, {}, tensor.dtype()};
  for (int d = 0; d < tensor.rank(); ++d) map.steps.push_back({{{d}}});
  return map;
}

IndexMap<AxisNumbers> as_strided(IndexMap<AxisNumbers> map, Sizes sizes, Sizes, int64_t) {
  Axes all;
  for (const Axes& axes : map.steps) all = all + related(axes, Relation::kOpaque);
  map.steps.assign(sizes.size(), all);
  map.sizes = sizes;
  return map;
}

void add_links(int operand, const Shape& sizes, const IndexMap<AxisNumbers>& view, DimensionMap& map) {
  for (int d = 0; d < sizes.rank(); ++d) {
    int64_t begin = 0;
    for (const Axes::Term& term : view.offset.terms)
      if (term.dim == d) begin += term.factor;
    const int uses = count_uses(view, d);
    if (uses == 0) map.add({operand, d, -1, Relation::kIndexed, 1, begin});
    for (int result = 0; result < view.sizes.rank(); ++result) {
      const auto& terms = view.steps[result].terms;
      for (const Axes::Term& term : terms) {
        if (term.dim != d) continue;
        const bool is_whole =
            term.factor == 1 && begin == 0 && view.sizes[result] == sizes[d] && uses == 1 && terms.size() == 1;
        const Relation relation = term.relation == Relation::kSame && !is_whole ? Relation::kWindowed : term.relation;
        map.add({operand, d, result, relation, term.factor, begin});
      }
    }
  }
}

}  // namespace oneflow
