// Copies and conversions between any two layouts and types.
#include <algorithm>
#include <bit>

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
  parallel_for(divide_up(count, kTask), [&](int64_t task) {
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

// Neighbours that stay neighbours, such as the parts of complex numbers, seen as one element of twice the size.
class Pairs {
 public:
  Pairs(const of_kernel_tensor& source, const of_kernel_tensor& result) : source_(source), result_(result) {
    const of_dtype wide = wider(item_size(result.dtype));
    if (wide == OF_DTYPE_COUNT || source.dtype != result.dtype) return;
    if (!halve_strides(source, item_size(wide), source_strides_) ||
        !halve_strides(result, item_size(wide), result_strides_))
      return;
    widen(source_, wide, source_strides_);
    widen(result_, wide, result_strides_);
  }

  const of_kernel_tensor& source() const { return source_; }
  const of_kernel_tensor& result() const { return result_; }

 private:
  static of_dtype wider(int64_t item_size) {
    constexpr of_dtype wider[] = {OF_INT16, OF_INT32, OF_INT64, OF_COMPLEX128};  // of 1, 2, 4 and 8 bytes
    return item_size <= 8 ? wider[std::countr_zero(static_cast<uint64_t>(item_size))] : OF_DTYPE_COUNT;
  }
  // Whether the last dimension of a tensor is made of pairs; then the strides of the others count those.
  static bool halve_strides(const of_kernel_tensor& tensor, int64_t pair_bytes, int64_t* strides) {
    const int32_t last = tensor.rank - 1;
    if (last < 1 || tensor.sizes[last] != 2 || tensor.strides[last] != 1) return false;
    if (reinterpret_cast<uintptr_t>(tensor.data) % static_cast<uintptr_t>(pair_bytes) != 0) return false;
    for (int32_t d = 0; d < last; ++d) {
      if (tensor.strides[d] % 2 != 0) return false;
      strides[d] = tensor.strides[d] / 2;
    }
    return true;
  }
  static void widen(of_kernel_tensor& tensor, of_dtype dtype, const int64_t* strides) {
    --tensor.rank;
    tensor.strides = strides;
    tensor.dtype = dtype;
  }

  of_kernel_tensor source_, result_;
  int64_t source_strides_[OF_MAX_RANK], result_strides_[OF_MAX_RANK];
};

}  // namespace

of_status run_kernel(const CopyKernel& kernel, const of_kernel_context& context) {
  const of_kernel_tensor& input = context.inputs[kernel.input];
  const of_kernel_tensor& output = context.outputs[0];
  const int64_t count = element_count({output.rank, output.sizes, output.strides});
  if (count == 0) return OF_OK;
  if (!is_memory(input)) {
    copy_chunks(input, output, count);
    return OF_OK;
  }
  const Pairs pairs(input, output);
  const of_kernel_tensor &source = pairs.source(), &result = pairs.result();
  const Layout layouts[] = {{result.rank, result.sizes, result.strides}, {source.rank, source.sizes, source.strides}};
  const auto tiling = Tiling::find(layouts, item_size(result.dtype), source.dtype == result.dtype ? kTile : kChunk);
  if (tiling)
    copy_tiles(source, result, *tiling);
  else
    copy_chunks(source, result, element_count(layouts[0]));
  return OF_OK;
}

}  // namespace oneflow::cpu
