#include "contract/gemm/gemm.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "contract/gemm/depth.h"
#include "contract/gemm/prefetch.h"
#include "contract/gemm/side.h"
#include "contract/kernels.h"
#include "copy/strided.h"
#include "plugin/host.h"
#include "simd/cache_sizes.h"
#include "simd/element.h"
#include "simd/non_temporal.h"
#include "threads/scratch.h"
#include "threads/thread_pool.h"

namespace oneflow::cpu {
namespace {

// The depth of a panel in bytes: a panel of B then fills most of a first-level cache.
constexpr int64_t kPanelDepthBytes = 2048;
// Rows of a block where packed columns are reused: its panels, and what is prefetched for the next block, stay in a
// second-level cache.
constexpr int64_t kReusingRows = 512;
// Columns of a block whose panels are reused by the blocks of all rows, for each thread that shares them (just under
// the 4 MiB that a thread's working memory may have) and for all threads (they stay in a third-level cache).
constexpr int64_t kReusedColumns = 1504, kMaxReusedColumns = 4096;
// The largest rows and columns of a block of C whose sums are collected outside of C.
constexpr int64_t kCollectedBlock = 512;
// The most rows or columns of other blocks.
constexpr int64_t kLargestBlock = 1008;
// Of a side with many blocks: the bytes that a block, what is prefetched for the next one, and the panels of the other
// side take in the second-level cache. The rows of a block are a multiple of kBlockStep.
constexpr int64_t kCachedBytes = kL2Bytes - (int64_t{124} << 10);
constexpr int64_t kBlockStep = 256;
// The most rows of a block that is packed transposed: the more rows, the longer are the contiguous pieces that are
// read.
constexpr int64_t kMaxTransposed = 4096;
// Panels of A that are multiplied by one panel of B after the other: they stay in the second-level cache.
constexpr int64_t kPanelsPerTask = 8;
// Tasks for each thread: threads that finish early take over tasks of others.
constexpr int64_t kThreadTasks = 4;
// The rows per thread from which on each thread packs and multiplies rows of its own, and the columns per thread from
// which on it packs and multiplies columns of its own. Otherwise all threads share each block, and wait for each other.
constexpr int64_t kOwnRows = 256, kOwnColumns = 896;
// Multiplications, and elements of C for one part of the depth, below which handing work to another thread costs more
// than it saves.
constexpr int64_t kParallelWork = int64_t{1} << 21;
constexpr int64_t kParallelElements = 1 << 13;
// Limits of split-K, where each part of the depth has its own copy of C: elements of C, parts, and elements of all
// copies.
constexpr int64_t kSplitElements = 1 << 17;
constexpr int64_t kSplitParts = 32;
constexpr int64_t kSplitSums = 1 << 19;

// Runs the tasks, on all threads where `parallel`.
template <class Task>
void run_each(bool parallel, int64_t count, Task&& task) {
  if (parallel) return parallel_for(count, task);
  for (int64_t i = 0; i < count; ++i) task(i);
}

// Returns the size of blocks of at most `most` elements whose number is a multiple of `multiple`.
int64_t even_block(int64_t count, int64_t most, int64_t multiple) {
  return divide_up(count, round_up(divide_up(count, most), multiple));
}

// Returns the stride of the columns in B, which have at most one dimension; 0 for a single column.
int64_t column_stride(const Problem& problem) {
  return problem.columns.rank == 0 ? 0 : problem.columns.dims[0].strides[kB];
}

// Returns whether micro-kernels read B in place instead of packing it. They do where that is as fast as reading panels.
// It is slower where the columns of a tile map to the same set of the first-level cache, and where they come in short
// contiguous pieces, of which only part of each cache line is used, or are a small part of a long contiguous dimension.
// With many rows, packing B pays, as blocks of all rows reuse the panels.
bool can_read_columns_in_place(const Problem& problem, const ContractKernels& kernels, const Depth& depth) {
  if (!computes_in_itself(problem.dtype) || kernels.depths_per_element > 1) return false;
  if (problem.columns_are_transposed || problem.columns.rank > 1 || problem.rows.count > kLargestBlock) return false;
  if (depth.has_rectangles() && column_stride(problem) > 1) return false;
  if (column_stride(problem) == 1 && problem.columns.count > kLargestBlock) return false;
  return problem.columns.rank == 0 || column_stride(problem) * kernels.size % kL1AliasBytes != 0;
}

// The costs of packing an element that is in a short contiguous run, and of a batch item.
constexpr double kPackShort = 2, kPackItem = 300;
// The least depth of panels: those of a smaller one, or with few rows or columns, are almost only padding.
constexpr int64_t kMinPackedDepth = 4;

// Returns the cost of packing an element.
double cost_of_packing(const Problem& problem, Operand operand) {
  int64_t run = 1;
  for (const int role : {kRows, kColumns, kDepth})
    if (has(operand, role)) run = std::max(run, contiguous_count(sorted_by(operand, problem.*kGroups[role]), operand));
  if (run == 1) return kPackStrided;
  return run < kLineElements ? kPackShort : kPack;
}

// The least depth of windows that are read in place: storing the sums of a smaller one costs more than it saves.
constexpr int64_t kWindowDepth = 32;

// A block of C: the row blocks [first_rows, last_rows), which use the same packed columns.
struct Block {
  int64_t first_rows, last_rows;
  Range columns;
  int64_t column_block;  // the number of the block of columns
};

// The addresses of one batch item.
struct BatchItem {
  int64_t number;
  const char* a;
  const char* b;
  char* c;
  const char* bias;
};

// The packed product. The loops are those of GotoBLAS, from the outside in: blocks of columns, blocks of the depth
// (pack B), blocks of rows (pack A), panels of B, panels of A, and the micro-kernel over the depth of a panel.
class Gemm final : public Solution {
 public:
  Gemm(const Problem& problem, const ContractKernels& kernels)
      : problem_(problem),
        kernels_(kernels),
        element_size_(item_size(problem.dtype)),
        depth_(problem_, kPanelDepthBytes / kernels.size * kernels.depths_per_element),
        has_windows_(reads_windows_in_place(problem)) {
    const int64_t rows = problem.rows.count, columns = problem.columns.count, c_count = rows * columns;
    const int64_t threads = thread_count(), batch = problem.batch.count, work = c_count * problem.depth.count;
    if (c_count <= kSplitElements)
      depth_parts_ = std::clamp<int64_t>(depth_.blocks() / 4, 1, std::min(kSplitParts, kSplitSums / c_count));
    stores_directly_ =
        problem.is_plain() && depth_parts_ == 1 && problem.depth.count > 0 && computes_in_itself(problem.dtype);
    reads_columns_in_place_ = has_windows_ || can_read_columns_in_place(problem, kernels, depth_);
    streams_ = stores_directly_ && depth_.blocks() == 1 && batch * c_count * element_size_ >= non_temporal_tile_bytes();
    const bool many_column_blocks = has_many_blocks(problem_.columns, problem_.rows);
    const bool reuses_columns = stores_directly_ && !problem.rows_are_transposed && !many_column_blocks &&
                                !has_many_blocks(problem_.rows, problem_.columns);
    const bool is_shared = depth_parts_ == 1 && is_imbalanced(batch) && c_count >= kParallelElements &&
                           work > (batch > 1 ? 2 : 1) * kParallelWork;
    const bool own_rows = is_shared && !many_column_blocks && rows >= kOwnRows * threads;
    const bool own_columns = is_shared && !own_rows && (many_column_blocks || columns >= kOwnColumns * threads);
    int64_t row_block = kCollectedBlock, column_block = kCollectedBlock;
    if (reuses_columns) {
      row_block = own_rows || !is_shared ? kReusingRows : kLargestBlock;
      column_block = own_rows              ? std::min(threads * kReusedColumns, kMaxReusedColumns)
                     : rows > kReusingRows ? kReusedColumns
                                           : kLargestBlock;
    } else if (stores_directly_) {
      row_block = block_size(problem_.rows, problem_.columns, problem.rows_are_transposed);
      column_block = block_size(problem_.columns, problem_.rows, problem.columns_are_transposed);
    }
    if (own_rows) row_block = even_block(rows, std::min(row_block, divide_up(rows, kThreadTasks * threads)), threads);
    if (own_columns) column_block = even_block(columns, column_block, 2 * threads);
    rows_.emplace(problem_.rows, kA, kernels, kernels.rows, true, row_block, problem.rows_are_transposed);
    columns_.emplace(problem_.columns, kB, kernels, kernels.columns, false, column_block,
                     problem.columns_are_transposed);
    row_blocks_ = reuses_columns     ? rows_->blocks()
                  : stores_directly_ ? 1
                                     : std::max<int64_t>(1, kCollectedBlock / rows_->most());
    row_groups_ = divide_up(rows_->blocks(), row_blocks_);
    if (problem.is_constant[kA] && problem.depth.count > 0)
      keep(*rows_);
    else if (problem.is_constant[kB] && problem.depth.count > 0 && !reads_columns_in_place_)
      keep(*columns_);
  }

