#include "contract_gemm.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>

#include "contract_ahead.h"
#include "contract_depth.h"
#include "contract_kernels.h"
#include "contract_side.h"
#include "element.h"
#include "host.h"
#include "scratch.h"
#include "stream.h"
#include "thread_pool.h"

namespace oneflow::cpu {
namespace {

// The largest block of C that is computed at once. Smaller where the sums are collected outside of C.
constexpr int64_t kDirectBlock = 1024;
constexpr int64_t kCollectedBlock = 512;
// Where many blocks follow each other: the bytes that one, what is fetched for the next one, and the panels of the
// other side have in the second-level cache. A block is whole numbers of so many rows.
constexpr int64_t kCachedBytes = int64_t{900} << 10;
constexpr int64_t kBlockStep = 256;
// The most rows of a block that are turned: the pieces that are read are the longer, the more there are.
constexpr int64_t kMostTurned = 4096;
// The depth of a panel in bytes: a panel of B then fills most of a first-level cache, and the panels of a block, both
// sides, just under the 4 MiB that working memory may have.
constexpr int64_t kPanelDepthBytes = 1920;
// Panels of A that one task walks for each panel of B: they stay in the second-level cache.
constexpr int64_t kTaskPanels = 8;
// Multiplications, and elements of C for one part of the depth, below which handing work to another thread costs more
// than it saves.
constexpr int64_t kParallelWork = int64_t{1} << 21;
constexpr int64_t kParallelElements = 1 << 13;
// C is small enough to be kept several times, once per part of the depth, up to this many elements, parts, and elements
// of all parts together.
constexpr int64_t kSplitElements = 1 << 17;
constexpr int64_t kSplitParts = 32;
constexpr int64_t kSplitSums = 1 << 19;

template <class Task>
void run_each(bool parallel, int64_t count, Task&& task) {
  if (parallel) return parallel_for(count, task);
  for (int64_t i = 0; i < count; ++i) task(i);
}

struct Block {
  Range rows, columns;
};

// One member of the batch.
struct Member {
  const char* a;
  const char* b;
  char* c;
  const char* bias;
};

class Gemm final : public Solution {
 public:
  Gemm(const Problem& problem, const ContractKernels& kernels)
      : problem_(problem),
        kernels_(kernels),
        item_(item_size(problem.dtype)),
        depth_(problem_, kPanelDepthBytes / kernels.size) {
    const int64_t cells = problem.rows.count * problem.columns.count;
    if (cells <= kSplitElements)
      parts_ = std::clamp<int64_t>(depth_.blocks() / 4, 1, std::min(kSplitParts, kSplitSums / cells));
    is_direct_ = problem.is_plain() && parts_ == 1 && problem.depth.count > 0 && computes_in_itself(problem.dtype);
    streams_ = is_direct_ && depth_.blocks() == 1 && problem.batch.count * cells * item_ >= streamed_bytes();
    rows_.emplace(problem_.rows, kA, kernels, kernels.rows, true,
                  block_of(problem_.rows, problem_.columns, problem.rows_are_turned), problem.rows_are_turned);
    columns_.emplace(problem_.columns, kB, kernels, kernels.columns, false,
                     block_of(problem_.columns, problem_.rows, problem.columns_are_turned), problem.columns_are_turned);
  }

  of_status run(const Addresses& addresses) const override { return run_all(addresses) ? OF_OK : no_working_memory(); }

 private:
  bool run_all(const Addresses& addresses) const {
    const int64_t members = problem_.batch.count, items = members * blocks_per_member();
    const int64_t cells = problem_.rows.count * problem_.columns.count;
    const int64_t work = cells * std::max<int64_t>(1, problem_.depth.count);
    std::atomic<bool> complete{true};
    // Where blocks are large and few: one after the other, each on all threads.
    if (items < 2 * thread_count() && (members == 1 || work > 2 * kParallelWork)) {
      const bool parallel = work > kParallelWork && (parts_ > 1 || cells >= kParallelElements);
      for (int64_t i = 0; i < items; ++i)
        if (!run_block(member_of(addresses, i), i, parallel, {}, nullptr)) complete = false;
      return complete;
    }
    const int64_t tasks = work > kParallelWork / members ? std::min<int64_t>(items, 4 * thread_count()) : 1;
    parallel_for(tasks, [&](int64_t task) {
      if (!run_blocks(addresses, items * task / tasks, items * (task + 1) / tasks)) complete = false;
    });
    return complete;
  }

