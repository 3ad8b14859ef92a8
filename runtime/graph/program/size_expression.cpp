#include "graph/program/size_expression.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "base/error.h"

namespace oneflow::graph {

namespace {

using Samples = std::span<const int64_t>;
using Wide = __int128;

// A product of sizes, and its values.
struct Product {
  std::vector<Atom> atoms;
  std::vector<int64_t> samples;
};

bool is_same_everywhere(Samples samples) {
  return std::all_of(samples.begin(), samples.end(), [&](int64_t each) { return each == samples.front(); });
}

// Returns whether (factor * product + constant) / divisor has the given values, rounded down or, if `is_exact`, without
// a remainder.
bool holds(Samples values, Samples product, int64_t factor, int64_t constant, int64_t divisor, bool is_exact) {
  for (size_t run = 0; run < values.size(); ++run) {
    const Wide sum = Wide{factor} * product[run] + constant;
    const Wide remainder = (sum % divisor + divisor) % divisor;
    if ((sum - remainder) / divisor != values[run] || (is_exact && remainder != 0)) return false;
  }
  return true;
}

// Returns the two runs with the smallest and the largest value of a product.
std::pair<size_t, size_t> ends_of(Samples samples) {
  const auto [low, high] = std::minmax_element(samples.begin(), samples.end());
  return {static_cast<size_t>(low - samples.begin()), static_cast<size_t>(high - samples.begin())};
}

// Finds (factor * product + constant) / divisor without a remainder.
std::optional<SizeExpression> fit_line(Samples values, const Product& product) {
  const auto [low, high] = ends_of(product.samples);
  const Wide run = Wide{product.samples[high]} - product.samples[low], rise = Wide{values[high]} - values[low];
  if (run == 0 || rise == 0 || run > INT64_MAX || rise > INT64_MAX || rise < INT64_MIN) return {};
  const int64_t common = std::gcd(static_cast<int64_t>(run), static_cast<int64_t>(rise));
  const auto factor = static_cast<int64_t>(rise / common), divisor = static_cast<int64_t>(run / common);
  const Wide constant = Wide{values[low]} * divisor - Wide{factor} * product.samples[low];
  if (constant < INT64_MIN || constant > INT64_MAX) return {};
  const auto added = static_cast<int64_t>(constant);
  if (!holds(values, product.samples, factor, added, divisor, true)) return {};
  return SizeExpression{added, {{factor, product.atoms}}, divisor};
}

// Finds the floor of (product + constant) / divisor, with one of the constants that candidates(divisor) returns.
template <class Candidates>
std::optional<SizeExpression> fit_floor(Samples values, const Product& product, Candidates&& candidates) {
  const auto [low, high] = ends_of(product.samples);
  const int64_t run = product.samples[high] - product.samples[low], rise = values[high] - values[low];
  if (run <= 0 || rise <= 0) return {};
  const int64_t estimate = run / rise;
  for (int64_t divisor = std::max<int64_t>(2, estimate - 2); divisor <= std::min<int64_t>(estimate + 3, 128); ++divisor)
    for (const int64_t constant : candidates(divisor))
      if (holds(values, product.samples, 1, constant, divisor, false))
        return SizeExpression{constant, {{1, product.atoms}}, divisor};
  return {};
}

// Quotients that are rounded down or up, to which a small number is added.
std::vector<int64_t> usual_constants(int64_t divisor) {
  std::vector<int64_t> constants;
  for (const int64_t added : {0, 1, -1, 2, -2})
    constants.insert(constants.end(), {added * divisor, added * divisor + divisor - 1});
  return constants;
}

std::vector<int64_t> other_constants(int64_t divisor) {
  std::vector<int64_t> constants;
  for (int64_t i = 1; i <= 4 * divisor; ++i) constants.insert(constants.end(), {i, -i});
  return constants;
}

// Finds the floor of (size + constant) / divisor with the smallest divisor: larger ones can agree by chance.
template <class Candidates>
std::optional<SizeExpression> fit_smallest_floor(Samples values, std::span<const SampledSize> sizes,
                                                 Candidates&& candidates) {
  std::optional<SizeExpression> best;
  for (const SampledSize& size : sizes) {
    std::optional<SizeExpression> found = fit_floor(values, {{size.atom}, size.samples}, candidates);
    if (found && (!best || found->divisor < best->divisor)) best = std::move(found);
  }
  return best;
}

// Finds factor * a + factor * b + constant.
std::optional<SizeExpression> fit_two(Samples values, const SampledSize& a, const SampledSize& b) {
  // Solves the system of the differences to the first run, by Cramer's rule, for each pair of runs.
  const auto difference = [](Samples samples, size_t run) { return Wide{samples[run]} - samples[0]; };
  for (size_t i = 1; i < values.size(); ++i) {
    for (size_t k = i + 1; k < values.size(); ++k) {
      const Wide a1 = difference(a.samples, i), a2 = difference(a.samples, k);
      const Wide b1 = difference(b.samples, i), b2 = difference(b.samples, k);
      const Wide v1 = difference(values, i), v2 = difference(values, k);
      const Wide determinant = a1 * b2 - a2 * b1;
      if (determinant == 0) continue;
      const Wide x = v1 * b2 - v2 * b1, y = a1 * v2 - a2 * v1;
      if (x % determinant != 0 || y % determinant != 0) return {};
      const auto first = static_cast<int64_t>(x / determinant), second = static_cast<int64_t>(y / determinant);
      const Wide constant = values[0] - Wide{first} * a.samples[0] - Wide{second} * b.samples[0];
      for (size_t run = 0; run < values.size(); ++run)
        if (Wide{first} * a.samples[run] + Wide{second} * b.samples[run] + constant != values[run]) return {};
      return SizeExpression{static_cast<int64_t>(constant), {{first, {a.atom}}, {second, {b.atom}}}, 1};
    }
  }
  return {};
}

Product product_of(std::initializer_list<const SampledSize*> sizes) {
  Product result{{}, std::vector<int64_t>((*sizes.begin())->samples.size(), 1)};
  for (const SampledSize* size : sizes) {
    result.atoms.push_back(size->atom);
    for (size_t run = 0; run < result.samples.size(); ++run)
      if (__builtin_mul_overflow(result.samples[run], size->samples[run], &result.samples[run])) return {};
  }
  return result;
}

}  // namespace

void fail_overflow() { fail(OF_SHAPE_ERROR, "a size that follows from other sizes is too large"); }

std::optional<SizeExpression> fit(Samples samples, std::span<const SampledSize> sizes) {
  if (is_same_everywhere(samples)) return SizeExpression{samples.front(), {}, 1};
  for (const SampledSize& size : sizes)
    if (std::equal(samples.begin(), samples.end(), size.samples.begin()))
      return SizeExpression{0, {{1, {size.atom}}}, 1};
  // Several expressions can agree in all runs, so that the simplest ones come first.
  std::optional<SizeExpression> found;
  for (const SampledSize& size : sizes)
    if ((found = fit_line(samples, {{size.atom}, size.samples}))) return found;
  if ((found = fit_smallest_floor(samples, sizes, usual_constants))) return found;
  for (size_t i = 0; i < sizes.size(); ++i)
    for (size_t k = i; k < sizes.size(); ++k)
      if (const Product product = product_of({&sizes[i], &sizes[k]}); !product.atoms.empty())
        if ((found = fit_line(samples, product)) || (found = fit_floor(samples, product, usual_constants)))
          return found;
  for (size_t i = 0; i < sizes.size(); ++i)
    for (size_t k = i + 1; k < sizes.size(); ++k)
      if ((found = fit_two(samples, sizes[i], sizes[k]))) return found;
  // A number that has hardly changed would follow from anything.
  if (std::set(samples.begin(), samples.end()).size() >= 4)
    if ((found = fit_smallest_floor(samples, sizes, other_constants))) return found;
  for (size_t i = 0; i < sizes.size(); ++i)
    for (size_t k = i; k < sizes.size(); ++k)
      for (size_t m = k; m < sizes.size(); ++m)
        if (const Product product = product_of({&sizes[i], &sizes[k], &sizes[m]}); !product.atoms.empty())
          if ((found = fit_line(samples, product))) return found;
  return {};
}

}  // namespace oneflow::graph