  of_status run(const Addresses& addresses) const override {
    return pack_kept(addresses) && run_all(addresses) ? OF_OK : no_working_memory();
  }

 private:
  // Makes the panels of one side be packed once, as its operand is constant.
  void keep(const Side& side) {
    kept_side_ = &side;
    for (int d = 0; d < problem_.batch.rank; ++d)
      if (problem_.batch.dims[d].strides[side.operand()] != 0) kept_items_ = problem_.batch.count;
    const Panels largest = side.panels(side.most(), depth_.most(), false);
    kept_block_bytes_ = round_up(largest.count * largest.bytes, 64);
  }

  // Packs the panels of the constant side before the first run. Returns whether there was memory.
  bool pack_kept(const Addresses& addresses) const {
    if (!kept_side_ || kept_) return true;
    const Side& side = *kept_side_;
    auto memory = std::make_unique<Scratch>(kept_items_ * depth_.blocks() * side.blocks() * kept_block_bytes_);
    const Scratch tables((depth_.table_size() + side.table_size(side.most())) * static_cast<int64_t>(sizeof(int64_t)));
    if (memory->data() == nullptr || tables.data() == nullptr) return false;
    auto* depth_table = static_cast<int64_t*>(tables.data());
    auto* packed = static_cast<char*>(memory->data());
    for (int64_t item = 0; item < kept_items_; ++item) {
      const char* data =
          addresses.operands[side.operand()] + element_size_ * offset_at(problem_.batch, side.operand(), item);
      for (int64_t depth_block = 0; depth_block < depth_.blocks(); ++depth_block) {
        const DepthTable depth = depth_.fill_table(depth_block, side.operand(), depth_table);
        for (int64_t block = 0; block < side.blocks(); ++block, packed += kept_block_bytes_) {
          const Range range = side.block(block);
          const Packed target{
              range, side.panels(range.count, depth_.most(), true), depth_table + depth_.table_size(), packed, {}};
          side.fill_table(range, target.panels, target.table);
          parallel_for(side.tasks(range, target.panels), [&](int64_t task) { pack(side, task, target, data, depth); });
        }
      }
    }
    kept_ = std::move(memory);
    return true;
  }
  bool keeps(Operand operand) const { return kept_side_ && kept_side_->operand() == operand; }
  // Returns the kept panels of a block.
  char* kept_panels(const BatchItem& item, int64_t depth_block, int64_t block) const {
    const int64_t number = kept_items_ > 1 ? item.number : 0;
    const int64_t position = (number * depth_.blocks() + depth_block) * kept_side_->blocks() + block;
    return static_cast<char*>(kept_->data()) + position * kept_block_bytes_;
  }

