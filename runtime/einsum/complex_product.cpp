#include "einsum/complex_product.h"

#include <algorithm>

namespace oneflow::einsum {

namespace {

// What products cost besides their multiplications; the unit is writing out the matrix of a number, some 3 ns.
// A product of two numbers where parts are multiplied with parts, by tiles that read one of them across.
constexpr double kProductOfParts = 0.006;
// A number whose part is summed where its neighbours are not, or the other way round.
constexpr double kAcross = 0.3;
// A result whose parts do not follow each other as those of the operand do that it lies along.
constexpr double kResultAcross = 1;

// Whether the numbers that lie next to each other are summed: their parts are then read one after the other where they
// are summed, too, and apart where they are not.
bool sums_neighbours(const Layout& layout, const Layout& out) {
  const Layout dims = in_memory_order(layout);
  return !dims.empty() && find(out, dims.back().label) == nullptr;
}

// Of how many products each result is the sum.
double products_summed(const Layout& layout, const Layout& out) {
  double products = 1;
  for (const LabelledDim& dim : layout)
    if (!find(out, dim.label)) products *= static_cast<double>(dim.size);
  return products;
}

// Whether sums go along the memory of both operands, of which one has no label of its own: the lines of the other one
// are read once, by dots of each part with each.
bool are_dots(const Layout& a, const Layout& b, const Layout& out) {
  return sums_neighbours(a, out) && sums_neighbours(b, out) && !is_outer(a, b) &&
         in_memory_order(a).back().label == in_memory_order(b).back().label;
}

// Whether a result lies along an operand.
bool lies_along(const Layout& layout, const Layout& out) {
  const Layout results = without_part(out);
  return !results.empty() && find(layout, results.back().label);
}

double cost_of_matrices(const Layout& written, const Layout& whole, const Layout& out) {
  double cost = elements_of(written);
  if (!sums_neighbours(whole, out)) cost += kAcross * elements_of(whole);
  if (!lies_along(written, out)) cost += kResultAcross * elements_of(out);
  return cost;
}

double cost_of_parts(const Layout& a, const Layout& b, const Layout& out) {
  double cost = elements_of(out) * (1 + kProductOfParts * products_summed(a, out));
  for (const Layout* layout : {&a, &b}) {
    if (!sums_neighbours(*layout, out)) continue;
    cost += kAcross * elements_of(*layout);
    if (lies_along(*layout, out)) cost += kResultAcross * elements_of(out);
  }
  return cost;
}

}  // namespace

ComplexProduct choose_complex_product(const Layout& a, const Layout& b, const Layout& out) {
  if (are_dots(a, b, out)) return ComplexProduct::kEachPart;
  const double of_a = cost_of_matrices(a, b, out), of_b = cost_of_matrices(b, a, out);
  if (cost_of_parts(a, b, out) < std::min(of_a, of_b)) return ComplexProduct::kEachPart;
  return of_a < of_b ? ComplexProduct::kMatricesOfA : ComplexProduct::kMatricesOfB;
}

Layout matrices_of(const Layout& layout, const Layout& out) {
  // The last dimensions are those that are summed, or those that are not, whichever the operand has last: they lie next
  // to the part that is.
  Layout dims = in_memory_order(layout);
  const auto is_summed = [&](const LabelledDim& dim) { return !find(out, dim.label); };
  const bool sums_last = !dims.empty() && is_summed(dims.back());
  const auto run =
      std::find_if(dims.rbegin(), dims.rend(), [&](const LabelledDim& dim) { return is_summed(dim) != sums_last; });
  dims.insert(run.base(), {sums_last ? kPart : kSummedPart, 2, 1});
  dims.push_back({sums_last ? kSummedPart : kPart, 2, 1});
  return without_gaps(std::move(dims));
}

Layout products_of_parts(const Layout& a, const Layout& out) {
  // Next to the last label is the part of the operand that has it, so that both are one dimension.
  Layout products = without_part(out);
  const bool is_of_a = lies_along(a, out);
  products.insert(products.begin(), {is_of_a ? kPart : kSummedPart, 2, 1});
  products.push_back({is_of_a ? kSummedPart : kPart, 2, 1});
  return without_gaps(std::move(products));
}

}  // namespace oneflow::einsum
