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
#include "strided.h"
#include "thread_pool.h"

namespace oneflow::cpu {
namespace {

// The depth of a panel in bytes: a panel of B then fills most of a first-level cache.
constexpr int64_t kPanelDepthBytes = 2048;
// Rows that are packed at once: their panels, and what is fetched for the next ones, stay in a second-level cache.
constexpr int64_t kPassingRows = 512;
// Columns of which the panels are kept while those of all rows pass by, for each thread that shares them (just under
// the 4 MiB that a thread's working memory may have) and for all of them (they stay in a third-level cache).
constexpr int64_t kKeptColumns = 1504, kMostKept = 4096;
// The largest block of C of which the sums are collected outside of it.
constexpr int64_t kCollectedBlock = 512;
// The most rows of a block, or columns, elsewhere.
constexpr int64_t kLargestBlock = 1008;
// Where many blocks follow each other: the bytes that one, what is fetched for the next one, and the panels of the
// other side have in the second-level cache. A block is whole numbers of so many rows.
constexpr int64_t kCachedBytes = int64_t{900} << 10;
constexpr int64_t kBlockStep = 256;
// The most rows of a block that are turned: the pieces that are read are the longer, the more there are.
constexpr int64_t kMostTurned = 4096;
// Panels of A that are walked for each panel of B: they stay in the second-level cache.
constexpr int64_t kWalkedPanels = 8;
// Parts of a product for each thread: threads that are done take from what others have left.
constexpr int64_t kThreadTasks = 4;
// Each thread packs and multiplies rows of its own if there are so many for it, or else all rows for columns of its
// own, if there are so many of those. (adec,ebd->abc, of long pieces, takes 0.85 to 0.95 of the time that it takes
// where all threads pack and multiply each block, eafd,fbec->abcd 0.94, 700^3 0.95.)
constexpr int64_t kOwnRows = 256, kOwnColumns = 896;
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

// The size of blocks of at most `most`, a multiple of so many.
int64_t even_block(int64_t count, int64_t most, int64_t multiple) {
  return divide_up(count, round_up(divide_up(count, most), multiple));
}

// The distance of neighbouring columns, in elements.
int64_t column_step(const Problem& problem) {
  return problem.columns.rank == 0 ? 0 : problem.columns.dims[0].strides[kB];
}

// Whether tiles take the columns from where they lie, rather than from panels: it is as quick unless those of a tile
// fall on one set of the first-level cache, come in short pieces, of which they use part of the cache lines, or are a
// small part of a long line. It saves packing them, which pays where blocks of other rows follow. (cad,dcb->ab of 280^3
// x 274 0.96 of the time, bhqk,bkhd->bqhd of heads of 64 0.84; acd,dbc->ab, in pieces, would take 1.07, ki,kj->ij of
// 200 x 20,000 and 128 columns 1.28.)
bool lie_in_place(const Problem& problem, const ContractKernels& kernels, const Depth& depth) {
  if (!computes_in_itself(problem.dtype) || kernels.depths_together > 1) return false;
  if (problem.columns_are_turned || problem.columns.rank > 1 || problem.rows.count > kLargestBlock) return false;
  if (depth.is_in_rectangles() && column_step(problem) > 1) return false;
  if (column_step(problem) == 1 && problem.columns.count > kLargestBlock) return false;
  return problem.columns.rank == 0 || column_step(problem) * kernels.size % kSameSet != 0;
}

// Blocks of rows, by their numbers, which are done together, and one of columns.
struct Block {
  int64_t first_rows, last_rows;
  Range columns;
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
        depth_(problem_, kPanelDepthBytes / kernels.size * kernels.depths_together) {
    const int64_t rows = problem.rows.count, columns = problem.columns.count, cells = rows * columns;
    const int64_t threads = thread_count(), members = problem.batch.count, work = cells * problem.depth.count;
    if (cells <= kSplitElements)
      parts_ = std::clamp<int64_t>(depth_.blocks() / 4, 1, std::min(kSplitParts, kSplitSums / cells));
    is_direct_ = problem.is_plain() && parts_ == 1 && problem.depth.count > 0 && computes_in_itself(problem.dtype);
    columns_lie_in_place_ = lie_in_place(problem, kernels, depth_);
    streams_ = is_direct_ && depth_.blocks() == 1 && members * cells * item_ >= streamed_tile_bytes();
    const bool columns_follow = is_followed(problem_.columns, problem_.rows);
    const bool passes_rows =
        is_direct_ && !problem.rows_are_turned && !columns_follow && !is_followed(problem_.rows, problem_.columns);
    const bool are_shared =
        parts_ == 1 && are_few(members) && cells >= kParallelElements && work > (members > 1 ? 2 : 1) * kParallelWork;
    const bool own_rows = are_shared && !columns_follow && rows >= kOwnRows * threads;
    const bool own_columns = are_shared && !own_rows && (columns_follow || columns >= kOwnColumns * threads);
    int64_t row_block = kCollectedBlock, column_block = kCollectedBlock;
    if (passes_rows) {
      row_block = own_rows || !are_shared ? kPassingRows : kLargestBlock;
      column_block = own_rows              ? std::min(threads * kKeptColumns, kMostKept)
                     : rows > kPassingRows ? kKeptColumns
                                           : kLargestBlock;
    } else if (is_direct_) {
      row_block = block_of(problem_.rows, problem_.columns, problem.rows_are_turned);
      column_block = block_of(problem_.columns, problem_.rows, problem.columns_are_turned);
    }
    if (own_rows) row_block = even_block(rows, std::min(row_block, divide_up(rows, kThreadTasks * threads)), threads);
    if (own_columns) column_block = even_block(columns, column_block, 2 * threads);
    rows_.emplace(problem_.rows, kA, kernels, kernels.rows, true, row_block, problem.rows_are_turned);
    columns_.emplace(problem_.columns, kB, kernels, kernels.columns, false, column_block, problem.columns_are_turned);
    row_blocks_ = passes_rows  ? rows_->blocks()
                  : is_direct_ ? 1
                               : std::max<int64_t>(1, kCollectedBlock / rows_->most());
    row_groups_ = divide_up(rows_->blocks(), row_blocks_);
  }

