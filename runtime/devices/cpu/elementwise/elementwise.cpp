// The driver of elementwise kernels. If all operands are contiguous and of the inner loop's dtypes, the loop runs on
// them in place. Otherwise it works tile by tile (elementwise/tiled.h), box by box (elementwise/boxed.h), or in
// row-major order through buffers, chunk by chunk. Tasks have a fixed size.
#include <algorithm>
#include <limits>
#include <memory>
#include <optional>

#include "copy/operand.h"
#include "elementwise/boxed.h"
#include "elementwise/tiled.h"
#include "plugin/emitted.h"
#include "plugin/host.h"
#include "simd/element.h"
#include "simd/non_temporal.h"
#include "threads/thread_pool.h"

namespace oneflow::cpu {
namespace {

// Elements per task: one thread adds, or computes the exponential of, about this many in the time that it takes to wake
// a worker.
constexpr int64_t kTask = 32 * 1024;

// Chunks do not cross the ends of rows of at least this many elements: within a row, operands are often contiguous.
constexpr int64_t kLongRow = 256;
// The number of elements below which buffers are used without planning tiles or boxes.
constexpr int64_t kMinTiled = 256;
constexpr int64_t kNoRows = std::numeric_limits<int64_t>::max();

class Elementwise {
 public:
  Elementwise(const ElementwiseKernel& kernel, const of_kernel_context& context)
      : kernel_(kernel), arguments_(context.arguments), writer_(context.outputs[0], kernel.result) {
    const of_kernel_tensor& space = context.outputs[0];
    if (space.rank > 0 && space.sizes[space.rank - 1] >= kLongRow) row_ = space.sizes[space.rank - 1];
    for (int i = 0; i < kernel.input_count; ++i) {
      std::construct_at(&readers_[i], context.inputs[kernel.inputs[i].position], kernel.inputs[i].dtype);
      all_direct_ &= readers_[i].is_direct();
      if (row_ != kNoRows && readers_[i].repeats_in_rows()) chunk_ = kLongRow;
      if (row_ == kNoRows && readers_[i].period() <= kChunk)
        longest_period_ = std::max(longest_period_, readers_[i].period());
    }
    if (longest_period_ > 1) chunk_ = whole_periods(longest_period_);
    is_non_temporal_ =
        writer_.is_direct() && can_copy_non_temporal(writer_.direct(0)) && is_large(space) && !is_in_place(context);
    all_direct_ &= writer_.is_direct() && !is_non_temporal_;
  }

  // Returns whether the inner loop runs on all operands in place.
  bool is_direct() const { return all_direct_; }

  // Computes the elements [begin, end). Returns whether an integer was divided by zero.
  bool run(int64_t begin, int64_t end) const {
    bool failed = false;
    if (all_direct_) {
      const int64_t whole = kernel_.padded ? (end - begin) / kPadding * kPadding : end - begin;
      if (whole > 0) failed = run_direct(begin, whole);
      begin += whole;
    }
    return begin < end ? run_staged(begin, end) || failed : failed;
  }

 private:
  // Computes elements in place.
  bool run_direct(int64_t begin, int64_t count) const {
    const void* inputs[kMaxInputs];
    for (int i = 0; i < kernel_.input_count; ++i) inputs[i] = readers_[i].direct(begin);
    return kernel_.loop(arguments_, inputs, writer_.direct(begin), count);
  }

