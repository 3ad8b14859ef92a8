#include "contract_ahead.h"

#include <algorithm>

#include "thread_pool.h"

namespace oneflow::cpu {
namespace {

constexpr int64_t kLine = 64;
// Starts of one block; the rest of a block with more of them is not fetched.
constexpr int64_t kMostStarts = 1024;
// The least often that a line is fetched, as a power of two of steps.
constexpr int kMostShift = 4;

}  // namespace

// One for each line from `begin` on, in bytes: as many as elements that may begin anywhere are likely to be on.
void Lines::add_starts(int64_t begin, int64_t count, int64_t item) {
  const int64_t bytes = count * item, lines = 1 + (bytes - item + kLine / 2) / kLine;
  for (int64_t i = 0; i < lines && start_count_ < kMostStarts; ++i)
    starts_[start_count_++] = begin * item + std::min(i * kLine, bytes - 1);
}

Lines::Lines(const Side& side, const Range& block, const DepthWalk& depth, int64_t item, int64_t steps)
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

// The lines come as evenly as they can: what comes at once is waited for by loads of panels. (ecd,edf->ecf of
// 8 x 512 x 128 and 1024 takes 0.95 of the time that one line with each step takes.)
Ahead::Ahead(const Upcoming& upcoming, int64_t index, int64_t count, int64_t tiles, int64_t steps)
    : upcoming_(upcoming), size_(steps) {
  const auto all = [&] { return pieces(0) + pieces(1); };
  for (; all() <= count * tiles && shift_ < kMostShift; ++shift_) size_ = divide_up(steps, int64_t{2} << shift_);
  if (all() > count * tiles && shift_ > 0) size_ = divide_up(steps, int64_t{1} << --shift_);
  const int64_t first = all() * index / count;
  left_ = all() * (index + 1) / count - first;
  if (left_ > 0) enter(0, first);
}

int64_t Ahead::pieces(int side) const {
  const Lines* lines = upcoming_.lines[side];
  return lines == nullptr ? 0 : lines->start_count_ * divide_up(lines->table_size_, size_);
}

// A piece of this side, or of the other one, if that is behind it.
void Ahead::enter(int side, int64_t piece) {
  if (piece >= pieces(side)) return enter(side + 1, piece - pieces(side));
  side_ = side;
  data_ = upcoming_.data[side];
  lines_ = upcoming_.lines[side];
  const int64_t parts = divide_up(lines_->table_size_, size_);
  start_ = piece / parts;
  place_ = piece % parts * size_;
}

}  // namespace oneflow::cpu