  of_status run(const Addresses& addresses) const override { return run_all(addresses) ? OF_OK : no_working_memory(); }

 private:
  bool run_all(const Addresses& addresses) const {
    const int64_t members = problem_.batch.count, items = members * blocks_per_member();
    const int64_t cells = problem_.rows.count * problem_.columns.count;
    const int64_t work = cells * std::max<int64_t>(1, problem_.depth.count);
    std::atomic<bool> complete{true};
    // Where blocks are large and few: one after the other, each on all threads.
    if (are_few(items) && (members == 1 || work > 2 * kParallelWork)) {
      const bool parallel = work > kParallelWork && (parts_ > 1 || cells >= kParallelElements);
      for (int64_t i = 0; i < items; ++i)
        if (!run_block(member_of(addresses, i), i, parallel, {}, nullptr)) complete = false;
      return complete;
    }
    const int64_t tasks = work > kParallelWork / members ? std::min<int64_t>(items, kThreadTasks * thread_count()) : 1;
    parallel_for(tasks, [&](int64_t task) {
      if (!run_blocks(addresses, items * task / tasks, items * (task + 1) / tasks)) complete = false;
    });
    return complete;
  }

  // Whether threads would not have as much to do as each other with so many blocks.
  static bool are_few(int64_t blocks) { return blocks < 2 * thread_count() && blocks % thread_count() != 0; }

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
                    {lines_of(rows, *rows_, block % row_groups_ * row_blocks_),
                     has_columns ? nullptr : lines_of(columns, *columns_, block / row_groups_)}};
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
  bool keeps_columns() const {
    return is_direct_ && !columns_lie_in_place_ && depth_.blocks() == 1 && columns_->blocks() == 1;
  }

  // The member of the batch that a block, numbered through all of them, belongs to.
  Member member_of(const Addresses& addresses, int64_t item) const {
    const int64_t index = item / blocks_per_member();
    return {addresses.operands[kA] + item_ * offset_at(problem_.batch, kA, index),
            addresses.operands[kB] + item_ * offset_at(problem_.batch, kB, index),
            addresses.c + item_ * offset_at(problem_.batch, kC, index), addresses.operands[kBias]};
  }

  int64_t blocks_per_member() const { return row_groups_ * columns_->blocks(); }
  Block block_at(int64_t i) const {
    const int64_t first = i % row_groups_ * row_blocks_;
    return {first, std::min(first + row_blocks_, rows_->blocks()), columns_->block(i / row_groups_)};
  }

  // Whether many blocks of one side follow each other, which all need the same panels of the other one.
  bool is_followed(const DimGroup& side, const DimGroup& others) const {
    return depth_.blocks() == 1 && side.count > 4 * kLargestBlock && others.count <= kLargestBlock;
  }

