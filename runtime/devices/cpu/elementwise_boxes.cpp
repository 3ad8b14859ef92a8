#include "elementwise_boxes.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "box_copy.h"
#include "boxes.h"
#include "element.h"
#include "host.h"
#include "operand.h"
#include "scratch.h"
#include "thread_pool.h"

namespace oneflow::cpu {
namespace {

// Elements per task.
constexpr int64_t kTask = 32 * 1024;
// Elements that are worth a call of the inner loop.
constexpr int64_t kLongRun = 256;
// Buffers for what is repeated and what is converted.
constexpr int64_t kRooms = 2;
// The result, and the operands.
constexpr int kMaxTensors = kMaxInputs + 1;

const of_kernel_tensor& tensor_of(const ElementwiseKernel& kernel, const of_kernel_context& context, int tensor) {
  return tensor == 0 ? context.outputs[0] : context.inputs[kernel.inputs[tensor - 1].position];
}

int64_t product(const int64_t* sizes, int32_t begin, int32_t end) {
  int64_t count = 1;
  for (int32_t d = begin; d < end; ++d) count *= sizes[d];
  return count;
}

// How the runs of a box that the inner loop gets are found: the same element for all, an element for each, where they
// lie, or in a copy.
enum class Access { kConstant, kRepeated, kDirect, kCopied };

// How a tensor is copied: in two steps where the second one repeats elements.
struct Copies {
  std::optional<BoxCopy> first, repeated;
};

// An operand, or the result.
struct Tensor {
  char* data;
  const int64_t* strides;
  int64_t stored_size, computed_size;
  Convert convert = nullptr;  // between what is stored and what is computed with; NULL: they are the same
  Access access;
  Copies copies;  // of the largest box
};

struct Box {
  int64_t position[OF_MAX_RANK], sizes[OF_MAX_RANK];
  bool is_largest;
};

// Where the runs of a tensor lie in a box: the first one, and how far it is to the next, in bytes, along each dimension
// around them.
struct Runs {
  char* first = nullptr;
  int64_t steps[OF_MAX_RANK] = {};
};

class ElementwiseBoxes {
 public:
  ElementwiseBoxes(const ElementwiseKernel& kernel, const of_kernel_context& context, const Boxes& boxes)
      : kernel_(kernel), context_(context), boxes_(boxes), outer_(boxes.rank()) {
    for (int64_t run = 1; outer_ > 0 && (run < kLongRun || kernel.padded); --outer_) run *= boxes.extents()[outer_ - 1];
    for (int t = 0; t <= kernel.input_count; ++t) {
      const of_kernel_tensor& tensor = tensor_of(kernel, context, t);
      const of_dtype computed = t == 0 ? kernel.result : kernel.inputs[t - 1].dtype;
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
      // Room for what the loop goes beyond, without which buffers fell on the same cache sets.
      buffer_bytes_ =
          std::max(buffer_bytes_, (boxes.most_elements() + kPadding) * std::max(own.stored_size, own.computed_size));
      ++copied_;
    }
  }

