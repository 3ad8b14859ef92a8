// The driver of gathers (flip, roll, index_select, gather): result[..., i, ...] = input[..., source(i), ...], where the
// kernel's index map computes source(i).
#include <algorithm>
#include <cinttypes>
#include <mutex>
#include <vector>

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
  void set(int64_t position, int64_t index, int32_t dim, int64_t size) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (found_ && position_ < position) return;
    found_ = true;
    position_ = position;
    index_ = index;
    dim_ = dim;
    size_ = size;
  }

  of_status report() const {
    if (!found_) return OF_OK;
    return fail(OF_INDEX_OUT_OF_RANGE, "index %" PRId64 " is out of range for dimension %d of size %" PRId64, index_,
                static_cast<int>(dim_), size_);
  }

 private:
  std::mutex mutex_;
  bool found_ = false;
  int64_t position_ = 0, index_ = 0, size_ = 0;
  int32_t dim_ = 0;
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
    const int64_t single = dims.as.integer;
    const bool is_list = dims.kind == OF_VALUE_INT_LIST;
    const int64_t* named = is_list ? dims.as.integers : &single;
    dims_.assign(named, named + (is_list ? dims.count : 1));
    for (int32_t d = 0; d < last_; ++d) rows_.add(d, result_.sizes[d]);
  }

  of_status run() {
    if (kernel_.index_everywhere) {
      for_each_task([&](int64_t row) { copy_indexed_row(row); });
      return error_.report();
    }
    for (size_t k = 0; k < dims_.size(); ++k) add_sources(static_cast<int32_t>(dims_[k]), static_cast<int64_t>(k));
    const of_status status = error_.report();
    if (status == OF_OK) for_each_task([&](int64_t row) { copy_row(row); });
    return status;
  }

 private:
  template <class Work>
  void for_each_task(Work work) const {
    const int64_t rows = rows_.count();
    const int64_t group = std::max<int64_t>(1, kTaskElements / std::max<int64_t>(1, result_.sizes[last_]));
    parallel_for(divide_up(rows, group), [&](int64_t task) {
      for (int64_t row = task * group; row < std::min(rows, (task + 1) * group); ++row) work(row);
    });
  }

  // Computes the source of each coordinate along a dimension.
  void add_sources(int32_t dim, int64_t ordinal) {
    const int64_t count = result_.sizes[dim], size = input_.sizes[dim];
    std::vector<int64_t> indices, sources(static_cast<size_t>(count));
    if (kernel_.index_input >= 0) {
      const of_kernel_tensor& index = context_.inputs[kernel_.index_input];
      const RowReader reader(index, OF_INT64);
      indices.resize(static_cast<size_t>(count));
      const int64_t stride = index.rank == 0 ? 1 : index.strides[0];
      for (int64_t first = 0; first < count; first += kChunk) {
        ChunkBuffer buffer;
        int64_t unused;
        const int64_t length = std::min(kChunk, count - first);
        const void* read = reader.read(first * stride, {1, length, 0, stride}, buffer, unused);
        std::copy_n(static_cast<const int64_t*>(read), length, indices.data() + first);
      }
    }
    kernel_.map(context_.arguments, {indices.data(), 0, 1, count, size, ordinal}, sources.data());
    check(sources.data(), count, dim, 0);
    sources_[dim] = std::move(sources);
  }

  // Returns whether all sources are in range; otherwise records the first one that is not.
  bool check(const int64_t* sources, int64_t count, int32_t dim, int64_t position) {
    const int64_t size = input_.sizes[dim];
    bool all_inside = true;
    for (int64_t i = 0; i < count; ++i) all_inside &= (sources[i] >= 0) & (sources[i] < size);
    if (all_inside) return true;
    for (int64_t i = 0; i < count; ++i) {
      if (sources[i] >= 0 && sources[i] < size) continue;
      error_.set(position + i, sources[i], dim, size);
      return false;
    }
    return true;
  }

  // Copies a row of the result along its last dimension, by the sources of each dimension.
  void copy_row(int64_t row) const {
    int64_t from = 0, left = row;
    for (int32_t d = last_ - 1; d >= 0; --d) {
      const int64_t coordinate = left % result_.sizes[d];
      left /= result_.sizes[d];
      from += (sources_[d].empty() ? coordinate : sources_[d][static_cast<size_t>(coordinate)]) * input_.strides[d];
    }
    const char* source = static_cast<const char*>(input_.data) + from * item_size_;
    char* target = static_cast<char*>(result_.data) + rows_.offset(row, result_.strides) * item_size_;
    const int64_t count = result_.sizes[last_];
    if (sources_[last_].empty()) {
      copy_strided(source, input_.strides[last_], target, result_.strides[last_], item_size_, count);
    } else {
      copy_indexed(source, sources_[last_].data(), input_.strides[last_], 0, target, result_.strides[last_], item_size_,
                   count);
    }
  }

  // Copies a row of the result along its last dimension, if each element has an index of its own.
  void copy_indexed_row(int64_t row) {
    const of_kernel_tensor& index = context_.inputs[kernel_.index_input];
    const RowReader reader(index, OF_INT64);
    const auto dim = static_cast<int32_t>(dims_[0]);
    int64_t from = 0, left = row, along = 0;
    for (int32_t d = last_ - 1; d >= 0; --d) {
      const int64_t coordinate = left % result_.sizes[d];
      left /= result_.sizes[d];
      if (d == dim) {
        along = coordinate;
      } else {
        from += coordinate * input_.strides[d];
      }
    }
    const int64_t element_stride = dim == last_ ? 0 : input_.strides[last_], count = result_.sizes[last_];
    const int64_t index_offset = rows_.offset(row, index.strides), to = rows_.offset(row, result_.strides);
    int64_t sources[kChunk];
    for (int64_t first = 0; first < count; first += kChunk) {
      const int64_t length = std::min(kChunk, count - first);
      ChunkBuffer buffer;
      int64_t unused;
      const void* indices = reader.read(index_offset + first * index.strides[last_],
                                        {1, length, 0, index.strides[last_]}, buffer, unused);
      const GatherRow run{static_cast<const int64_t*>(indices),
                          dim == last_ ? first : along,
                          dim == last_ ? 1 : 0,
                          length,
                          input_.sizes[dim],
                          0};
      kernel_.map(context_.arguments, run, sources);
      if (!check(sources, length, dim, row * count + first)) return;
      copy_indexed(static_cast<const char*>(input_.data) + (from + first * element_stride) * item_size_, sources,
                   input_.strides[dim], element_stride,
                   static_cast<char*>(result_.data) + (to + first * result_.strides[last_]) * item_size_,
                   result_.strides[last_], item_size_, length);
    }
  }

  const GatherKernel& kernel_;
  const of_kernel_context& context_;
  const of_kernel_tensor& input_;
  const of_kernel_tensor& result_;
  const int64_t item_size_;
  const int32_t last_;
  std::vector<int64_t> dims_;
  std::vector<int64_t> sources_[OF_MAX_RANK];  // empty for dimensions that are copied unchanged
  Walk rows_;                                  // all dimensions of the result but the last
  FirstError error_;
};

}  // namespace

of_status run_kernel(const GatherKernel& kernel, const of_kernel_context& context) {
  const of_kernel_tensor& result = context.outputs[0];
  if (element_count({result.rank, result.sizes, result.strides}) == 0) return OF_OK;
  return Gather(kernel, context).run();
}

}  // namespace oneflow::cpu