  // About how many rows (or columns) a block has; `others` are those of the other side.
  int64_t block_of(const DimGroup& side, const DimGroup& others, bool is_turned) const {
    if (!is_followed(side, others)) return kLargestBlock;
    const int64_t row = kernels_.size * depth_.most();
    const int64_t fitting = (kCachedBytes - others.count * row) / 2 / row / kBlockStep * kBlockStep;
    return std::clamp(fitting, kBlockStep, is_turned ? kMostTurned : kLargestBlock);
  }

  bool run_block(const Member& member, int64_t item, bool parallel, const Upcoming& upcoming, Kept* kept) const {
    const Block block = block_at(item % blocks_per_member());
    const int64_t count = block.columns.count;
    if (!is_direct_) return collect(member, block, parallel);
    const Scratch memory(count * static_cast<int64_t>(sizeof(int64_t)));
    auto* column_offsets = static_cast<int64_t*>(memory.data());
    if (column_offsets == nullptr) return false;
    fill_offsets(problem_.columns, kC, block.columns.begin, count, column_offsets);
    const auto target_of = [&](const Range& rows, int64_t* row_offsets, int64_t* row_runs) {
      fill_offsets(problem_.rows, kC, rows.begin, rows.count, row_offsets);
      fill_runs(row_offsets, rows.count, row_runs);
      return TileTarget{member.c, row_offsets, column_offsets, rows.count, row_runs, false, streams_};
    };
    return multiply(member, block, 0, depth_.blocks(), target_of, parallel, upcoming, kept);
  }

  // Sums outside of C, in the compute type, one set of them per part of the depth; then the last step.
  bool collect(const Member& member, const Block& block, bool parallel) const {
    const Range last_rows = rows_->block(block.last_rows - 1), &columns = block.columns;
    const int64_t begin = rows_->block(block.first_rows).begin, ld = last_rows.begin + last_rows.count - begin;
    const int64_t sums_bytes = ld * columns.count * kernels_.size;
    const Scratch memory(parts_ * sums_bytes + (4 * ld + 3 * columns.count) * static_cast<int64_t>(sizeof(int64_t)));
    auto* offsets = static_cast<int64_t*>(memory.data());
    if (offsets == nullptr) return false;
    int64_t *runs = offsets + ld, *c_rows = runs + ld, *bias_rows = c_rows + ld;
    int64_t *column_offsets = bias_rows + ld, *c_columns = column_offsets + columns.count;
    int64_t* bias_columns = c_columns + columns.count;
    char* sums = reinterpret_cast<char*>(bias_columns + columns.count);
    for (int64_t i = 0; i < ld; ++i) offsets[i] = i;
    for (int64_t j = 0; j < columns.count; ++j) column_offsets[j] = j * ld;
    fill_runs(offsets, ld, runs);
    if (problem_.depth.count == 0) {
      std::memset(sums, 0, static_cast<size_t>(sums_bytes));
    } else {
      std::atomic<bool> complete{true};
      run_each(parallel && parts_ > 1, parts_, [&](int64_t part) {
        const auto target_of = [&](const Range& rows, int64_t*, int64_t*) {
          const int64_t row = rows.begin - begin;
          return TileTarget{
              sums + part * sums_bytes, offsets + row, column_offsets, rows.count, runs + row, false, false};
        };
        if (!multiply(member, block, depth_.blocks() * part / parts_, depth_.blocks() * (part + 1) / parts_, target_of,
                      parallel && parts_ == 1, {}, nullptr)) {  // of several parts each is one thread's
          complete = false;
        }
      });
      if (!complete) return false;
    }
    const TileTarget first{sums, offsets, column_offsets, ld, runs, true, false};
    for (int64_t part = 1; part < parts_; ++part)
      kernels_.finish(kernels_.dtype, sums + part * sums_bytes, ld,
                      {first, columns.count, 1, 1, nullptr, nullptr, nullptr});
    fill_offsets(problem_.rows, kC, begin, ld, c_rows);
    fill_offsets(problem_.columns, kC, columns.begin, columns.count, c_columns);
    fill_offsets(problem_.rows, kBias, begin, ld, bias_rows);
    fill_offsets(problem_.columns, kBias, columns.begin, columns.count, bias_columns);
    fill_runs(c_rows, ld, runs);
    kernels_.finish(problem_.dtype, sums, ld,
                    {{member.c, c_rows, c_columns, ld, runs, false, false},
                     columns.count,
                     problem_.alpha,
                     problem_.beta,
                     member.bias,
                     bias_rows,
                     bias_columns});
    return true;
  }

