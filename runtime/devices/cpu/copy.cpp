// Copies and conversions between any two layouts and types.
#include <algorithm>

#include "emitted.h"
#include "operand.h"
#include "thread_pool.h"

namespace oneflow::cpu {
namespace {

constexpr int64_t kTask = 64 * 1024;
// Tiles of a transposing copy: kTile rows of kTile elements, which read and write whole cache lines.
constexpr int64_t kTile = 32;

bool is_memory(const of_kernel_tensor& tensor) { return tensor.data != nullptr; }

// Whether neighbouring elements of the source are neighbours along the last but one dimension, not the last.
bool is_transposing(const of_kernel_tensor& source, const of_kernel_tensor& result) {
  const int32_t last = result.rank - 1;
  if (!is_memory(source) || source.dtype != result.dtype || last < 1) return false;
  return result.strides[last] == 1 && source.strides[last - 1] == 1 && source.strides[last] != 1 &&
         result.sizes[last] >= kTile && result.sizes[last - 1] >= kTile;
}

// One task moves kTile rows of the last two dimensions, tile by tile, through a buffer that both sides visit line by
// line.
template <class Unit>
void copy_transposed(const of_kernel_tensor& source, const of_kernel_tensor& result) {
  const int32_t rank = result.rank;
  const int64_t rows = result.sizes[rank - 2], columns = result.sizes[rank - 1];
  const int64_t column_stride = source.strides[rank - 1], row_stride = result.strides[rank - 2];
  const int64_t strips = (rows + kTile - 1) / kTile;
  const int64_t planes = element_count({rank - 2, result.sizes, result.strides});
  parallel_for(planes * strips, [&](int64_t task) {
    int64_t plane = task / strips, from_offset = 0, to_offset = 0;
    for (int32_t d = rank - 3; d >= 0; plane /= result.sizes[d], --d) {
      from_offset += plane % result.sizes[d] * source.strides[d];
      to_offset += plane % result.sizes[d] * result.strides[d];
    }
    const int64_t first_row = task % strips * kTile;
    const int64_t height = std::min(kTile, rows - first_row);
    const Unit* from = static_cast<const Unit*>(source.data) + from_offset + first_row;
    Unit* to = static_cast<Unit*>(result.data) + to_offset + first_row * row_stride;
    Unit tile[kTile][kTile];
    for (int64_t column = 0; column < columns; column += kTile) {
      const int64_t width = std::min(kTile, columns - column);
      for (int64_t j = 0; j < width; ++j) {
        const Unit* line = from + (column + j) * column_stride;
        for (int64_t i = 0; i < height; ++i) tile[i][j] = line[i];
      }
      for (int64_t i = 0; i < height; ++i) std::copy_n(tile[i], width, to + i * row_stride + column);
    }
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
    if (reader.is_direct()) {
      if (writer.is_contiguous()) {
        writer.write(begin, end - begin, reader.direct(begin));
        return;
      }
      for (; begin < end; begin += kChunk) writer.write(begin, std::min(kChunk, end - begin), reader.direct(begin));
      return;
    }
    ChunkBuffer buffer;
    if (reader.is_constant()) reader.read(begin, 1, std::min(kChunk, end - begin), buffer);
    for (; begin < end; begin += kChunk) {
      const int64_t length = std::min(kChunk, end - begin);
      if (!reader.is_constant()) reader.read(begin, length, length, buffer);
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
  if (!is_transposing(source, result)) {
    copy_chunks(source, result, count);
    return OF_OK;
  }
  switch (item_size(result.dtype)) {
    case 1:
      copy_transposed<uint8_t>(source, result);
      break;
    case 2:
      copy_transposed<uint16_t>(source, result);
      break;
    case 4:
      copy_transposed<uint32_t>(source, result);
      break;
    default:
      copy_transposed<uint64_t>(source, result);
      break;
  }
  return OF_OK;
}

}  // namespace oneflow::cpu
