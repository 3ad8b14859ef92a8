// nonzero(): the coordinates of all elements that are not zero, in row-major order. Each task counts its elements
// first, which gives the first row of the result for the next task.
#include <algorithm>
#include <vector>

#include "copy/operand.h"
#include "fold/plan.h"
#include "native/native.h"
#include "threads/thread_pool.h"

namespace oneflow::cpu {
namespace {

constexpr int64_t kTaskElements = 16 * 1024;

// Calls visit(truths, first, count) for the elements [begin, end) as truth values, chunk by chunk.
template <class Visit>
void for_each_chunk(const Reader& reader, int64_t begin, int64_t end, Visit visit) {
  ChunkBuffer buffer;
  for (; begin < end; begin += kChunk) {
    const int64_t count = std::min(kChunk, end - begin);
    reader.read(begin, count, count, buffer);
    visit(reinterpret_cast<const uint8_t*>(buffer.bytes), begin, count);
  }
}

}  // namespace

of_status nonzero(const of_kernel_context& context) {
  const of_kernel_tensor& input = context.inputs[0];
  const of_kernel_tensor& output = context.outputs[0];
  const Reader reader(input, OF_BOOL);
  const int64_t count = element_count({input.rank, input.sizes, input.strides});
  const int64_t tasks = (count + kTaskElements - 1) / kTaskElements;

  // The rows of each task follow those of the tasks before it.
  std::vector<int64_t> first_row(static_cast<size_t>(tasks) + 1);
  parallel_for(tasks, [&](int64_t task) {
    int64_t found = 0;
    for_each_chunk(reader, task * kTaskElements, std::min((task + 1) * kTaskElements, count),
                   [&found](const uint8_t* truths, int64_t, int64_t length) {
                     for (int64_t i = 0; i < length; ++i) found += truths[i] != 0;
                   });
    first_row[static_cast<size_t>(task) + 1] = found;
  });
  for (size_t task = 0; task < static_cast<size_t>(tasks); ++task) first_row[task + 1] += first_row[task];

  parallel_for(tasks, [&](int64_t task) {
    int64_t row = first_row[static_cast<size_t>(task)];
    // If another thread changes the input after it was counted, no task may write rows of another task.
    const int64_t last_row = std::min(first_row[static_cast<size_t>(task) + 1], output.sizes[0]);
    const auto write_chunk = [&](const uint8_t* truths, int64_t first, int64_t length) {
      // Without branches, which would be unpredictable: each position is stored, and overwritten by the next one if the
      // element is zero.
      int64_t positions[kChunk + 1], found = 0;
      for (int64_t i = 0; i < length; ++i) {
        positions[found] = first + i;
        found += truths[i] != 0;
      }
      found = std::min(found, last_row - row);
      if (input.rank == 1) {
        copy_strided(positions, 1, static_cast<int64_t*>(output.data) + row * output.strides[0], output.strides[0],
                     sizeof(int64_t), found);
        row += found;
        return;
      }
      for (int64_t i = 0; i < found; ++i) {
        int64_t* coordinates = static_cast<int64_t*>(output.data) + row++ * output.strides[0];
        int64_t position = positions[i];
        for (int32_t d = input.rank - 1; d > 0; --d) {
          coordinates[d * output.strides[1]] = position % input.sizes[d];
          position /= input.sizes[d];
        }
        if (input.rank > 0) coordinates[0] = position;
      }
    };
    for_each_chunk(reader, task * kTaskElements, std::min((task + 1) * kTaskElements, count), write_chunk);
  });
  return OF_OK;
}

}  // namespace oneflow::cpu