  // How both operands lie in one block of the depth.
  struct Step {
    DepthWalk a, b;
  };

  // Rows or columns, and their panels; `in_place` is where columns are that are not packed.
  struct Packed {
    Range range;
    Panels panels;
    int64_t* table;
    char* data;
    ColumnSource in_place;
  };

  // A block of C over the depth blocks [first, last), behind which `upcoming` is needed. target_of(rows, offsets, runs)
  // is where the sums of some rows go; it may fill the tables.
  template <class TargetOf>
  bool multiply(const Member& member, const Block& block, int64_t first, int64_t last, TargetOf&& target_of,
                bool parallel, const Upcoming& upcoming, Kept* kept) const {
    const Range& range = block.columns;
    Packed columns{range, columns_->panels(range.count, depth_.most(), parallel), nullptr, nullptr, {}};
    const int64_t bytes = columns_lie_in_place_ ? 0 : columns.panels.count * columns.panels.bytes;
    const bool keeps_columns = kept != nullptr && this->keeps_columns();
    const bool has_columns = columns_lie_in_place_ || (keeps_columns && kept->b == member.b);
    if (keeps_columns && !kept->panels) kept->panels.emplace(bytes);
    const int64_t table_size = columns_->table_size(range.count);
    const Scratch tables((table_size + 4 * depth_.table_size()) * static_cast<int64_t>(sizeof(int64_t)));
    const Scratch memory(keeps_columns ? 0 : bytes);
    columns.table = static_cast<int64_t*>(tables.data());
    columns.data = static_cast<char*>(keeps_columns ? kept->panels->data() : memory.data());
    if (columns.table == nullptr || (columns.data == nullptr && bytes > 0)) return false;
    if (!has_columns) columns_->fill_table(range, columns.panels, columns.table);
    const auto step_at = [&](int64_t depth_block) {
      int64_t* table = columns.table + table_size + depth_block % 2 * 2 * depth_.table_size();
      return Step{depth_.walk(depth_block, kA, table),
                  depth_.walk(depth_block, kB, table + depth_.table_size(), columns_lie_in_place_)};
    };

    const int64_t row_blocks = block.last_rows - block.first_rows;
    // Each thread has rows of its own, or all do all of it.
    const bool own_rows = parallel && row_blocks >= thread_count();
    std::atomic<bool> complete{true};
    Step now = step_at(first), later = now;
    for (int64_t depth_block = first; depth_block < last; ++depth_block, now = later) {
      const bool is_last = depth_block + 1 == last;
      if (!is_last) later = step_at(depth_block + 1);
      const int64_t distance = column_step(problem_);
      columns.in_place = {member.b + range.begin * distance * item_, distance, now.b.offsets};
      if (own_rows && !has_columns) pack_columns(member, columns, now, parallel);
      run_each(own_rows, row_blocks, [&](int64_t i) {
        std::optional<Lines> a_lines, b_lines;
        Upcoming next;
        const Range share = own_rows ? share_of(i, row_blocks) : Range{0, row_blocks};
        const bool ends_share = i + 1 == share.begin + share.count;
        if (!ends_share || !is_last) {
          const Range rows = rows_->block(block.first_rows + (ends_share ? share.begin : i + 1));
          a_lines.emplace(*rows_, rows, ends_share ? later.a : now.a, item_, depth_.most());
          // Each thread needs all columns that lie in place, but packs only some of the others, it is not known which.
          // (cad,dcb->ab of 280^3 x 274: 0.91 of the time, of 140^2 x 900 x 600: 0.90.)
          if (ends_share && (columns_lie_in_place_ || !own_rows))
            b_lines.emplace(*columns_, range, later.b, item_, depth_.most());
          next = {{member.a, member.b}, {&*a_lines, b_lines ? &*b_lines : nullptr}};
        } else {
          next = upcoming;
        }
        const bool packs_columns = !own_rows && !has_columns && i == 0;
        if (!multiply_rows(member, rows_->block(block.first_rows + i), columns, packs_columns, now, target_of,
                           depth_block > first, next, parallel && !own_rows)) {
          complete = false;
        }
      });
      if (keeps_columns) kept->b = member.b;
    }
    return complete;
  }

