// Fetching what the next block needs while the current one is computed: packing then finds it in the second-level cache
// rather than in memory.
#ifndef ONEFLOW_DEVICES_CPU_CONTRACT_AHEAD_H_
#define ONEFLOW_DEVICES_CPU_CONTRACT_AHEAD_H_

#include "contract_kernels.h"
#include "contract_problem.h"
#include "contract_side.h"
#include "scratch.h"

namespace oneflow::cpu {

// The cache lines that a block of one side takes over the whole depth, as offsets in bytes from the operand's first
// element.
class Lines {
 public:
  static constexpr int64_t kLine = 64;
  // More would not stay in the second-level cache until they are needed.
  static constexpr int64_t kMost = 8192;

  // `slack` is how many offsets a reader may take beyond the last one. None where there are too many lines, or no
  // memory for their offsets.
  Lines(const Side& side, const Range& block, const DimGroup& depth, int64_t item, int64_t slack);

  const int64_t* offsets() const { return static_cast<const int64_t*>(memory_.data()); }
  int64_t count() const { return count_; }

 private:
  Scratch memory_;
  int64_t count_ = 0;
};

// Hands out the lines of the next block in pieces, so that fetching them is spread over the work on the current one.
class Ahead {
 public:
  Ahead() = default;
  Ahead(const char* a, const Lines* a_lines, const char* b, const Lines* b_lines)
      : bases_{a, b}, lines_{a_lines, b_lines} {}

  // Adds the next piece of at most `count` lines to a tile's work.
  void give(int64_t count, TileTarget& tile) {
    for (; side_ < 2; ++side_, taken_ = 0) {
      if (lines_[side_] == nullptr || taken_ >= lines_[side_]->count()) continue;
      tile.ahead = bases_[side_];
      tile.ahead_offsets = lines_[side_]->offsets() + taken_;
      taken_ += count;
      return;
    }
  }

 private:
  const char* bases_[2] = {nullptr, nullptr};
  const Lines* lines_[2] = {nullptr, nullptr};
  int side_ = 0;
  int64_t taken_ = 0;
};

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_CONTRACT_AHEAD_H_
