#include "elementwise_tiles.h"

#include <algorithm>
#include <memory>

#include "element.h"
#include "operand.h"
#include "thread_pool.h"

namespace oneflow::cpu {
namespace {

// Lanes that are worth an inner loop of their own.
constexpr int64_t kLongLanes = 32;

// Of more elements than this, tiles are worth walking if they are not small, and if they have runs of so many elements
// of each operand's memory: most of a cache line is then read and written at once. Tiles of short lanes, which all
// go through buffers, serve up to so many elements.
constexpr int64_t kFew = 8 * 1024, kWorthTiles = 512, kLeastRun = 8, kLeastLanes = 8, kMostOfShortLanes = 64 * 1024;

// How many elements of every operand a buffer has room for, as they are stored and as they are computed with.
int64_t most_elements(const ElementwiseKernel& kernel, const of_kernel_context& context) {
  int64_t widest = std::max(item_size(kernel.result), item_size(context.outputs[0].dtype));
  for (int i = 0; i < kernel.input_count; ++i) {
    const auto& [position, dtype] = kernel.inputs[i];
    widest = std::max({widest, item_size(dtype), item_size(context.inputs[position].dtype)});
  }
  return static_cast<int64_t>(sizeof(ChunkBuffer)) / widest;
}

// The addresses of rows, whose elements have so many bytes.
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
        most_(most_elements(kernel, context)),
        writer_(context.outputs[0], kernel.result),
        result_places_(tiling.places(context.outputs[0].strides)) {
    for (int i = 0; i < kernel.input_count; ++i) {
      std::construct_at(&readers_[i], input(i), kernel.inputs[i].dtype);
      if (is_constant(i)) continue;
      row_readers_[i] = RowReader(input(i), kernel.inputs[i].dtype);
      places_[i] = tiling.places(input(i).strides);
    }
  }

  // Whether an integer was divided by zero.
  bool run_task(int64_t task) const {
    ChunkBuffer buffers[kMaxInputs], result;
    const void* inputs[kMaxInputs];
    for (int i = 0; i < kernel_.input_count; ++i) {
      inputs[i] = buffers[i].bytes;
      if (is_constant(i)) readers_[i].read(0, 1, most_, buffers[i]);
    }
    bool failed = false;
    tiling_.visit_tiles(task, [&](const Tile& tile) {
      if (tile.lanes >= kLongLanes && !kernel_.padded) {
        failed |= run_rows(tile, buffers, result);
        return;
      }
      const int64_t count = tile.rows * tile.lanes, run = kernel_.padded ? padded(count) : count;
      for (int i = 0; i < kernel_.input_count; ++i) {
        if (is_constant(i)) continue;
        row_readers_[i].pack(tiling_.offset(tile, places_[i]), tiling_.layout(tile, places_[i]), buffers[i]);
        pad(buffers[i], count, run, item_size(kernel_.inputs[i].dtype));
      }
      failed |= kernel_.loop(context_.arguments, inputs, result.bytes, run);
      writer_.write(tiling_.offset(tile, result_places_), tiling_.layout(tile, result_places_), result.bytes);
    });
    return failed;
  }

 private:
  // Row by row, so that rows which are as the loop wants them stay where they are.
  bool run_rows(const Tile& tile, ChunkBuffer* buffers, ChunkBuffer& buffer) const {
    Rows<const char*> inputs[kMaxInputs];
    for (int i = 0; i < kernel_.input_count; ++i) {
      const char* packed = reinterpret_cast<const char*>(buffers[i].bytes);
      inputs[i] = {packed, {0}, 0};
      if (is_constant(i)) continue;
      const int64_t offset = tiling_.offset(tile, places_[i]), size = item_size(kernel_.inputs[i].dtype);
      const RowLayout layout = tiling_.layout(tile, places_[i]);
      if (row_readers_[i].is_direct(layout)) {
        inputs[i] = {static_cast<const char*>(row_readers_[i].address(offset)), layout.row_steps(), size};
      } else {
        row_readers_[i].pack(offset, layout, buffers[i]);
        inputs[i] = {packed, {tile.lanes}, size};
      }
    }
    const RowLayout layout = tiling_.layout(tile, result_places_);
    const int64_t offset = tiling_.offset(tile, result_places_), size = item_size(kernel_.result);
    const bool is_direct = writer_.is_direct(layout);
    char* packed = reinterpret_cast<char*>(buffer.bytes);
    const Rows<char*> result = is_direct ? Rows<char*>{writer_.address(offset), layout.row_steps(), size}
                                         : Rows<char*>{packed, {tile.lanes}, size};
    bool failed = false;
    for (int64_t row = 0; row < tile.rows; ++row) {
      const void* now[kMaxInputs];
      for (int i = 0; i < kernel_.input_count; ++i) now[i] = inputs[i].at(row);
      failed |= kernel_.loop(context_.arguments, now, result.at(row), tile.lanes);
    }
    if (!is_direct) writer_.write(offset, layout, packed);
    return failed;
  }

  const of_kernel_tensor& input(int i) const { return context_.inputs[kernel_.inputs[i].position]; }
  bool is_constant(int i) const { return readers_[i].period() == 1; }

  const ElementwiseKernel& kernel_;
  const of_kernel_context& context_;
  const Tiling& tiling_;
  const int64_t most_;  // elements of a tile
  Reader readers_[kMaxInputs];
  // Of those that are not constant.
  RowReader row_readers_[kMaxInputs];
  TilePlaces places_[kMaxInputs];
  const RowWriter writer_;
  const TilePlaces result_places_;
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
  auto tiling = Tiling::find({layouts, count}, item_size(context.outputs[0].dtype), most_elements(kernel, context));
  const int64_t elements = element_count(layouts[0]);
  if (!tiling || elements <= kFew) return tiling;
  if (tiling->most_elements() < kWorthTiles || tiling->most_lanes() < kLeastLanes) return std::nullopt;
  if (tiling->most_lanes() < kLongLanes && elements > kMostOfShortLanes) return std::nullopt;
  for (size_t i = 0; i < count; ++i)
    if (distinct_count(layouts[i]) > kFew && !tiling->has_runs(layouts[i].strides, kLeastRun)) return std::nullopt;
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