  // The blocks [first, last), by one thread.
  bool run_blocks(const Addresses& addresses, int64_t first, int64_t last) const {
    struct Next {
      int64_t block = -1;
      std::optional<Lines> lines;
    } rows, columns;
    const Scratch depth_table(depth_.table_size() * static_cast<int64_t>(sizeof(int64_t)));
    if (depth_table.data() == nullptr) return false;
    const auto lines_of = [&](Next& next, const Side& side, int64_t block) {
      if (next.block != block) {
        const DepthWalk walk = depth_.walk(0, side.operand(), static_cast<int64_t*>(depth_table.data()));
        next.lines.emplace(side, side.block(block), walk, item_, depth_.most());
      }
      next.block = block;
      return &*next.lines;
    };
    Kept kept;
    Member member = member_of(addresses, first);
    for (int64_t i = first; i < last; ++i) {
      Upcoming upcoming;
      const Member next = i + 1 < last ? member_of(addresses, i + 1) : member;
      if (is_direct_ && i + 1 < last) {
        const int64_t block = (i + 1) % blocks_per_member();
        const bool has_columns = keeps_columns() && next.b == member.b;
        upcoming = {{next.a, next.b},
                    {lines_of(rows, *rows_, block % rows_->blocks()),
                     has_columns ? nullptr : lines_of(columns, *columns_, block / rows_->blocks())}};
      }
      if (!run_block(member, i, false, upcoming, &kept)) return false;
      member = next;
    }
    return true;
  }

  // The panels of all columns, which serve the blocks of other rows as well.
  struct Kept {
    std::optional<Scratch> panels;
    const char* b = nullptr;
  };
  bool keeps_columns() const { return is_direct_ && depth_.blocks() == 1 && columns_->blocks() == 1; }

  // The member of the batch that a block, numbered through all of them, belongs to.
  Member member_of(const Addresses& addresses, int64_t item) const {
    const int64_t index = item / blocks_per_member();
    return {addresses.operands[kA] + item_ * offset_at(problem_.batch, kA, index),
            addresses.operands[kB] + item_ * offset_at(problem_.batch, kB, index),
            addresses.c + item_ * offset_at(problem_.batch, kC, index), addresses.operands[kBias]};
  }

  int64_t blocks_per_member() const { return rows_->blocks() * columns_->blocks(); }
  Block block_at(int64_t i) const { return {rows_->block(i % rows_->blocks()), columns_->block(i / rows_->blocks())}; }

  // About how many rows (or columns) a block has; `others` are those of the other side.
  int64_t block_of(const DimGroup& side, const DimGroup& others, bool is_turned) const {
    if (!is_direct_) return kCollectedBlock;
    const bool is_followed = depth_.blocks() == 1 && side.count > 4 * kDirectBlock && others.count <= kDirectBlock;
    if (!is_followed) return kDirectBlock;
    const int64_t row = kernels_.size * depth_.most();
    const int64_t fitting = (kCachedBytes - others.count * row) / 2 / row / kBlockStep * kBlockStep;
    return std::clamp(fitting, kBlockStep, is_turned ? kMostTurned : kDirectBlock);
  }

