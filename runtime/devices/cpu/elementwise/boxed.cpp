#include "elementwise/boxed.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "copy/box_copy.h"
#include "copy/boxes.h"
#include "copy/operand.h"
#include "plugin/host.h"
#include "simd/element.h"
#include "threads/scratch.h"
#include "threads/thread_pool.h"

namespace oneflow::cpu {
namespace {

// Elements per task.
constexpr int64_t kTask = 32 * 1024;
// The minimum number of elements per call of the inner loop.
constexpr int64_t kMinInnerElements = 256;
// The number of buffers for intermediate results of copies: one before elements are repeated, one before conversion.
constexpr int64_t kScratchBuffers = 2;
// Tensor 0 is the result, the others are the operands.
constexpr int kMaxTensors = kMaxInputs + 1;

const of_kernel_tensor& tensor_of(const ElementwiseKernel& kernel, const of_kernel_context& context, int tensor) {
  return tensor == 0 ? context.outputs[0] : context.inputs[kernel.inputs[tensor - 1].position];
}

int64_t product(const int64_t* sizes, int32_t begin, int32_t end) {
  int64_t count = 1;
  for (int32_t d = begin; d < end; ++d) count *= sizes[d];
  return count;
}

// How the inner loop accesses a tensor. A run is the part of a box that one call of the loop computes: all elements of
// an operand may be the same one; or those of each run may be one element, which is repeated in a buffer; or the runs
// are accessed in place; or in a copy of the box.
enum class Access { kConstant, kRepeated, kDirect, kCopied };

// The copies between a box of a tensor and its buffer: `first`, and then `repeated` if elements are repeated in a
// second step.
struct Copies {
  std::optional<BoxCopy> first, repeated;
};

// An operand, or the result.
struct Tensor {
  char* data;
  const int64_t* strides;
  int64_t stored_size, computed_size;
  Convert convert = nullptr;  // between the dtype of the tensor and that of the inner loop; NULL if they are equal
  Access access;
  Copies copies;  // of a box of the largest size
};

struct Box {
  int64_t position[OF_MAX_RANK], sizes[OF_MAX_RANK];
  bool is_largest;
};

// The addresses of a tensor's runs in a box: of the first one, and the strides in bytes between runs along each outer
// dimension.
struct Runs {
  char* first = nullptr;
  int64_t steps[OF_MAX_RANK] = {};
};

class ElementwiseBoxes {
 public:
  ElementwiseBoxes(const ElementwiseKernel& kernel, const of_kernel_context& context, const Boxes& boxes)
      : kernel_(kernel), context_(context), boxes_(boxes), outer_(boxes.rank()) {
    for (int64_t run = 1; outer_ > 0 && (run < kMinInnerElements || kernel.padded); --outer_)
      run *= boxes.extents()[outer_ - 1];
    for (int t = 0; t <= kernel.input_count; ++t) {
      const of_kernel_tensor& tensor = tensor_of(kernel, context, t);
      const of_dtype computed = t == 0 ? kernel.results[0] : kernel.inputs[t - 1].dtype;
      Tensor& own = tensors_[t];
      own.data = static_cast<char*>(tensor.data);
      own.strides = boxes.strides(static_cast<size_t>(t));
      own.stored_size = item_size(tensor.dtype);
      own.computed_size = item_size(computed);
      own.access = access_to(own, tensor.dtype == computed);
      if (own.access != Access::kCopied) continue;
      if (tensor.dtype != computed)
        own.convert = t == 0 ? find_conversion(computed, tensor.dtype) : find_conversion(tensor.dtype, computed);
      emplace_copies(own.copies, own, boxes.extents());
      // kPadding more elements, which padded loops compute; without them, buffers would map to the same cache sets.
      buffer_bytes_ =
          std::max(buffer_bytes_, (boxes.max_elements() + kPadding) * std::max(own.stored_size, own.computed_size));
      ++copied_;
    }
  }

  // Computes the boxes [first, last). Sets `failed` if an integer was divided by zero. Returns false if it could not
  // allocate memory.
  bool run(int64_t first, int64_t last, bool& failed) const {
    const Scratch memory((kScratchBuffers + copied_) * buffer_bytes_);
    if (memory.data() == nullptr) return false;
    ChunkBuffer repeated[kMaxInputs];
    for (int i = 0; i < kernel_.input_count; ++i)
      if (tensors_[i + 1].access == Access::kConstant)
        Reader(tensor_of(kernel_, context_, i + 1), kernel_.inputs[i].dtype).read(0, 1, kChunk, repeated[i]);
    for (int64_t box = first; box < last; ++box) run_box(box, static_cast<char*>(memory.data()), repeated, failed);
    return true;
  }

 private:
  Access access_to(const Tensor& tensor, bool is_as_stored) const {
    const int64_t *strides = tensor.strides, *end = strides + boxes_.rank();
    const auto are_zero = [](const int64_t* from, const int64_t* to) { return std::count(from, to, 0) == to - from; };
    if (are_zero(strides, end)) return Access::kConstant;
    if (!is_as_stored || kernel_.padded) return Access::kCopied;
    if (are_zero(strides + outer_, end)) return Access::kRepeated;
    int64_t run = 1;
    for (int32_t d = boxes_.rank() - 1; d >= outer_; --d) {
      if (strides[d] != run || (d > outer_ && boxes_.is_cut(d))) return Access::kCopied;
      run *= boxes_.extents()[d];
    }
    return Access::kDirect;
  }

