// The driver of copies: between any two layouts and dtypes, tile by tile where the unit strides differ, otherwise in
// row-major order.
#include <algorithm>

#include "copy/operand.h"
#include "copy/rows.h"
#include "copy/strided.h"
#include "copy/tiling.h"
#include "fold/plan.h"
#include "plugin/emitted.h"
#include "simd/element.h"
#include "threads/thread_pool.h"

namespace oneflow::cpu {
namespace {

constexpr int64_t kTask = 64 * 1024;
// The maximum number of elements of a tile that is copied directly, without a buffer.
constexpr int64_t kTile = 4096;
// Rows of at least this many elements are copied one by one, rather than through buffers that several rows share.
constexpr int64_t kLongLine = 128;

// Returns whether an operand is a tensor rather than a number.
bool is_memory(const of_kernel_tensor& tensor) { return tensor.data != nullptr; }

void copy_tiles(const of_kernel_tensor& source, const of_kernel_tensor& result, const Tiling& tiling) {
  const int64_t size = item_size(result.dtype);
  const bool converts = source.dtype != result.dtype;
  const RowReader reader(source, result.dtype);
  const RowWriter writer(result, result.dtype);
  const TileStrides source_strides = tiling.tile_strides(source.strides),
                    result_strides = tiling.tile_strides(result.strides);
  parallel_for(tiling.task_count(), [&](int64_t task) {
    ChunkBuffer buffer;
    tiling.visit_tiles(task, [&](const Tile& tile) {
      if (!converts) return copy_tile(tiling, tile, source.data, source_strides, result.data, result_strides, size);
      reader.pack(tiling.offset(tile, source_strides), tiling.layout(tile, source_strides), buffer);
      writer.write(tiling.offset(tile, result_strides), tiling.layout(tile, result_strides), buffer.bytes);
    });
  });
}

// Copies between tensors of one dtype, row by row.
void copy_lines(const of_kernel_tensor& source, const of_kernel_tensor& result) {
  const int32_t last = result.rank - 1;
  const int64_t size = item_size(result.dtype), columns = result.sizes[last], length = std::min(columns, kTask);
  const int64_t runs = divide_up(columns, length), group = std::max<int64_t>(1, kTask / length);
  Walk rows;
  for (int32_t d = 0; d < last; ++d) rows.add(d, result.sizes[d]);
  const int64_t count = rows.count();
  parallel_for(divide_up(count, group) * runs, [&](int64_t task) {
    const int64_t first = task % runs * length, begin = task / runs * group;
    const auto address = [&](const of_kernel_tensor& tensor, int64_t row) {
      return static_cast<char*>(tensor.data) + (rows.offset(row, tensor.strides) + first * tensor.strides[last]) * size;
    };
    for (int64_t row = begin; row < std::min(count, begin + group); ++row)
      copy_strided(address(source, row), source.strides[last], address(result, row), result.strides[last], size,
                   std::min(length, columns - first));
  });
}

// Copies in row-major order, chunk by chunk. A source or result that is contiguous and of the right dtype needs no
// buffer.
void copy_chunks(const of_kernel_tensor& source, const of_kernel_tensor& result, int64_t count) {
  const bool in_source_dtype = is_memory(source);
  const Reader reader(source, in_source_dtype ? source.dtype : result.dtype);
  const Writer writer(result, in_source_dtype ? source.dtype : result.dtype);
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

// The source and result of a copy, with a contiguous last dimension of a few elements viewed as one wider element:
// float32 tensors of sizes {n, m, 2}, the parts of complex numbers, become int64 tensors of sizes {n, m}. Other
// operands stay as they are.
class Widened {
 public:
  Widened(const of_kernel_tensor& source, const of_kernel_tensor& result) : source_(source), result_(result) {
    if (source.dtype != result.dtype || result.rank < 2) return;
    const int64_t last_size = result.sizes[result.rank - 1];
    const of_dtype wide = dtype_of_size(last_size * item_size(result.dtype));
    if (wide == OF_DTYPE_NONE) return;
    if (!divide_strides(source, last_size, item_size(wide), source_strides_) ||
        !divide_strides(result, last_size, item_size(wide), result_strides_))
      return;
    widen(source_, wide, source_strides_);
    widen(result_, wide, result_strides_);
  }

  const of_kernel_tensor& source() const { return source_; }
  const of_kernel_tensor& result() const { return result_; }

 private:
  // Returns a dtype whose elements have this size; OF_DTYPE_NONE if there is none.
  static of_dtype dtype_of_size(int64_t bytes) {
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
        return OF_DTYPE_NONE;
    }
  }
  // Returns whether the last dimension is contiguous, of `last_size` elements, and aligned to `bytes`. Sets `strides`
  // to those of the other dimensions in units of `last_size` elements.
  static bool divide_strides(const of_kernel_tensor& tensor, int64_t last_size, int64_t bytes, int64_t* strides) {
    const int32_t last = tensor.rank - 1;
    if (tensor.sizes[last] != last_size || tensor.strides[last] != 1) return false;
    if (reinterpret_cast<uintptr_t>(tensor.data) % static_cast<uintptr_t>(bytes) != 0) return false;
    for (int32_t d = 0; d < last; ++d) {
      if (tensor.strides[d] % last_size != 0) return false;
      strides[d] = tensor.strides[d] / last_size;
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
  const Widened widened(input, output);
  const of_kernel_tensor &source = widened.source(), &result = widened.result();
  const Layout layouts[] = {{result.rank, result.sizes, result.strides}, {source.rank, source.sizes, source.strides}};
  const auto tiling = Tiling::find(layouts, item_size(result.dtype), source.dtype == result.dtype ? kTile : kChunk);
  const bool has_lines = source.dtype == result.dtype && result.rank > 0 && result.sizes[result.rank - 1] >= kLongLine;
  if (tiling)
    copy_tiles(source, result, *tiling);
  else if (has_lines && !is_contiguous(layouts[0]))
    copy_lines(source, result);
  else
    copy_chunks(source, result, element_count(layouts[0]));
  return OF_OK;
}

}  // namespace oneflow::cpu
