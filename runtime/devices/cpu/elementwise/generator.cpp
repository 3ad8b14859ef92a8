// The driver of generator kernels: splits the linear indices of the result into tasks of a fixed size.
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

of_status run_kernel(const GeneratorKernel& kernel, const of_kernel_context& context) {
  constexpr int64_t kTask = 16 * 1024;
  const of_kernel_tensor& output = context.outputs[0];
  const int64_t count = element_count({output.rank, output.sizes, output.strides});
  if (count == 0) return OF_OK;
  const Writer writer(output, kernel.result);
  const int64_t row_length = kernel.uses_rows ? output.sizes[output.rank - 1] : count;
  bool failed = false;

  parallel_for(divide_up(count, kTask), [&](int64_t task) {
    const int64_t end = std::min((task + 1) * kTask, count);
    ChunkBuffer buffer;
    for (int64_t begin = task * kTask; begin < end;) {
      const int64_t column = begin % row_length;
      const int64_t length = std::min({kChunk, end - begin, row_length - column});
      const int64_t run = kernel.padded ? padded(length) : length;
      const IndexRange range{
          begin, run, begin / row_length, column, context.seed, context.offset, kept_bits(output.dtype)};
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
