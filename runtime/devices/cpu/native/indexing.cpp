// Advanced indexing: index() reads, and index_put_() writes, the elements that index tensors select. Example: x[i, j]
// of x with sizes {10, 20, 30} selects, for each element of i and j, a block of 30 elements.
#include <algorithm>
#include <cinttypes>

#include "copy/operand.h"
#include "fold/plan.h"
#include "native/native.h"
#include "plugin/host.h"
#include "simd/element.h"
#include "threads/scratch.h"
#include "threads/thread_pool.h"

namespace oneflow::cpu {
namespace {

constexpr int64_t kTaskElements = 16 * 1024;

// The blocks that index tensors select in a tensor. They index its first dimensions; a block has the remaining ones.
class Selection {
 public:
  // The `index_count` index tensors follow the tensor among the inputs.
  Selection(const of_kernel_context& context, int32_t index_count)
      : context_(context),
        tensor_(context.inputs[0]),
        index_count_(index_count),
        blocks_(index_count > 0
                    ? element_count({context.inputs[1].rank, context.inputs[1].sizes, context.inputs[1].strides})
                    : 1),
        offsets_(blocks_) {
    for (int32_t d = index_count; d < tensor_.rank; ++d) block_.add(d, tensor_.sizes[d]);
    block_elements_ = block_.count();
    std::fill_n(offsets_.data(), blocks_, 0);
  }

  // Computes the offsets of the blocks in the tensor, in elements. Fails if an index is out of range.
  of_status compute_offsets() {
    for (int32_t k = 0; k < index_count_; ++k) {
      const Reader reader(context_.inputs[1 + k], OF_INT64);
      const int64_t size = tensor_.sizes[k], stride = tensor_.strides[k], count = blocks();
      for (int64_t begin = 0; begin < count; begin += kChunk) {
        const int64_t length = std::min(kChunk, count - begin);
        ChunkBuffer buffer;
        reader.read(begin, length, length, buffer);
        const auto* indices = reinterpret_cast<const int64_t*>(buffer.bytes);
        for (int64_t i = 0; i < length; ++i) {
          if (indices[i] < -size || indices[i] >= size) return fail_out_of_range(k, indices[i]);
          offsets_[begin + i] += (indices[i] < 0 ? indices[i] + size : indices[i]) * stride;
        }
      }
    }
    return OF_OK;
  }

  int64_t blocks() const { return blocks_; }
  int64_t elements() const { return blocks() * block_elements_; }
  // Returns the offsets of the blocks if each has one element, and NULL otherwise.
  const int64_t* single_elements() const { return block_elements_ == 1 ? offsets_.data() : nullptr; }

  // Calls run(done, offset, length, stride) for runs of the elements [begin, end), numbered block by block. `done` is
  // the number of elements of earlier runs, `offset` the offset in the tensor, and `stride` the stride within the run.
  template <class Run>
  void for_each_run(int64_t begin, int64_t end, Run run) const {
    const int64_t inner = block_.rank == 0 ? 1 : block_.sizes[block_.rank - 1];
    const int64_t stride = block_.rank == 0 ? 1 : tensor_.strides[block_.dims[block_.rank - 1]];
    for (int64_t position = begin; position < end;) {
      const int64_t within = position % block_elements_;
      const int64_t length = std::min(inner - within % inner, end - position);
      run(position - begin, offsets_[position / block_elements_] + block_.offset(within, tensor_.strides), length,
          stride);
      position += length;
    }
  }

 private:
  of_status fail_out_of_range(int32_t k, int64_t index) const {
    return fail(OF_INDEX_OUT_OF_RANGE, "index %" PRId64 " is out of range for dimension %" PRId64 " of size %" PRId64,
                index, context_.arguments[1].as.integers[k], tensor_.sizes[k]);
  }

