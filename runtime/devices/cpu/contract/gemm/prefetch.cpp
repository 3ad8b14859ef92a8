#include "contract/gemm/prefetch.h"

#include <algorithm>

#include "threads/partition.h"

namespace oneflow::cpu {
namespace {

constexpr int64_t kLine = 64;
// The most starts of one block; lines beyond these are not prefetched.
constexpr int64_t kMostStarts = 1024;
// A tile prefetches a cache line at least every 2^kMaxShift steps.
constexpr int kMaxShift = 4;

}  // namespace

// The number of lines is the expected one for elements that may begin anywhere in a cache line.
void BlockLines::add_starts(int64_t begin, int64_t count, int64_t item) {
  const int64_t bytes = count * item, lines = 1 + (bytes - item + kLine / 2) / kLine;
  for (int64_t i = 0; i < lines && start_count_ < kMostStarts; ++i)
    starts_[start_count_++] = begin * item + std::min(i * kLine, bytes - 1);
}

BlockLines::BlockLines(const Side& side, const Range& block, const DepthTable& depth, int64_t item, int64_t steps)
    : memory_((kMostStarts + std::max(block.count, depth.count) + steps) * static_cast<int64_t>(sizeof(int64_t))) {
  const Scratch work(std::max(block.count, kMostStarts) * static_cast<int64_t>(sizeof(Range)));
  starts_ = static_cast<int64_t*>(memory_.data());
  if (starts_ == nullptr || work.data() == nullptr || depth.count == 0) return;
  table_ = starts_ + kMostStarts;
  int64_t depth_runs = 0;
  for (int64_t p = 0; p < depth.count; p += depth.runs[p]) ++depth_runs;
  if (4 * depth_runs <= depth.count) {
    auto* rows = static_cast<int64_t*>(work.data());
    side.fill_offsets(block, rows);
    table_size_ = block.count;
    for (int64_t i = 0; i < table_size_; ++i) table_[i] = rows[i] * item;
    for (int64_t p = 0; p < depth.count; p += depth.runs[p]) add_starts(depth.offsets[p], depth.runs[p], item);
  } else {
    auto* runs = static_cast<Range*>(work.data());
    const int64_t run_count = side.find_runs(block, kMostStarts, runs);
    table_size_ = depth.count;
    for (int64_t p = 0; p < table_size_; ++p) table_[p] = depth.offsets[p] * item;
    for (int64_t i = 0; i < run_count; ++i) add_starts(runs[i].begin, runs[i].count, item);
  }
  std::fill_n(table_ + table_size_, steps, table_[table_size_ - 1]);
}

// Prefetches are spread over the steps as evenly as possible: many at once would delay the loads of panels.
PrefetchSchedule::PrefetchSchedule(const NextBlocks& next, int64_t index, int64_t count, int64_t tiles, int64_t steps)
    : next_(next), piece_size_(steps) {
  const auto all = [&] { return pieces(0) + pieces(1); };
  for (; all() <= count * tiles && shift_ < kMaxShift; ++shift_) piece_size_ = divide_up(steps, int64_t{2} << shift_);
  if (all() > count * tiles && shift_ > 0) piece_size_ = divide_up(steps, int64_t{1} << --shift_);
  const int64_t first = all() * index / count;
  pieces_left_ = all() * (index + 1) / count - first;
  if (pieces_left_ > 0) seek(0, first);
}

// Returns into how many pieces the lines of one side are divided.
int64_t PrefetchSchedule::pieces(int side) const {
  const BlockLines* lines = next_.lines[side];
  return lines == nullptr ? 0 : lines->start_count_ * divide_up(lines->table_size_, piece_size_);
}

// Moves to a piece, counted from the first one of `side` on through those of the other side.
void PrefetchSchedule::seek(int side, int64_t piece) {
  if (piece >= pieces(side)) return seek(side + 1, piece - pieces(side));
  side_ = side;
  data_ = next_.data[side];
  lines_ = next_.lines[side];
  const int64_t parts = divide_up(lines_->table_size_, piece_size_);
  start_ = piece / parts;
  position_ = piece % parts * piece_size_;
}

}  // namespace oneflow::cpu
