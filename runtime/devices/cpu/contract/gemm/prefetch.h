// Prefetching the operands of the next block while the current one is multiplied, so that packing finds them in the
// second-level cache rather than in memory.
//
// Each step of a micro-kernel prefetches one cache line. A block has too many cache lines to list: BlockLines describes
// them as the sums of a few start addresses and a table of offsets, and PrefetchSchedule assigns to each register tile
// a piece of that table with one start address.
#ifndef ONEFLOW_DEVICES_CPU_CONTRACT_GEMM_PREFETCH_H_
#define ONEFLOW_DEVICES_CPU_CONTRACT_GEMM_PREFETCH_H_

#include "contract/gemm/side.h"
#include "contract/kernels.h"
#include "contract/problem.h"
#include "threads/scratch.h"

namespace oneflow::cpu {

// The cache lines of a block of one operand: all sums of one of `starts` and one of `table`, in bytes. One of the two
// describes the rows and the other the depth, so that contiguous rows or a contiguous depth are a few starts.
class BlockLines {
 public:
  // `steps` is the largest depth of a micro-kernel. Has no lines where there is no memory for the tables.
  BlockLines(const Side& side, const Range& block, const DepthTable& depth, int64_t item, int64_t steps);

 private:
  friend class PrefetchSchedule;
  // Adds a start for each cache line of `count` contiguous elements.
  void add_starts(int64_t begin, int64_t count, int64_t item);

  Scratch memory_;
  int64_t* starts_ = nullptr;
  int64_t* table_ = nullptr;  // followed by `steps` copies of the last offset, for tiles with more steps than lines
  int64_t start_count_ = 0, table_size_ = 0;
};

// The next blocks of A and of B: the address of the operand's first element, and the cache lines, or NULL for none.
struct NextBlocks {
  const char* data[2] = {nullptr, nullptr};
  const BlockLines* lines[2] = {nullptr, nullptr};
};

// The share of one task in prefetching the next blocks, assigned to its register tiles one after the other.
class PrefetchSchedule {
 public:
  // The share of task `index` of `count` tasks, each of which has `tiles` register tiles of `steps` steps.
  PrefetchSchedule(const NextBlocks& next, int64_t index, int64_t count, int64_t tiles, int64_t steps);

  // Sets what the micro-kernel of the next tile prefetches.
  void assign_to(TileTarget& tile) {
    if (pieces_left_ == 0) return;
    tile.prefetch_base = data_ + lines_->starts_[start_];
    tile.prefetch_offsets = lines_->table_ + position_;
    tile.prefetch_shift = shift_;
    position_ += piece_size_;
    if (--pieces_left_ == 0 || position_ < lines_->table_size_) return;
    position_ = 0;
    if (++start_ == lines_->start_count_) seek(side_ + 1, 0);
  }

 private:
  int64_t pieces(int side) const;
  void seek(int side, int64_t piece);

  const NextBlocks& next_;
  int shift_ = 0;
  int64_t piece_size_;  // cache lines that one tile prefetches
  int64_t pieces_left_ = 0;
  int side_ = 0;
  const char* data_ = nullptr;
  const BlockLines* lines_ = nullptr;
  int64_t start_ = 0, position_ = 0;  // of the next piece, in the starts and the table of `lines_`
};

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_CONTRACT_GEMM_PREFETCH_H_
