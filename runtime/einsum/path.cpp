#include "einsum/path.h"

#include <algorithm>
#include <numeric>

#include "base/characters.h"
#include "base/error.h"
#include "einsum/exact_path.h"
#include "einsum/greedy_path.h"
#include "einsum/improve_path.h"

namespace oneflow::einsum {

namespace {

// The most operands for which Search::kAuto searches exactly, which is still fast.
constexpr size_t kMaxAutoExactOperands = 10;
// The weights with which the greedy search is tried. The best one depends on the network.
constexpr double kWeights[] = {1.0, 0.3, 0.0};
// The most operands for which all weights are tried. Larger networks use the first one only, to limit the search time.
constexpr size_t kMaxOperandsForAllWeights = 512;

Path path_in_order(size_t operands) {
  Path path;
  for (size_t i = 1; i < operands; ++i) path.push_back({i == 1 ? 0 : operands + i - 2, i});
  return path;
}

// Returns whether a path of cost `a` is better than one of cost `b`. A path within the limit is better than one that is
// not; of two within the limit, the one with fewer operations; otherwise, the one with the smaller intermediates.
bool is_better(const Cost& a, const Cost& b, double limit) {
  const bool fits_a = a.largest <= limit, fits_b = b.largest <= limit;
  if (fits_a != fits_b) return fits_a;
  return fits_a ? a.operations < b.operations : a.largest < b.largest;
}

Path find_good_path(const Network& network, double limit) {
  Path best;
  Cost best_cost;
  const size_t tries = network.operands.size() <= kMaxOperandsForAllWeights ? std::size(kWeights) : 1;
  for (size_t i = 0; i < tries; ++i) {
    Path path = improve_path(network, find_greedy_path(network, kWeights[i], limit), limit);
    const Cost cost = cost_of(network, path);
    if (best.empty() || is_better(cost, best_cost, limit)) {
      best = std::move(path);
      best_cost = cost;
    }
  }
  return best;
}

}  // namespace

Search parse_search(std::string_view word, const char* argument) {
  constexpr std::pair<std::string_view, Search> kWords[] = {
      {"auto", Search::kAuto}, {"optimal", Search::kOptimal}, {"greedy", Search::kGreedy}, {"none", Search::kInOrder}};
  for (const auto& [known, search] : kWords)
    if (word == known) return search;
  fail(OF_INVALID_ARGUMENT, "%s must be 'auto', 'optimal', 'greedy' or 'none', got '%s'", argument,
       printable(word).c_str());
}

double limit_of(int64_t elements, const char* argument) {
  if (elements < 0)
    fail(OF_INVALID_ARGUMENT, "%s must not be negative, got %ld", argument, static_cast<long>(elements));
  return elements == 0 ? kUnlimited : static_cast<double>(elements);
}

Path find_path(const Network& network, Search search, double limit) {
  const size_t operands = network.operands.size();
  if (operands < 2) return {};
  if (operands == 2) return {{0, 1}};
  if (search == Search::kInOrder) return path_in_order(operands);
  if (search == Search::kGreedy) return find_greedy_path(network, kWeights[0], limit);
  if (search == Search::kOptimal || operands <= kMaxAutoExactOperands) {
    Path path = find_exact_path(network, limit);
    if (!path.empty()) return path;
    if (search == Search::kOptimal)
      fail(OF_INVALID_ARGUMENT, "optimize='optimal' takes at most %zu operands, got %zu; use 'auto'", kMaxExactOperands,
           operands);
  }
  return find_good_path(network, limit);
}

std::vector<int64_t> to_positions(const Path& path, size_t operands) {
  std::vector<size_t> remaining(operands);
  std::iota(remaining.begin(), remaining.end(), size_t{0});
  std::vector<int64_t> positions;
  for (const Step& step : path) {
    const auto find = [&](size_t number) { return std::lower_bound(remaining.begin(), remaining.end(), number); };
    const auto first = find(std::min(step.left, step.right)), second = find(std::max(step.left, step.right));
    positions.push_back(first - remaining.begin());
    positions.push_back(second - remaining.begin());
    remaining.erase(second);
    remaining.erase(first);
    remaining.push_back(operands + positions.size() / 2 - 1);
  }
  return positions;
}

Path from_positions(std::span<const int64_t> positions, size_t operands, const char* argument) {
  const size_t expected = operands < 2 ? 0 : operands - 1;
  if (positions.size() % 2 != 0)
    fail(OF_INVALID_ARGUMENT, "%s must be pairs of positions, got %zu numbers", argument, positions.size());
  if (positions.size() / 2 != expected)
    fail(OF_INVALID_ARGUMENT, "%s must be %zu pair%s of positions for %zu operand%s, got %zu", argument, expected,
         expected == 1 ? "" : "s", operands, operands == 1 ? "" : "s", positions.size() / 2);
  std::vector<size_t> remaining(operands);
  std::iota(remaining.begin(), remaining.end(), size_t{0});
  Path path;
  for (size_t i = 0; i < expected; ++i) {
    const int64_t count = static_cast<int64_t>(remaining.size()), a = positions[2 * i], b = positions[2 * i + 1];
    if (a == b || std::min(a, b) < 0 || std::max(a, b) >= count)
      fail(OF_INVALID_ARGUMENT, "%s: pair %zu must be two different positions below %ld, got %ld and %ld", argument, i,
           static_cast<long>(count), static_cast<long>(a), static_cast<long>(b));
    path.push_back({remaining[static_cast<size_t>(a)], remaining[static_cast<size_t>(b)]});
    remaining.erase(remaining.begin() + std::max(a, b));
    remaining.erase(remaining.begin() + std::min(a, b));
    remaining.push_back(operands + i);
  }
  return path;
}

}  // namespace oneflow::einsum
