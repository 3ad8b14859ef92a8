// Searches for a path: the order in which to multiply several operands.
#ifndef ONEFLOW_EINSUM_PATH_H_
#define ONEFLOW_EINSUM_PATH_H_

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "einsum/network.h"

namespace oneflow::einsum {

// The ways to search for a path.
enum class Search {
  kAuto,     // exact for few operands, otherwise greedy followed by local improvement
  kOptimal,  // exact, for at most 16 operands: the time increases as 3 to the power of their number
  kGreedy,   // greedy
  kInOrder,  // none: multiplies from left to right
};
// Returns the search for "auto", "optimal", "greedy" or "none". Throws InvalidArgument for any other string; the error
// text names `argument`.
Search parse_search(std::string_view word, const char* argument);

inline constexpr double kUnlimited = std::numeric_limits<double>::infinity();
// Returns the limit of a number of elements, where 0 means unlimited. Throws InvalidArgument for a negative number; the
// error text names `argument`.
double limit_of(int64_t elements, const char* argument);

// Returns the path with the fewest operations that the search finds among those whose intermediates have at most
// `limit` elements; if it finds none, the path with the smallest intermediates.
Path find_path(const Network& network, Search search = Search::kAuto, double limit = kUnlimited);

// Returns a path in the notation of NumPy and opt_einsum: a flat list of pairs of positions in the list of remaining
// operands. Each step removes two operands and appends their product.
std::vector<int64_t> to_positions(const Path& path, size_t operands);
// Returns the path of a list of positions. Throws InvalidArgument if they are not a path for that number of operands;
// the error text names `argument`.
Path from_positions(std::span<const int64_t> positions, size_t operands, const char* argument);

}  // namespace oneflow::einsum

#endif  // ONEFLOW_EINSUM_PATH_H_