  // Computes all blocks. Returns whether there was working memory.
  bool run_all(const Addresses& addresses) const {
    const int64_t batch = problem_.batch.count, blocks = batch * blocks_per_item();
    const int64_t c_count = problem_.rows.count * problem_.columns.count;
    const int64_t work = c_count * std::max<int64_t>(1, problem_.depth.count);
    std::atomic<bool> complete{true};
    // A few large blocks: one after the other, each on all threads.
    if (is_imbalanced(blocks) && (batch == 1 || work > 2 * kParallelWork)) {
      const bool parallel = work > kParallelWork && (depth_parts_ > 1 || c_count >= kParallelElements);
      for (int64_t i = 0; i < blocks; ++i)
        if (!run_block(batch_item_of(addresses, i), i, parallel, {}, nullptr)) complete = false;
      return complete;
    }
    const int64_t tasks = work > kParallelWork / batch ? std::min<int64_t>(blocks, kThreadTasks * thread_count()) : 1;
    parallel_for(tasks, [&](int64_t task) {
      if (!run_blocks(addresses, blocks * task / tasks, blocks * (task + 1) / tasks)) complete = false;
    });
    return complete;
  }

  // Returns whether some threads would have fewer of so many blocks than others, and wait.
  static bool is_imbalanced(int64_t blocks) { return blocks < 2 * thread_count() && blocks % thread_count() != 0; }

