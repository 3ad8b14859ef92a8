// The driver of scans (cumsum, cumprod). Rows are the positions along the scanned dimension; columns are elements of
// the dimension with the smallest stride, each with a running state of its own. If that is the scanned dimension, there
// is one column. Example: a cumsum over dim 0 of a contiguous [1000, 500] tensor has 1000 rows, in units of 256
// columns.
#include <algorithm>
#include <bit>
#include <cstdlib>

#include "copy/rows.h"
#include "fold/plan.h"
#include "plugin/emitted.h"
#include "threads/thread_pool.h"

namespace oneflow::cpu {
namespace {

constexpr int64_t kMaxScanColumns = 256;
constexpr int64_t kTaskElements = 16 * 1024;

class Scan {
 public:
  Scan(const ScanKernel& kernel, const of_kernel_context& context)
      : kernel_(kernel), context_(context), input_(context.inputs[0]), reader_(input_, kernel.input) {
    for (int i = 0; i < kernel.result_count; ++i) writers_[i] = RowWriter(context.outputs[i], kernel.results[i]);
    scan_dim_ = std::countr_zero(context.reduced);
    int64_t smallest_stride = std::abs(input_.strides[scan_dim_]);
    for (int32_t d = 0; d < input_.rank; ++d) {
      if (d == scan_dim_ || input_.sizes[d] == 1 || std::abs(input_.strides[d]) >= smallest_stride) continue;
      column_dim_ = d;
      smallest_stride = std::abs(input_.strides[d]);
    }
    for (int32_t d = 0; d < input_.rank; ++d) {
      if (d != scan_dim_ && d != column_dim_) others_.add(d, input_.sizes[d]);
    }
  }

  void run() const {
    const int64_t width = column_dim_ < 0 ? 1 : input_.sizes[column_dim_];
    const int64_t slices = (width + kMaxScanColumns - 1) / kMaxScanColumns, units = others_.count() * slices;
    const int64_t unit_elements = input_.sizes[scan_dim_] * std::min(width, kMaxScanColumns);
    const int64_t group = std::max<int64_t>(1, kTaskElements / unit_elements);
    parallel_for((units + group - 1) / group, [&](int64_t task) {
      for (int64_t unit = task * group; unit < std::min(units, (task + 1) * group); ++unit) {
        const int64_t first = unit % slices * kMaxScanColumns;
        scan_unit(unit / slices, first, std::min(kMaxScanColumns, width - first));
      }
    });
  }

 private:
  // Returns the layout of `rows` rows of a unit in one operand.
  RowLayout layout(const of_kernel_tensor& tensor, int64_t rows, int64_t columns) const {
    return {rows, columns, tensor.strides[scan_dim_], column_dim_ < 0 ? 1 : tensor.strides[column_dim_]};
  }

  // Returns the offset of a unit in one operand: of column `first_column` at position `other` of the other dimensions.
  int64_t offset(const of_kernel_tensor& tensor, int64_t other, int64_t first_column) const {
    return others_.offset(other, tensor.strides) + (column_dim_ < 0 ? 0 : first_column * tensor.strides[column_dim_]);
  }

  // Scans the rows of a unit, batch by batch.
  void scan_unit(int64_t other, int64_t first_column, int64_t columns) const {
    alignas(64) std::byte states[kMaxStates][kMaxScanColumns * 8];
    void* state[kMaxStates];
    for (int i = 0; i < kernel_.state_count; ++i) state[i] = states[i];
    kernel_.clear(context_.arguments, state, columns);
    ChunkBuffer input_buffer, result_buffers[kMaxResults];
    const int64_t steps = input_.sizes[scan_dim_], batch = kChunk / columns;
    for (int64_t step = 0; step < steps; step += batch) {
      const int64_t rows = std::min(batch, steps - step);
      void* results[kMaxResults];
      for (int i = 0; i < kernel_.result_count; ++i) results[i] = result_buffers[i].bytes;
      ScanRows run{nullptr, results, rows, columns, 0, step};
      run.input = reader_.read(offset(input_, other, first_column) + step * input_.strides[scan_dim_],
                               layout(input_, rows, columns), input_buffer, run.stride);
      kernel_.scan(context_.arguments, state, run);
      for (int i = 0; i < kernel_.result_count; ++i) {
        const of_kernel_tensor& output = context_.outputs[i];
        writers_[i].write(offset(output, other, first_column) + step * output.strides[scan_dim_],
                          layout(output, rows, columns), results[i]);
      }
    }
  }

  const ScanKernel& kernel_;
  const of_kernel_context& context_;
  const of_kernel_tensor& input_;
  const RowReader reader_;
  RowWriter writers_[kMaxResults];
  int32_t scan_dim_ = 0, column_dim_ = -1;
  Walk others_;
};

}  // namespace

of_status run_kernel(const ScanKernel& kernel, const of_kernel_context& context) {
  const of_kernel_tensor& input = context.inputs[0];
  if (element_count({input.rank, input.sizes, input.strides}) != 0) Scan(kernel, context).run();
  return OF_OK;
}

}  // namespace oneflow::cpu
