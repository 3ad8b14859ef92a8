// The iteration of reductions.
//
// The emitted loops fold rows of neighbouring elements into a state of as many lanes; fold_plan.h says what rows and
// lanes are. The rows of a unit are cut into segments, which are tasks of their own when there are few units, and
// segments into blocks of a few rows. The states of blocks, of lanes and of segments merge as balanced trees: rounding
// errors grow with the logarithm of the size, and the order of operations depends on sizes only.
#include <algorithm>
#include <bit>
#include <memory>

#include "emitted.h"
#include "fold_plan.h"
#include "rows.h"
#include "thread_pool.h"

namespace oneflow::cpu {
namespace {

constexpr int64_t kBlockRows = 64;
// Units that are one line of at most so many elements fold without a stack of states.
constexpr int64_t kLongestLine = kBlockRows * kLineLanes;
// Results of such lines that are finished and written together.
constexpr int64_t kLinesTogether = 256;
// What one task should fold. Measured: waking a worker costs as much as folding 30,000 elements.
constexpr int64_t kTaskElements = 32 * 1024;
// From so many units on, there is enough to share out without cutting them.
constexpr int64_t kManyUnits = 64;
// The last lanes of so many units merge together, so that vectors are full to the end.
constexpr int64_t kTogether = 16;

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
        plan_(plan_fold(input_, context.reduced)),
        reader_(input_, kernel.input),
        unit_elements_(plan_.rows() * plan_.lanes) {
    for (int i = 0; i < kernel.result_count; ++i) writers_[i] = RowWriter(context.outputs[i], kernel.results[i]);
    const int64_t pieces = (unit_elements_ + kTaskElements - 1) / kTaskElements;
    segments_ = plan_.units() >= kManyUnits ? 1 : std::min(pieces, (plan_.rows() + kBlockRows - 1) / kBlockRows);
  }

  void run() const {
    if (segments_ > 1)
      run_segments();
    else if (is_line())
      run_lines();
    else
      run_units();
  }

 private:
  int64_t line_length() const { return (plan_.rows_per_line - 1) * plan_.lanes + plan_.last_lanes; }

  // Whether a unit is one short line.
  bool is_line() const {
    const RowLayout layout{1, line_length(), 0, plan_.lane_stride};
    return plan_.merges_lanes && plan_.lines.rank == 0 &&
           line_length() <= (reader_.is_direct(layout) ? kLongestLine : kChunk);
  }

  // Tasks are groups of units with one line each.
  void run_lines() const {
    const int64_t units = plan_.units(), length = line_length();
    const int64_t group = std::max<int64_t>(1, kTaskElements / length);
    const RowLayout layout{1, length, 0, plan_.lane_stride};
    parallel_for((units + group - 1) / group, [&](int64_t task) {
      const States states(kernel_, 1, kLinesTogether);
      ChunkBuffer buffer;
      const int64_t last = std::min(units, (task + 1) * group);
      for (int64_t first = task * group; first < last; first += kLinesTogether) {
        const int64_t count = std::min(kLinesTogether, last - first);
        for (int64_t i = 0; i < count; ++i) {
          int64_t unused;
          const void* line = reader_.read(plan_.kept.offset(first + i, input_.strides), layout, buffer, unused);
          kernel_.fold_line(context_.arguments, states[0].parts, i, {line, length, 0, plan_.lane_index});
        }
        write_results(states[0], first, count, 1);
      }
    });
  }

  // Tasks are whole units, as many at a time as make a task worth its while.
  void run_units() const {
    const int64_t units = plan_.units();
    const int64_t group = std::max<int64_t>(1, kTaskElements / unit_elements_);
    parallel_for((units + group - 1) / group, [&](int64_t task) {
      const States stack(kernel_, depth(plan_.rows()), plan_.lanes);
      Collector collector(*this);
      for (int64_t unit = task * group; unit < std::min(units, (task + 1) * group); ++unit) {
        fold_rows(unit, 0, plan_.rows(), stack);
        collector.add(unit, stack[0]);
      }
    });
  }