  // Boxes by their numbers. Whether there was memory.
  bool run(int64_t first, int64_t last, bool& failed) const {
    const Scratch memory((kRooms + copied_) * buffer_bytes_);
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

  // Along dimensions around runs a tensor may not move: a copy does not either.
  bool stays(const Tensor& tensor, int32_t dim) const { return dim < outer_ && tensor.strides[dim] == 0; }

  // Elements that lie apart and are repeated, in the order of the box, are copied once first. (eba,bce->bce of
  // 8 x 500 x 50: 0.5 of the time.)
  void emplace_copies(Copies& copies, const Tensor& tensor, const int64_t* sizes) const {
    const int64_t* const strides = tensor.strides;
    const int32_t rank = boxes_.rank();
    emplace_without(copies.first, sizes, strides, outer_, tensor.stored_size);
    if (!copies.first->is_in_order() || std::abs(strides[rank - 1]) <= 1) return;
    if (std::count(strides + outer_, strides + rank, 0) == 0) return;
    int64_t steps[OF_MAX_RANK], elements = 1;
    for (int32_t d = rank - 1; d >= 0; --d) {
      steps[d] = strides[d] == 0 ? 0 : elements;
      if (strides[d] != 0) elements *= sizes[d];
    }
    emplace_without(copies.first, sizes, strides, rank, tensor.stored_size);
    emplace_without(copies.repeated, sizes, steps, outer_, tensor.computed_size);
  }

  // Without those of the first dimensions along which nothing moves.
  void emplace_without(std::optional<BoxCopy>& copy, const int64_t* sizes, const int64_t* strides, int32_t first,
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

  template <class Use>
  void with_copies(const Tensor& tensor, const Box& box, Use&& use) const {
    if (box.is_largest) return use(tensor.copies);
    Copies smaller;
    emplace_copies(smaller, tensor, box.sizes);
    use(smaller);
  }

  char* place_of(const Tensor& tensor, const Box& box) const {
    int64_t offset = 0;
    for (int32_t d = 0; d < boxes_.rank(); ++d) offset += box.position[d] * tensor.strides[d];
    return tensor.data + offset * tensor.stored_size;
  }

  // `rooms`: for what is repeated or converted; behind them a buffer for each tensor that is copied.
  void run_box(int64_t number, char* rooms, ChunkBuffer* repeated, bool& failed) const {
    Box box;
    const int32_t rank = boxes_.rank();
    boxes_.box_at(number, box.position, box.sizes);
    box.is_largest = std::equal(box.sizes, box.sizes + rank, boxes_.extents());
    const int64_t count = product(box.sizes, 0, rank), run = product(box.sizes, outer_, rank);
    const int64_t length = kernel_.padded ? padded(count) : run;
    Runs runs[kMaxTensors];
    char* buffer = rooms + kRooms * buffer_bytes_;
    for (int t = 0; t <= kernel_.input_count; ++t) {
      const Tensor& tensor = tensors_[t];
      if (tensor.access == Access::kConstant) continue;
      if (tensor.access != Access::kCopied) {
        runs[t].first = place_of(tensor, box);
        for (int32_t d = 0; d < outer_; ++d) runs[t].steps[d] = tensor.strides[d] * tensor.stored_size;
        continue;
      }
      runs[t].first = buffer;
      int64_t elements = run;
      for (int32_t d = outer_ - 1; d >= 0; --d) {
        if (stays(tensor, d)) continue;
        runs[t].steps[d] = elements * tensor.computed_size;
        elements *= box.sizes[d];
      }
      if (t > 0) read(tensor, box, elements, length, rooms, buffer);
      buffer += buffer_bytes_;
    }
    run_loop(runs, repeated, box.sizes, length, failed);
    if (tensors_[0].access == Access::kCopied) write(tensors_[0], box, count, rooms, runs[0].first);
  }

  // So many elements of an operand, and as many more as are computed with. `rooms`: of a buffer each.
  void read(const Tensor& tensor, const Box& box, int64_t elements, int64_t length, char* rooms, char* buffer) const {
    with_copies(tensor, box, [&](const Copies& copies) {
      char* first = copies.repeated ? rooms : buffer;
      char* stored = tensor.convert == nullptr ? first : rooms + buffer_bytes_;
      copies.first->pack(place_of(tensor, box), stored);
      if (tensor.convert != nullptr) tensor.convert(stored, first, copies.first->count());
      if (copies.repeated) copies.repeated->pack(first, buffer);
    });
    if (length > elements && kernel_.padded)
      copy_strided(buffer + (elements - 1) * tensor.computed_size, 0, buffer + elements * tensor.computed_size, 1,
                   tensor.computed_size, length - elements);
  }

  void write(const Tensor& tensor, const Box& box, int64_t elements, char* room, const char* buffer) const {
    if (tensor.convert != nullptr) {
      tensor.convert(buffer, room, elements);
      buffer = room;
    }
    with_copies(tensor, box, [&](const Copies& copies) { copies.first->unpack(buffer, place_of(tensor, box)); });
  }

  // Over all runs of a box, of so many elements each.
  void run_loop(const Runs* runs, ChunkBuffer* repeated, const int64_t* sizes, int64_t length, bool& failed) const {
    char* now[kMaxTensors];
    for (int t = 0; t <= kernel_.input_count; ++t) now[t] = runs[t].first;
    const char* filled[kMaxInputs] = {};  // the element that a buffer repeats
    int64_t index[OF_MAX_RANK] = {};
    for (int64_t left = product(sizes, 0, outer_); left > 0; --left) {
      for (int i = 0; i < kernel_.input_count; ++i) {
        const Tensor& tensor = tensors_[i + 1];
        if (tensor.access != Access::kRepeated || filled[i] == now[i + 1]) continue;
        filled[i] = now[i + 1];
        copy_strided(filled[i], 0, repeated[i].bytes, 1, tensor.stored_size, std::min(kChunk, length));
      }
      run_chunks(now, repeated, length, failed);
      for (int32_t d = outer_ - 1; d >= 0; --d) {
        const bool returns = ++index[d] == sizes[d];
        for (int t = 0; t <= kernel_.input_count; ++t)
          now[t] += returns ? -(sizes[d] - 1) * runs[t].steps[d] : runs[t].steps[d];
        if (!returns) break;
        index[d] = 0;
      }
    }
  }

  // One run: as many elements at a time as are repeated.
  void run_chunks(char* const* now, const ChunkBuffer* repeated, int64_t length, bool& failed) const {
    for (int64_t begin = 0; begin < length; begin += kChunk) {
      const void* inputs[kMaxInputs];
      for (int i = 0; i < kernel_.input_count; ++i) {
        const Tensor& tensor = tensors_[i + 1];
        const bool is_there = tensor.access == Access::kDirect || tensor.access == Access::kCopied;
        inputs[i] = is_there ? now[i + 1] + begin * tensor.computed_size : static_cast<const void*>(repeated[i].bytes);
      }
      failed |= kernel_.loop(context_.arguments, inputs, now[0] + begin * tensors_[0].computed_size,
                             std::min(kChunk, length - begin));
    }
  }

  const ElementwiseKernel& kernel_;
  const of_kernel_context& context_;
  const Boxes& boxes_;
  int32_t outer_;  // dimensions around the runs that the inner loop gets
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
  const int64_t together = std::max<int64_t>(1, kTask / boxes->most_elements());
  bool has_memory = true;
  parallel_for(divide_up(boxes->count(), together), [&](int64_t task) {
    bool task_failed = false;
    const int64_t first = task * together, last = std::min(first + together, boxes->count());
    if (!computation.run(first, last, task_failed)) __atomic_store_n(&has_memory, false, __ATOMIC_RELAXED);
    if (task_failed) __atomic_store_n(&failed, true, __ATOMIC_RELAXED);
  });
  return has_memory ? OF_OK : fail_without_memory();
}

}  // namespace oneflow::cpu
