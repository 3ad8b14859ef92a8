// Chains of pointwise work over the same elements, which run tile by tile: what one kernel writes is still in a cache
// when the next one reads it.
#ifndef ONEFLOW_GRAPH_SESSION_CHAINS_H_
#define ONEFLOW_GRAPH_SESSION_CHAINS_H_

#include <cstdint>
#include <vector>

#include "graph/session/work.h"

namespace oneflow::graph {

// How the iteration space of a kernel is cut: a tile has `rows` indices of dimension `dim`, one index of each dimension
// before it, and all of those after it.
struct Tiling {
  int dim;
  int64_t rows;
};

// A chain: consecutive pieces of work.
struct Chain {
  size_t first = 0;
  int64_t tile_count = 0;       // tiles have the same number of elements, but for the last one
  std::vector<Tiling> tilings;  // of each piece of work

  size_t end() const { return first + tilings.size(); }
};

// Returns the chains in the order of the work. `tile_bytes` is about how many bytes of operands a tile has; work with
// less than two tiles is in no chain.
std::vector<Chain> find_chains(const std::vector<Work>& works, uint64_t tile_bytes);

// An operand of a tile.
struct TileOperand {
  int rank;
  int64_t offset;  // in elements, of the first element of the tile
};

// Describes tile `number` of an operand; sets sizes[d] for each dimension of the tile.
TileOperand tile_of(const WorkOperand& operand, const Tiling& tiling, int64_t number, int64_t* sizes);

}  // namespace oneflow::graph

#endif  // ONEFLOW_GRAPH_SESSION_CHAINS_H_
