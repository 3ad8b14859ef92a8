// The driver of generator kernels: splits the elements of the result into tasks of a fixed size.
#include <algorithm>

#include "copy/operand.h"
#include "plugin/emitted.h"
#include "plugin/host.h"
#include "threads/thread_pool.h"

namespace oneflow::cpu {

// Returns a mask of the highest bits of a random word, as many as the significand of a dtype has. With more bits, a
// uniform number below 1 could be rounded up to 1.
static uint32_t kept_bits(of_dtype dtype) {
  const int digits = dtype == OF_FLOAT16 ? 11 : dtype == OF_BFLOAT16 ? 8 : 32;
  return ~uint32_t{0} << (32 - digits);
}

namespace {

// Where the elements of a result, in row-major order, are in the whole tensor that it is a box of.
class Placement {
 public:
  explicit Placement(const of_kernel_context& context)
      : box_(context.outputs[0]), is_whole_(!context.whole_sizes), count_(1) {
    for (int32_t d = box_.rank; d-- > 0;) {
      const int64_t whole = is_whole_ ? box_.sizes[d] : context.whole_sizes[d];
      first_ += is_whole_ ? 0 : context.origin[d] * count_;
      strides_[d] = count_;
      if (run_ == count_) {
        run_dims_ = d;
        run_ *= box_.sizes[d];
      }
      if (d == box_.rank - 1) row_length_ = whole;
      count_ *= whole;
    }
  }

  // Returns the size of the last dimension of the whole tensor.
  int64_t row_length() const { return row_length_; }
  // Returns how many elements from `position` on are consecutive in the whole tensor.
  int64_t run_at(int64_t position) const { return run_ - position % run_; }
  // Returns the linear index of the element in the whole tensor.
  int64_t index_of(int64_t position) const {
    if (is_whole_) return position;
    int64_t index = first_ + position % run_, rest = position / run_;
    for (int32_t d = run_dims_; d-- > 0; rest /= box_.sizes[d]) index += rest % box_.sizes[d] * strides_[d];
    return index;
  }

 private:
  const of_kernel_tensor& box_;
  bool is_whole_;
  int64_t count_;         // the number of elements in the whole tensor
  int64_t first_ = 0;     // the linear index of the first element of the box
  int64_t run_ = 1;       // the length of consecutive parts of the box
  int32_t run_dims_ = 0;  // the first dimension that is within such a part
  int64_t row_length_ = 1;
  int64_t strides_[OF_MAX_RANK];  // of the whole tensor
};

}  // namespace

of_status run_kernel(const GeneratorKernel& kernel, const of_kernel_context& context) {
  constexpr int64_t kTask = 16 * 1024;
  const of_kernel_tensor& output = context.outputs[0];
  const int64_t count = element_count({output.rank, output.sizes, output.strides});
  if (count == 0) return OF_OK;
  const Writer writer(output, kernel.result);
  const Placement placement(context);
  bool failed = false;

  parallel_for(divide_up(count, kTask), [&](int64_t task) {
    const int64_t end = std::min((task + 1) * kTask, count);
    ChunkBuffer buffer;
    for (int64_t begin = task * kTask; begin < end;) {
      const int64_t index = placement.index_of(begin);
      const int64_t row_length = kernel.uses_rows ? placement.row_length() : INT64_MAX;
      const int64_t column = index % row_length;
      const int64_t length = std::min({kChunk, end - begin, placement.run_at(begin), row_length - column});
      const int64_t run = kernel.padded ? padded(length) : length;
      const IndexRange range{
          index, run, index / row_length, column, context.seed, context.offset, kept_bits(output.dtype)};
      const bool in_place = writer.is_direct() && run == length;
      if (kernel.loop(context.arguments, range, in_place ? writer.direct(begin) : buffer.bytes)) {
        __atomic_store_n(&failed, true, __ATOMIC_RELAXED);
      }
      if (!in_place) writer.write(begin, length, buffer.bytes);
      begin += length;
    }
  });
  return failed ? fail(OF_INVALID_ARGUMENT, "division by zero") : OF_OK;
}

}  // namespace oneflow::cpu