  // Computes the blocks [first, last), numbered through all batch items, on this thread. While it multiplies a block,
  // it prefetches the next one.
  bool run_blocks(const Addresses& addresses, int64_t first, int64_t last) const {
    struct Next {
      int64_t block = -1;
      std::optional<BlockLines> lines;
    } rows, columns;
    const Scratch depth_table(depth_.table_size() * static_cast<int64_t>(sizeof(int64_t)));
    if (depth_table.data() == nullptr) return false;
    const auto lines_of = [&](Next& next, const Side& side, int64_t block) {
      if (next.block != block) {
        const DepthTable depth = depth_.fill_table(0, side.operand(), static_cast<int64_t*>(depth_table.data()));
        next.lines.emplace(side, side.block(block), depth, element_size_, depth_.most());
      }
      next.block = block;
      return &*next.lines;
    };
    ReusedColumns reused;
    BatchItem item = batch_item_of(addresses, first);
    for (int64_t i = first; i < last; ++i) {
      NextBlocks upcoming;
      const BatchItem next = i + 1 < last ? batch_item_of(addresses, i + 1) : item;
      if (stores_directly_ && i + 1 < last) {
        const int64_t block = (i + 1) % blocks_per_item();
        const bool has_columns = can_reuse_columns() && next.b == item.b;
        upcoming = {{next.a, next.b},
                    {lines_of(rows, *rows_, block % row_groups_ * row_blocks_),
                     has_columns ? nullptr : lines_of(columns, *columns_, block / row_groups_)}};
      }
      if (!run_block(item, i, false, upcoming, &reused)) return false;
      item = next;
    }
    return true;
  }

  // The panels of all columns, which the blocks of other rows reuse.
  struct ReusedColumns {
    std::optional<Scratch> panels;
    const char* b = nullptr;  // the operand of which the panels were packed; NULL: none yet
  };
  bool can_reuse_columns() const {
    return stores_directly_ && !reads_columns_in_place_ && !keeps(kB) && depth_.blocks() == 1 &&
           columns_->blocks() == 1;
  }

  // Returns the batch item of a block, numbered through all batch items.
  BatchItem batch_item_of(const Addresses& addresses, int64_t block) const {
    const int64_t index = block / blocks_per_item();
    return {index, addresses.operands[kA] + element_size_ * offset_at(problem_.batch, kA, index),
            addresses.operands[kB] + element_size_ * offset_at(problem_.batch, kB, index),
            addresses.c + element_size_ * offset_at(problem_.batch, kC, index), addresses.operands[kBias]};
  }

  int64_t blocks_per_item() const { return row_groups_ * columns_->blocks(); }
  // Returns block `i` of a batch item.
  Block block_at(int64_t i) const {
    const int64_t first = i % row_groups_ * row_blocks_;
    return {first, std::min(first + row_blocks_, rows_->blocks()), columns_->block(i / row_groups_), i / row_groups_};
  }

  // Returns whether a side has many blocks, which all use the same panels of the other side.
  bool has_many_blocks(const DimGroup& side, const DimGroup& others) const {
    return depth_.blocks() == 1 && side.count > 4 * kLargestBlock && others.count <= kLargestBlock;
  }

  // Returns about how many rows (or columns) a block has; `others` are the columns (or rows).
  int64_t block_size(const DimGroup& side, const DimGroup& others, bool is_transposed) const {
    if (!has_many_blocks(side, others)) return kLargestBlock;
    const int64_t row = kernels_.size * depth_.most();
    const int64_t fitting = (kCachedBytes - others.count * row) / 2 / row / kBlockStep * kBlockStep;
    return std::clamp(fitting, kBlockStep, is_transposed ? kMaxTransposed : kLargestBlock);
  }

  // Computes a block, numbered through all batch items.
  bool run_block(const BatchItem& item, int64_t number, bool parallel, const NextBlocks& upcoming,
                 ReusedColumns* reused) const {
    const Block block = block_at(number % blocks_per_item());
    const int64_t count = block.columns.count;
    if (!stores_directly_) return run_block_with_sums(item, block, parallel);
    const Scratch memory(count * static_cast<int64_t>(sizeof(int64_t)));
    auto* column_offsets = static_cast<int64_t*>(memory.data());
    if (column_offsets == nullptr) return false;
    fill_offsets(problem_.columns, kC, block.columns.begin, count, column_offsets);
    const auto target_of = [&](const Range& rows, int64_t* row_offsets, int64_t* row_runs) {
      fill_offsets(problem_.rows, kC, rows.begin, rows.count, row_offsets);
      fill_runs(row_offsets, rows.count, row_runs);
      return TileTarget{item.c, row_offsets, column_offsets, rows.count, row_runs, false, streams_};
    };
    return multiply(item, block, 0, depth_.blocks(), target_of, parallel, upcoming, reused);
  }

