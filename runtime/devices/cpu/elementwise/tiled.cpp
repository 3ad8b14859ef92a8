#include "elementwise/tiled.h"

#include <algorithm>
#include <memory>

#include "copy/operand.h"
#include "simd/element.h"
#include "threads/thread_pool.h"

namespace oneflow::cpu {
namespace {

// The minimum number of columns for calling the inner loop row by row.
constexpr int64_t kMinRowColumns = 32;

// Results of more than kFew elements use tiles only if a tile has at least kMinTileElements elements and kMinColumns
// columns, and contiguous runs of at least kMinRun elements of each operand that is as large, so that most of a cache
// line is used at once. Tiles with fewer than kMinRowColumns columns, all of whose operands are packed into buffers,
// are used for results of up to kMaxNarrowElements elements.
constexpr int64_t kFew = 8 * 1024, kMinTileElements = 512, kMinRun = 8, kMinColumns = 8, kMaxNarrowElements = 64 * 1024;

// Returns how many elements of any operand a buffer can hold, both in the operand's dtype and in that of the inner
// loop.
int64_t max_elements(const ElementwiseKernel& kernel, const of_kernel_context& context) {
  int64_t widest = std::max(item_size(kernel.results[0]), item_size(context.outputs[0].dtype));
  for (int i = 0; i < kernel.input_count; ++i) {
    const auto& [position, dtype] = kernel.inputs[i];
    widest = std::max({widest, item_size(dtype), item_size(context.inputs[position].dtype)});
  }
  return static_cast<int64_t>(sizeof(ChunkBuffer)) / widest;
}

// The addresses of the rows of an operand, with elements of `size` bytes.
template <class Address>
class Rows {
 public:
  Rows() = default;
  Rows(Address first, const Steps& steps, int64_t size)
      : first_(first), step_(steps.step * size), offsets_(steps.offsets), size_(size) {}

  Address at(int64_t row) const { return first_ + (offsets_ == nullptr ? row * step_ : offsets_[row] * size_); }

 private:
  Address first_;
  int64_t step_;
  const int64_t* offsets_;
  int64_t size_;
};

class ElementwiseTiles {
 public:
  ElementwiseTiles(const ElementwiseKernel& kernel, const of_kernel_context& context, const Tiling& tiling)
      : kernel_(kernel),
        context_(context),
        tiling_(tiling),
        max_elements_(max_elements(kernel, context)),
        writer_(context.outputs[0], kernel.results[0]),
        result_strides_(tiling.tile_strides(context.outputs[0].strides)) {
    for (int i = 0; i < kernel.input_count; ++i) {
      std::construct_at(&readers_[i], input(i), kernel.inputs[i].dtype);
      if (is_constant(i)) continue;
      row_readers_[i] = RowReader(input(i), kernel.inputs[i].dtype);
      input_strides_[i] = tiling.tile_strides(input(i).strides);
    }
  }

  // Computes the tiles of a task. Returns whether an integer was divided by zero.
  bool run_task(int64_t task) const {
    ChunkBuffer buffers[kMaxInputs], result;
    const void* inputs[kMaxInputs];
    for (int i = 0; i < kernel_.input_count; ++i) {
      inputs[i] = buffers[i].bytes;
      if (is_constant(i)) readers_[i].read(0, 1, max_elements_, buffers[i]);
    }
    bool failed = false;
    tiling_.visit_tiles(task, [&](const Tile& tile) {
      if (tile.columns >= kMinRowColumns && !kernel_.padded) {
        failed |= run_rows(tile, buffers, result);
        return;
      }
      const int64_t count = tile.rows * tile.columns, run = kernel_.padded ? padded(count) : count;
      for (int i = 0; i < kernel_.input_count; ++i) {
        if (is_constant(i)) continue;
        row_readers_[i].pack(tiling_.offset(tile, input_strides_[i]), tiling_.layout(tile, input_strides_[i]),
                             buffers[i]);
        pad(buffers[i], count, run, item_size(kernel_.inputs[i].dtype));
      }
      failed |= run_loop(inputs, result.bytes, run);
      writer_.write(tiling_.offset(tile, result_strides_), tiling_.layout(tile, result_strides_), result.bytes);
    });
    return failed;
  }

