// The iteration of scans: rows are the positions of the scanned dimension, lanes are neighbouring elements of another
// dimension, each with a running state of its own. Where the elements along the scanned dimension are the nearest to
// each other, there is one lane.
#include <algorithm>
#include <bit>
#include <cstdlib>

#include "emitted.h"
#include "fold_plan.h"
#include "rows.h"
#include "thread_pool.h"

namespace oneflow::cpu {
namespace {

constexpr int64_t kLanes = 256;
constexpr int64_t kTaskElements = 16 * 1024;

class Scan {
 public:
  Scan(const ScanKernel& kernel, const of_kernel_context& context)
      : kernel_(kernel), context_(context), input_(context.inputs[0]), reader_(input_, kernel.input) {
    for (int i = 0; i < kernel.result_count; ++i) writers_[i] = RowWriter(context.outputs[i], kernel.results[i]);
    scan_dim_ = std::countr_zero(context.reduced);
    int64_t nearest = std::abs(input_.strides[scan_dim_]);
    for (int32_t d = 0; d < input_.rank; ++d) {
      if (d == scan_dim_ || input_.sizes[d] == 1 || std::abs(input_.strides[d]) >= nearest) continue;
      lane_dim_ = d;
      nearest = std::abs(input_.strides[d]);
    }
    for (int32_t d = 0; d < input_.rank; ++d) {
      if (d != scan_dim_ && d != lane_dim_) others_.add(d, input_.sizes[d]);
    }
  }

  void run() const {
    const int64_t width = lane_dim_ < 0 ? 1 : input_.sizes[lane_dim_];
    const int64_t stretches = (width + kLanes - 1) / kLanes, units = others_.count() * stretches;
    const int64_t unit_elements = input_.sizes[scan_dim_] * std::min(width, kLanes);
    const int64_t group = std::max<int64_t>(1, kTaskElements / unit_elements);
    parallel_for((units + group - 1) / group, [&](int64_t task) {
      for (int64_t unit = task * group; unit < std::min(units, (task + 1) * group); ++unit) {
        const int64_t first = unit % stretches * kLanes;
        scan_unit(unit / stretches, first, std::min(kLanes, width - first));
      }
    });
  }

 private:
  // The layout of rows of a unit in one operand.
  RowLayout layout(const of_kernel_tensor& tensor, int64_t rows, int64_t lanes) const {
    return {rows, lanes, tensor.strides[scan_dim_], lane_dim_ < 0 ? 1 : tensor.strides[lane_dim_]};
  }

  int64_t offset(const of_kernel_tensor& tensor, int64_t other, int64_t first_lane) const {
    return others_.offset(other, tensor.strides) + (lane_dim_ < 0 ? 0 : first_lane * tensor.strides[lane_dim_]);
  }

  void scan_unit(int64_t other, int64_t first_lane, int64_t lanes) const {
    alignas(64) std::byte states[kMaxStates][kLanes * 8];
    void* state[kMaxStates];
    for (int i = 0; i < kernel_.state_count; ++i) state[i] = states[i];
    kernel_.clear(context_.arguments, state, lanes);
    ChunkBuffer input_buffer, result_buffers[kMaxResults];
    const int64_t steps = input_.sizes[scan_dim_], batch = kChunk / lanes;
    for (int64_t step = 0; step < steps; step += batch) {
      const int64_t rows = std::min(batch, steps - step);
      void* results[kMaxResults];
      for (int i = 0; i < kernel_.result_count; ++i) results[i] = result_buffers[i].bytes;
      ScanRows run{nullptr, results, rows, lanes, 0, step};
      run.input = reader_.read(offset(input_, other, first_lane) + step * input_.strides[scan_dim_],
                               layout(input_, rows, lanes), input_buffer, run.stride);
      kernel_.scan(context_.arguments, state, run);
      for (int i = 0; i < kernel_.result_count; ++i) {
        const of_kernel_tensor& output = context_.outputs[i];
        writers_[i].write(offset(output, other, first_lane) + step * output.strides[scan_dim_],
                          layout(output, rows, lanes), results[i]);
      }
    }
  }

  const ScanKernel& kernel_;
  const of_kernel_context& context_;
  const of_kernel_tensor& input_;
  const RowReader reader_;
  RowWriter writers_[kMaxResults];
  int32_t scan_dim_ = 0, lane_dim_ = -1;
  Walk others_;
};

}  // namespace

of_status run_kernel(const ScanKernel& kernel, const of_kernel_context& context) {
  const of_kernel_tensor& input = context.inputs[0];
  if (element_count({input.rank, input.sizes, input.strides}) != 0) Scan(kernel, context).run();
  return OF_OK;
}

}  // namespace oneflow::cpu
