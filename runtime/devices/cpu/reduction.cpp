// The iteration of reductions; fold_plan.h says how elements are laid out as units of lines, rows and lanes.
//
// Where lanes merge, the emitted loops fold pieces of lines to single states. Otherwise they fold rows into a state of
// as many lanes; the rows of a unit are cut into segments, which are tasks of their own when there are few units, and
// segments into blocks of a few rows. All these states merge as balanced trees: rounding errors grow with the logarithm
// of the size, and the order of operations depends on sizes only.
#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "emitted.h"
#include "fold_block.h"
#include "fold_plan.h"
#include "rows.h"
#include "strided.h"
#include "thread_pool.h"

namespace oneflow::cpu {
namespace {

constexpr int64_t kBlockRows = 32;
// What one task should fold. Measured: waking a worker costs as much as folding 30,000 elements.
constexpr int64_t kTaskElements = 32 * 1024;
// From so many units on, there is enough to share out without cutting them.
constexpr int64_t kManyUnits = 64;
// The elements of a line that fold to one state. The pieces of a block merge before others come, a block being a task.
constexpr int64_t kPiece = 4096;
constexpr int64_t kBlockPieces = 512;
// Results of several units that are finished and written at once.
constexpr int64_t kUnitLanes = 256;

// The parts of a state, each an array of lanes.
struct State {
  void* parts[kMaxStates];
};

// The lanes from `first` on.
State lanes_from(const ReductionKernel& kernel, const State& state, int64_t first) {
  State later{};
  for (int i = 0; i < kernel.state_count; ++i) {
    later.parts[i] = static_cast<char*>(state.parts[i]) + first * item_size(kernel.states[i]);
  }
  return later;
}

// Memory for some states of so many lanes.
class States {
 public:
  States(const ReductionKernel& kernel, int64_t count, int64_t lanes)
      : parts_(kernel.state_count), part_bytes_((lanes * 8 + 63) / 64 * 64) {
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
        context_(context),
        input_(context.inputs[0]),
        reader_(input_, kernel.input),
        plan_(plan_fold(input_, context.reduced, reader_.converts(), kernel.uses_index)),
        unit_elements_(plan_.rows() * plan_.lanes * plan_.depth * plan_.together) {
    for (int i = 0; i < kernel.result_count; ++i) writers_[i] = RowWriter(context.outputs[i], kernel.results[i]);
    if (plan_.merges_lanes) {
      const bool is_direct = reader_.is_direct(line_layout(1, plan_.lanes, 0, plan_.lane_stride));
      piece_ = std::min(plan_.lanes, (is_direct ? kPiece : kChunk) / plan_.together);
      pieces_per_line_ = divide_up(plan_.lanes, piece_);
      pieces_ = plan_.rows() * pieces_per_line_;
      block_ = std::clamp<int64_t>(kTaskElements / (piece_ * plan_.together), 1, kBlockPieces);
      segments_ = divide_up(pieces_, block_);
    } else {
      const int64_t wanted = divide_up(unit_elements_, kTaskElements);
      segments_ = plan_.units() >= kManyUnits ? 1 : std::min(wanted, divide_up(plan_.rows(), kBlockRows));
    }
  }

  void run() const {
    if (plan_.merges_lanes) {
      segments_ > 1 && plan_.units() < kManyUnits ? run_blocks() : run_lines();
    } else {
      segments_ == 1 ? run_units() : run_segments();
    }
  }

 private:
  // Tasks are whole units of which lanes merge.
  void run_lines() const {
    const int64_t units = plan_.units(), group = std::max<int64_t>(1, kTaskElements / unit_elements_);
    parallel_for(divide_up(units, group), [&](int64_t task) {
      const int64_t most = kUnitLanes / plan_.together;
      const States results = states_of(1, most), blocks = states_of(1, segments_);
      const int64_t last = std::min(units, (task + 1) * group);
      for (int64_t first = task * group; first < last; first += most) {
        const int64_t count = std::min(most, last - first);
        for (int64_t i = 0; i < count; ++i) {
          for (int64_t block = 0; block < segments_; ++block) fold_pieces(first + i, block, blocks[0], block);
          merge_lanes(blocks[0], segments_);
          copy_lane(results[0], i, blocks[0]);
        }
        write_results(results[0], first, count, 1);
      }
    });
  }

  // Tasks are the blocks of a few units.
  void run_blocks() const {
    const States states = states_of(plan_.units(), segments_);
    parallel_for(plan_.units() * segments_, [&](int64_t task) {
      fold_pieces(task / segments_, task % segments_, states[task / segments_], task % segments_);
    });
    for (int64_t unit = 0; unit < plan_.units(); ++unit) {
      merge_lanes(states[unit], segments_);
      write_results(states[unit], unit, 1, 1);
    }
  }

  // Memory for some states. A lane is as many as are folded together, here and below.
  States states_of(int64_t count, int64_t lanes) const { return {kernel_, count, lanes * plan_.together}; }

  // How lines lie that are folded to one lane each, or to so many as are together: elements next to each other then.
  RowLayout line_layout(int64_t rows, int64_t lanes, int64_t row_stride, int64_t lane_stride) const {
    if (plan_.together > 1) return {rows, lanes * plan_.together, row_stride, 1};
    return {rows, lanes, row_stride, lane_stride};
  }

  // Folds a block of pieces to one lane of a state.
  void fold_pieces(int64_t unit, int64_t block, const State& state, int64_t lane) const {
    const int64_t first = block * block_, count = std::min(block_, pieces_ - first);
    if (count == 1) {
      fold_some_pieces(unit, first, 1, state, lane);
      return;
    }
    const States pieces = states_of(1, count);
    for (int64_t i = 0; i < count;) i += fold_some_pieces(unit, first + i, count - i, pieces[0], i);
    merge_lanes(pieces[0], count);
    copy_lane(state, lane, pieces[0]);
  }

  // Folds the pieces from one on that follow it in the same line and are as long, `most` at most, each to one lane of a
  // state. Returns how many.
  int64_t fold_some_pieces(int64_t unit, int64_t piece, int64_t most, const State& state, int64_t lane) const {
    const int64_t line = pieces_per_line_ == 1 ? piece : piece / pieces_per_line_;
    const int64_t first = (piece - line * pieces_per_line_) * piece_, length = std::min(piece_, plan_.lanes - first);
    const int64_t count = std::min(most, (plan_.lanes - first) / length);
    const int64_t offset = plan_.kept.offset(unit, input_.strides) + plan_.lines.offset(line, input_.strides);
    const int64_t position = plan_.lines.offset(line, plan_.positions);
    fold_lines(offset + first * plan_.lane_stride,
               line_layout(count, length, length * plan_.lane_stride, plan_.lane_stride),
               position + first * plan_.lane_index, length * plan_.lane_index, plan_.lane_index, state, lane);
    return count;
  }

  // Folds each row to one lane of a state, from `lane` on. Positions are those of FoldRows.
  void fold_lines(int64_t offset, RowLayout layout, int64_t position, int64_t row_index, int64_t lane_index,
                  const State& state, int64_t lane) const {
    const bool is_read_in_place = !reader_.converts() && std::abs(layout.lane_stride) > kNearStep;
    const int64_t rows = layout.rows, batch = is_read_in_place ? rows : reader_.batch(layout);
    ChunkBuffer buffer;
    for (int64_t row = 0; row < rows; row += batch) {
      layout.rows = std::min(batch, rows - row);
      layout.following = rows - row - layout.rows;
      FoldRows run{nullptr, layout.rows, layout.lanes, 0, position + row * row_index, row_index, lane_index};
      if (is_read_in_place) {
        run.input = reader_.address(offset);
        run.stride = layout.row_stride;
        run.lane_stride = layout.lane_stride;
      } else {
        run.input = reader_.read(offset + row * layout.row_stride, layout, buffer, run.stride);
      }
      run.together = plan_.together;
      kernel_.fold_lines(context_.arguments, state.parts, (lane + row) * plan_.together, run);
    }
  }

  // The first of some groups of so many lanes becomes the fold of all.
  void merge_lanes(const State& state, int64_t groups, int64_t lanes = 1) const {
    while (groups > 1) {
      const int64_t half = (groups + 1) / 2;
      merge(state, lanes_from(kernel_, state, half * lanes * plan_.together), (groups - half) * lanes);
      groups = half;
    }
  }

  // Brings the lanes of a block into another order.
  void order_lanes(const State& state) const {
    alignas(8) std::byte lanes[kKeptLanes * 8];
    for (int i = 0; i < kernel_.state_count; ++i) {
      const int64_t size = item_size(kernel_.states[i]);
      copy_picked(state.parts[i], plan_.block.order.data(), 1, 0, lanes, 1, size, plan_.lanes);
      std::memcpy(state.parts[i], lanes, static_cast<size_t>(plan_.lanes * size));
    }
  }

  // Sets a lane to the first one of another state.
  void copy_lane(const State& state, int64_t lane, const State& from) const {
    for (int i = 0; i < kernel_.state_count; ++i) {
      std::memcpy(lanes_from(kernel_, state, lane * plan_.together).parts[i], from.parts[i],
                  static_cast<size_t>(plan_.together * item_size(kernel_.states[i])));
    }
  }

  // Tasks are whole units, as many at a time as make a task worth its while.
  void run_units() const {
    const int64_t units = plan_.units();
    const int64_t group = std::max<int64_t>(1, kTaskElements / unit_elements_);
    parallel_for(divide_up(units, group), [&](int64_t task) {
      const States stack = states_of(waiting_states(plan_.rows()) + 1, plan_.lanes);
      for (int64_t unit = task * group; unit < std::min(units, (task + 1) * group); ++unit) {
        fold_rows(unit, 0, plan_.rows(), stack);
        write_unit(stack[0], unit);
      }
    });
  }

  // Tasks are segments of units, whose states merge afterwards.
  void run_segments() const {
    const int64_t length = divide_up(plan_.rows(), segments_);
    const States partial = states_of(plan_.units() * segments_, plan_.lanes);
    parallel_for(plan_.units() * segments_, [&](int64_t task) {
      const int64_t first = std::min(task % segments_ * length, plan_.rows());
      const int64_t last = std::min(first + length, plan_.rows());
      const States stack = states_of(waiting_states(last - first) + 1, plan_.lanes);
      fold_rows(task / segments_, first, last, stack);
      clear(partial[task], plan_.lanes);
      merge(partial[task], stack[0], plan_.lanes);
    });
    for (int64_t unit = 0; unit < plan_.units(); ++unit) {
      const int64_t first = unit * segments_;
      for (int64_t step = 1; step < segments_; step *= 2) {
        for (int64_t i = 0; i + step < segments_; i += 2 * step) {
          merge(partial[first + i], partial[first + i + step], plan_.lanes);
        }
      }
      write_unit(partial[first], unit);
    }
  }

  // How many states wait at a time when the blocks of so many rows merge as a tree.
  static int64_t waiting_states(int64_t rows) {
    return std::bit_width(static_cast<uint64_t>(divide_up(rows, kBlockRows))) + 1;
  }

  // Folds the rows [first, last) of a unit into stack[0]. The stack has one state more than wait.
  void fold_rows(int64_t unit, int64_t first, int64_t last, const States& stack) const {
    int64_t waiting = 0, blocks = 0;
    do {
      const int64_t end = std::min(first + kBlockRows, last);
      clear(stack[waiting], plan_.lanes);
      fold_block(unit, first, end, stack[waiting], stack[waiting + 1]);
      ++waiting;
      for (int64_t n = ++blocks; n % 2 == 0; n /= 2, --waiting) {
        merge(stack[waiting - 2], stack[waiting - 1], plan_.lanes);
      }
      first = end;
    } while (first < last);
    for (; waiting > 1; --waiting) merge(stack[waiting - 2], stack[waiting - 1], plan_.lanes);
  }

  // Folds rows into a state. `scratch` is another one.
  void fold_block(int64_t unit, int64_t first, int64_t last, const State& state, const State& scratch) const {
    const int64_t base = unit_offset(unit, input_.strides, plan_.lane_stride);
    const int64_t lanes = lanes_of(unit);
    while (first < last) {
      // Most often there is one line: spare the divisions.
      const int64_t line = first < plan_.rows_per_line ? 0 : first / plan_.rows_per_line;
      const int64_t row = first - line * plan_.rows_per_line;
      int64_t rows = std::min(plan_.rows_per_line - row, last - first);
      const int64_t offset = base + plan_.lines.offset(line, input_.strides) + row * plan_.row_stride;
      const int64_t position = plan_.lines.offset(line, plan_.positions) + row * plan_.row_index;
      first += rows;
      if (is_block() && plan_.block.rest < lanes && row + rows == plan_.rows_per_line)
        fold_run(offset + --rows * plan_.row_stride, position, 1, plan_.block.rest, state);
      plan_.depth > 1 ? fold_deep_run(offset, position, rows, lanes, state, scratch)
                      : fold_run(offset, position, rows, lanes, state);
    }
  }

  // Rows of one line.
  void fold_run(int64_t offset, int64_t position, int64_t rows, int64_t lanes, const State& state) const {
    RowLayout layout = line_layout(rows, lanes, plan_.row_stride, plan_.lane_stride);
    const int64_t batch = reader_.batch(layout);
    ChunkBuffer buffer;
    for (int64_t row = 0; row < rows; row += batch) {
      layout.rows = std::min(batch, rows - row);
      FoldRows run{nullptr,         layout.rows,     layout.lanes, 0, position + row * plan_.row_index,
                   plan_.row_index, plan_.lane_index};
      run.input = reader_.read(offset + row * plan_.row_stride, layout, buffer, run.stride);
      kernel_.fold(context_.arguments, state.parts, run);
    }
  }

  // The same of deep lanes.
  void fold_deep_run(int64_t offset, int64_t position, int64_t rows, int64_t lanes, const State& state,
                     const State& scratch) const {
    const RowLayout layout = line_layout(lanes, plan_.depth, plan_.lane_stride, plan_.depth_stride);
    for (int64_t row = 0; row < rows; ++row) {
      fold_lines(offset + row * plan_.row_stride, layout, position + row * plan_.row_index, 0, plan_.depth_index,
                 scratch, 0);
      merge(state, scratch, lanes);
    }
  }

  void clear(const State& state, int64_t lanes) const {
    kernel_.clear(context_.arguments, state.parts, lanes * plan_.together);
  }

  void merge(const State& state, const State& later, int64_t lanes) const {
    kernel_.merge(context_.arguments, state.parts, later.parts, lanes * plan_.together);
  }

  bool is_block() const { return plan_.block.folded > 0; }

  void write_unit(const State& state, int64_t unit) const {
    if (is_block()) return write_block(state, unit);
    if (plan_.merges_late) merge_lanes(state, plan_.lanes);
    write_results(state, unit, 1, plan_.merges_late ? 1 : lanes_of(unit));
  }

  // The results of so many lanes, each into a buffer.
  void finish(const State& state, int64_t lanes, ChunkBuffer* buffers) const {
    void* results[kMaxResults];
    for (int i = 0; i < kernel_.result_count; ++i) results[i] = buffers[i].bytes;
    kernel_.finish(context_.arguments, state.parts, plan_.folded_count, results, lanes);
  }

  // From a state to results: those of `units` units with a lane each, or of one unit with several lanes.
  void write_results(const State& state, int64_t first_unit, int64_t units, int64_t lanes) const {
    ChunkBuffer results[kMaxResults];
    const int64_t together = plan_.together;
    finish(state, units * lanes * together, results);
    for (int i = 0; i < kernel_.result_count; ++i) {
      const int64_t* strides = context_.outputs[i].strides;
      // Rows of what is folded together, or else one row.
      const auto write = [&](int64_t offset, int64_t count, int64_t stride, const void* from) {
        const RowLayout row{1, count, 0, stride};
        const RowLayout rows{count, together, stride, together > 1 ? strides[plan_.together_dim] : 1};
        writers_[i].write(offset, together > 1 ? rows : row, from);
      };
      if (!plan_.merges_lanes) {
        const int64_t lane_stride = plan_.result_lane_dim < 0 ? 1 : strides[plan_.result_lane_dim];
        write(unit_offset(first_unit, strides, lane_stride), lanes, lane_stride, results[i].bytes);
      } else if (plan_.kept.rank == 1) {
        const int64_t stride = strides[plan_.kept.dims[0]];
        write(first_unit * stride, units, stride, results[i].bytes);
      } else {
        const int64_t bytes = together * item_size(kernel_.results[i]);
        for (int64_t unit = 0; unit < units; ++unit) {
          write(plan_.kept.offset(first_unit + unit, strides), 1, 1, results[i].bytes + unit * bytes);
        }
      }
    }
  }

  // The lanes that are left of a block, row by row of the innermost kept dimension.
  void write_block(const State& state, int64_t unit) const {
    const FoldBlock& block = plan_.block;
    if (!block.order.empty()) order_lanes(state);
    merge_lanes(state, block.folded, block.kept_lanes());
    ChunkBuffer results[kMaxResults];
    const int64_t lanes = block.kept_lanes() * lanes_of(unit) / plan_.lanes;
    finish(state, lanes, results);
    Walk rows = block.kept;
    const int32_t innermost = --rows.rank;
    const int64_t row = std::min(rows.sizes[innermost], lanes);
    for (int i = 0; i < kernel_.result_count; ++i) {
      const int64_t* strides = context_.outputs[i].strides;
      const int64_t stretch = block.kept.sizes[0] * strides[block.kept.dims[0]];
      const int64_t begin = plan_.kept.offset(unit / plan_.stretches, strides) + unit % plan_.stretches * stretch;
      for (int64_t done = 0; done < lanes; done += row) {
        writers_[i].write(begin + rows.offset(done / row, strides), {1, row, 0, strides[rows.dims[innermost]]},
                          results[i].bytes + done * item_size(kernel_.results[i]));
      }
    }
  }

  // Where a unit begins in a tensor with these strides.
  int64_t unit_offset(int64_t unit, const int64_t* strides, int64_t lane_stride) const {
    if (plan_.stretches == 1) return plan_.kept.offset(unit, strides);
    return plan_.kept.offset(unit / plan_.stretches, strides) + unit % plan_.stretches * plan_.lanes * lane_stride;
  }

  int64_t lanes_of(int64_t unit) const {
    if (plan_.last_lanes == plan_.lanes) return plan_.lanes;
    return unit % plan_.stretches == plan_.stretches - 1 ? plan_.last_lanes : plan_.lanes;
  }

  const ReductionKernel& kernel_;
  const of_kernel_context& context_;
  const of_kernel_tensor& input_;
  const RowReader reader_;
  const FoldPlan plan_;
  const int64_t unit_elements_;
  int64_t piece_ = 0, pieces_per_line_ = 0, pieces_ = 0, block_ = 0;  // elements, and pieces: where lanes merge
  int64_t segments_;                                                  // or blocks of pieces, of a unit
  RowWriter writers_[kMaxResults];
};

// The results of a reduction over no elements.
void write_identities(const ReductionKernel& kernel, const of_kernel_context& context) {
  alignas(8) std::byte state_bytes[kMaxStates][8], result_bytes[kMaxResults][8];
  State state{};
  void* results[kMaxResults];
  for (int i = 0; i < kernel.state_count; ++i) state.parts[i] = state_bytes[i];
  for (int i = 0; i < kernel.result_count; ++i) results[i] = result_bytes[i];
  kernel.clear(context.arguments, state.parts, 1);
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
