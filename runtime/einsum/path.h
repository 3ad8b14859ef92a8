// In which order to multiply several operands.
#ifndef ONEFLOW_EINSUM_PATH_H_
#define ONEFLOW_EINSUM_PATH_H_

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "einsum/network.h"

namespace oneflow::einsum {

// How to look for a path.
enum class Search {
  kAuto,     // exact for a few operands, otherwise greedy and then improved part by part
  kOptimal,  // exact: the time grows with 3 to the power of the number of operands, of which there are at most 16
  kGreedy,   // step by step
  kInOrder,  // from left to right
};
// By the words "auto", "optimal", "greedy", "none"; InvalidArgument for another one, which is that of `argument`.
Search parse_search(std::string_view word, const char* argument);

inline constexpr double kUnlimited = std::numeric_limits<double>::infinity();
// So many elements as a limit, of which 0 is none; InvalidArgument for a negative number, which is that of `argument`.
double limit_of(int64_t elements, const char* argument);

// The path with the fewest operations that the search finds, of those whose intermediates have at most `limit`
// elements; where it finds none, the one with the smallest intermediates.
Path find_path(const Network& network, Search search = Search::kAuto, double limit = kUnlimited);

// A path as pairs of positions in the list of what is left, one after the other: the two are taken out of it, and their
// product is put at its end. NumPy's and opt_einsum's way of writing one.
std::vector<int64_t> to_positions(const Path& path, size_t operands);
// InvalidArgument for positions that are no path for so many operands; `argument` is what the text calls them.
Path from_positions(std::span<const int64_t> positions, size_t operands, const char* argument);

}  // namespace oneflow::einsum

#endif  // ONEFLOW_EINSUM_PATH_H_
