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

// The depth of a panel in bytes: a panel of B then fills most of a first-level cache.
constexpr int64_t kPanelDepthBytes = 2048;
// The largest block of C that is computed at once: the panels of its rows and columns, with what lies between them, are
// just under the 4 MiB that a thread's working memory may have. Smaller where the sums are collected outside of C.
constexpr int64_t kDirectBlock = 1008;
constexpr int64_t kCollectedBlock = 512;
// Where panels of columns are kept while those of all rows pass by, some rows at a time: as many of both together.
constexpr int64_t kPassingRows = 512, kKeptColumns = 2 * kDirectBlock - kPassingRows;
// Packing is slow where no run of an operand is so long: threads then share what one has packed. Otherwise each packs
// the rows for itself, if it has so many columns: cores may be slow to take panels from each other.
constexpr int64_t kLongRun = 256, kOwnColumns = 448;
// Where many blocks follow each other: the bytes that one, what is fetched for the next one, and the panels of the
// other side have in the second-level cache. A block is whole numbers of so many rows.
constexpr int64_t kCachedBytes = int64_t{900} << 10;
constexpr int64_t kBlockStep = 256;
// The most rows of a block that are turned: the pieces that are read are the longer, the more there are.
constexpr int64_t kMostTurned = 4096;
// Lines so many bytes apart fall on one set of a first-level cache.
constexpr int64_t kSameSet = 4096;
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

// The most elements in a row that lie next to each other in an operand.
int64_t longest_run(const DimGroup& side, const DimGroup& depth, Operand operand) {
  int64_t longest = 1;
  for (const DimGroup* group : {&side, &depth})
    for (int d = 0; d < group->rank; ++d)
      if (group->dims[d].strides[operand] == 1) longest = std::max(longest, group->dims[d].size);
  return longest;
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
  if (problem.columns_are_turned || problem.columns.rank > 1 || problem.rows.count > kDirectBlock) return false;
  if (depth.is_in_rectangles() && column_step(problem) > 1) return false;
  if (column_step(problem) == 1 && problem.columns.count > kDirectBlock) return false;
  return problem.columns.rank == 0 || column_step(problem) * kernels.size % kSameSet != 0;
}