  bool run_block(const Member& member, int64_t item, bool parallel, const Upcoming& upcoming, Kept* kept) const {
    const Block block = block_at(item % blocks_per_member());
    const Scratch memory((3 * block.rows.count + 2 * block.columns.count) * static_cast<int64_t>(sizeof(int64_t)));
    auto* row_offsets = static_cast<int64_t*>(memory.data());
    if (row_offsets == nullptr) return false;
    int64_t* row_runs = row_offsets + block.rows.count;
    int64_t* column_offsets = row_runs + block.rows.count;
    fill_offsets(problem_.rows, kC, block.rows.begin, block.rows.count, row_offsets);
    fill_offsets(problem_.columns, kC, block.columns.begin, block.columns.count, column_offsets);
    fill_runs(row_offsets, block.rows.count, row_runs);
    const TileTarget target{member.c, row_offsets, column_offsets, block.rows.count, row_runs, false, streams_};
    if (is_direct_) return multiply(member, block, 0, depth_.blocks(), target, parallel, upcoming, kept);
    int64_t* bias_rows = column_offsets + block.columns.count;
    int64_t* bias_columns = bias_rows + block.rows.count;
    fill_offsets(problem_.rows, kBias, block.rows.begin, block.rows.count, bias_rows);
    fill_offsets(problem_.columns, kBias, block.columns.begin, block.columns.count, bias_columns);
    return collect(member, block,
                   {target, block.columns.count, problem_.alpha, problem_.beta, member.bias, bias_rows, bias_columns},
                   parallel);
  }

  // Sums outside of C, in the compute type, one set of them per part of the depth; then the last step.
  bool collect(const Member& member, const Block& block, const FinishTarget& target, bool parallel) const {
    const int64_t ld = block.rows.count;
    const int64_t sums_bytes = ld * block.columns.count * kernels_.size;
    const Scratch memory(parts_ * sums_bytes +
                         (2 * block.rows.count + block.columns.count) * static_cast<int64_t>(sizeof(int64_t)));
    auto* offsets = static_cast<int64_t*>(memory.data());
    if (offsets == nullptr) return false;
    int64_t* runs = offsets + block.rows.count;
    int64_t* columns = runs + block.rows.count;
    char* sums = reinterpret_cast<char*>(columns + block.columns.count);
    for (int64_t i = 0; i < block.rows.count; ++i) offsets[i] = i;
    for (int64_t j = 0; j < block.columns.count; ++j) columns[j] = j * ld;
    fill_runs(offsets, block.rows.count, runs);
    const auto part_target = [&](int64_t part, bool accumulate) {
      return TileTarget{sums + part * sums_bytes, offsets, columns, block.rows.count, runs, accumulate, false};
    };
    if (problem_.depth.count == 0) {
      std::memset(sums, 0, static_cast<size_t>(sums_bytes));
    } else {
      std::atomic<bool> complete{true};
      run_each(parallel && parts_ > 1, parts_, [&](int64_t part) {
        if (!multiply(member, block, depth_.blocks() * part / parts_, depth_.blocks() * (part + 1) / parts_,
                      part_target(part, false), parallel, {}, nullptr)) {
          complete = false;
        }
      });
      if (!complete) return false;
    }
    for (int64_t part = 1; part < parts_; ++part) {
      kernels_.finish(kernels_.dtype, sums + part * sums_bytes, ld,
                      {part_target(0, true), block.columns.count, 1, 1, nullptr, nullptr, nullptr});
    }
    kernels_.finish(problem_.dtype, sums, ld, target);
    return true;
  }

