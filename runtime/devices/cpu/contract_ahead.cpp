#include "contract_ahead.h"

#include <algorithm>

#include "thread_pool.h"

namespace oneflow::cpu {
namespace {

constexpr int64_t kLine = 64;
// Starts of one block; the rest of a block with more of them is not fetched.
constexpr int64_t kMostStarts = 1024;

}  // namespace

// One for each line from `begin` on, in bytes: as many as elements that may begin anywhere are likely to be on.
void Lines::add_starts(int64_t begin, int64_t count, int64_t item) {
  const int64_t bytes = count * item, lines = 1 + (bytes - item + kLine / 2) / kLine;
  for (int64_t i = 0; i < lines && start_count_ < kMostStarts; ++i)
    starts_[start_count_++] = begin * item + std::min(i * kLine, bytes - 1);
}

Lines::Lines(const Side& side, const Range& block, const DepthWalk& depth, int64_t item, int64_t steps)
    : steps_(steps),
      memory_((kMostStarts + std::max(block.count, depth.count) + steps) * static_cast<int64_t>(sizeof(int64_t))) {
  const Scratch work(std::max(block.count, kMostStarts) * static_cast<int64_t>(sizeof(Range)));
  starts_ = static_cast<int64_t*>(memory_.data());
  if (starts_ == nullptr || work.data() == nullptr || depth.count == 0) return;
  table_ = starts_ + kMostStarts;
  int64_t depth_runs = 0;
  for (int64_t p = 0; p < depth.count; p += depth.runs[p]) ++depth_runs;
  int64_t count;
  if (4 * depth_runs <= depth.count) {
    auto* rows = static_cast<int64_t*>(work.data());
    side.fill_offsets(block, rows);
    count = block.count;
    for (int64_t i = 0; i < count; ++i) table_[i] = rows[i] * item;
    for (int64_t p = 0; p < depth.count; p += depth.runs[p]) add_starts(depth.offsets[p], depth.runs[p], item);
  } else {
    auto* runs = static_cast<Range*>(work.data());
    const int64_t run_count = side.find_runs(block, kMostStarts, runs);
    count = depth.count;
    for (int64_t p = 0; p < count; ++p) table_[p] = depth.offsets[p] * item;
    for (int64_t i = 0; i < run_count; ++i) add_starts(runs[i].begin, runs[i].count, item);
  }
  parts_ = divide_up(count, steps);
  std::fill(table_ + count, table_ + parts_ * steps, table_[count - 1]);
}

}  // namespace oneflow::cpu