  // Returns whether a tensor repeats its elements along an outer dimension. A copy of its box then has them once.
  bool is_repeated_along(const Tensor& tensor, int32_t dim) const { return dim < outer_ && tensor.strides[dim] == 0; }

  // Plans the copies of a box. If a tensor is stored in the order of the boxes but strided, and repeats elements within
  // a run, its elements are first packed and then repeated, so that each is read once.
  void emplace_copies(Copies& copies, const Tensor& tensor, const int64_t* sizes) const {
    const int64_t* const strides = tensor.strides;
    const int32_t rank = boxes_.rank();
    emplace_copy(copies.first, sizes, strides, outer_, tensor.stored_size);
    if (!copies.first->is_in_order() || std::abs(strides[rank - 1]) <= 1) return;
    if (std::count(strides + outer_, strides + rank, 0) == 0) return;
    int64_t steps[OF_MAX_RANK], elements = 1;
    for (int32_t d = rank - 1; d >= 0; --d) {
      steps[d] = strides[d] == 0 ? 0 : elements;
      if (strides[d] != 0) elements *= sizes[d];
    }
    emplace_copy(copies.first, sizes, strides, rank, tensor.stored_size);
    emplace_copy(copies.repeated, sizes, steps, outer_, tensor.computed_size);
  }

  // Plans a copy that omits those of the first `first` dimensions that have stride 0.
  void emplace_copy(std::optional<BoxCopy>& copy, const int64_t* sizes, const int64_t* strides, int32_t first,
                    int64_t item_size) const {
    int64_t copied_sizes[OF_MAX_RANK], copied_strides[OF_MAX_RANK];
    int32_t rank = 0;
    for (int32_t d = 0; d < boxes_.rank(); ++d) {
      if (d < first && strides[d] == 0) continue;
      copied_sizes[rank] = sizes[d];
      copied_strides[rank++] = strides[d];
    }
    copy.emplace(rank, copied_sizes, copied_strides, item_size);
  }

  // Calls use(copies) with the copies of a box.
  template <class Use>
  void with_copies(const Tensor& tensor, const Box& box, Use&& use) const {
    if (box.is_largest) return use(tensor.copies);
    Copies smaller;
    emplace_copies(smaller, tensor, box.sizes);
    use(smaller);
  }

  // Returns the address of the first element of a box.
  char* address_in(const Tensor& tensor, const Box& box) const {
    int64_t offset = 0;
    for (int32_t d = 0; d < boxes_.rank(); ++d) offset += box.position[d] * tensor.strides[d];
    return tensor.data + offset * tensor.stored_size;
  }

  // Computes a box. `scratch` has kScratchBuffers buffers for intermediate results of copies, and after them one buffer
  // for each copied tensor. Buffers have `buffer_bytes_` bytes.
  void run_box(int64_t number, char* scratch, ChunkBuffer* repeated, bool& failed) const {
    Box box;
    const int32_t rank = boxes_.rank();
    boxes_.box_at(number, box.position, box.sizes);
    box.is_largest = std::equal(box.sizes, box.sizes + rank, boxes_.extents());
    const int64_t count = product(box.sizes, 0, rank), run = product(box.sizes, outer_, rank);
    const int64_t length = kernel_.padded ? padded(count) : run;
    Runs runs[kMaxTensors];
    char* buffer = scratch + kScratchBuffers * buffer_bytes_;
    for (int t = 0; t <= kernel_.input_count; ++t) {
      const Tensor& tensor = tensors_[t];
      if (tensor.access == Access::kConstant) continue;
      if (tensor.access != Access::kCopied) {
        runs[t].first = address_in(tensor, box);
        for (int32_t d = 0; d < outer_; ++d) runs[t].steps[d] = tensor.strides[d] * tensor.stored_size;
        continue;
      }
      runs[t].first = buffer;
      int64_t elements = run;
      for (int32_t d = outer_ - 1; d >= 0; --d) {
        if (is_repeated_along(tensor, d)) continue;
        runs[t].steps[d] = elements * tensor.computed_size;
        elements *= box.sizes[d];
      }
      if (t > 0) read(tensor, box, elements, length, scratch, buffer);
      buffer += buffer_bytes_;
    }
    run_loop(runs, repeated, box.sizes, length, failed);
    if (tensors_[0].access == Access::kCopied) write(tensors_[0], box, count, scratch, runs[0].first);
  }

