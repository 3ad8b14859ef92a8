#include "einsum/complex_product.h"

#include <algorithm>

namespace oneflow::einsum {

namespace {

// The costs of the ways, apart from the multiplications that all have in common. The unit is the cost of writing out
// the matrix of one number.

// The additional cost of a product of two numbers by outer products, whose tiles read one operand with a stride.
constexpr double kOuterProduct = 0.006;
// The cost per number of an operand whose part is summed but whose innermost dimension is not, or vice versa: the part
// then cannot be merged with the innermost dimension.
constexpr double kStridedPart = 0.3;
// The cost per number of a result whose part is not adjacent to its last dimension, as in the operand with that label.
constexpr double kStridedResult = 1;

// Returns whether the innermost dimension in memory is summed over.
bool sums_innermost(const Layout& layout, const Layout& out) {
  const Layout dims = in_memory_order(layout);
  return !dims.empty() && find(out, dims.back().label) == nullptr;
}

// Returns the number of products of which each element of the result is the sum.
double products_summed(const Layout& layout, const Layout& out) {
  double products = 1;
  for (const LabelledDim& dim : layout)
    if (!find(out, dim.label)) products *= static_cast<double>(dim.size);
  return products;
}

// Returns whether the result consists of dot products along the memory of both operands, one of which has no label of
// its own. Outer products of the parts then read every line of the other operand only once.
bool are_dots(const Layout& a, const Layout& b, const Layout& out) {
  return sums_innermost(a, out) && sums_innermost(b, out) && !is_outer(a, b) &&
         in_memory_order(a).back().label == in_memory_order(b).back().label;
}

// Returns whether an operand has the last label of the result.
bool has_last_label(const Layout& layout, const Layout& out) {
  const Layout results = without_part(out);
  return !results.empty() && find(layout, results.back().label);
}

// Returns the cost of writing out the matrices of `written`, where the product sums over the part of `whole`.
double cost_of_matrices(const Layout& written, const Layout& whole, const Layout& out) {
  double cost = elements_of(written);
  if (!sums_innermost(whole, out)) cost += kStridedPart * elements_of(whole);
  if (!has_last_label(written, out)) cost += kStridedResult * elements_of(out);
  return cost;
}

// Returns the cost of outer products of the parts.
double cost_of_outer(const Layout& a, const Layout& b, const Layout& out) {
  double cost = elements_of(out) * (1 + kOuterProduct * products_summed(a, out));
  for (const Layout* layout : {&a, &b}) {
    if (!sums_innermost(*layout, out)) continue;
    cost += kStridedPart * elements_of(*layout);
    if (has_last_label(*layout, out)) cost += kStridedResult * elements_of(out);
  }
  return cost;
}

}  // namespace

ComplexProduct choose_complex_product(const Layout& a, const Layout& b, const Layout& out) {
  if (are_dots(a, b, out)) return ComplexProduct::kOuterOfParts;
  const double of_a = cost_of_matrices(a, b, out), of_b = cost_of_matrices(b, a, out);
  if (cost_of_outer(a, b, out) < std::min(of_a, of_b)) return ComplexProduct::kOuterOfParts;
  return of_a < of_b ? ComplexProduct::kMatricesOfA : ComplexProduct::kMatricesOfB;
}

Layout matrices_of(const Layout& layout, const Layout& out) {
  // The innermost dimensions up to the first of the other role are either all summed or all kept. The part of the same
  // role follows them, so that they merge with it into one dimension; the other part precedes them.
  Layout dims = in_memory_order(layout);
  const auto is_summed = [&](const LabelledDim& dim) { return !find(out, dim.label); };
  const bool sums_last = !dims.empty() && is_summed(dims.back());
  const auto run =
      std::find_if(dims.rbegin(), dims.rend(), [&](const LabelledDim& dim) { return is_summed(dim) != sums_last; });
  dims.insert(run.base(), {sums_last ? kPart : kSummedPart, 2, 1});
  dims.push_back({sums_last ? kSummedPart : kPart, 2, 1});
  return contiguous_layout(std::move(dims));
}

Layout products_of_parts(const Layout& a, const Layout& out) {
  // The part of the operand that has the last label follows that label, so that both merge into one dimension.
  Layout products = without_part(out);
  const bool is_of_a = has_last_label(a, out);
  products.insert(products.begin(), {is_of_a ? kPart : kSummedPart, 2, 1});
  products.push_back({is_of_a ? kSummedPart : kPart, 2, 1});
  return contiguous_layout(std::move(products));
}

}  // namespace oneflow::einsum
