// The coordinates of all elements that are not zero, in row-major order.
#include <algorithm>
#include <vector>

#include "fold_plan.h"
#include "native/native.h"
#include "operand.h"
#include "thread_pool.h"

namespace oneflow::cpu {
namespace {

constexpr int64_t kTaskElements = 16 * 1024;

// Calls visit(position) for each element of [begin, end) that is not zero.
template <class Visit>
void for_each_nonzero(const Reader& reader, int64_t begin, int64_t end, Visit visit) {
  ChunkBuffer buffer;
  for (; begin < end; begin += kChunk) {
    const int64_t length = std::min(kChunk, end - begin);
    reader.read(begin, length, length, buffer);
    const auto* holds = reinterpret_cast<const bool*>(buffer.bytes);
    for (int64_t i = 0; i < length; ++i) {
      if (holds[i]) visit(begin + i);
    }
  }
}

}  // namespace

of_status nonzero(const of_kernel_context* context) {
  const of_kernel_tensor& input = context->inputs[0];
  const of_kernel_tensor& output = context->outputs[0];
  const Reader reader(input, OF_BOOL);
  const int64_t count = element_count({input.rank, input.sizes, input.strides});
  const int64_t tasks = (count + kTaskElements - 1) / kTaskElements;

  // Each task's rows follow those of the tasks before it.
  std::vector<int64_t> first_row(static_cast<size_t>(tasks) + 1);
  parallel_for(tasks, [&](int64_t task) {
    int64_t found = 0;
    for_each_nonzero(reader, task * kTaskElements, std::min((task + 1) * kTaskElements, count),
                     [&](int64_t) { ++found; });
    first_row[static_cast<size_t>(task) + 1] = found;
  });
  for (size_t task = 0; task < static_cast<size_t>(tasks); ++task) first_row[task + 1] += first_row[task];

  parallel_for(tasks, [&](int64_t task) {
    int64_t row = first_row[static_cast<size_t>(task)];
    for_each_nonzero(reader, task * kTaskElements, std::min((task + 1) * kTaskElements, count), [&](int64_t position) {
      int64_t* coordinates = static_cast<int64_t*>(output.data) + row++ * output.strides[0];
      for (int32_t d = input.rank - 1; d >= 0; --d) {
        coordinates[d * output.strides[1]] = position % input.sizes[d];
        position /= input.sizes[d];
      }
    });
  });
  return OF_OK;
}

}  // namespace oneflow::cpu