  // Computes a block by sums outside of C, in the compute type, with one set of sums per part of the depth; then adds
  // up the parts and runs the epilogue.
  bool run_block_with_sums(const BatchItem& item, const Block& block, bool parallel) const {
    const Range last_rows = rows_->block(block.last_rows - 1), &columns = block.columns;
    const int64_t begin = rows_->block(block.first_rows).begin, ld = last_rows.begin + last_rows.count - begin;
    const int64_t sums_bytes = ld * columns.count * kernels_.size;
    const Scratch memory(depth_parts_ * sums_bytes +
                         (4 * ld + 3 * columns.count) * static_cast<int64_t>(sizeof(int64_t)));
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
      run_each(parallel && depth_parts_ > 1, depth_parts_, [&](int64_t part) {
        const auto target_of = [&](const Range& rows, int64_t*, int64_t*) {
          const int64_t row = rows.begin - begin;
          return TileTarget{
              sums + part * sums_bytes, offsets + row, column_offsets, rows.count, runs + row, false, false};
        };
        // Each of several parts runs on one thread.
        const int64_t begin_block = depth_.blocks() * part / depth_parts_;
        const int64_t end_block = depth_.blocks() * (part + 1) / depth_parts_;
        if (!multiply(item, block, begin_block, end_block, target_of, parallel && depth_parts_ == 1, {}, nullptr))
          complete = false;
      });
      if (!complete) return false;
    }
    const TileTarget first{sums, offsets, column_offsets, ld, runs, true, false};
    for (int64_t part = 1; part < depth_parts_; ++part)
      kernels_.epilogue(kernels_.dtype, sums + part * sums_bytes, ld,
                        {first, columns.count, 1, 1, nullptr, nullptr, nullptr});
    fill_offsets(problem_.rows, kC, begin, ld, c_rows);
    fill_offsets(problem_.columns, kC, columns.begin, columns.count, c_columns);
    fill_offsets(problem_.rows, kBias, begin, ld, bias_rows);
    fill_offsets(problem_.columns, kBias, columns.begin, columns.count, bias_columns);
    fill_runs(c_rows, ld, runs);
    kernels_.epilogue(problem_.dtype, sums, ld,
                      {{item.c, c_rows, c_columns, ld, runs, false, false},
                       columns.count,
                       problem_.alpha,
                       problem_.beta,
                       item.bias,
                       bias_rows,
                       bias_columns});
    return true;
  }

  // The indices of one block of the depth in both operands.
  struct DepthBlock {
    DepthTable a, b;
  };

  // The panels of a block of rows or columns; `in_place` are the columns if they are not packed.
  struct Packed {
    Range range;
    Panels panels;
    int64_t* table;
    char* data;
    ColumnSource in_place;
  };