  // Tasks are segments of units, whose states merge afterwards.
  void run_segments() const {
    const int64_t length = (plan_.rows() + segments_ - 1) / segments_;
    const States partial(kernel_, plan_.units() * segments_, plan_.lanes);
    parallel_for(plan_.units() * segments_, [&](int64_t task) {
      const int64_t first = std::min(task % segments_ * length, plan_.rows());
      const int64_t last = std::min(first + length, plan_.rows());
      const States stack(kernel_, depth(last - first), plan_.lanes);
      fold_rows(task / segments_, first, last, stack);
      clear(partial[task], plan_.lanes);
      merge(partial[task], stack[0], plan_.lanes);
    });
    Collector collector(*this);
    for (int64_t unit = 0; unit < plan_.units(); ++unit) {
      const int64_t first = unit * segments_;
      for (int64_t step = 1; step < segments_; step *= 2) {
        for (int64_t i = 0; i + step < segments_; i += 2 * step) {
          merge(partial[first + i], partial[first + i + step], plan_.lanes);
        }
      }
      collector.add(unit, partial[first]);
    }
  }

  // How many states wait at a time when the blocks of so many rows merge as a tree.
  static int64_t depth(int64_t rows) {
    return std::bit_width(static_cast<uint64_t>((rows + kBlockRows - 1) / kBlockRows)) + 1;
  }

  // Folds the rows [first, last) of a unit into stack[0].
  void fold_rows(int64_t unit, int64_t first, int64_t last, const States& stack) const {
    int64_t waiting = 0, blocks = 0;
    do {
      const int64_t end = std::min(first + kBlockRows, last);
      clear(stack[waiting], plan_.lanes);
      fold_block(unit, first, end, stack[waiting]);
      ++waiting;
      for (int64_t n = ++blocks; n % 2 == 0; n /= 2, --waiting) {
        merge(stack[waiting - 2], stack[waiting - 1], plan_.lanes);
      }
      first = end;
    } while (first < last);
    for (; waiting > 1; --waiting) merge(stack[waiting - 2], stack[waiting - 1], plan_.lanes);
  }

  void fold_block(int64_t unit, int64_t first, int64_t last, const State& state) const {
    const int64_t base = unit_offset(unit, input_.strides, plan_.lane_stride);
    const int64_t lanes = lanes_of(unit);
    while (first < last) {
      // Most often there is one line: spare the divisions.
      const int64_t line = first < plan_.rows_per_line ? 0 : first / plan_.rows_per_line;
      const int64_t row = first - line * plan_.rows_per_line;
      const int64_t rows = std::min(plan_.rows_per_line - row, last - first);
      const int64_t offset = base + plan_.lines.offset(line, input_.strides) + row * plan_.row_stride;
      const int64_t position = plan_.lines.offset(line, plan_.positions) + row * plan_.row_index;
      const bool has_short_row =
          plan_.merges_lanes && plan_.last_lanes < plan_.lanes && row + rows == plan_.rows_per_line;
      const int64_t whole = rows - has_short_row;
      if (whole > 0) fold_run(offset, position, whole, lanes, state);
      if (has_short_row) {
        fold_run(offset + whole * plan_.row_stride, position + whole * plan_.row_index, 1, plan_.last_lanes, state);
      }
      first += rows;
    }
  }

  // Rows of one line.
  void fold_run(int64_t offset, int64_t position, int64_t rows, int64_t lanes, const State& state) const {
    RowLayout layout{rows, lanes, plan_.row_stride, plan_.lane_stride};
    const int64_t batch = reader_.batch(layout);
    ChunkBuffer buffer;
    for (int64_t row = 0; row < rows; row += batch) {
      layout.rows = std::min(batch, rows - row);
      FoldRows run{nullptr, layout.rows, lanes, 0, position + row * plan_.row_index, plan_.row_index, plan_.lane_index};
      run.input = reader_.read(offset + row * plan_.row_stride, layout, buffer, run.stride);
      kernel_.fold(context_.arguments, state.parts, run);
    }
  }

  void clear(const State& state, int64_t lanes) const { kernel_.clear(context_.arguments, state.parts, lanes); }

  void merge(const State& state, const State& later, int64_t lanes) const {
    kernel_.merge(context_.arguments, state.parts, later.parts, lanes);
  }

  // Turns the states of units, which come in order, into results.
  class Collector {
   public:
    explicit Collector(const Reduction& reduction)
        : reduction_(reduction), states_(reduction.kernel_, 1, kTogether * kTogether) {}
    Collector(const Collector&) = delete;
    ~Collector() { flush(); }

