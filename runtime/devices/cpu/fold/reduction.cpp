// The driver of reductions; fold/plan.h defines units, lines, rows and columns.
//
// If columns merge, the inner loops fold pieces of lines to one value each. Otherwise they fold rows into a state with
// one value per column. The rows of a unit are split into segments, which are tasks of their own if there are few
// units, and segments into blocks of a few rows. Pieces, blocks and segments merge as balanced trees, so that rounding
// errors increase with the logarithm of the size, and the order of operations depends on sizes only.
#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "copy/rows.h"
#include "copy/strided.h"
#include "fold/block.h"
#include "fold/plan.h"
#include "plugin/emitted.h"
#include "threads/thread_pool.h"

namespace oneflow::cpu {
namespace {

constexpr int64_t kBlockRows = 32;
// The number of elements per task: waking a worker takes about as long as folding this many.
constexpr int64_t kTaskElements = 32 * 1024;
// The number of units from which there are enough tasks without splitting units.
constexpr int64_t kManyUnits = 64;
// The maximum number of elements of a piece, a part of a line that is folded to one value; and the maximum number of
// pieces of a block, which merge to one value in one task.
constexpr int64_t kPiece = 4096;
constexpr int64_t kBlockPieces = 512;
// The number of results of several units that are finished and written together.
constexpr int64_t kUnitColumns = 256;

// A state: for each part, an array with one value per column.
struct State {
  void* parts[kMaxStates];
};

// Returns the part of a state from column `first` on.
State columns_from(const FoldLoops& loops, const State& state, int64_t first) {
  State later{};
  for (int i = 0; i < loops.state_count; ++i) {
    later.parts[i] = static_cast<char*>(state.parts[i]) + first * item_size(loops.states[i]);
  }
  return later;
}

// Memory for `count` states of `columns` columns each.
class States {
 public:
  States(const FoldLoops& loops, int64_t count, int64_t columns)
      : parts_(loops.state_count), part_bytes_((columns * 8 + 63) / 64 * 64) {
    const size_t bytes = static_cast<size_t>(count * parts_ * part_bytes_);
    if (bytes <= sizeof inline_) {
      first_ = inline_;
    } else {
      memory_ = std::make_unique_for_overwrite<std::byte[]>(bytes + 64);
      first_ = memory_.get() + (64 - reinterpret_cast<uintptr_t>(memory_.get()) % 64) % 64;
    }
  }

  State operator[](int64_t i) const {
    State state{};
    for (int part = 0; part < parts_; ++part) state.parts[part] = first_ + (i * parts_ + part) * part_bytes_;
    return state;
  }

 private:
  int parts_;
  int64_t part_bytes_;
  std::byte* first_;
  std::unique_ptr<std::byte[]> memory_;
  alignas(64) std::byte inline_[16 * 1024];
};

class Reduction {
 public:
  Reduction(const ReductionKernel& kernel, const of_kernel_context& context)
      : kernel_(kernel),
        loops_(kernel.loops),
        context_(context),
        input_(context.inputs[0]),
        reader_(input_, loops_.input),
        plan_(plan_fold(input_, context.reduced, reader_.converts(), loops_.uses_index)),
        unit_elements_(plan_.rows() * plan_.columns * plan_.depth * plan_.interleaved) {
    for (int i = 0; i < kernel.result_count; ++i) writers_[i] = RowWriter(context.outputs[i], kernel.results[i]);
    if (plan_.merges_columns) {
      const bool is_direct = reader_.is_direct(line_layout(1, plan_.columns, 0, plan_.column_stride));
      piece_ = std::min(plan_.columns, (is_direct ? kPiece : kChunk) / plan_.interleaved);
      pieces_per_line_ = divide_up(plan_.columns, piece_);
      pieces_ = plan_.rows() * pieces_per_line_;
      block_ = std::clamp<int64_t>(kTaskElements / (piece_ * plan_.interleaved), 1, kBlockPieces);
      segments_ = divide_up(pieces_, block_);
    } else {
      const int64_t wanted = divide_up(unit_elements_, kTaskElements);
      segments_ = plan_.units() >= kManyUnits ? 1 : std::min(wanted, divide_up(plan_.rows(), kBlockRows));
    }
  }

  void run() const {
    if (plan_.merges_columns) {
      segments_ > 1 && plan_.units() < kManyUnits ? run_blocks() : run_lines();
    } else {
      segments_ == 1 ? run_units() : run_segments();
    }
  }

