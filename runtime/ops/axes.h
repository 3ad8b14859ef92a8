// Index maps in which a distance is a sum of dimensions of the input, which give the dimension maps of views.
#ifndef ONEFLOW_OPS_AXES_H_
#define ONEFLOW_OPS_AXES_H_

#include <optional>
#include <vector>

#include "dispatch/dimension_map.h"
#include "ops/index_map.h"

namespace oneflow {

// A sum of multiples of dimensions: how the index of an operand changes with an index of the result.
struct Axes {
  struct Term {
    int dim;
    int64_t factor = 1;
    Relation relation = Relation::kSame;
  };
  std::vector<Term> terms;

  friend Axes operator+(Axes a, const Axes& b) {
    a.terms.insert(a.terms.end(), b.terms.begin(), b.terms.end());
    return a;
  }
  friend Axes operator*(Axes axes, int64_t factor) {
    for (Term& term : axes.terms) term.factor *= factor;
    return axes;
  }
};

using AxesList = ItemList<Axes>;

struct AxisNumbers {
  using Size = Integer;
  using Sizes = Shape;
  using Step = Axes;
  using Steps = AxesList;

  static Axes before(const Axes&, int64_t) { return {}; }
  static Axes last() { return {}; }
  static Axes repeated(Axes axes);
  static Axes in_parts(Axes axes) { return axes; }
  static std::optional<Axes> in_pairs(Axes axes) { return axes; }
  static Axes one_part() { return {}; }
  static bool is_one_part(const Axes&) { return true; }
  // The texts of errors that only strides can cause.
  static std::string text(const AxesList&) { return {}; }
  static std::string text(const Axes&) { return {}; }
  static std::optional<AxesList> regrouped(const Shape& sizes, const AxesList& steps, const Shape& to);
};

// Returns the map of a tensor itself.
IndexMap<AxisNumbers> axes_of(const Tensor& tensor);

// Returns a map in which every dimension depends on every dimension of the input.
IndexMap<AxisNumbers> as_strided(IndexMap<AxisNumbers> map, Sizes sizes, Sizes strides, int64_t offset);

// Adds the links between an operand of the given sizes and a view of it.
void add_links(int operand, const Shape& sizes, const IndexMap<AxisNumbers>& view, DimensionMap& map);

}  // namespace oneflow

#endif  // ONEFLOW_OPS_AXES_H_
