#include "contraction.h"

#include <algorithm>

#include "../grid/contraction.h"
#include "../grid/prepared.h"
#include "contraction_loops.h"
#include "device.h"

namespace oneflow::opencl {
namespace {

using grid::Arguments;
using grid::Chunk;
using grid::divide_up;
using grid::Problem;
using grid::Role;

// Makes the fastest-varying batch dimension the columns of a problem that has neither rows nor columns. The columns
// then have a stride in A as well, and results are computed line by line.
void make_columns_of_batch(Problem& problem) {
  Role &batch = problem.batch, &columns = problem.columns;
  if (problem.rows.rank != 0 || columns.rank != 0 || batch.rank == 0) return;
  const int32_t last = --batch.rank;
  columns.rank = 1;
  columns.count = columns.sizes[0] = batch.sizes[last];
  for (int side = 0; side < grid::kSides; ++side) columns.strides[side][0] = batch.strides[side][last];
  batch.count /= columns.count;
}

// Multiplies on CPU devices, where each work-item runs loops of its own. A and B, of any strides, are packed into
// panels of the type of sums, and a work-item multiplies several panels of rows by one panel of columns. Small or thin
// products are not packed: a work-item computes lines of the result from the operands in place.
class Loops : public grid::Multiplier {
 public:
  Loops(const Problem& problem, const Device& device) : problem_(problem) {
    const int lanes = device.vector_bytes / static_cast<int>(grid::item_size(problem.type));
    panel_rows_ = device.vector_bytes == 64 ? 12 : 4;  // as in programs/contraction_loops.h
    panel_columns_ = 2 * lanes;
    is_thin_ = problem.rows.count < 4 || problem.columns.count < lanes || problem.depth.count < 4;
  }

  // With this depth, panels of 1,024 x 32 floats stay in the second-level cache. The packed panels of one chunk take at
  // most some 100 MiB.
  Limits limits() const override {
    if (is_thin_) return {1 << 10, 1 << 10, problem_.rows.count == 1 ? 1 << 20 : 1 << 10, 1 << 30};
    const int64_t rows = std::min<int64_t>(problem_.rows.count, 1 << 12);
    const int64_t columns = std::min<int64_t>(problem_.columns.count, 1 << 12);
    const int64_t depth = std::min<int64_t>(problem_.depth.count, kDepth);
    return {std::max<int64_t>(1, (int64_t{1} << 23) / ((rows + columns) * depth)), rows, columns, kDepth};
  }

  uint32_t parts(const Problem& problem) const override {
    if (!is_thin_) return 1;
    const int64_t items = problem.batch.count * problem.rows.count * divide_up(problem.columns.count, kLine);
    return static_cast<uint32_t>(
        std::clamp<int64_t>(64 / std::max<int64_t>(items, 1), 1, std::max<int64_t>(1, problem.depth.count >> 14)));
  }

  of_status multiply(const of_kernel_context& context, const Chunk& chunk) override {
    return is_thin_ ? multiply_lines(context, chunk) : multiply_panels(context, chunk);
  }

 private:
  static constexpr int64_t kDepth = 1024;
  static constexpr int64_t kLine = 64;     // columns of a line, as in programs/contraction_loops.h
  static constexpr uint32_t kSlice = 128;  // the depth of the slice that a work-item packs
  static constexpr uint32_t kPanels = 8;   // panels of rows that a work-item multiplies

  of_status multiply_lines(const of_kernel_context& context, const Chunk& chunk) {
    Arguments arguments;
    chunk.add_to(arguments);
    const auto lines = static_cast<uint32_t>(divide_up(chunk.columns.count, kLine));
    const auto width = std::min<int64_t>(kLine, chunk.columns.count);
    const auto height = static_cast<uint32_t>(std::min<int64_t>(chunk.rows.count, 4 * kLine / width));
    arguments.value(height);
    const uint32_t items =
        chunk.parts * chunk.batch.count * lines * static_cast<uint32_t>(divide_up(chunk.rows.count, height));
    return grid::launch(context, contraction_lines()[problem_.dtype], {.groups = items, .items = 1}, arguments);
  }

