// The driver of gathers such as index_select and gather: result[..., i, ...] = input[..., source(i), ...], where the
// kernel's index map computes source(i).
#include <algorithm>
#include <bit>
#include <cinttypes>
#include <mutex>

#include "copy/rows.h"
#include "fold/plan.h"
#include "plugin/emitted.h"
#include "plugin/host.h"
#include "threads/thread_pool.h"

namespace oneflow::cpu {
namespace {

constexpr int64_t kTaskElements = 32 * 1024;

// The index error with the lowest position in the result, in whatever order the threads find errors.
class FirstError {
 public:
  void set_outside(int64_t position, int64_t index, int32_t dim, int64_t size) {
    set({position, false, index, dim, size});
  }
  void set_division(int64_t position) { set({position, true, 0, 0, 0}); }

  of_status report() const {
    if (!found_) return OF_OK;
    if (first_.is_division) return fail(OF_INVALID_ARGUMENT, "division by zero");
    return fail(OF_INDEX_OUT_OF_RANGE, "index %" PRId64 " is out of range for dimension %d of size %" PRId64,
                first_.index, static_cast<int>(first_.dim), first_.size);
  }

 private:
  struct Error {
    int64_t position;
    bool is_division;
    int64_t index;
    int32_t dim;
    int64_t size;
  };

  void set(const Error& error) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (found_ && first_.position < error.position) return;
    found_ = true;
    first_ = error;
  }

  std::mutex mutex_;
  bool found_ = false;
  Error first_{};
};

class Gather {
 public:
  Gather(const GatherKernel& kernel, const of_kernel_context& context)
      : kernel_(kernel),
        context_(context),
        input_(context.inputs[0]),
        result_(context.outputs[0]),
        item_size_(item_size(input_.dtype)),
        last_(result_.rank - 1) {
    const of_value& dims = context.arguments[kernel.dims_argument];
    const bool is_list = dims.kind == OF_VALUE_INT_LIST;
    std::fill_n(ordinals_, OF_MAX_RANK, -1);
    for (int32_t k = 0; k < (is_list ? dims.count : 1); ++k)
      ordinals_[is_list ? dims.as.integers[k] : dims.as.integer] = static_cast<int8_t>(k);
    if (kernel.index_input >= 0) index_ = RowReader(context.inputs[kernel.index_input], OF_INT64);
    std::copy_n(input_.strides, input_.rank, input_strides_);
    std::copy_n(result_.strides, result_.rank, result_strides_);
    while (make_row_an_item()) {
    }
    for (int32_t d = 0; d < last_; ++d) rows_.add(d, result_.sizes[d]);
  }

  of_status run() {
    const int64_t rows = rows_.count(), columns = result_.sizes[last_];
    const bool has_sources = kernel_.index_everywhere || is_gathered(last_);
    const int64_t length = has_sources ? std::min(columns, kChunk) : columns;
    const int64_t runs = divide_up(columns, length), group = std::max<int64_t>(1, kTaskElements / length);
    parallel_for(divide_up(rows, group) * runs, [&](int64_t task) {
      const int64_t row = task / runs * group, first = task % runs * length;
      copy(row, std::min(rows, row + group), {first, 1, std::min(length, columns - first)});
    });
    return error_.report();
  }

 private:
  // Coordinates along a dimension of the result: first, first + step, ...
  struct Run {
    int64_t first, step, count;
  };

  bool is_gathered(int32_t dim) const { return ordinals_[dim] >= 0; }

  // Makes short contiguous rows along the last dimension items, which are copied at once, and drops the dimension.
  // Returns whether it could. Example: the rows of a contiguous 100 x 2 float32 matrix are 100 items of 8 bytes.
  bool make_row_an_item() {
    const int64_t columns = result_.sizes[last_], size = item_size_ * columns;
    if (last_ == 0 || kernel_.index_everywhere || is_gathered(last_)) return false;
    if (size > kMaxIndexedItem || !std::has_single_bit(static_cast<uint64_t>(size))) return false;
    if (columns > 1 && (input_strides_[last_] != 1 || result_strides_[last_] != 1)) return false;
    for (int32_t d = 0; d < last_; ++d) {
      if (input_strides_[d] % columns != 0 || result_strides_[d] % columns != 0) return false;
    }
    for (int32_t d = 0; d < last_; ++d) {
      input_strides_[d] /= columns;
      result_strides_[d] /= columns;
    }
    item_size_ = size;
    --last_;
    return true;
  }

