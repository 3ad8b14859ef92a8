#include "contract_problem.h"

#include <algorithm>
#include <cstdlib>

#include "host.h"

namespace oneflow::cpu {
namespace {

// Whether the dimension `outer` continues `inner` in every operand, so that both are one.
bool continues(const Dim& outer, const Dim& inner) {
  for (int i = 0; i < kOperands; ++i) {
    if (outer.strides[i] != inner.strides[i] * inner.size) return false;
  }
  return true;
}

}  // namespace

of_status no_working_memory() { return fail(OF_OUT_OF_MEMORY, "contraction: no working memory"); }

DimGroup cells_of(const Problem& problem) {
  DimGroup cells;
  for (const DimGroup* group : {&problem.batch, &problem.rows, &problem.columns}) cells.add_others(*group);
  return cells;
}

void canonicalize(DimGroup& group, Operand operand, Operand other) {
  const auto reaches_further = [&](const Dim& x, const Dim& y) {
    const int64_t x_step = std::abs(x.strides[operand]), y_step = std::abs(y.strides[operand]);
    return x_step != y_step ? x_step > y_step : std::abs(x.strides[other]) > std::abs(y.strides[other]);
  };
  if (group.rank > 1) std::stable_sort(group.dims, group.dims + group.rank, reaches_further);
  int kept = 0;
  for (int d = 0; d < group.rank; ++d) {
    if (kept > 0 && continues(group.dims[kept - 1], group.dims[d])) {
      const int64_t size = group.dims[kept - 1].size * group.dims[d].size;
      group.dims[kept - 1] = group.dims[d];
      group.dims[kept - 1].size = size;
    } else {
      group.dims[kept++] = group.dims[d];
    }
  }
  group.rank = kept;
}

void fill_offsets(const DimGroup& group, Operand operand, int64_t start, int64_t count, int64_t* offsets) {
  int64_t position[DimGroup::kMaximum];
  int64_t offset = 0;
  for (int d = group.rank - 1; d >= 0; --d) {
    position[d] = start % group.dims[d].size;
    start /= group.dims[d].size;
    offset += position[d] * group.dims[d].strides[operand];
  }
  for (int64_t i = 0; i < count;) {
    if (group.rank == 0) {
      offsets[i++] = offset;
      continue;
    }
    const Dim& inner = group.dims[group.rank - 1];
    int64_t& inner_position = position[group.rank - 1];
    const int64_t run = std::min(inner.size - inner_position, count - i), step = inner.strides[operand];
    for (const int64_t end = i + run; i < end; ++i, offset += step) offsets[i] = offset;
    inner_position += run;
    for (int d = group.rank - 1; d >= 0 && position[d] == group.dims[d].size; --d) {
      offset -= group.dims[d].size * group.dims[d].strides[operand];
      position[d] = 0;
      if (d > 0) {
        ++position[d - 1];
        offset += group.dims[d - 1].strides[operand];
      }
    }
  }
}

std::vector<int64_t> all_offsets(const DimGroup& group, Operand operand) {
  std::vector<int64_t> offsets(static_cast<size_t>(group.count));
  fill_offsets(group, operand, 0, group.count, offsets.data());
  return offsets;
}

void fill_runs(const int64_t* offsets, int64_t count, int64_t* runs) {
  for (int64_t i = count - 1; i >= 0; --i)
    runs[i] = i + 1 < count && offsets[i + 1] - offsets[i] == 1 ? runs[i + 1] + 1 : 1;
}

std::vector<int64_t> all_runs(const std::vector<int64_t>& offsets) {
  std::vector<int64_t> runs(offsets.size());
  fill_runs(offsets.data(), static_cast<int64_t>(offsets.size()), runs.data());
  return runs;
}

int64_t offset_at(const DimGroup& group, Operand operand, int64_t index) {
  int64_t offset = 0;
  for (int d = group.rank - 1; d >= 0; --d) {
    offset += index % group.dims[d].size * group.dims[d].strides[operand];
    index /= group.dims[d].size;
  }
  return offset;
}

}  // namespace oneflow::cpu
