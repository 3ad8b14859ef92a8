#include "graph/session/chains.h"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>

#include "base/dtype.h"
#include "graph/session/buffer_uses.h"

namespace oneflow::graph {

namespace {

// How far the size of a tile may be from the one that is wanted.
constexpr int64_t kSlack = 8;

const Shape& space_of(const Work& work) { return work.writes[0].sizes; }

// The buffers that pieces of work have, with the elements that these have of them.
class SharedBuffers {
 public:
  // Returns whether a piece of work can follow those that were added tile by tile: what both have and one writes must
  // be at the same index in both.
  bool suits(const Work& work) const {
    const auto agree = [&](const WorkOperand& operand, Elements Uses::*of) {
      const auto found = buffers_.find(operand.place.number);
      return operand.place.base != Base::kBuffer || found == buffers_.end() ||
             (found->second.*of).are_those_of(operand);
    };
    return std::ranges::all_of(work.reads, [&](const WorkOperand& read) { return agree(read, &Uses::written); }) &&
           std::ranges::all_of(work.writes, [&](const WorkOperand& write) {
             return agree(write, &Uses::read) && agree(write, &Uses::written);
           });
  }
  void add(const Work& work) {
    for (const WorkOperand& read : work.reads)
      if (read.place.base == Base::kBuffer) buffers_[read.place.number].read.add(read);
    for (const WorkOperand& write : work.writes)
      if (write.place.base == Base::kBuffer) buffers_[write.place.number].written.add(write);
  }

 private:
  // The elements of operands in one buffer.
  struct Elements {
    const WorkOperand* first = nullptr;
    bool differ = false;  // whether there are two operands with different elements, so that none has those of both

    void add(const WorkOperand& operand) {
      differ |= first && !have_same_elements(*first, operand);
      first = &operand;
    }
    bool are_those_of(const WorkOperand& operand) const {
      return !first || (!differ && have_same_elements(*first, operand));
    }
  };
  struct Uses {
    Elements read, written;
  };

  std::unordered_map<uint32_t, Uses> buffers_;
};

// Returns how to cut a space into tiles of `length` consecutive elements, if that gives boxes.
std::optional<Tiling> cut(Sizes sizes, int64_t length) {
  int64_t below = 1;  // the elements of the dimensions after `dim`
  for (int dim = static_cast<int>(sizes.size()) - 1; dim >= 0; --dim) {
    const int64_t whole = below * sizes[static_cast<size_t>(dim)];
    if (length % below == 0 && (dim == 0 || whole % length == 0)) return Tiling{dim, length / below};
    below = whole;
  }
  return {};
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

// Chooses the length of tiles that are boxes in all of some spaces: the one that is nearest to what is wanted. Returns
// 0 if there is none.
int64_t choose_length(const std::set<std::vector<int64_t>>& spaces, int64_t wanted) {
  int64_t chosen = 0;
  std::set<int64_t> seen;
  const auto distance = [&](int64_t length) { return length > wanted ? length / wanted : wanted / length; };
  const auto consider = [&](int64_t length) {
    if (length < 1 || distance(length) > kSlack || !seen.insert(length).second) return;
    if (chosen > 0 && distance(length) >= distance(chosen)) return;
    if (std::ranges::all_of(spaces, [&](Sizes sizes) { return cut(sizes, length).has_value(); })) chosen = length;
  };
  for (const Sizes sizes : spaces) {
    int64_t below = 1;
    for (int dim = static_cast<int>(sizes.size()) - 1; dim >= 0; below *= sizes[static_cast<size_t>(dim--)]) {
      if (dim == 0) consider(std::max<int64_t>(1, wanted / below) * below);
      if (below <= kSlack * wanted)
        for_each_divisor(sizes[static_cast<size_t>(dim)], [&](int64_t divisor) { consider(divisor * below); });
    }
  }
  return chosen;
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
    SharedBuffers buffers;
    buffers.add(works[first]);
    for (; end < works.size() && works[end].is_pointwise && count_elements(space_of(works[end])) == count &&
           buffers.suits(works[end]);
         ++end)
      buffers.add(works[end]);
    const std::span<const Work> chain(works.data() + first, end - first);
    const int64_t wanted = static_cast<int64_t>(tile_bytes) / bytes_per_element(chain);
    if (chain.size() < 2 || count < 2 * wanted) continue;
    std::set<std::vector<int64_t>> spaces;
    for (const Work& work : chain) spaces.emplace(space_of(work).begin(), space_of(work).end());
    const int64_t length = choose_length(spaces, wanted);
    if (length == 0) continue;
    Chain& found = chains.emplace_back(Chain{first, (count + length - 1) / length, {}});
    for (const Work& work : chain) found.tilings.push_back(*cut(space_of(work), length));
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
