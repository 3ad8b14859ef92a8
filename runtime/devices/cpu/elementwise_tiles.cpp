#include "elementwise_tiles.h"

#include <memory>

#include "element.h"
#include "operand.h"
#include "thread_pool.h"

namespace oneflow::cpu {
namespace {

class ElementwiseTiles {
 public:
  ElementwiseTiles(const ElementwiseKernel& kernel, const of_kernel_context& context, const Tiling& tiling)
      : kernel_(kernel),
        context_(context),
        tiling_(tiling),
        result_(context.outputs[0]),
        writer_(result_, kernel.result) {
    for (int i = 0; i < kernel.input_count; ++i) {
      std::construct_at(&readers_[i], input(i), kernel.inputs[i].dtype);
      if (!is_constant(i)) row_readers_[i] = RowReader(input(i), kernel.inputs[i].dtype);
    }
  }

  // Whether an integer was divided by zero.
  bool run_task(int64_t task) const {
    ChunkBuffer buffers[kMaxInputs], result;
    const void* inputs[kMaxInputs];
    for (int i = 0; i < kernel_.input_count; ++i) {
      inputs[i] = buffers[i].bytes;
      if (is_constant(i)) readers_[i].read(0, 1, kChunk, buffers[i]);
    }
    bool failed = false;
    tiling_.visit_tiles(task, [&](const Tile& tile) {
      const int64_t count = tile.rows * tile.lanes, run = kernel_.padded ? padded(count) : count;
      for (int i = 0; i < kernel_.input_count; ++i) {
        if (is_constant(i)) continue;
        row_readers_[i].pack(tiling_.offset(tile, input(i).strides), tiling_.layout(tile, input(i).strides),
                             buffers[i]);
        pad(buffers[i], count, run, item_size(kernel_.inputs[i].dtype));
      }
      failed |= kernel_.loop(context_.arguments, inputs, result.bytes, run);
      writer_.write(tiling_.offset(tile, result_.strides), tiling_.layout(tile, result_.strides), result.bytes);
    });
    return failed;
  }

 private:
  const of_kernel_tensor& input(int i) const { return context_.inputs[kernel_.inputs[i].position]; }
  bool is_constant(int i) const { return readers_[i].period() == 1; }

  const ElementwiseKernel& kernel_;
  const of_kernel_context& context_;
  const Tiling& tiling_;
  const of_kernel_tensor& result_;
  Reader readers_[kMaxInputs];
  RowReader row_readers_[kMaxInputs];  // of those that are not constant
  const RowWriter writer_;
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
  return Tiling::find({layouts, count}, item_size(context.outputs[0].dtype), kChunk);
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