  // Computes a block of C over the depth blocks [first, last), and prefetches `upcoming` during the last one.
  // target_of(rows, offsets, runs) returns the target of the sums of some rows, for which it may fill the two tables.
  template <class TargetOf>
  bool multiply(const BatchItem& item, const Block& block, int64_t first, int64_t last, TargetOf&& target_of,
                bool parallel, const NextBlocks& upcoming, ReusedColumns* reused) const {
    if (keeps(kA) && reads_columns_in_place_) return multiply_kept(item, block, first, last, target_of, parallel);
    const Range& range = block.columns;
    Packed columns{range, columns_->panels(range.count, depth_.most(), parallel), nullptr, nullptr, {}};
    const int64_t bytes = reads_columns_in_place_ || keeps(kB) ? 0 : columns.panels.count * columns.panels.bytes;
    const bool can_reuse_columns = reused != nullptr && this->can_reuse_columns();
    const bool has_columns = reads_columns_in_place_ || keeps(kB) || (can_reuse_columns && reused->b == item.b);
    if (can_reuse_columns && !reused->panels) reused->panels.emplace(bytes);
    const int64_t table_size = columns_->table_size(range.count);
    const Scratch tables((table_size + 4 * depth_.table_size()) * static_cast<int64_t>(sizeof(int64_t)));
    const Scratch memory(can_reuse_columns ? 0 : bytes);
    columns.table = static_cast<int64_t*>(tables.data());
    columns.data = static_cast<char*>(can_reuse_columns ? reused->panels->data() : memory.data());
    if (columns.table == nullptr || (columns.data == nullptr && bytes > 0)) return false;
    if (!has_columns || has_windows_) columns_->fill_table(range, columns.panels, columns.table);
    // The tables of the current block of the depth and of the next one are kept.
    const auto depth_block_at = [&](int64_t depth_block) {
      int64_t* table = columns.table + table_size + depth_block % 2 * 2 * depth_.table_size();
      return DepthBlock{depth_.fill_table(depth_block, kA, table),
                        depth_.fill_table(depth_block, kB, table + depth_.table_size(), reads_columns_in_place_)};
    };

    const int64_t row_blocks = block.last_rows - block.first_rows;
    // Each thread has row blocks of its own, or all threads share each of them.
    const bool own_rows = parallel && row_blocks >= thread_count();
    std::atomic<bool> complete{true};
    DepthBlock current = depth_block_at(first), following = current;
    for (int64_t depth_block = first; depth_block < last; ++depth_block, current = following) {
      const bool is_last = depth_block + 1 == last;
      if (!is_last) following = depth_block_at(depth_block + 1);
      const int64_t stride = has_windows_ ? 0 : column_stride(problem_);
      columns.in_place = has_windows_ ? ColumnSource{item.b, 0, current.b.offsets, columns.table}
                                      : ColumnSource{item.b + range.begin * stride * element_size_, stride,
                                                     current.b.offsets, nullptr};
      if (keeps(kB)) columns.data = kept_panels(item, depth_block, block.column_block);
      if (own_rows && !has_columns) pack_columns(item, columns, current, parallel);
      run_each(own_rows, row_blocks, [&](int64_t i) {
        std::optional<BlockLines> a_lines, b_lines;
        NextBlocks next;
        const Range share = own_rows ? share_of(i, row_blocks) : Range{0, row_blocks};
        const bool ends_share = i + 1 == share.begin + share.count;
        if (!ends_share || !is_last) {
          const Range rows = rows_->block(block.first_rows + (ends_share ? share.begin : i + 1));
          a_lines.emplace(*rows_, rows, ends_share ? following.a : current.a, element_size_, depth_.most());
          // A thread with rows of its own reads all columns that are used in place, but packs only some of the others,
          // and which ones is not known in advance.
          if (ends_share && (reads_columns_in_place_ || !own_rows))
            b_lines.emplace(*columns_, range, following.b, element_size_, depth_.most());
          next = {{item.a, item.b}, {&*a_lines, b_lines ? &*b_lines : nullptr}};
        } else {
          next = upcoming;
        }
        const bool packs_columns = !own_rows && !has_columns && i == 0;
        if (!multiply_rows(item, block.first_rows + i, depth_block, columns, packs_columns, current, target_of,
                           depth_block > first, next, parallel && !own_rows)) {
          complete = false;
        }
      });
      if (can_reuse_columns) reused->b = item.b;
    }
    return complete;
  }

  // Like multiply(), where nothing is packed: each task goes through all blocks of the depth, so that its tiles of C
  // stay in the caches, and threads do not wait for each other in between.
  template <class TargetOf>
  bool multiply_kept(const BatchItem& item, const Block& block, int64_t first, int64_t last, TargetOf&& target_of,
                     bool parallel) const {
    const Range& range = block.columns;
    const Panels b = columns_->panels(range.count, depth_.most(), parallel);
    const int64_t columns_size = columns_->table_size(range.count), most = rows_->most();
    const Scratch tables((columns_size + 2 * most + (last - first) * depth_.table_size()) *
                         static_cast<int64_t>(sizeof(int64_t)));
    auto* column_table = static_cast<int64_t*>(tables.data());
    if (column_table == nullptr) return false;
    int64_t *row_offsets = column_table + columns_size, *row_runs = row_offsets + most;
    if (has_windows_) columns_->fill_table(range, b, column_table);
    std::vector<DepthTable> depths;
    for (int64_t i = first; i < last; ++i)
      depths.push_back(depth_.fill_table(i, kB, row_runs + most + (i - first) * depth_.table_size(), true));
    const int64_t stride = has_windows_ ? 0 : column_stride(problem_);
    const char* data = item.b + (has_windows_ ? 0 : range.begin * stride * element_size_);
    for (int64_t row_block = block.first_rows; row_block < block.last_rows; ++row_block) {
      leave_if_interrupted();
      const Range rows = rows_->block(row_block);
      const TileTarget target = target_of(rows, row_offsets, row_runs);
      const Packed a{rows, rows_->panels(rows.count, depth_.most(), parallel), nullptr, nullptr, {}};
      for_each_task(a.panels, b, parallel, [&](int64_t, int64_t, const Range& a_panels, const Range& b_panels) {
        for (int64_t depth_block = first; depth_block < last; ++depth_block) {
          const DepthTable& depth = depths[static_cast<size_t>(depth_block - first)];
          const Packed packed{rows, a.panels, nullptr, kept_panels(item, depth_block, row_block), {}};
          const Packed columns{
              range, b, nullptr, nullptr, {data, stride, depth.offsets, has_windows_ ? column_table : nullptr}};
          TileTarget part = target;
          part.accumulate = depth_block > first;
          multiply_panels(packed, columns, depth.count, part, a_panels, b_panels, nullptr);
        }
        if (streams_) end_non_temporal();
      });
    }
    return true;
  }

