// Advanced indexing: index() reads, and index_put_() writes, the elements that index tensors select. Example: x[i, j]
// of x with sizes {10, 20, 30} selects, for each element of i and j, a block of 30 elements.
#include <algorithm>
#include <atomic>
#include <cinttypes>

#include "copy/operand.h"
#include "fold/plan.h"
#include "native/native.h"
#include "native/offset_loops.h"
#include "plugin/host.h"
#include "simd/element.h"
#include "threads/scratch.h"
#include "threads/thread_pool.h"

namespace oneflow::cpu {
namespace {

constexpr int64_t kTaskElements = 16 * 1024;
constexpr int64_t kLeastSlice = 64;  // elements of a block, below which splitting blocks does not pay

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
        offsets_(blocks_),
        spans_(part_count()) {
    for (int32_t d = index_count; d < tensor_.rank; ++d) {
      block_.add(d, tensor_.sizes[d]);
      const int64_t last = (tensor_.sizes[d] - 1) * tensor_.strides[d];
      (last < 0 ? block_span_.first : block_span_.last) += last;
    }
    block_elements_ = block_.count();
  }

  // Computes the offsets of the blocks in the tensor, in elements. Fails if an index is out of range.
  of_status compute_offsets() {
    std::atomic<bool> fails{false};
    parallel_for(part_count(), [&](int64_t i) {
      const Range blocks = part_at(i);
      std::fill_n(&offsets_[blocks.begin], blocks.count, 0);
      for (int32_t k = 0; k < index_count_; ++k)
        if (add_offsets(k, blocks) != OF_OK) fails = true;
      spans_[i] = loops_.span(&offsets_[blocks.begin], blocks.count);
    });
    if (!fails) return OF_OK;
    for (int32_t k = 0; k < index_count_; ++k)  // reports the same index for any number of threads
      if (const of_status status = add_offsets(k, {0, blocks_}); status != OF_OK) return status;
    return OF_OK;
  }

  // Calls work(first, last) for ranges of elements that make up all elements, in parallel where no range has a place in
  // the tensor in common with another one. The elements of a place come in order.
  template <class Work>
  void for_each_apart(Work work) {
    const int64_t slices = std::min(block_elements_ / kLeastSlice, divide_up(elements(), kTaskElements));
    if (slices > 1) {  // the same elements of all blocks
      parallel_for(slices, [&](int64_t i) {
        const Range slice = part(block_elements_, i, slices);
        for (int64_t block = 0; block < blocks_; ++block) {
          const int64_t first = block * block_elements_ + slice.begin;
          work(first, first + slice.count);
        }
      });
    } else if (part_count() > 1 && parts_are_apart()) {
      parallel_for(part_count(), [&](int64_t i) {
        const Range blocks = part_at(i);
        work(blocks.begin * block_elements_, (blocks.begin + blocks.count) * block_elements_);
      });
    } else {
      work(0, elements());
    }
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
  // The blocks are computed in parts, whose number does not depend on that of the threads.
  int64_t part_count() const { return divide_up(blocks_, kTaskElements); }
  Range part_at(int64_t i) const { return part(blocks_, i, part_count()); }

  // Adds what one index tensor contributes to the offsets of some blocks. Fails if an index is out of range.
  of_status add_offsets(int32_t k, const Range& blocks) {
    const Reader reader(context_.inputs[1 + k], OF_INT64);
    const int64_t size = tensor_.sizes[k], stride = tensor_.strides[k], end = blocks.begin + blocks.count;
    for (int64_t begin = blocks.begin; begin < end; begin += kChunk) {
      const int64_t length = std::min(kChunk, end - begin);
      ChunkBuffer buffer;
      const void* found = reader.find(begin, length);
      if (found == nullptr) reader.read(begin, length, length, buffer);
      const auto* indices = static_cast<const int64_t*>(found != nullptr ? found : buffer.bytes);
      if (loops_.add(indices, length, size, stride, &offsets_[begin])) continue;
      return fail_out_of_range(
          k, *std::find_if(indices, indices + length, [=](int64_t index) { return index < -size || index >= size; }));
    }
    return OF_OK;
  }

  // Returns whether no two parts of the blocks overlap in the tensor.
  bool parts_are_apart() {
    std::sort(spans_.data(), spans_.data() + part_count(), [](auto& a, auto& b) { return a.first < b.first; });
    for (int64_t i = 1; i < part_count(); ++i)
      if (spans_[i - 1].last + block_span_.last >= spans_[i].first + block_span_.first) return false;
    return true;
  }

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
  const ScratchArray<OffsetSpan> spans_;  // of each part of the blocks, without the elements of the blocks
  OffsetSpan block_span_{0, 0};
  const OffsetLoops& loops_ = OF_BEST_ISA(kOffsetLoops);
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

// Elements that are selected twice are written in order.
of_status index_put(const of_kernel_context& context) {
  constexpr int kAccumulate = 3;
  Selection selection(context, context.input_count - 2);
  if (const of_status status = selection.compute_offsets(); status != OF_OK) return status;
  const of_kernel_tensor& target = context.outputs[0];
  const int64_t size = item_size(target.dtype);
  const Reader reader(context.inputs[context.input_count - 1], target.dtype);
  const bool adds = context.arguments[kAccumulate].as.boolean;
  selection.for_each_apart([&](int64_t first, int64_t last) {
    for (int64_t begin = first; begin < last; begin += kChunk) {
      ChunkBuffer buffer;
      const int64_t end = std::min(begin + kChunk, last);
      const void* found = reader.find(begin, end - begin);
      if (found == nullptr) reader.read(begin, end - begin, end - begin, buffer);
      const auto* values = static_cast<const std::byte*>(found != nullptr ? found : buffer.bytes);
      if (const int64_t* offsets = selection.single_elements()) {
        (adds ? accumulate_at : store_at)(target, offsets + begin, values, end - begin);
      } else {
        selection.for_each_run(begin, end, [&](int64_t done, int64_t offset, int64_t length, int64_t stride) {
          (adds ? accumulate : store)(target, offset, stride, values + done * size, length);
        });
      }
    }
  });
  return OF_OK;
}

}  // namespace oneflow::cpu