  const of_kernel_context& context_;
  const of_kernel_tensor& tensor_;
  const int32_t index_count_;
  Walk block_;
  int64_t block_elements_;
  const int64_t blocks_;
  const ScratchArray<int64_t> offsets_;
};

// Writes `count` values in order, so that an element that is selected twice keeps the last value.
void store(const of_kernel_tensor& target, int64_t offset, int64_t stride, const void* values, int64_t count) {
  const int64_t size = item_size(target.dtype);
  copy_strided(values, 1, static_cast<char*>(target.data) + offset * size, stride, size, count);
}

template <class T>
T sum_of(T a, T b) {
  if constexpr (is_same_type<T, bfloat16> || is_same_type<T, float16>) {
    return convert<T>(convert<float>(a) + convert<float>(b));
  } else {
    return static_cast<T>(a + b);
  }
}

// Writes `count` values to the elements at some offsets, in order.
void store_at(const of_kernel_tensor& target, const int64_t* offsets, const void* values, int64_t count) {
  visit_dtype(target.dtype, [&](auto type) {
    using T = decltype(type);
    T* to = static_cast<T*>(target.data);
    const T* from = static_cast<const T*>(values);
    for (int64_t i = 0; i < count; ++i) to[offsets[i]] = from[i];
  });
}

// Adds `count` values to the elements at some offsets.
void accumulate_at(const of_kernel_tensor& target, const int64_t* offsets, const void* values, int64_t count) {
  visit_dtype(target.dtype, [&](auto type) {
    using T = decltype(type);
    T* to = static_cast<T*>(target.data);
    const T* from = static_cast<const T*>(values);
    for (int64_t i = 0; i < count; ++i) to[offsets[i]] = sum_of(to[offsets[i]], from[i]);
  });
}

// Adds `count` values to elements.
void accumulate(const of_kernel_tensor& target, int64_t offset, int64_t stride, const void* values, int64_t count) {
  visit_dtype(target.dtype, [&](auto type) {
    using T = decltype(type);
    T* to = static_cast<T*>(target.data) + offset;
    const T* from = static_cast<const T*>(values);
    for (int64_t i = 0; i < count; ++i) to[i * stride] = sum_of(to[i * stride], from[i]);
  });
}

}  // namespace

of_status index(const of_kernel_context& context) {
  Selection selection(context, context.input_count - 1);
  if (const of_status status = selection.compute_offsets(); status != OF_OK) return status;
  const of_kernel_tensor& input = context.inputs[0];
  const int64_t size = item_size(input.dtype), count = selection.elements();
  const Writer writer(context.outputs[0], input.dtype);
  parallel_for((count + kTaskElements - 1) / kTaskElements, [&](int64_t task) {
    ChunkBuffer buffer;
    const int64_t last = std::min((task + 1) * kTaskElements, count);
    for (int64_t begin = task * kTaskElements; begin < last; begin += kChunk) {
      const int64_t end = std::min(begin + kChunk, last);
      auto* values =
          writer.is_direct() ? static_cast<char*>(writer.direct(begin)) : reinterpret_cast<char*>(buffer.bytes);
      if (const int64_t* offsets = selection.single_elements()) {
        copy_indexed(input.data, offsets + begin, 1, 0, values, 1, size, end - begin);
      } else {
        selection.for_each_run(begin, end, [&](int64_t done, int64_t offset, int64_t length, int64_t stride) {
          copy_strided(static_cast<const char*>(input.data) + offset * size, stride, values + done * size, 1, size,
                       length);
        });
      }
      if (!writer.is_direct()) writer.write(begin, end - begin, values);
    }
  });
  return OF_OK;
}

// Runs on one thread, so that elements that are selected twice are written in order.
of_status index_put(const of_kernel_context& context) {
  constexpr int kAccumulate = 3;
  Selection selection(context, context.input_count - 2);
  if (const of_status status = selection.compute_offsets(); status != OF_OK) return status;
  const of_kernel_tensor& target = context.outputs[0];
  const int64_t size = item_size(target.dtype), count = selection.elements();
  const Reader reader(context.inputs[context.input_count - 1], target.dtype);
  const bool adds = context.arguments[kAccumulate].as.boolean;
  for (int64_t begin = 0; begin < count; begin += kChunk) {
    ChunkBuffer buffer;
    const int64_t end = std::min(begin + kChunk, count);
    reader.read(begin, end - begin, end - begin, buffer);
    if (const int64_t* offsets = selection.single_elements()) {
      (adds ? accumulate_at : store_at)(target, offsets + begin, buffer.bytes, end - begin);
    } else {
      selection.for_each_run(begin, end, [&](int64_t done, int64_t offset, int64_t length, int64_t stride) {
        (adds ? accumulate : store)(target, offset, stride, buffer.bytes + done * size, length);
      });
    }
  }
  return OF_OK;
}

}  // namespace oneflow::cpu