  // Some rows, which are packed, by all columns of a block, which may have to be packed too.
  template <class TargetOf>
  bool multiply_rows(const Member& member, const Range& rows, const Packed& columns, bool packs_columns,
                     const Step& step, TargetOf&& target_of, bool accumulate, const Upcoming& next,
                     bool parallel) const {
    const int64_t table_size = rows_->table_size(rows.count);
    const Scratch tables((table_size + 2 * rows.count) * static_cast<int64_t>(sizeof(int64_t)));
    Packed packed{rows, rows_->panels(rows.count, depth_.most(), parallel), nullptr, nullptr, {}};
    const Scratch memory(packed.panels.count * packed.panels.bytes);
    packed.table = static_cast<int64_t*>(tables.data());
    packed.data = static_cast<char*>(memory.data());
    if (packed.table == nullptr || packed.data == nullptr) return false;
    rows_->fill_table(rows, packed.panels, packed.table);
    const int64_t a_tasks = rows_->tasks(rows, packed.panels);
    const int64_t b_tasks = packs_columns ? columns_->tasks(columns.range, columns.panels) : 0;
    run_each(parallel, a_tasks + b_tasks, [&](int64_t task) {
      if (task < a_tasks)
        pack(*rows_, task, packed, member.a, step.a);
      else
        pack(*columns_, task - a_tasks, columns, member.b, step.b);
    });
    TileTarget target = target_of(rows, packed.table + table_size, packed.table + table_size + rows.count);
    target.accumulate = accumulate;
    multiply_panels(packed, columns, step.a.count, target, next, parallel);
    return true;
  }

  void pack_columns(const Member& member, const Packed& columns, const Step& step, bool parallel) const {
    run_each(parallel, columns_->tasks(columns.range, columns.panels),
             [&](int64_t task) { pack(*columns_, task, columns, member.b, step.b); });
  }

  void pack(const Side& side, int64_t task, const Packed& packed, const char* data, const DepthWalk& depth) const {
    side.pack(task, packed.range, packed.panels, packed.table, problem_.dtype, data, depth, packed.data);
  }

  // All panels of A by all of B.
  void multiply_panels(const Packed& rows, const Packed& columns, int64_t depth, const TileTarget& target,
                       const Upcoming& next, bool parallel) const {
    const Panels &a = rows.panels, &b = columns.panels;
    const int64_t row_tasks = divide_up(a.count, kWalkedPanels);
    const int64_t column_tasks =
        parallel ? std::clamp<int64_t>(kThreadTasks * thread_count() / row_tasks, 1, std::max<int64_t>(1, b.count / 2))
                 : 1;
    const int64_t tasks = row_tasks * column_tasks;
    run_each(parallel, tasks, [&](int64_t task) {
      const int64_t row_task = task / column_tasks, column_task = task % column_tasks;
      const int64_t row_begin = a.count * row_task / row_tasks, row_end = a.count * (row_task + 1) / row_tasks;
      const int64_t column_begin = b.count * column_task / column_tasks;
      const int64_t column_end = b.count * (column_task + 1) / column_tasks;
      Ahead ahead(next, task, tasks, (row_end - row_begin) * (column_end - column_begin), depth);
      for (int64_t j = column_begin; j < column_end; ++j) {
        ColumnSource source = columns.in_place;
        source.data = static_cast<const char*>(source.data) + b.start(j) * source.step * item_;
        for (int64_t i = row_begin; i < row_end; ++i) {
          TileTarget tile = target;
          tile.row_offsets += a.start(i);
          tile.row_runs += a.start(i);
          tile.column_offsets += b.start(j);
          tile.rows = a.rows(i);
          ahead.give(tile);
          const char* panel = rows.data + i * a.bytes;
          if (columns_lie_in_place_)
            kernels_.tile_in_place[b.width(j)](depth, panel, source, tile);
          else
            kernels_.tile[b.width(j)](depth, panel, columns.data + j * b.bytes, tile);
        }
      }
      if (streams_) end_stream();
    });
  }

  const Problem problem_;
  const ContractKernels& kernels_;
  const int64_t item_;  // bytes of an element of the operands
  const Depth depth_;
  std::optional<Side> rows_, columns_;
  int64_t row_blocks_ = 1, row_groups_ = 1;  // how many are done together, and how many such groups there are
  int64_t parts_ = 1;                        // of the depth, each summed on its own
  bool columns_lie_in_place_ = false;        // they are not packed
  bool is_direct_ = false;                   // tiles are stored straight into C
  bool streams_ = false;                     // and past the caches
};

}  // namespace

std::unique_ptr<Solution> solve_by_packing(const Problem& problem) {
  return std::make_unique<Gemm>(problem, contract_kernels(problem.dtype));
}

}  // namespace oneflow::cpu