  of_status multiply_panels(const of_kernel_context& context, const Chunk& chunk) {
    const auto row_panels = static_cast<uint32_t>(divide_up(chunk.rows.count, panel_rows_));
    const auto column_panels = static_cast<uint32_t>(divide_up(chunk.columns.count, panel_columns_));
    const uint64_t a_bytes = panel_bytes(chunk, row_panels, panel_rows_);
    grid::Scratch panels(context);
    of_status status = panels.allocate(a_bytes + panel_bytes(chunk, column_panels, panel_columns_));
    if (status != OF_OK) return status;
    auto* const a_panels = static_cast<char*>(panels.data());
    status = pack(context, contraction_pack_rows(), chunk, chunk.rows, chunk.a, a_panels, row_panels);
    if (status != OF_OK) return status;
    status =
        pack(context, contraction_pack_columns(), chunk, chunk.columns, chunk.b, a_panels + a_bytes, column_panels);
    if (status != OF_OK) return status;
    Arguments arguments;
    arguments.value(chunk.batch);
    arguments.value(chunk.rows);
    arguments.value(chunk.columns);
    arguments.value(chunk.depth.count);
    arguments.pointer(a_panels);
    arguments.pointer(a_panels + a_bytes);
    arguments.pointer(chunk.c);
    arguments.value(chunk.is_sums);
    arguments.value(chunk.accumulate);
    const uint32_t most = kPanels;
    arguments.value(most);
    const uint32_t items = chunk.batch.count * column_panels * static_cast<uint32_t>(divide_up(row_panels, kPanels));
    return grid::launch(context, contraction_panels()[problem_.dtype], {.groups = items, .items = 1}, arguments);
  }

  uint64_t panel_bytes(const Chunk& chunk, uint32_t panels, int64_t width) const {
    const uint64_t elements = uint64_t{chunk.batch.count} * panels * static_cast<uint64_t>(width) * chunk.depth.count;
    return (elements * grid::item_size(problem_.type) + 63) / 64 * 64;
  }

  of_status pack(const of_kernel_context& context, const grid::ByDtype& kernels, const Chunk& chunk,
                 const of_contract_dims& across, const char* from, char* to, uint32_t panels) {
    Arguments arguments;
    const uint32_t slice = kSlice;
    arguments.value(chunk.batch);
    arguments.value(across);
    arguments.value(chunk.depth);
    arguments.pointer(from);
    arguments.pointer(to);
    arguments.value(panels);
    arguments.value(slice);
    const auto slices = static_cast<uint32_t>(divide_up(chunk.depth.count, kSlice));
    return grid::launch(context, kernels[problem_.dtype], {.groups = chunk.batch.count * panels * slices, .items = 1},
                        arguments);
  }

  const Problem& problem_;
  int64_t panel_rows_, panel_columns_;
  bool is_thin_;
};

}  // namespace

of_status contract(const of_contraction* contraction) {
  const Device& device = device_of(contraction->device);
  if (contraction->dtype == OF_FLOAT64 && !device.has_double)
    return grid::fail(OF_UNSUPPORTED, "opencl:%d does not support float64", contraction->device.index);
  grid::Prepared own;
  grid::Prepared* kept = grid::prepare(*contraction, own);
  if (kept == nullptr) return grid::unknown_contraction();
  const of_kernel_context context = grid::launch_context(*contraction);
  if (!device.is_processor) return grid::contract(kept->problem, context);
  make_columns_of_batch(kept->problem);  // has no effect when it is applied to a kept problem again
  Loops loops(kept->problem, device);
  return grid::contract(kept->problem, context, loops);
}

}  // namespace oneflow::opencl
