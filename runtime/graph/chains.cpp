#include "graph/chains.h"

#include <algorithm>
#include <optional>

#include "base/dtype.h"
#include "graph/buffer_uses.h"

namespace oneflow::graph {

namespace {

// How far the size of a tile may be from the one that is wanted.
constexpr int64_t kSlack = 8;

const Shape& space_of(const Work& work) { return work.writes[0].sizes; }

// Returns whether a piece of work can follow another one tile by tile: what both have and one writes must be at the
// same index in both.
bool can_follow(const Work& work, const Work& earlier) {
  const auto agree = [](const std::vector<WorkOperand>& some, const std::vector<WorkOperand>& others) {
    for (const WorkOperand& a : some)
      for (const WorkOperand& b : others)
        if (a.place.base == Base::kBuffer && b.place.base == Base::kBuffer && a.place.number == b.place.number &&
            !have_same_elements(a, b))
          return false;
    return true;
  };
  return agree(work.reads, earlier.writes) && agree(work.writes, earlier.reads) && agree(work.writes, earlier.writes);
}

// Returns how to cut a space into tiles of `length` consecutive elements, if that gives boxes.
std::optional<Tiling> cut(const Shape& sizes, int64_t length) {
  int64_t below = 1;  // the elements of the dimensions after `dim`
  for (int dim = sizes.rank() - 1; dim >= 0; --dim) {
    const int64_t whole = below * sizes[dim];
    if (length % below == 0 && (dim == 0 || whole % length == 0)) return Tiling{dim, length / below};
    below = whole;
  }
  return {};
}

// Returns how to cut all the work, if tiles of `length` elements are boxes for each.
std::vector<Tiling> cut_all(std::span<const Work> works, int64_t length) {
  std::vector<Tiling> tilings;
  for (const Work& work : works) {
    const std::optional<Tiling> tiling = cut(space_of(work), length);
    if (!tiling) return {};
    tilings.push_back(*tiling);
  }
  return tilings;
}

// Calls visit(divisor) for all divisors of a positive number.
template <class Visit>
void for_each_divisor(int64_t number, Visit&& visit) {
  for (int64_t i = 1; i * i <= number; ++i)
    if (number % i == 0) {
      visit(i);
      visit(number / i);
    }
}

// Chooses the length of tiles that is nearest to the one wanted.
std::vector<Tiling> choose_tiles(std::span<const Work> works, int64_t wanted, int64_t& chosen) {
  std::vector<Tiling> best;
  chosen = 0;
  const auto distance = [&](int64_t length) { return length > wanted ? length / wanted : wanted / length; };
  const auto consider = [&](int64_t length) {
    if (length < 1 || distance(length) > kSlack) return;
    if (chosen > 0 && distance(length) >= distance(chosen)) return;
    if (std::vector<Tiling> tilings = cut_all(works, length); !tilings.empty()) {
      best = std::move(tilings);
      chosen = length;
    }
  };
  for (const Work& work : works) {
    const Shape& sizes = space_of(work);
    int64_t below = 1;
    for (int dim = sizes.rank() - 1; dim >= 0; below *= sizes[dim--]) {
      if (dim == 0) consider(std::max<int64_t>(1, wanted / below) * below);
      if (below <= kSlack * wanted) for_each_divisor(sizes[dim], [&](int64_t divisor) { consider(divisor * below); });
    }
  }
  return best;
}

// Returns the most bytes per element of a piece of work.
int64_t bytes_per_element(std::span<const Work> works) {
  int64_t most = 1;
  for (const Work& work : works) {
    int64_t bytes = 0;
    for (const std::vector<WorkOperand>* operands : {&work.reads, &work.writes})
      for (const WorkOperand& operand : *operands)
        if (std::ranges::any_of(operand.strides, [](int64_t stride) { return stride != 0; }))
          bytes += dtype_size(operand.dtype);
    most = std::max(most, bytes);
  }
  return most;
}

}  // namespace

std::vector<Chain> find_chains(const std::vector<Work>& works, uint64_t tile_bytes) {
  std::vector<Chain> chains;
  for (size_t first = 0, end; first < works.size(); first = end) {
    end = first + 1;
    if (!works[first].is_pointwise) continue;
    const int64_t count = count_elements(space_of(works[first]));
    const auto follows_all = [&](const Work& work) {
      return work.is_pointwise && count_elements(space_of(work)) == count &&
             std::all_of(works.begin() + static_cast<std::ptrdiff_t>(first),
                         works.begin() + static_cast<std::ptrdiff_t>(end),
                         [&](const Work& earlier) { return can_follow(work, earlier); });
    };
    while (end < works.size() && follows_all(works[end])) ++end;
    const std::span<const Work> chain(works.data() + first, end - first);
    const int64_t wanted = static_cast<int64_t>(tile_bytes) / bytes_per_element(chain);
    if (chain.size() < 2 || count < 2 * wanted) continue;
    int64_t length = 0;
    std::vector<Tiling> tilings = choose_tiles(chain, wanted, length);
    if (!tilings.empty()) chains.push_back({first, (count + length - 1) / length, std::move(tilings)});
  }
  return chains;
}

TileOperand tile_of(const WorkOperand& operand, const Tiling& tiling, int64_t number, int64_t* sizes) {
  const auto [dim, rows] = tiling;
  const int64_t tiles = (operand.sizes[dim] + rows - 1) / rows;
  const int64_t first = number % tiles * rows;
  int64_t offset = first * operand.strides[dim], outer = number / tiles;
  for (int d = dim - 1; d >= 0; outer /= operand.sizes[d--]) offset += outer % operand.sizes[d] * operand.strides[d];
  sizes[0] = std::min(rows, operand.sizes[dim] - first);
  std::copy(operand.sizes.begin() + dim + 1, operand.sizes.end(), sizes + 1);
  return {operand.sizes.rank() - dim, offset};
}

}  // namespace oneflow::graph