// Blocks of rows, by their numbers, and one of columns.
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
    const int64_t cells = problem.rows.count * problem.columns.count;
    if (cells <= kSplitElements)
      parts_ = std::clamp<int64_t>(depth_.blocks() / 4, 1, std::min(kSplitParts, kSplitSums / cells));
    is_direct_ = problem.is_plain() && parts_ == 1 && problem.depth.count > 0 && computes_in_itself(problem.dtype);
    const bool packs_slowly = longest_run(problem.rows, problem.depth, kA) < kLongRun ||
                              longest_run(problem.columns, problem.depth, kB) < kLongRun;
    const int64_t own_columns = divide_up(problem.columns.count, problem.batch.count > 1 ? 1 : thread_count());
    if (is_direct_ && !problem.rows_are_turned && !problem.columns_are_turned) {
      shares_panels_ =
          packs_slowly && depth_.blocks() > 1 && std::max(problem.rows.count, problem.columns.count) > kDirectBlock;
      owns_columns_ = !packs_slowly && own_columns >= kOwnColumns && !is_followed(problem_.rows, problem_.columns);
    }
    columns_lie_in_place_ = lie_in_place(problem, kernels, depth_);
    streams_ = is_direct_ && depth_.blocks() == 1 && problem.batch.count * cells * item_ >= streamed_tile_bytes();
    rows_.emplace(problem_.rows, kA, kernels, kernels.rows, true,
                  passes_rows() ? kPassingRows : block_of(problem_.rows, problem_.columns, problem.rows_are_turned),
                  problem.rows_are_turned);
    int64_t columns = block_of(problem_.columns, problem_.rows, problem.columns_are_turned);
    if (shares_panels_) columns = kKeptColumns;
    if (owns_columns_) columns = divide_up(own_columns, divide_up(own_columns, kKeptColumns));
    columns_.emplace(problem_.columns, kB, kernels, kernels.columns, false, columns, problem.columns_are_turned);
  }

  of_status run(const Addresses& addresses) const override { return run_all(addresses) ? OF_OK : no_working_memory(); }

 private:
  bool run_all(const Addresses& addresses) const {
    const int64_t members = problem_.batch.count, items = members * blocks_per_member();
    const int64_t cells = problem_.rows.count * problem_.columns.count;
    const int64_t work = cells * std::max<int64_t>(1, problem_.depth.count);
    std::atomic<bool> complete{true};
    // Where blocks are large and few: one after the other, each on all threads.
    const bool are_even = owns_columns_ && items % thread_count() == 0;
    const bool are_few = (items < 2 * thread_count() && !are_even) || (members == 1 && shares_panels_);
    if (are_few && (members == 1 || work > 2 * kParallelWork)) {
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
      if (is_direct_ && !passes_rows() && i + 1 < last) {
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

  bool passes_rows() const { return shares_panels_ || owns_columns_; }
  int64_t blocks_per_member() const { return (passes_rows() ? 1 : rows_->blocks()) * columns_->blocks(); }
  Block block_at(int64_t i) const {
    if (passes_rows()) return {0, rows_->blocks(), columns_->block(i)};
    const int64_t rows = i % rows_->blocks();
    return {rows, rows + 1, columns_->block(i / rows_->blocks())};
  }

  // Whether many blocks of one side follow each other, which all need the same panels of the other one.
  bool is_followed(const DimGroup& side, const DimGroup& others) const {
    return depth_.blocks() == 1 && side.count > 4 * kDirectBlock && others.count <= kDirectBlock;
  }

  // About how many rows (or columns) a block has; `others` are those of the other side.
  int64_t block_of(const DimGroup& side, const DimGroup& others, bool is_turned) const {
    if (!is_direct_) return kCollectedBlock;
    if (!is_followed(side, others)) return kDirectBlock;
    const int64_t row = kernels_.size * depth_.most();
    const int64_t fitting = (kCachedBytes - others.count * row) / 2 / row / kBlockStep * kBlockStep;
    return std::clamp(fitting, kBlockStep, is_turned ? kMostTurned : kDirectBlock);
  }

  bool run_block(const Member& member, int64_t item, bool parallel, const Upcoming& upcoming, Kept* kept) const {
    const Block block = block_at(item % blocks_per_member());
    const int64_t most_rows = rows_->block(block.first_rows).count;
    const Scratch memory((3 * most_rows + 2 * block.columns.count) * static_cast<int64_t>(sizeof(int64_t)));
    auto* row_offsets = static_cast<int64_t*>(memory.data());
    if (row_offsets == nullptr) return false;
    int64_t* row_runs = row_offsets + most_rows;
    int64_t* column_offsets = row_runs + most_rows;
    fill_offsets(problem_.columns, kC, block.columns.begin, block.columns.count, column_offsets);
    const auto target_of = [&](const Range& rows) {
      fill_offsets(problem_.rows, kC, rows.begin, rows.count, row_offsets);
      fill_runs(row_offsets, rows.count, row_runs);
      return TileTarget{member.c, row_offsets, column_offsets, rows.count, row_runs, false, streams_};
    };
    if (is_direct_) return multiply(member, block, 0, depth_.blocks(), target_of, parallel, upcoming, kept);
    const Range rows = rows_->block(block.first_rows);
    int64_t* bias_rows = column_offsets + block.columns.count;
    int64_t* bias_columns = bias_rows + rows.count;
    fill_offsets(problem_.rows, kBias, rows.begin, rows.count, bias_rows);
    fill_offsets(problem_.columns, kBias, block.columns.begin, block.columns.count, bias_columns);
    return collect(
        member, block,
        {target_of(rows), block.columns.count, problem_.alpha, problem_.beta, member.bias, bias_rows, bias_columns},
        parallel);
  }

  // Sums outside of C, in the compute type, one set of them per part of the depth; then the last step.
  bool collect(const Member& member, const Block& block, const FinishTarget& target, bool parallel) const {
    const int64_t ld = target.tile.rows;
    const int64_t sums_bytes = ld * block.columns.count * kernels_.size;
    const Scratch memory(parts_ * sums_bytes + (2 * ld + block.columns.count) * static_cast<int64_t>(sizeof(int64_t)));
    auto* offsets = static_cast<int64_t*>(memory.data());
    if (offsets == nullptr) return false;
    int64_t* runs = offsets + ld;
    int64_t* columns = runs + ld;
    char* sums = reinterpret_cast<char*>(columns + block.columns.count);
    for (int64_t i = 0; i < ld; ++i) offsets[i] = i;
    for (int64_t j = 0; j < block.columns.count; ++j) columns[j] = j * ld;
    fill_runs(offsets, ld, runs);
    const auto part_target = [&](int64_t part, bool accumulate) {
      return TileTarget{sums + part * sums_bytes, offsets, columns, ld, runs, accumulate, false};
    };
    if (problem_.depth.count == 0) {
      std::memset(sums, 0, static_cast<size_t>(sums_bytes));
    } else {
      std::atomic<bool> complete{true};
      run_each(parallel && parts_ > 1, parts_, [&](int64_t part) {
        const auto target_of = [&](const Range&) { return part_target(part, false); };
        if (!multiply(member, block, depth_.blocks() * part / parts_, depth_.blocks() * (part + 1) / parts_, target_of,
                      parallel && parts_ == 1, {}, nullptr)) {  // of several parts each is one thread's
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

  // Where the panels of a block are, and how the operands lie in one block of the depth.
  struct Packed {
    Range rows, columns;
    Panels a, b;
    char *a_panels, *b_panels;
    int64_t *a_table, *b_table;
    DepthWalk a_depth, b_depth;
  };

  // A block of C over the depth blocks [first, last), behind which `upcoming` is needed. target_of(rows) is where the
  // sums of a block of rows go.
  template <class TargetOf>
  bool multiply(const Member& member, const Block& block, int64_t first, int64_t last, TargetOf&& target_of,
                bool parallel, const Upcoming& upcoming, Kept* kept) const {
    const int64_t most_rows = rows_->block(block.first_rows).count;
    Packed packed{};
    packed.columns = block.columns;
    packed.b = columns_->panels(block.columns.count, depth_.most(), parallel);
    const Panels most = rows_->panels(most_rows, depth_.most(), parallel);
    const bool keeps_columns = kept != nullptr && this->keeps_columns();
    bool has_columns = columns_lie_in_place_ || (keeps_columns && kept->b == member.b);
    if (keeps_columns && !kept->panels) kept->panels.emplace(packed.b.count * packed.b.bytes);
    const int64_t a_table_size = rows_->table_size(most_rows);
    const Scratch tables((a_table_size + columns_->table_size(block.columns.count) + 3 * depth_.table_size()) *
                         static_cast<int64_t>(sizeof(int64_t)));
    const bool packs_columns = !keeps_columns && !columns_lie_in_place_;
    const Scratch memory(most.count * most.bytes + (packs_columns ? packed.b.count * packed.b.bytes : 0));
    packed.a_table = static_cast<int64_t*>(tables.data());
    packed.a_panels = static_cast<char*>(memory.data());
    packed.b_panels =
        keeps_columns ? static_cast<char*>(kept->panels->data()) : packed.a_panels + most.count * most.bytes;
    if (packed.a_table == nullptr || packed.a_panels == nullptr || packed.b_panels == nullptr) return false;
    packed.b_table = packed.a_table + a_table_size;
    int64_t* depth_table = packed.b_table + columns_->table_size(block.columns.count);
    if (!has_columns) columns_->fill_table(block.columns, packed.b, packed.b_table);

    const auto walk = [&](int64_t depth_block) {
      packed.a_depth = depth_.walk(depth_block, kA, depth_table);
      // In turns: tiles still need the table of the block before.
      int64_t* b_table = depth_table + (1 + depth_block % 2) * depth_.table_size();
      packed.b_depth = depth_.walk(depth_block, kB, b_table, columns_lie_in_place_);
    };
    walk(first);
    for (int64_t depth_block = first; depth_block < last; ++depth_block) {
      for (int64_t rows_block = block.first_rows; rows_block < block.last_rows; ++rows_block) {
        packed.rows = rows_->block(rows_block);
        packed.a = rows_->panels(packed.rows.count, depth_.most(), parallel);
        rows_->fill_table(packed.rows, packed.a, packed.a_table);
        pack(member, packed, has_columns, parallel);
        if (keeps_columns) kept->b = member.b;
        has_columns = true;
        const int64_t depth = packed.a_depth.count;
        const int64_t step = column_step(problem_);
        const ColumnSource columns{member.b + block.columns.begin * step * item_, step, packed.b_depth.offsets};
        std::optional<Lines> a_lines, b_lines;
        Upcoming next = upcoming;
        const bool is_last = rows_block + 1 == block.last_rows;
        if (is_last && depth_block + 1 < last) {
          walk(depth_block + 1);
          has_columns = columns_lie_in_place_;
          b_lines.emplace(*columns_, block.columns, packed.b_depth, item_, depth_.most());
        }
        if (!is_last || depth_block + 1 < last) {
          const Range rows = rows_->block(is_last ? block.first_rows : rows_block + 1);
          a_lines.emplace(*rows_, rows, packed.a_depth, item_, depth_.most());
          next = {{member.a, member.b}, {&*a_lines, b_lines ? &*b_lines : nullptr}};
        }
        TileTarget target = target_of(packed.rows);
        target.accumulate = depth_block > first;
        multiply_panels(packed, depth, columns, target, next, parallel);
      }
    }
    return true;
  }

  // Each thread's neighbours are a part of A and of B: those of A are the ones that it multiplies.
  void pack(const Member& member, const Packed& packed, bool has_columns, bool parallel) const {
    const int64_t a_tasks = rows_->tasks(packed.rows, packed.a);
    const int64_t b_tasks = has_columns ? 0 : columns_->tasks(packed.columns, packed.b);
    const int64_t tasks = std::max(a_tasks, b_tasks);
    run_each(parallel, tasks, [&](int64_t task) {
      for (int64_t i = a_tasks * task / tasks; i < a_tasks * (task + 1) / tasks; ++i)
        rows_->pack(i, packed.rows, packed.a, packed.a_table, problem_.dtype, member.a, packed.a_depth,
                    packed.a_panels);
      for (int64_t i = b_tasks * task / tasks; i < b_tasks * (task + 1) / tasks; ++i)
        columns_->pack(i, packed.columns, packed.b, packed.b_table, problem_.dtype, member.b, packed.b_depth,
                       packed.b_panels);
    });
  }

  // All panels of A by all of B.
  void multiply_panels(const Packed& packed, int64_t depth, const ColumnSource& columns, const TileTarget& target,
                       const Upcoming& next, bool parallel) const {
    const Panels &a = packed.a, &b = packed.b;
    const int64_t row_tasks = divide_up(a.count, kTaskPanels);
    const int64_t column_tasks =
        parallel ? std::clamp<int64_t>(4 * thread_count() / row_tasks, 1, std::max<int64_t>(1, b.count / 2)) : 1;
    const int64_t tasks = row_tasks * column_tasks;
    run_each(parallel, tasks, [&](int64_t task) {
      Ahead ahead(next, next.pieces() * task / tasks, next.pieces() * (task + 1) / tasks);
      const int64_t row_task = task / column_tasks, column_task = task % column_tasks;
      const int64_t row_begin = a.count * row_task / row_tasks, row_end = a.count * (row_task + 1) / row_tasks;
      const int64_t end = b.count * (column_task + 1) / column_tasks;
      for (int64_t j = b.count * column_task / column_tasks; j < end; ++j) {
        ColumnSource source = columns;
        source.data = static_cast<const char*>(columns.data) + b.start(j) * columns.step * item_;
        for (int64_t i = row_begin; i < row_end; ++i) {
          TileTarget tile = target;
          tile.row_offsets += a.start(i);
          tile.row_runs += a.start(i);
          tile.column_offsets += b.start(j);
          tile.rows = a.rows(i);
          ahead.give(tile);
          const char* panel = packed.a_panels + i * a.bytes;
          if (columns_lie_in_place_)
            kernels_.tile_in_place[b.width(j)](depth, panel, source, tile);
          else
            kernels_.tile[b.width(j)](depth, panel, packed.b_panels + j * b.bytes, tile);
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
  int64_t parts_ = 1;                  // of the depth, each summed on its own
  bool columns_lie_in_place_ = false;  // they are not packed
  bool is_direct_ = false;             // tiles are stored straight into C
  bool streams_ = false;               // and past the caches
  // The panels of columns serve all rows: those of some columns on all threads, or each thread has columns of its own.
  bool shares_panels_ = false, owns_columns_ = false;
};

}  // namespace

std::unique_ptr<Solution> solve_by_packing(const Problem& problem) {
  return std::make_unique<Gemm>(problem, contract_kernels(problem.dtype));
}

}  // namespace oneflow::cpu
