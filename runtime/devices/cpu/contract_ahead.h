// Fetching what is packed next while the current block is multiplied: packing then finds it in the caches rather than
// in memory.
#ifndef ONEFLOW_DEVICES_CPU_CONTRACT_AHEAD_H_
#define ONEFLOW_DEVICES_CPU_CONTRACT_AHEAD_H_

#include "contract_kernels.h"
#include "contract_problem.h"
#include "contract_side.h"
#include "scratch.h"

namespace oneflow::cpu {

// The cache lines that a block of one side takes, in pieces that a tile can fetch, one line with each step of its
// depth. The block is as regular as its rows or its depths are long: its lines are each of some starts plus each of a
// table of offsets.
class Lines {
 public:
  // `steps` is the most that a tile has. No pieces where there is no memory for the tables.
  Lines(const Side& side, const Range& block, const DepthWalk& depth, int64_t item, int64_t steps);

  int64_t pieces() const { return start_count_ * parts_; }

 private:
  friend class Ahead;
  void add_starts(int64_t begin, int64_t count, int64_t item);

  const int64_t steps_;
  Scratch memory_;
  int64_t* starts_ = nullptr;
  int64_t* table_ = nullptr;
  int64_t start_count_ = 0, parts_ = 1;
};

// Which lines follow: of A and of B, each with the operand's first element; lines may be NULL.
struct Upcoming {
  const char* data[2] = {nullptr, nullptr};
  const Lines* lines[2] = {nullptr, nullptr};

  int64_t pieces(int side) const { return lines[side] == nullptr ? 0 : lines[side]->pieces(); }
  int64_t pieces() const { return pieces(0) + pieces(1); }
};

// Hands out some of these pieces, one to each tile.
class Ahead {
 public:
  Ahead(const Upcoming& upcoming, int64_t first, int64_t last) : upcoming_(upcoming), left_(last - first) {
    if (left_ > 0) enter(0, first);
  }

  void give(TileTarget& tile) {
    if (left_ == 0) return;
    tile.ahead = data_ + lines_->starts_[start_];
    tile.ahead_offsets = lines_->table_ + part_ * lines_->steps_;
    if (--left_ == 0 || ++part_ < lines_->parts_) return;
    part_ = 0;
    if (++start_ == lines_->start_count_) enter(side_ + 1, 0);
  }

 private:
  // Piece `at` of this side, or of the other one, if that is behind it.
  void enter(int side, int64_t at) {
    if (at >= upcoming_.pieces(side)) return enter(side + 1, at - upcoming_.pieces(side));
    side_ = side;
    data_ = upcoming_.data[side];
    lines_ = upcoming_.lines[side];
    start_ = at / lines_->parts_;
    part_ = at % lines_->parts_;
  }

  const Upcoming& upcoming_;
  int64_t left_;
  int side_ = 0;
  const char* data_ = nullptr;
  const Lines* lines_ = nullptr;
  int64_t start_ = 0, part_ = 0;
};

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_CONTRACT_AHEAD_H_
