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
  // `count` is the number of elements of each result.
  Elementwise(const ElementwiseKernel& kernel, const of_kernel_context& context, int64_t count)
      : kernel_(kernel), arguments_(context.arguments) {
    for (int i = 0; i < kernel.result_count; ++i) {
      std::construct_at(&writers_[i], context.outputs[i], kernel.results[i]);
      all_direct_ &= writers_[i].is_direct();
    }
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
        count * item_size(space.dtype) >= non_temporal_bytes() && can_store_non_temporal() && !is_in_place(context);
    all_direct_ &= !is_non_temporal_;
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
    void* results[kMaxResults];
    for (int i = 0; i < kernel_.result_count; ++i) results[i] = writers_[i].direct(begin);
    return kernel_.loop(arguments_, inputs, results, count);
  }

  // Computes elements chunk by chunk, through buffers for operands that are not contiguous or have another dtype.
  bool run_staged(int64_t begin, int64_t end) const {
    ChunkBuffer input_buffers[kMaxInputs], result_buffers[kMaxResults];
    const void* inputs[kMaxInputs];
    void* results[kMaxResults];
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
      for (int i = 0; i < kernel_.result_count; ++i) {
        const bool in_place = writers_[i].is_direct() && run == count && !is_non_temporal_;
        results[i] = in_place ? writers_[i].direct(begin) : result_buffers[i].bytes;
      }
      failed |= kernel_.loop(arguments_, inputs, results, run);
      for (int i = 0; i < kernel_.result_count; ++i)
        if (results[i] == result_buffers[i].bytes) write(i, begin, count, result_buffers[i]);
    }
    if (is_non_temporal_) end_non_temporal();
    return failed;
  }

  // Writes elements of a result from its buffer.
  void write(int i, int64_t begin, int64_t count, const ChunkBuffer& buffer) const {
    if (is_non_temporal_ && can_copy_non_temporal(writers_[i].direct(begin)))
      copy_non_temporal(writers_[i].direct(begin), buffer.bytes, count * item_size(kernel_.results[i]));
    else
      writers_[i].write(begin, count, buffer.bytes);
  }

  // Returns whether all results are contiguous, at addresses that fit non-temporal stores.
  bool can_store_non_temporal() const {
    return std::all_of(writers_, writers_ + kernel_.result_count, [](const Writer& writer) {
      return writer.is_direct() && can_copy_non_temporal(writer.direct(0));
    });
  }

  // Returns whether an operand has the same elements in all chunks, so that its buffer is filled once.
  bool is_same_in_chunks(int i) const { return readers_[i].period() <= longest_period_; }

  // Returns whether a result overwrites an operand. Its memory is then in the caches, so that non-temporal stores would
  // not help.
  bool is_in_place(const of_kernel_context& context) const {
    for (int i = 0; i < kernel_.input_count; ++i)
      for (int k = 0; k < kernel_.result_count; ++k)
        if (context.inputs[kernel_.inputs[i].position].data == context.outputs[k].data) return true;
    return false;
  }

  int64_t padded(int64_t count) const { return kernel_.padded ? cpu::padded(count) : count; }

  const ElementwiseKernel& kernel_;
  const of_value* arguments_;
  Reader readers_[kMaxInputs];
  Writer writers_[kMaxResults];
  bool all_direct_ = true;
  bool is_non_temporal_;        // whether the results are written with non-temporal stores
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
  const Elementwise elementwise(kernel, context, count);
  // Tiles and boxes are for one result.
  const bool in_rows = elementwise.is_direct() || count < kMinTiled || kernel.result_count > 1;
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