    // Overwrites the state.
    void add(int64_t unit, const State& state) {
      const FoldPlan& plan = reduction_.plan_;
      if (!plan.merges_lanes) {
        reduction_.write_results(state, unit, 1, reduction_.lanes_of(unit));
        return;
      }
      const ReductionKernel& kernel = reduction_.kernel_;
      if (count_ == 0) {
        first_unit_ = unit;
        reduction_.clear(states_[0], kTogether * kTogether);
      }
      lanes_ = plan.lanes;
      while (lanes_ > kTogether) lanes_ = reduction_.merge_halves(state, lanes_, 1);
      for (int i = 0; i < kernel.state_count; ++i) {
        const int64_t size = item_size(kernel.states[i]);
        copy_strided(state.parts[i], 1, static_cast<char*>(states_[0].parts[i]) + count_ * size, kTogether, size,
                     lanes_);
      }
      if (++count_ == kTogether) flush();
    }

   private:
    void flush() {
      if (count_ == 0) return;
      while (lanes_ > 1) lanes_ = reduction_.merge_halves(states_[0], lanes_, kTogether);
      reduction_.write_results(states_[0], first_unit_, count_, 1);
      count_ = 0;
    }

    const Reduction& reduction_;
    const States states_;  // lane after lane, each of all units
    int64_t first_unit_ = 0, count_ = 0, lanes_ = 0;
  };

  // Merges the later half of some groups of lanes into the earlier one; returns how many groups are left.
  int64_t merge_halves(const State& state, int64_t groups, int64_t group_lanes) const {
    const int64_t half = (groups + 1) / 2;
    merge(state, lanes_from(kernel_, state, half * group_lanes), (groups - half) * group_lanes);
    return half;
  }

  // From a state to results: those of `units` units with a lane each, or of one unit with several lanes.
  void write_results(const State& state, int64_t first_unit, int64_t units, int64_t lanes) const {
    ChunkBuffer buffers[kMaxResults];
    void* results[kMaxResults];
    for (int i = 0; i < kernel_.result_count; ++i) results[i] = buffers[i].bytes;
    kernel_.finish(context_.arguments, state.parts, plan_.folded_count, results, units * lanes);
    for (int i = 0; i < kernel_.result_count; ++i) {
      const int64_t* strides = context_.outputs[i].strides;
      if (!plan_.merges_lanes) {
        const int64_t lane_stride = plan_.result_lane_dim < 0 ? 1 : strides[plan_.result_lane_dim];
        writers_[i].write(unit_offset(first_unit, strides, lane_stride), {1, lanes, 0, lane_stride}, results[i]);
      } else if (plan_.kept.rank == 1) {
        const int64_t stride = strides[plan_.kept.dims[0]];
        writers_[i].write(first_unit * stride, {1, units, 0, stride}, results[i]);
      } else {
        const int64_t size = item_size(kernel_.results[i]);
        for (int64_t unit = 0; unit < units; ++unit) {
          writers_[i].write(plan_.kept.offset(first_unit + unit, strides), {1, 1, 0, 1},
                            static_cast<char*>(results[i]) + unit * size);
        }
      }
    }
  }

  // Where a unit begins in a tensor with these strides.
  int64_t unit_offset(int64_t unit, const int64_t* strides, int64_t lane_stride) const {
    if (plan_.stretches == 1) return plan_.kept.offset(unit, strides);
    return plan_.kept.offset(unit / plan_.stretches, strides) + unit % plan_.stretches * plan_.lanes * lane_stride;
  }

  // The lanes of a unit's state; a row of it may have fewer when lanes are merged.
  int64_t lanes_of(int64_t unit) const {
    if (plan_.merges_lanes || plan_.last_lanes == plan_.lanes) return plan_.lanes;
    return unit % plan_.stretches == plan_.stretches - 1 ? plan_.last_lanes : plan_.lanes;
  }

  const ReductionKernel& kernel_;
  const of_kernel_context& context_;
  const of_kernel_tensor& input_;
  const FoldPlan plan_;
  const RowReader reader_;
  const int64_t unit_elements_;
  int64_t segments_;
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