 private:
  // Folds merged columns, in tasks of whole units.
  void run_lines() const {
    const int64_t units = plan_.units(), group = std::max<int64_t>(1, kTaskElements / unit_elements_);
    parallel_for(divide_up(units, group), [&](int64_t task) {
      const int64_t most = kUnitColumns / plan_.interleaved;
      const States results = states_of(1, most), blocks = states_of(1, segments_);
      const int64_t last = std::min(units, (task + 1) * group);
      for (int64_t first = task * group; first < last; first += most) {
        const int64_t count = std::min(most, last - first);
        for (int64_t i = 0; i < count; ++i) {
          for (int64_t block = 0; block < segments_; ++block) fold_pieces(first + i, block, blocks[0], block);
          merge_columns(blocks[0], segments_);
          copy_column(results[0], i, blocks[0]);
        }
        write_results(results[0], first, count, 1);
      }
    });
  }

  // Folds merged columns of few units, in tasks of one block each.
  void run_blocks() const {
    const States states = states_of(plan_.units(), segments_);
    parallel_for(plan_.units() * segments_, [&](int64_t task) {
      fold_pieces(task / segments_, task % segments_, states[task / segments_], task % segments_);
    });
    for (int64_t unit = 0; unit < plan_.units(); ++unit) {
      merge_columns(states[unit], segments_);
      write_results(states[unit], unit, 1, 1);
    }
  }

  // Returns memory for `count` states. Here and below, a column stands for `interleaved` values.
  States states_of(int64_t count, int64_t columns) const { return {loops_, count, columns * plan_.interleaved}; }

  // Returns the layout of `rows` lines that are folded to one value each. Interleaved lines are one row of contiguous
  // elements.
  RowLayout line_layout(int64_t rows, int64_t columns, int64_t row_stride, int64_t column_stride) const {
    if (plan_.interleaved > 1) return {rows, columns * plan_.interleaved, row_stride, 1};
    return {rows, columns, row_stride, column_stride};
  }

  // Folds block number `block` of a unit's pieces to one column of a state.
  void fold_pieces(int64_t unit, int64_t block, const State& state, int64_t column) const {
    const int64_t first = block * block_, count = std::min(block_, pieces_ - first);
    if (count == 1) {
      fold_some_pieces(unit, first, 1, state, column);
      return;
    }
    const States pieces = states_of(1, count);
    for (int64_t i = 0; i < count;) i += fold_some_pieces(unit, first + i, count - i, pieces[0], i);
    merge_columns(pieces[0], count);
    copy_column(state, column, pieces[0]);
  }

  // Folds piece number `piece` of a unit, and those after it in the same line that are as long, at most `most`
  // altogether, to one column each. Returns their number.
  int64_t fold_some_pieces(int64_t unit, int64_t piece, int64_t most, const State& state, int64_t column) const {
    const int64_t line = pieces_per_line_ == 1 ? piece : piece / pieces_per_line_;
    const int64_t first = (piece - line * pieces_per_line_) * piece_, length = std::min(piece_, plan_.columns - first);
    const int64_t count = std::min(most, (plan_.columns - first) / length);
    const int64_t offset = plan_.kept.offset(unit, input_.strides) + plan_.lines.offset(line, input_.strides);
    const int64_t position = plan_.lines.offset(line, plan_.positions);
    fold_lines(offset + first * plan_.column_stride,
               line_layout(count, length, length * plan_.column_stride, plan_.column_stride),
               position + first * plan_.column_index, length * plan_.column_index, plan_.column_index, state, column);
    return count;
  }

  // Folds each row to one column of a state, from `column` on. Positions and indices are as in FoldRows.
  void fold_lines(int64_t offset, RowLayout layout, int64_t position, int64_t row_index, int64_t column_index,
                  const State& state, int64_t column) const {
    const bool is_read_in_place = !reader_.converts() && std::abs(layout.column_stride) > kMaxPackedStride;
    const int64_t rows = layout.rows, batch = is_read_in_place ? rows : reader_.batch(layout);
    ChunkBuffer buffer;
    for (int64_t row = 0; row < rows; row += batch) {
      layout.rows = std::min(batch, rows - row);
      layout.following = rows - row - layout.rows;
      FoldRows run{nullptr, layout.rows, layout.columns, 0, position + row * row_index, row_index, column_index};
      if (is_read_in_place) {
        run.input = reader_.address(offset);
        run.stride = layout.row_stride;
        run.column_stride = layout.column_stride;
      } else {
        run.input = reader_.read(offset + row * layout.row_stride, layout, buffer, run.stride);
      }
      run.interleaved = plan_.interleaved;
      loops_.fold_lines(context_.arguments, state.parts, (column + row) * plan_.interleaved, run);
    }
  }