  // Packs some rows, and the columns of the block if `packs_columns`, and multiplies them.
  template <class TargetOf>
  bool multiply_rows(const BatchItem& item, int64_t row_block, int64_t depth_block, const Packed& columns,
                     bool packs_columns, const DepthBlock& depth, TargetOf&& target_of, bool accumulate,
                     const NextBlocks& next, bool parallel) const {
    leave_if_interrupted();
    const Range rows = rows_->block(row_block);
    const int64_t table_size = rows_->table_size(rows.count);
    const Scratch tables((table_size + 2 * rows.count) * static_cast<int64_t>(sizeof(int64_t)));
    Packed packed{rows, rows_->panels(rows.count, depth_.most(), parallel), nullptr, nullptr, {}};
    const Scratch memory(keeps(kA) ? 0 : packed.panels.count * packed.panels.bytes);
    packed.table = static_cast<int64_t*>(tables.data());
    packed.data = keeps(kA) ? kept_panels(item, depth_block, row_block) : static_cast<char*>(memory.data());
    if (packed.table == nullptr || packed.data == nullptr) return false;
    rows_->fill_table(rows, packed.panels, packed.table);
    const int64_t a_tasks = keeps(kA) ? 0 : rows_->tasks(rows, packed.panels);
    const int64_t b_tasks = packs_columns ? columns_->tasks(columns.range, columns.panels) : 0;
    run_each(parallel, a_tasks + b_tasks, [&](int64_t task) {
      if (task < a_tasks)
        pack(*rows_, task, packed, item.a, depth.a);
      else
        pack(*columns_, task - a_tasks, columns, item.b, depth.b);
    });
    TileTarget target = target_of(rows, packed.table + table_size, packed.table + table_size + rows.count);
    target.accumulate = accumulate;
    for_each_task(packed.panels, columns.panels, parallel,
                  [&](int64_t task, int64_t tasks, const Range& a_panels, const Range& b_panels) {
                    PrefetchSchedule prefetches(next, task, tasks, a_panels.count * b_panels.count, depth.a.count);
                    multiply_panels(packed, columns, depth.a.count, target, a_panels, b_panels, &prefetches);
                    if (streams_) end_non_temporal();
                  });
    return true;
  }

  void pack_columns(const BatchItem& item, const Packed& columns, const DepthBlock& depth, bool parallel) const {
    run_each(parallel, columns_->tasks(columns.range, columns.panels),
             [&](int64_t task) { pack(*columns_, task, columns, item.b, depth.b); });
  }

  void pack(const Side& side, int64_t task, const Packed& packed, const char* data, const DepthTable& depth) const {
    side.pack(task, packed.range, packed.panels, packed.table, problem_.dtype, data, depth, packed.data);
  }

  // Runs run(task, tasks, panels of A, panels of B) for parts of a block.
  template <class Run>
  static void for_each_task(const Panels& a, const Panels& b, bool parallel, Run&& run) {
    const int64_t row_tasks = divide_up(a.count, kPanelsPerTask);
    const int64_t column_tasks = parallel ? balanced_tasks(row_tasks, b.count) : 1;
    const int64_t tasks = row_tasks * column_tasks;
    run_each(parallel, tasks, [&](int64_t task) {
      const Range rows = part(a.count, task / column_tasks, row_tasks);
      run(task, tasks, rows, part(b.count, task % column_tasks, column_tasks));
    });
  }