  // Copies the `elements` elements of an operand's box to `buffer`, and repeats the last one up to `length` elements if
  // the inner loop is padded.
  void read(const Tensor& tensor, const Box& box, int64_t elements, int64_t length, char* scratch, char* buffer) const {
    with_copies(tensor, box, [&](const Copies& copies) {
      char* first = copies.repeated ? scratch : buffer;
      char* stored = tensor.convert == nullptr ? first : scratch + buffer_bytes_;
      copies.first->pack(address_in(tensor, box), stored);
      if (tensor.convert != nullptr) tensor.convert(stored, first, copies.first->count());
      if (copies.repeated) copies.repeated->pack(first, buffer);
    });
    if (length > elements && kernel_.padded)
      copy_strided(buffer + (elements - 1) * tensor.computed_size, 0, buffer + elements * tensor.computed_size, 1,
                   tensor.computed_size, length - elements);
  }

  // Copies the `elements` elements of `buffer` to the result's box.
  void write(const Tensor& tensor, const Box& box, int64_t elements, char* scratch, const char* buffer) const {
    if (tensor.convert != nullptr) {
      tensor.convert(buffer, scratch, elements);
      buffer = scratch;
    }
    with_copies(tensor, box, [&](const Copies& copies) { copies.first->unpack(buffer, address_in(tensor, box)); });
  }

  // Runs the inner loop over all runs of a box, of `length` elements each.
  void run_loop(const Runs* runs, ChunkBuffer* repeated, const int64_t* sizes, int64_t length, bool& failed) const {
    char* current[kMaxTensors];
    for (int t = 0; t <= kernel_.input_count; ++t) current[t] = runs[t].first;
    const char* filled[kMaxInputs] = {};  // the element that each buffer repeats
    int64_t index[OF_MAX_RANK] = {};
    for (int64_t left = product(sizes, 0, outer_); left > 0; --left) {
      for (int i = 0; i < kernel_.input_count; ++i) {
        const Tensor& tensor = tensors_[i + 1];
        if (tensor.access != Access::kRepeated || filled[i] == current[i + 1]) continue;
        filled[i] = current[i + 1];
        copy_strided(filled[i], 0, repeated[i].bytes, 1, tensor.stored_size, std::min(kChunk, length));
      }
      run_chunks(current, repeated, length, failed);
      for (int32_t d = outer_ - 1; d >= 0; --d) {
        const bool wraps = ++index[d] == sizes[d];
        for (int t = 0; t <= kernel_.input_count; ++t)
          current[t] += wraps ? -(sizes[d] - 1) * runs[t].steps[d] : runs[t].steps[d];
        if (!wraps) break;
        index[d] = 0;
      }
    }
  }

  // Runs the inner loop over one run, in chunks of at most kChunk elements, the size of the buffers of repeated
  // elements.
  void run_chunks(char* const* current, const ChunkBuffer* repeated, int64_t length, bool& failed) const {
    for (int64_t begin = 0; begin < length; begin += kChunk) {
      const void* inputs[kMaxInputs];
      for (int i = 0; i < kernel_.input_count; ++i) {
        const Tensor& tensor = tensors_[i + 1];
        const bool has_run = tensor.access == Access::kDirect || tensor.access == Access::kCopied;
        inputs[i] =
            has_run ? current[i + 1] + begin * tensor.computed_size : static_cast<const void*>(repeated[i].bytes);
      }
      void* result = current[0] + begin * tensors_[0].computed_size;
      failed |= kernel_.loop(context_.arguments, inputs, &result, std::min(kChunk, length - begin));
    }
  }

  const ElementwiseKernel& kernel_;
  const of_kernel_context& context_;
  const Boxes& boxes_;
  int32_t outer_;  // the number of outer dimensions, around the runs
  Tensor tensors_[kMaxTensors];
  int64_t copied_ = 0, buffer_bytes_ = 0;
};

}  // namespace

std::optional<of_status> run_in_boxes(const ElementwiseKernel& kernel, const of_kernel_context& context, bool& failed) {
  static constexpr int64_t kNoSteps[OF_MAX_RANK] = {};
  const of_kernel_tensor& space = context.outputs[0];
  Layout layouts[kMaxTensors];
  int64_t widest = 1;
  for (int t = 0; t <= kernel.input_count; ++t) {
    const of_kernel_tensor& tensor = tensor_of(kernel, context, t);
    layouts[t] = {space.rank, space.sizes, tensor.data == nullptr ? kNoSteps : tensor.strides};
    widest = std::max(widest, item_size(tensor.dtype));
  }
  const auto boxes = Boxes::find({layouts, static_cast<size_t>(kernel.input_count) + 1}, widest);
  if (!boxes) return std::nullopt;
  const ElementwiseBoxes computation(kernel, context, *boxes);
  const int64_t boxes_per_task = std::max<int64_t>(1, kTask / boxes->max_elements());
  bool has_memory = true;
  parallel_for(divide_up(boxes->count(), boxes_per_task), [&](int64_t task) {
    bool task_failed = false;
    const int64_t first = task * boxes_per_task, last = std::min(first + boxes_per_task, boxes->count());
    if (!computation.run(first, last, task_failed)) __atomic_store_n(&has_memory, false, __ATOMIC_RELAXED);
    if (task_failed) __atomic_store_n(&failed, true, __ATOMIC_RELAXED);
  });
  return has_memory ? OF_OK : fail_without_memory();
}

}  // namespace oneflow::cpu