 private:
  // Computes a tile with one call of the inner loop per row, so that operands with contiguous columns are used in
  // place.
  bool run_rows(const Tile& tile, ChunkBuffer* buffers, ChunkBuffer& buffer) const {
    Rows<const char*> inputs[kMaxInputs];
    for (int i = 0; i < kernel_.input_count; ++i) {
      const char* packed = reinterpret_cast<const char*>(buffers[i].bytes);
      inputs[i] = {packed, {0}, 0};
      if (is_constant(i)) continue;
      const int64_t offset = tiling_.offset(tile, input_strides_[i]), size = item_size(kernel_.inputs[i].dtype);
      const RowLayout layout = tiling_.layout(tile, input_strides_[i]);
      if (row_readers_[i].is_direct(layout)) {
        inputs[i] = {static_cast<const char*>(row_readers_[i].address(offset)), layout.row_steps(), size};
      } else {
        row_readers_[i].pack(offset, layout, buffers[i]);
        inputs[i] = {packed, {tile.columns}, size};
      }
    }
    const RowLayout layout = tiling_.layout(tile, result_strides_);
    const int64_t offset = tiling_.offset(tile, result_strides_), size = item_size(kernel_.results[0]);
    const bool is_direct = writer_.is_direct(layout);
    char* packed = reinterpret_cast<char*>(buffer.bytes);
    const Rows<char*> result = is_direct ? Rows<char*>{writer_.address(offset), layout.row_steps(), size}
                                         : Rows<char*>{packed, {tile.columns}, size};
    bool failed = false;
    for (int64_t row = 0; row < tile.rows; ++row) {
      const void* row_inputs[kMaxInputs];
      for (int i = 0; i < kernel_.input_count; ++i) row_inputs[i] = inputs[i].at(row);
      failed |= run_loop(row_inputs, result.at(row), tile.columns);
    }
    if (!is_direct) writer_.write(offset, layout, packed);
    return failed;
  }

  bool run_loop(const void* const* inputs, void* result, int64_t count) const {
    return kernel_.loop(context_.arguments, inputs, &result, count);
  }

  const of_kernel_tensor& input(int i) const { return context_.inputs[kernel_.inputs[i].position]; }
  bool is_constant(int i) const { return readers_[i].period() == 1; }

  const ElementwiseKernel& kernel_;
  const of_kernel_context& context_;
  const Tiling& tiling_;
  const int64_t max_elements_;  // the maximum number of elements of a tile
  Reader readers_[kMaxInputs];
  // The readers and strides of the operands that are not constant.
  RowReader row_readers_[kMaxInputs];
  TileStrides input_strides_[kMaxInputs];
  const RowWriter writer_;
  const TileStrides result_strides_;
};

}  // namespace

std::optional<Tiling> find_tiling(const ElementwiseKernel& kernel, const of_kernel_context& context) {
  Layout layouts[kMaxInputs + 1];
  size_t count = 0;
  const auto add = [&](const of_kernel_tensor& tensor) {
    if (tensor.data != nullptr) layouts[count++] = {tensor.rank, tensor.sizes, tensor.strides};
  };
  add(context.outputs[0]);
  for (int i = 0; i < kernel.input_count; ++i) add(context.inputs[kernel.inputs[i].position]);
  auto tiling = Tiling::find({layouts, count}, item_size(context.outputs[0].dtype), max_elements(kernel, context));
  const int64_t elements = element_count(layouts[0]);
  if (!tiling || elements <= kFew) return tiling;
  if (tiling->max_elements() < kMinTileElements || tiling->max_columns() < kMinColumns) return std::nullopt;
  if (tiling->max_columns() < kMinRowColumns && elements > kMaxNarrowElements) return std::nullopt;
  for (size_t i = 0; i < count; ++i)
    if (distinct_count(layouts[i]) > kFew && !tiling->has_runs(layouts[i].strides, kMinRun)) return std::nullopt;
  return tiling;
}

bool run_tiles(const ElementwiseKernel& kernel, const of_kernel_context& context, const Tiling& tiling) {
  const ElementwiseTiles tiles(kernel, context, tiling);
  bool failed = false;
  parallel_for(tiling.task_count(), [&](int64_t task) {
    if (tiles.run_task(task)) __atomic_store_n(&failed, true, __ATOMIC_RELAXED);
  });
  return failed;
}

}  // namespace oneflow::cpu