  // Merges `groups` groups of `columns` columns each into the first group.
  void merge_columns(const State& state, int64_t groups, int64_t columns = 1) const {
    while (groups > 1) {
      const int64_t half = (groups + 1) / 2;
      merge(state, columns_from(loops_, state, half * columns * plan_.interleaved), (groups - half) * columns);
      groups = half;
    }
  }

  // Permutes the columns of a block so that folded dimensions are outermost.
  void reorder_columns(const State& state) const {
    alignas(8) std::byte columns[kMaxColumns * 8];
    for (int i = 0; i < loops_.state_count; ++i) {
      const int64_t size = item_size(loops_.states[i]);
      copy_indexed(state.parts[i], plan_.block.order.data(), 1, 0, columns, 1, size, plan_.columns);
      std::memcpy(state.parts[i], columns, static_cast<size_t>(plan_.columns * size));
    }
  }

  // Sets a column to the first column of another state.
  void copy_column(const State& state, int64_t column, const State& from) const {
    for (int i = 0; i < loops_.state_count; ++i) {
      std::memcpy(columns_from(loops_, state, column * plan_.interleaved).parts[i], from.parts[i],
                  static_cast<size_t>(plan_.interleaved * item_size(loops_.states[i])));
    }
  }

  // Folds kept columns, in tasks of whole units.
  void run_units() const {
    const int64_t units = plan_.units();
    const int64_t group = std::max<int64_t>(1, kTaskElements / unit_elements_);
    parallel_for(divide_up(units, group), [&](int64_t task) {
      const States stack = states_of(waiting_states(plan_.rows()) + 1, plan_.columns);
      for (int64_t unit = task * group; unit < std::min(units, (task + 1) * group); ++unit) {
        fold_rows(unit, 0, plan_.rows(), stack);
        write_unit(stack[0], unit);
      }
    });
  }

  // Folds kept columns of few units, in tasks of one segment each. Their states merge afterwards.
  void run_segments() const {
    const int64_t length = divide_up(plan_.rows(), segments_);
    const States partial = states_of(plan_.units() * segments_, plan_.columns);
    parallel_for(plan_.units() * segments_, [&](int64_t task) {
      const int64_t first = std::min(task % segments_ * length, plan_.rows());
      const int64_t last = std::min(first + length, plan_.rows());
      const States stack = states_of(waiting_states(last - first) + 1, plan_.columns);
      fold_rows(task / segments_, first, last, stack);
      clear(partial[task], plan_.columns);
      merge(partial[task], stack[0], plan_.columns);
    });
    for (int64_t unit = 0; unit < plan_.units(); ++unit) {
      const int64_t first = unit * segments_;
      for (int64_t step = 1; step < segments_; step *= 2) {
        for (int64_t i = 0; i + step < segments_; i += 2 * step) {
          merge(partial[first + i], partial[first + i + step], plan_.columns);
        }
      }
      write_unit(partial[first], unit);
    }
  }

  // Returns the maximum number of states that wait for others when the blocks of `rows` rows merge as a tree.
  static int64_t waiting_states(int64_t rows) {
    return std::bit_width(static_cast<uint64_t>(divide_up(rows, kBlockRows))) + 1;
  }

  // Folds the rows [first, last) of a unit into stack[0]. The stack has waiting_states(last - first) + 1 states.
  void fold_rows(int64_t unit, int64_t first, int64_t last, const States& stack) const {
    int64_t waiting = 0, blocks = 0;
    do {
      const int64_t end = std::min(first + kBlockRows, last);
      clear(stack[waiting], plan_.columns);
      fold_block(unit, first, end, stack[waiting], stack[waiting + 1]);
      ++waiting;
      for (int64_t n = ++blocks; n % 2 == 0; n /= 2, --waiting) {
        merge(stack[waiting - 2], stack[waiting - 1], plan_.columns);
      }
      first = end;
    } while (first < last);
    for (; waiting > 1; --waiting) merge(stack[waiting - 2], stack[waiting - 1], plan_.columns);
  }

