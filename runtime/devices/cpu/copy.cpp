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
  const TilePlaces source_places = tiling.places(source.strides), result_places = tiling.places(result.strides);
  parallel_for(tiling.task_count(), [&](int64_t task) {
    ChunkBuffer buffer;
    tiling.visit_tiles(task, [&](const Tile& tile) {
      if (!converts) return copy_tile(tiling, tile, source.data, source_places, result.data, result_places, size);
      reader.pack(tiling.offset(tile, source_places), tiling.layout(tile, source_places), buffer);
      writer.write(tiling.offset(tile, result_places), tiling.layout(tile, result_places), buffer.bytes);
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

// A few neighbours that stay neighbours, such as the parts of complex numbers, seen as one wider element.
class Neighbours {
 public:
  Neighbours(const of_kernel_tensor& source, const of_kernel_tensor& result) : source_(source), result_(result) {
    if (source.dtype != result.dtype || result.rank < 2) return;
    const int64_t together = result.sizes[result.rank - 1];
    const of_dtype wide = of_bytes(together * item_size(result.dtype));
    if (wide == OF_DTYPE_COUNT) return;
    if (!divide_strides(source, together, item_size(wide), source_strides_) ||
        !divide_strides(result, together, item_size(wide), result_strides_))
      return;
    widen(source_, wide, source_strides_);
    widen(result_, wide, result_strides_);
  }

  const of_kernel_tensor& source() const { return source_; }
  const of_kernel_tensor& result() const { return result_; }

 private:
  // Any element type of that size.
  static of_dtype of_bytes(int64_t bytes) {
    switch (bytes) {
      case 2:
        return OF_INT16;
      case 4:
        return OF_INT32;
      case 8:
        return OF_INT64;
      case 16:
        return OF_COMPLEX128;
      default:
        return OF_DTYPE_COUNT;
    }
  }
  // Whether the last dimension of a tensor lies together; then the strides of the others count in its elements.
  static bool divide_strides(const of_kernel_tensor& tensor, int64_t together, int64_t bytes, int64_t* strides) {
    const int32_t last = tensor.rank - 1;
    if (tensor.sizes[last] != together || tensor.strides[last] != 1) return false;
    if (reinterpret_cast<uintptr_t>(tensor.data) % static_cast<uintptr_t>(bytes) != 0) return false;
    for (int32_t d = 0; d < last; ++d) {
      if (tensor.strides[d] % together != 0) return false;
      strides[d] = tensor.strides[d] / together;
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
  const Neighbours neighbours(input, output);
  const of_kernel_tensor &source = neighbours.source(), &result = neighbours.result();
  const Layout layouts[] = {{result.rank, result.sizes, result.strides}, {source.rank, source.sizes, source.strides}};
  const auto tiling = Tiling::find(layouts, item_size(result.dtype), source.dtype == result.dtype ? kTile : kChunk);
  if (tiling)
    copy_tiles(source, result, *tiling);
  else
    copy_chunks(source, result, element_count(layouts[0]));
  return OF_OK;
}

}  // namespace oneflow::cpu