  // Computes elements chunk by chunk, through buffers for operands that are not contiguous or have another dtype.
  bool run_staged(int64_t begin, int64_t end) const {
    ChunkBuffer input_buffers[kMaxInputs], result_buffer;
    const void* inputs[kMaxInputs];
    const int64_t longest = padded(std::min(kChunk, end - begin));
    for (int i = 0; i < kernel_.input_count; ++i) {
      inputs[i] = input_buffers[i].bytes;
      if (is_same_in_chunks(i)) readers_[i].read(begin, std::min(chunk_, end - begin), longest, input_buffers[i]);
    }
    bool failed = false;
    const int64_t start = begin;
    for (int64_t count = 0; begin < end; begin += count) {
      const int64_t column = begin % row_;
      count = std::min({chunk_, end - begin, row_ - column});
      const int64_t run = padded(count);
      const bool continues_row = row_ != kNoRows && column != 0 && begin != start;
      for (int i = 0; i < kernel_.input_count; ++i) {
        if (is_same_in_chunks(i) || (continues_row && readers_[i].repeats_in_rows())) continue;
        inputs[i] = run == count ? readers_[i].find(begin, count) : nullptr;
        if (inputs[i] == nullptr) {
          readers_[i].read(begin, count, run, input_buffers[i]);
          inputs[i] = input_buffers[i].bytes;
        }
      }
      const bool in_place = writer_.is_direct() && run == count && !is_non_temporal_;
      failed |= kernel_.loop(arguments_, inputs, in_place ? writer_.direct(begin) : result_buffer.bytes, run);
      if (is_non_temporal_ && can_copy_non_temporal(writer_.direct(begin))) {
        copy_non_temporal(writer_.direct(begin), result_buffer.bytes, count * item_size(kernel_.result));
      } else if (!in_place) {
        writer_.write(begin, count, result_buffer.bytes);
      }
    }
    if (is_non_temporal_) end_non_temporal();
    return failed;
  }

  // Returns whether an operand has the same elements in all chunks, so that its buffer is filled once.
  bool is_same_in_chunks(int i) const { return readers_[i].period() <= longest_period_; }

  static bool is_large(const of_kernel_tensor& space) {
    return element_count({space.rank, space.sizes, space.strides}) * item_size(space.dtype) >= non_temporal_bytes();
  }

  // Returns whether the result overwrites an operand. Its memory is then in the caches, so that non-temporal stores
  // would not help.
  bool is_in_place(const of_kernel_context& context) const {
    for (int i = 0; i < kernel_.input_count; ++i)
      if (context.inputs[kernel_.inputs[i].position].data == context.outputs[0].data) return true;
    return false;
  }

  int64_t padded(int64_t count) const { return kernel_.padded ? cpu::padded(count) : count; }

  const ElementwiseKernel& kernel_;
  const of_value* arguments_;
  Reader readers_[kMaxInputs];
  Writer writer_;
  bool all_direct_ = true;
  bool is_non_temporal_;        // whether results are written with non-temporal stores
  int64_t row_ = kNoRows;       // the length of rows whose ends no chunk crosses
  int64_t longest_period_ = 1;  // of the operands that repeat within a chunk
  int64_t chunk_ = kChunk;      // shorter if an operand repeats one element per row: filling its buffer takes time, too
};

// Computes all elements, in parallel. Returns whether an integer was divided by zero.
bool run_all(const Elementwise& elementwise, int64_t count) {
  if (count <= kTask) return elementwise.run(0, count);
  bool failed = false;
  parallel_for(divide_up(count, kTask), [&](int64_t task) {
    if (elementwise.run(task * kTask, std::min((task + 1) * kTask, count)))
      __atomic_store_n(&failed, true, __ATOMIC_RELAXED);
  });
  return failed;
}

}  // namespace

of_status run_kernel(const ElementwiseKernel& kernel, const of_kernel_context& context) {
  const of_kernel_tensor& space = context.outputs[0];
  const int64_t count = element_count({space.rank, space.sizes, space.strides});
  if (count == 0) return OF_OK;
  const Elementwise elementwise(kernel, context);
  const bool in_rows = elementwise.is_direct() || count < kMinTiled;
  bool failed = false;
  if (const auto tiling = in_rows ? std::nullopt : find_tiling(kernel, context)) {
    failed = run_tiles(kernel, context, *tiling);
  } else if (const auto status = in_rows ? std::nullopt : run_in_boxes(kernel, context, failed)) {
    if (*status != OF_OK) return *status;
  } else {
    failed = run_all(elementwise, count);
  }
  return failed ? fail(OF_INVALID_ARGUMENT, "division by zero") : OF_OK;
}

}  // namespace oneflow::cpu