  // Computes the sources of coordinates along a dimension, whose indices, if the operator has an index, begin at an
  // offset. Returns false and records the error if one is out of range, or divides by zero; `position` is that of the
  // first in the result.
  bool find_sources(int32_t dim, const Run& run, int64_t offset, int64_t stride, int64_t position, int64_t* sources) {
    const int64_t size = input_.sizes[dim];
    ChunkBuffer buffer;
    int64_t unused;
    const void* indices =
        kernel_.index_input >= 0 ? index_.read(offset, {1, run.count, 0, stride}, buffer, unused) : nullptr;
    const GatherRow row{static_cast<const int64_t*>(indices), run.first, run.step, run.count, size, ordinals_[dim]};
    if (kernel_.map(context_.arguments, row, sources)) return true;
    for (int64_t i = 0; i < run.count; ++i) {
      if (sources[i] >= 0 && sources[i] < size) continue;
      error_.set_outside(position + i, sources[i], dim, size);
      return false;
    }
    error_.set_division(position);
    return false;
  }

  // Returns the distance of the indices of neighbouring coordinates, if the operator has one index per coordinate.
  int64_t index_stride() const {
    if (kernel_.index_input < 0) return 0;
    const of_kernel_tensor& index = context_.inputs[kernel_.index_input];
    return index.rank == 0 ? 1 : index.strides[0];
  }

  // Copies a run of coordinates along the last dimension, in each of the rows [begin, end).
  void copy(int64_t begin, int64_t end, const Run& run) {
    int64_t sources[kChunk];
    const int64_t stride = index_stride();
    if (is_gathered(last_) && !kernel_.index_everywhere &&
        !find_sources(last_, run, run.first * stride, stride, run.first, sources))
      return;
    for (int64_t row = begin; row < end; ++row) {
      if (!(kernel_.index_everywhere ? copy_indexed_run(row, run, sources) : copy_run(row, run, sources))) return;
    }
  }

  // Copies a run of a row, given its sources if the last dimension is gathered. Returns false after an error.
  bool copy_run(int64_t row, const Run& run, const int64_t* sources) {
    int64_t from = 0, left = row;
    for (int32_t d = last_ - 1; d >= 0; --d) {
      int64_t coordinate = left % result_.sizes[d];
      left /= result_.sizes[d];
      if (is_gathered(d) &&
          !find_sources(d, {coordinate, 1, 1}, coordinate * index_stride(), 1, row * result_.sizes[last_], &coordinate))
        return false;
      from += coordinate * input_strides_[d];
    }
    if (is_gathered(last_))
      copy_indexed(source(from), sources, input_strides_[last_], 0, target(row, run), result_strides_[last_],
                   item_size_, run.count);
    else
      copy_strided(source(from), input_strides_[last_], target(row, run), result_strides_[last_], item_size_,
                   run.count);
    return true;
  }

  // Copies a run of a row whose elements have an index each. Returns false after an error.
  bool copy_indexed_run(int64_t row, const Run& run, int64_t* sources) {
    const of_kernel_tensor& index = context_.inputs[kernel_.index_input];
    int32_t dim = last_;
    int64_t from = 0, left = row, along = 0;
    for (int32_t d = last_ - 1; d >= 0; --d) {
      const int64_t coordinate = left % result_.sizes[d];
      left /= result_.sizes[d];
      if (is_gathered(d)) {
        dim = d;
        along = coordinate;
      } else {
        from += coordinate * input_strides_[d];
      }
    }
    const Run coordinates = dim == last_ ? run : Run{along, 0, run.count};
    const int64_t stride = index.strides[last_], element_stride = dim == last_ ? 0 : input_strides_[last_];
    if (!find_sources(dim, coordinates, rows_.offset(row, index.strides) + run.first * stride, stride,
                      row * result_.sizes[last_] + run.first, sources))
      return false;
    copy_indexed(source(from + run.first * element_stride), sources, input_strides_[dim], element_stride,
                 target(row, run), result_strides_[last_], item_size_, run.count);
    return true;
  }

  const char* source(int64_t offset) const { return static_cast<const char*>(input_.data) + offset * item_size_; }
  char* target(int64_t row, const Run& run) const {
    const int64_t offset = rows_.offset(row, result_strides_) + run.first * result_strides_[last_];
    return static_cast<char*>(result_.data) + offset * item_size_;
  }

  const GatherKernel& kernel_;
  const of_kernel_context& context_;
  const of_kernel_tensor& input_;
  const of_kernel_tensor& result_;
  int64_t input_strides_[OF_MAX_RANK], result_strides_[OF_MAX_RANK];
  int64_t item_size_;
  int32_t last_;                  // the last dimension whose elements are items of their own
  int8_t ordinals_[OF_MAX_RANK];  // the position of each dimension among those that the operator names; -1: not named
  RowReader index_;
  Walk rows_;  // the dimensions of the result before the last
  FirstError error_;
};

}  // namespace

of_status run_kernel(const GatherKernel& kernel, const of_kernel_context& context) {
  const of_kernel_tensor& result = context.outputs[0];
  if (element_count({result.rank, result.sizes, result.strides}) == 0) return OF_OK;
  return Gather(kernel, context).run();
}

}  // namespace oneflow::cpu
