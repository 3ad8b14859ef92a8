#include "contract/problem.h"

#include <algorithm>
#include <cstdlib>

#include "plugin/host.h"

namespace oneflow::cpu {

of_status no_working_memory() { return fail(OF_OUT_OF_MEMORY, "contraction: no working memory"); }

DimGroup dims_of_c(const Problem& problem) {
  DimGroup dims;
  for (const DimGroup* group : {&problem.batch, &problem.rows, &problem.columns}) dims.append(*group);
  return dims;
}

bool has(Operand operand, int role) {
  switch (role) {
    case kRows:
      return operand != kB;
    case kColumns:
      return operand != kA;
    case kDepth:
      return operand != kC;
    default:
      return true;
  }
}

double elements_of(const Problem& problem, Operand operand) {
  double count = 1;
  for (int role = 0; role < kRoles; ++role)
    if (has(operand, role)) count *= static_cast<double>((problem.*kGroups[role]).count);
  return count;
}

DimGroup sorted_by(Operand operand, const DimGroup& group) {
  DimGroup sorted = group;
  std::stable_sort(sorted.dims, sorted.dims + sorted.rank, [&](const Dim& x, const Dim& y) {
    return std::abs(x.strides[operand]) > std::abs(y.strides[operand]);
  });
  return sorted;
}

int64_t innermost_stride(const DimGroup& group, Operand operand) {
  return group.rank == 0 ? INT64_MAX : std::abs(group.dims[group.rank - 1].strides[operand]);
}

int64_t contiguous_count(const DimGroup& dims, Operand operand) {
  int64_t run = 1;
  for (int d = dims.rank - 1; d >= 0 && dims.dims[d].strides[operand] == run; --d) run *= dims.dims[d].size;
  return run;
}

Dim take(DimGroup& group, int position) {
  const Dim dim = group.dims[position];
  std::move(group.dims + position + 1, group.dims + group.rank, group.dims + position);
  --group.rank;
  group.count = 1;
  for (int d = 0; d < group.rank; ++d) group.count *= group.dims[d].size;
  return dim;
}

void canonicalize(DimGroup& group, Operand operand, Operand other) {
  group.rank = sort_and_merge_dims(group.dims, group.rank, operand, other);
}

Operand longer_operand(const Problem& problem) { return problem.rows.count >= problem.columns.count ? kA : kB; }

void canonicalize(Problem& problem) {
  canonicalize(problem.batch, kC, kA);
  canonicalize(problem.rows, kC, kA);
  canonicalize(problem.columns, kC, kB);
  const Operand longer = longer_operand(problem);
  canonicalize(problem.depth, longer, longer == kA ? kB : kA);
}

bool has_windows(const DimGroup& side, const DimGroup& depth, Operand operand) {
  int64_t reach = 1;
  for (const DimGroup* group : {&side, &depth})
    for (int d = 0; d < group->rank; ++d)
      reach += (group->dims[d].size - 1) * std::abs(group->dims[d].strides[operand]);
  return side.count * depth.count >= 2 * reach;
}

void fill_offsets(const DimGroup& group, Operand operand, int64_t start, int64_t count, int64_t* offsets) {
  // The offsets along the innermost dimension differ by its stride. A short one forms a block together with the
  // dimensions around it, whose offsets are computed once and then repeated.
  constexpr int64_t kShort = 64, kMostBlock = 256;
  int outer = group.rank;
  int64_t block[kMostBlock], size = 1;
  block[0] = 0;
  while (outer > 0 && size < std::min(kShort, count) && group.dims[outer - 1].size <= kMostBlock / size) {
    const Dim& dim = group.dims[outer - 1];
    if (size == 1 && dim.size >= kShort) break;
    for (int64_t i = size; i < size * dim.size; ++i) block[i] = block[i - size] + dim.strides[operand];
    size *= dim.size;
    --outer;
  }
  const bool has_block = size > 1;
  int64_t step = 0;
  if (!has_block && outer > 0) {
    size = group.dims[--outer].size;
    step = group.dims[outer].strides[operand];
  }
  int64_t position[DimGroup::kMaximum], base = 0, within = start % size;
  for (int64_t d = outer - 1, rest = start / size; d >= 0; --d) {
    position[d] = rest % group.dims[d].size;
    rest /= group.dims[d].size;
    base += position[d] * group.dims[d].strides[operand];
  }
  for (int64_t i = 0; i < count;) {
    const int64_t run = std::min(size - within, count - i);
    if (has_block) {
      for (int64_t n = 0; n < run; ++n) offsets[i + n] = base + block[within + n];
    } else {
      int64_t offset = base + within * step;
      for (int64_t n = 0; n < run; ++n, offset += step) offsets[i + n] = offset;
    }
    i += run;
    within = 0;
    for (int d = outer - 1; d >= 0; --d) {
      base += group.dims[d].strides[operand];
      if (++position[d] < group.dims[d].size) break;
      base -= group.dims[d].size * group.dims[d].strides[operand];
      position[d] = 0;
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
