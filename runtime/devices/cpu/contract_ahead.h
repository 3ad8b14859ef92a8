// Fetching what is packed next while the current block is multiplied: packing then finds it in the caches rather than
// in memory.
#ifndef ONEFLOW_DEVICES_CPU_CONTRACT_AHEAD_H_
#define ONEFLOW_DEVICES_CPU_CONTRACT_AHEAD_H_

#include "contract_kernels.h"
#include "contract_problem.h"
#include "contract_side.h"
#include "scratch.h"

namespace oneflow::cpu {

// The cache lines that a block of one side takes. The block is as regular as its rows or its depths are long: its lines
// are each of some starts plus each of a table of offsets.
class Lines {
 public:
  // `steps` is the most that a tile has. No lines where there is no memory for the tables.
  Lines(const Side& side, const Range& block, const DepthWalk& depth, int64_t item, int64_t steps);

 private:
  friend class Ahead;
  void add_starts(int64_t begin, int64_t count, int64_t item);

  Scratch memory_;
  int64_t* starts_ = nullptr;
  int64_t* table_ = nullptr;  // the last offset is there `steps` times more
  int64_t start_count_ = 0, table_size_ = 0;
};

// Which lines follow: of A and of B, each with the operand's first element; lines may be NULL.
struct Upcoming {
  const char* data[2] = {nullptr, nullptr};
  const Lines* lines[2] = {nullptr, nullptr};
};

// Hands out a share of these lines to the tiles of one task: to each a piece, which has one start and some offsets.
class Ahead {
 public:
  // This is task `index` of `count`, each of which has so many tiles, of so many steps.
  Ahead(const Upcoming& upcoming, int64_t index, int64_t count, int64_t tiles, int64_t steps);

  void give(TileTarget& tile) {
    if (left_ == 0) return;
    tile.ahead = data_ + lines_->starts_[start_];
    tile.ahead_offsets = lines_->table_ + place_;
    tile.ahead_shift = shift_;
    place_ += size_;
    if (--left_ == 0 || place_ < lines_->table_size_) return;
    place_ = 0;
    if (++start_ == lines_->start_count_) enter(side_ + 1, 0);
  }

 private:
  int64_t pieces(int side) const;
  void enter(int side, int64_t piece);

  const Upcoming& upcoming_;
  int shift_ = 0;
  int64_t size_;  // lines of a piece
  int64_t left_ = 0;
  int side_ = 0;
  const char* data_ = nullptr;
  const Lines* lines_ = nullptr;
  int64_t start_ = 0, place_ = 0;
};

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_CONTRACT_AHEAD_H_