  // Folds the rows [first, last) of a unit into a state. `scratch` is a state for intermediate results.
  void fold_block(int64_t unit, int64_t first, int64_t last, const State& state, const State& scratch) const {
    const int64_t base = unit_offset(unit, input_.strides, plan_.column_stride);
    const int64_t columns = columns_of(unit);
    while (first < last) {
      // Mostly there is one line, which needs no divisions.
      const int64_t line = first < plan_.rows_per_line ? 0 : first / plan_.rows_per_line;
      const int64_t row = first - line * plan_.rows_per_line;
      int64_t rows = std::min(plan_.rows_per_line - row, last - first);
      const int64_t offset = base + plan_.lines.offset(line, input_.strides) + row * plan_.row_stride;
      const int64_t position = plan_.lines.offset(line, plan_.positions) + row * plan_.row_index;
      first += rows;
      if (is_block() && plan_.block.last_row_columns < columns && row + rows == plan_.rows_per_line)
        fold_run(offset + --rows * plan_.row_stride, position, 1, plan_.block.last_row_columns, state);
      plan_.depth > 1 ? fold_deep_run(offset, position, rows, columns, state, scratch)
                      : fold_run(offset, position, rows, columns, state);
    }
  }

  // Folds rows of one line into a state.
  void fold_run(int64_t offset, int64_t position, int64_t rows, int64_t columns, const State& state) const {
    RowLayout layout = line_layout(rows, columns, plan_.row_stride, plan_.column_stride);
    const int64_t batch = reader_.batch(layout);
    ChunkBuffer buffer;
    for (int64_t row = 0; row < rows; row += batch) {
      layout.rows = std::min(batch, rows - row);
      FoldRows run{nullptr,         layout.rows,       layout.columns, 0, position + row * plan_.row_index,
                   plan_.row_index, plan_.column_index};
      run.input = reader_.read(offset + row * plan_.row_stride, layout, buffer, run.stride);
      loops_.fold(context_.arguments, state.parts, run);
    }
  }

  // Folds rows of one line, with deep columns, into a state: each row is folded along its depth to `scratch`, which
  // then merges into the state.
  void fold_deep_run(int64_t offset, int64_t position, int64_t rows, int64_t columns, const State& state,
                     const State& scratch) const {
    const RowLayout layout = line_layout(columns, plan_.depth, plan_.column_stride, plan_.depth_stride);
    for (int64_t row = 0; row < rows; ++row) {
      fold_lines(offset + row * plan_.row_stride, layout, position + row * plan_.row_index, 0, plan_.depth_index,
                 scratch, 0);
      merge(state, scratch, columns);
    }
  }

  void clear(const State& state, int64_t columns) const {
    loops_.clear(context_.arguments, state.parts, columns * plan_.interleaved);
  }

  void merge(const State& state, const State& later, int64_t columns) const {
    loops_.merge(context_.arguments, state.parts, later.parts, columns * plan_.interleaved);
  }

  bool is_block() const { return plan_.block.folded > 0; }

  // Writes the results of a unit from its state.
  void write_unit(const State& state, int64_t unit) const {
    if (is_block()) return write_block(state, unit);
    if (plan_.merges_late) merge_columns(state, plan_.columns);
    write_results(state, unit, 1, plan_.merges_late ? 1 : columns_of(unit));
  }

  // Computes the results of `columns` columns, of each output into its buffer.
  void finish(const State& state, int64_t columns, ChunkBuffer* buffers) const {
    void* results[kMaxResults];
    for (int i = 0; i < kernel_.result_count; ++i) results[i] = buffers[i].bytes;
    kernel_.finish(context_.arguments, state.parts, plan_.folded_count, results, columns);
  }

  // Writes results from a state: of `units` units with one column each, or of one unit with several columns.
  void write_results(const State& state, int64_t first_unit, int64_t units, int64_t columns) const {
    ChunkBuffer results[kMaxResults];
    const int64_t interleaved = plan_.interleaved;
    finish(state, units * columns * interleaved, results);
    for (int i = 0; i < kernel_.result_count; ++i) {
      const int64_t* strides = context_.outputs[i].strides;
      // Writes `count` results, or `count` rows of interleaved results.
      const auto write = [&](int64_t offset, int64_t count, int64_t stride, const void* from) {
        const RowLayout row{1, count, 0, stride};
        const RowLayout rows{count, interleaved, stride, interleaved > 1 ? strides[plan_.interleaved_dim] : 1};
        writers_[i].write(offset, interleaved > 1 ? rows : row, from);
      };
      if (!plan_.merges_columns) {
        const int64_t column_stride = plan_.result_column_dim < 0 ? 1 : strides[plan_.result_column_dim];
        write(unit_offset(first_unit, strides, column_stride), columns, column_stride, results[i].bytes);
      } else if (plan_.kept.rank == 1) {
        const int64_t stride = strides[plan_.kept.dims[0]];
        write(first_unit * stride, units, stride, results[i].bytes);
      } else {
        const int64_t bytes = interleaved * item_size(kernel_.results[i]);
        for (int64_t unit = 0; unit < units; ++unit) {
          write(plan_.kept.offset(first_unit + unit, strides), 1, 1, results[i].bytes + unit * bytes);
        }
      }
    }
  }