  // A block of C over the depth blocks [first, last), behind which `upcoming` is needed.
  bool multiply(const Member& member, const Block& block, int64_t first, int64_t last, const TileTarget& target,
                bool parallel, const Upcoming& upcoming, Kept* kept) const {
    const Panels a = rows_->panels(block.rows.count, depth_.most(), parallel);
    const Panels b = columns_->panels(block.columns.count, depth_.most(), parallel);
    const bool keeps_columns = kept != nullptr && this->keeps_columns();
    const bool has_columns = keeps_columns && kept->b == member.b;
    if (keeps_columns && !kept->panels) kept->panels.emplace(b.count * b.bytes);
    const int64_t a_table_size = rows_->table_size(block.rows.count);
    const Scratch tables((a_table_size + columns_->table_size(block.columns.count) + 2 * depth_.table_size()) *
                         static_cast<int64_t>(sizeof(int64_t)));
    const Scratch packed(a.count * a.bytes + (keeps_columns ? 0 : b.count * b.bytes));
    auto* a_table = static_cast<int64_t*>(tables.data());
    auto* a_panels = static_cast<char*>(packed.data());
    char* b_panels = keeps_columns ? static_cast<char*>(kept->panels->data()) : a_panels + a.count * a.bytes;
    if (a_table == nullptr || a_panels == nullptr || b_panels == nullptr) return false;
    int64_t* b_table = a_table + a_table_size;
    int64_t* depth_table = b_table + columns_->table_size(block.columns.count);
    rows_->fill_table(block.rows, a, a_table);
    if (!has_columns) columns_->fill_table(block.columns, b, b_table);

    const int64_t a_tasks = rows_->tasks(block.rows, a);
    const int64_t b_tasks = has_columns ? 0 : columns_->tasks(block.columns, b);
    const int64_t row_tasks = divide_up(a.count, kTaskPanels);
    const int64_t column_tasks =
        parallel ? std::clamp<int64_t>(4 * thread_count() / row_tasks, 1, std::max<int64_t>(1, b.count / 2)) : 1;
    DepthWalk a_depth, b_depth;
    const auto walk = [&](int64_t depth_block) {
      a_depth = depth_.walk(depth_block, kA, depth_table);
      b_depth = depth_.walk(depth_block, kB, depth_table + depth_.table_size());
    };
    walk(first);
    for (int64_t depth_block = first; depth_block < last; ++depth_block) {
      // Each thread's neighbours are a part of A and of B: those of A are the ones that it multiplies.
      const int64_t pack_tasks = std::max(a_tasks, b_tasks);
      run_each(parallel, pack_tasks, [&](int64_t task) {
        for (int64_t i = a_tasks * task / pack_tasks; i < a_tasks * (task + 1) / pack_tasks; ++i)
          rows_->pack(i, block.rows, a, a_table, problem_.dtype, member.a, a_depth, a_panels);
        for (int64_t i = b_tasks * task / pack_tasks; i < b_tasks * (task + 1) / pack_tasks; ++i)
          columns_->pack(i, block.columns, b, b_table, problem_.dtype, member.b, b_depth, b_panels);
      });
      if (keeps_columns) kept->b = member.b;
      const int64_t depth = a_depth.count, tasks = row_tasks * column_tasks;
      std::optional<Lines> a_lines, b_lines;
      Upcoming next = upcoming;
      if (depth_block + 1 < last) {
        walk(depth_block + 1);
        a_lines.emplace(*rows_, block.rows, a_depth, item_, depth_.most());
        b_lines.emplace(*columns_, block.columns, b_depth, item_, depth_.most());
        next = {{member.a, member.b}, {&*a_lines, &*b_lines}};
      }
      run_each(parallel, tasks, [&](int64_t task) {
        Ahead ahead(next, next.pieces() * task / tasks, next.pieces() * (task + 1) / tasks);
        const int64_t row_task = task / column_tasks, column_task = task % column_tasks;
        const int64_t row_begin = a.count * row_task / row_tasks, row_end = a.count * (row_task + 1) / row_tasks;
        const int64_t end = b.count * (column_task + 1) / column_tasks;
        for (int64_t j = b.count * column_task / column_tasks; j < end; ++j) {
          for (int64_t i = row_begin; i < row_end; ++i) {
            TileTarget tile = target;
            tile.row_offsets += a.start(i);
            tile.row_runs += a.start(i);
            tile.column_offsets += b.start(j);
            tile.rows = a.rows(i);
            tile.accumulate = depth_block > first;
            ahead.give(tile);
            kernels_.tile[b.width(j)](depth, a_panels + i * a.bytes, b_panels + j * b.bytes, tile);
          }
        }
        if (streams_) end_stream();
      });
    }
    return true;
  }

  const Problem problem_;
  const ContractKernels& kernels_;
  const int64_t item_;  // bytes of an element of the operands
  const Depth depth_;
  std::optional<Side> rows_, columns_;
  int64_t parts_ = 1;       // of the depth, each summed on its own
  bool is_direct_ = false;  // tiles are stored straight into C
  bool streams_ = false;    // and past the caches
};

}  // namespace

std::unique_ptr<Solution> solve_by_packing(const Problem& problem) {
  return std::make_unique<Gemm>(problem, contract_kernels(problem.dtype));
}

}  // namespace oneflow::cpu