  // Returns into how many tasks panels are divided, of each of `others` tasks: so many that the thread with the most
  // panels has as few as possible.
  static int64_t balanced_tasks(int64_t others, int64_t panels) {
    const int64_t most = std::clamp<int64_t>(2 * kThreadTasks * thread_count() / others, 1, panels);
    int64_t best = 1, best_load = INT64_MAX;
    for (int64_t tasks = 1; tasks <= most; ++tasks) {
      const int64_t load = divide_up(others * tasks, thread_count()) * divide_up(panels, tasks);
      if (load < best_load || (load == best_load && tasks * others <= kThreadTasks * thread_count())) best = tasks;
      best_load = std::min(load, best_load);
    }
    return best;
  }

  // Multiplies panels of A by panels of B.
  void multiply_panels(const Packed& rows, const Packed& columns, int64_t depth, const TileTarget& target,
                       const Range& a_panels, const Range& b_panels, PrefetchSchedule* prefetches) const {
    const Panels &a = rows.panels, &b = columns.panels;
    for (int64_t j = b_panels.begin; j < b_panels.begin + b_panels.count; ++j) {
      ColumnSource source = columns.in_place;
      if (has_windows_)
        source.offsets += b.start(j);
      else
        source.data = static_cast<const char*>(source.data) + b.start(j) * source.stride * element_size_;
      for (int64_t i = a_panels.begin; i < a_panels.begin + a_panels.count; ++i) {
        TileTarget tile = target;
        tile.row_offsets += a.start(i);
        tile.row_runs += a.start(i);
        tile.column_offsets += b.start(j);
        tile.rows = a.rows(i);
        if (prefetches) prefetches->assign_to(tile);
        const char* panel = rows.data + i * a.bytes;
        if (has_windows_)
          kernels_.micro_kernel_windows[b.width(j)](depth, panel, source, tile);
        else if (reads_columns_in_place_)
          kernels_.micro_kernel_unpacked[b.width(j)](depth, panel, source, tile);
        else
          kernels_.micro_kernel[b.width(j)](depth, panel, columns.data + j * b.bytes, tile);
      }
    }
  }

  const Problem problem_;
  const ContractKernels& kernels_;
  const int64_t element_size_;  // of the operands, in bytes
  const Depth depth_;
  std::optional<Side> rows_, columns_;
  int64_t row_blocks_ = 1, row_groups_ = 1;  // row blocks of one Block, and the number of such groups
  int64_t depth_parts_ = 1;                  // split-K: the parts of the depth that are summed separately
  const bool has_windows_;                   // the micro-kernels read B in place at offsets of the columns
  bool reads_columns_in_place_ = false;      // the micro-kernels read B in place
  bool stores_directly_ = false;             // the micro-kernels store to C, without an epilogue
  bool streams_ = false;                     // with non-temporal stores
  // The panels of a constant operand, of all batch items, blocks of the depth, and blocks of its side.
  const Side* kept_side_ = nullptr;
  int64_t kept_items_ = 1, kept_block_bytes_ = 0;
  mutable std::unique_ptr<Scratch> kept_;
};

}  // namespace

bool reads_windows_in_place(const Problem& problem) {
  const ContractKernels& kernels = contract_kernels(problem.dtype);
  return computes_in_itself(problem.dtype) && kernels.depths_per_element == 1 &&
         problem.rows.count >= kernels.lane_count && problem.columns.count >= 8 &&
         problem.depth.count >= kWindowDepth && has_windows(problem.columns, problem.depth, kB);
}

std::unique_ptr<Solution> solve_by_packing(const Problem& problem) {
  return std::make_unique<Gemm>(problem, contract_kernels(problem.dtype));
}

double cost_by_packing(const Work& work) {
  const Problem& problem = work.problem;
  const double one_by_one = work.multiplications * kScalar;
  if (problem.depth.count < kMinPackedDepth || work.min_side <= kThin) return one_by_one;
  const bool runs_along_columns = contiguous_count(sorted_by(kC, problem.columns), kC) > 1;
  const DimGroup& side = runs_along_columns ? problem.columns : problem.rows;
  const int64_t lanes = work.kernels.lane_count;
  const double vectors =
      work.multiplications / static_cast<double>(side.count) * static_cast<double>(divide_up(side.count, lanes));
  const double store = contiguous_count(sorted_by(kC, side), kC) < lanes ? kStridedStore : kCopyElement;
  const double packed = work.elements[kA] * cost_of_packing(problem, kA) +
                        work.elements[kB] * cost_of_packing(problem, kB) + vectors * kAlongSide +
                        work.elements[kC] * store + static_cast<double>(problem.batch.count) * kPackItem;
  return std::min(packed, one_by_one);
}

}  // namespace oneflow::cpu
