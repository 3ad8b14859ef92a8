// Copies and conversions between any two layouts and types.
#include <algorithm>

#include "element.h"
#include "emitted.h"
#include "operand.h"
#include "rows.h"
#include "strided.h"
#include "thread_pool.h"
#include "tiling.h"

namespace oneflow::cpu {
namespace {

constexpr int64_t kTask = 64 * 1024;
// Elements of a tile that goes from memory to memory.
constexpr int64_t kTile = 4096;

bool is_memory(const of_kernel_tensor& tensor) { return tensor.data != nullptr; }

void copy_tiles(const of_kernel_tensor& source, const of_kernel_tensor& result, const Tiling& tiling) {
  const int64_t size = item_size(result.dtype);
  const bool converts = source.dtype != result.dtype;
  const RowReader reader(source, result.dtype);
  const RowWriter writer(result, result.dtype);
  parallel_for(tiling.task_count(), [&](int64_t task) {
    ChunkBuffer buffer;
    tiling.visit_tiles(task, [&](const Tile& tile) {
      const int64_t from = tiling.offset(tile, source.strides), to = tiling.offset(tile, result.strides);
      const RowLayout source_rows = tiling.layout(tile, source.strides),
                      result_rows = tiling.layout(tile, result.strides);
      if (converts) {
        reader.pack(from, source_rows, buffer);
        writer.write(to, result_rows, buffer.bytes);
      } else {
        copy_rows(static_cast<const char*>(source.data) + from * size, source_rows,
                  static_cast<char*>(result.data) + to * size, result_rows, size);
      }
    });
  });
}

// In row-major order, chunk by chunk. Each side that is contiguous and of the right type is worked on in place.
void copy_chunks(const of_kernel_tensor& source, const of_kernel_tensor& result, int64_t count) {
  const bool via_source = is_memory(source);
  const Reader reader(source, via_source ? source.dtype : result.dtype);
  const Writer writer(result, via_source ? source.dtype : result.dtype);
  parallel_for((count + kTask - 1) / kTask, [&](int64_t task) {
    int64_t begin = task * kTask;
    const int64_t end = std::min(begin + kTask, count);
    if (writer.is_direct() && reader.period() > kChunk)
      return gather(source.data, {source.rank, source.sizes, source.strides}, item_size(source.dtype), begin,
                    end - begin, writer.direct(begin));
    if (reader.is_direct()) {
      if (writer.is_contiguous()) {
        writer.write(begin, end - begin, reader.direct(begin));
        return;
      }
      for (; begin < end; begin += kChunk) writer.write(begin, std::min(kChunk, end - begin), reader.direct(begin));
      return;
    }
    ChunkBuffer buffer;
    const bool repeats = reader.period() <= kChunk;
    const int64_t chunk = repeats ? whole_periods(reader.period()) : kChunk;
    const int64_t first = std::min(chunk, end - begin);
    if (repeats) reader.read(begin, first, first, buffer);
    for (; begin < end; begin += chunk) {
      const int64_t length = std::min(chunk, end - begin);
      if (!repeats) reader.read(begin, length, length, buffer);
      writer.write(begin, length, buffer.bytes);
    }
  });
}

}  // namespace

of_status run_kernel(const CopyKernel& kernel, const of_kernel_context& context) {
  const of_kernel_tensor& source = context.inputs[kernel.input];
  const of_kernel_tensor& result = context.outputs[0];
  const int64_t count = element_count({result.rank, result.sizes, result.strides});
  if (count == 0) return OF_OK;
  if (!is_memory(source)) {
    copy_chunks(source, result, count);
    return OF_OK;
  }
  const Layout layouts[] = {{result.rank, result.sizes, result.strides}, {source.rank, source.sizes, source.strides}};
  const auto tiling = Tiling::find(layouts, item_size(result.dtype), source.dtype == result.dtype ? kTile : kChunk);
  if (tiling)
    copy_tiles(source, result, *tiling);
  else
    copy_chunks(source, result, count);
  return OF_OK;
}

}  // namespace oneflow::cpu