  // Merges the columns of a block and writes the results, in rows along the innermost kept dimension.
  void write_block(const State& state, int64_t unit) const {
    const FoldBlock& block = plan_.block;
    if (!block.order.empty()) reorder_columns(state);
    merge_columns(state, block.folded, block.kept_columns());
    ChunkBuffer results[kMaxResults];
    const int64_t columns = block.kept_columns() * columns_of(unit) / plan_.columns;
    finish(state, columns, results);
    Walk rows = block.kept;
    const int32_t innermost = --rows.rank;
    const int64_t row = std::min(rows.sizes[innermost], columns);
    for (int i = 0; i < kernel_.result_count; ++i) {
      const int64_t* strides = context_.outputs[i].strides;
      const int64_t slice = block.kept.sizes[0] * strides[block.kept.dims[0]];
      const int64_t begin = plan_.kept.offset(unit / plan_.slices, strides) + unit % plan_.slices * slice;
      for (int64_t done = 0; done < columns; done += row) {
        writers_[i].write(begin + rows.offset(done / row, strides), {1, row, 0, strides[rows.dims[innermost]]},
                          results[i].bytes + done * item_size(kernel_.results[i]));
      }
    }
  }

  // Returns the offset of a unit's first element in a tensor with these strides.
  int64_t unit_offset(int64_t unit, const int64_t* strides, int64_t column_stride) const {
    if (plan_.slices == 1) return plan_.kept.offset(unit, strides);
    return plan_.kept.offset(unit / plan_.slices, strides) + unit % plan_.slices * plan_.columns * column_stride;
  }

  // Returns the number of columns of a unit.
  int64_t columns_of(int64_t unit) const {
    if (plan_.last_columns == plan_.columns) return plan_.columns;
    return unit % plan_.slices == plan_.slices - 1 ? plan_.last_columns : plan_.columns;
  }

  const ReductionKernel& kernel_;
  const FoldLoops& loops_;
  const of_kernel_context& context_;
  const of_kernel_tensor& input_;
  const RowReader reader_;
  const FoldPlan plan_;
  const int64_t unit_elements_;
  // If columns merge: the elements of a piece, the pieces of a line and of a unit, and the pieces of a block.
  int64_t piece_ = 0, pieces_per_line_ = 0, pieces_ = 0, block_ = 0;
  int64_t segments_;  // of a unit; the blocks of its pieces if columns merge
  RowWriter writers_[kMaxResults];
};

// Writes the results of a reduction over no elements.
void write_identities(const ReductionKernel& kernel, const of_kernel_context& context) {
  alignas(8) std::byte state_bytes[kMaxStates][8], result_bytes[kMaxResults][8];
  State state{};
  void* results[kMaxResults];
  for (int i = 0; i < kernel.loops.state_count; ++i) state.parts[i] = state_bytes[i];
  for (int i = 0; i < kernel.result_count; ++i) results[i] = result_bytes[i];
  kernel.loops.clear(context.arguments, state.parts, 1);
  kernel.finish(context.arguments, state.parts, 0, results, 1);
  for (int i = 0; i < kernel.result_count; ++i) {
    const of_kernel_tensor& output = context.outputs[i];
    const RowWriter writer(output, kernel.results[i]);
    Walk walk;
    for (int32_t d = 0; d < output.rank; ++d) walk.add(d, output.sizes[d]);
    for (int64_t element = 0; element < walk.count(); ++element) {
      writer.write(walk.offset(element, output.strides), {1, 1, 0, 1}, results[i]);
    }
  }
}

}  // namespace

of_status run_kernel(const ReductionKernel& kernel, const of_kernel_context& context) {
  const of_kernel_tensor& input = context.inputs[0];
  const of_kernel_tensor& output = context.outputs[0];
  if (element_count({output.rank, output.sizes, output.strides}) == 0) return OF_OK;
  if (element_count({input.rank, input.sizes, input.strides}) == 0) {
    write_identities(kernel, context);
  } else {
    Reduction(kernel, context).run();
  }
  return OF_OK;
}

}  // namespace oneflow::cpu
