// The dimensions of a contraction by their roles, and its types, for all backends.
#ifndef ONEFLOW_DEVICES_SHARED_CONTRACTION_DIMS_H_
#define ONEFLOW_DEVICES_SHARED_CONTRACTION_DIMS_H_

#include <oneflow/device_plugin.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>

namespace oneflow {

// The role of a dimension in C[batch, row, column] = sum over depth of A[batch, row, depth] * B[batch, depth, column].
enum ContractionRole { kBatch, kRows, kColumns, kDepth, kRoles };

// A dimension and its strides in elements, in A, B, C and the bias; 0 where one does not have it.
struct ContractionDim {
  int64_t size;
  int64_t strides[4];
};

// Returns whether the element types of a contraction are those that all backends have kernels for. Sums of float16 and
// bfloat16 are float32. Integers wrap around, so that sums in any integer type of at least their size give the same.
inline bool has_common_types(const of_contraction& c) {
  switch (c.dtype) {
    case OF_BOOL:
    case OF_FLOAT32:
    case OF_FLOAT64:
      return c.compute == c.dtype;
    case OF_FLOAT16:
    case OF_BFLOAT16:
      return c.compute == OF_FLOAT32;
    case OF_INT64:
    case OF_UINT64:
      return c.compute == OF_INT64 || c.compute == OF_UINT64;
    default:
      return c.compute == OF_INT32 || c.compute == OF_UINT32 || c.compute == OF_INT64 || c.compute == OF_UINT64;
  }
}

// Calls visit(role, dim) for all dimensions, the innermost one of each group first. A batch dimension that B does not
// have is one of the rows, one that A does not have of the columns. The bias has the dimensions of the columns. Ends
// early where visit returns false, and returns whether it has not.
template <class Visit>
bool for_each_dim(const of_contraction& contraction, Visit&& visit) {
  const of_contraction_dim* const dims[] = {contraction.batch, contraction.m, contraction.n, contraction.k};
  const int32_t counts[] = {contraction.batch_count, contraction.m_count, contraction.n_count, contraction.k_count};
  for (int group = 0; group < kRoles; ++group) {
    int64_t bias_stride = group == kColumns ? contraction.bias_stride : 0;
    for (int32_t d = counts[group] - 1; d >= 0; --d) {
      const of_contraction_dim& dim = dims[group][d];
      int role = group;
      if (role == kBatch && dim.stride_b == 0) role = kRows;
      if (role == kBatch && dim.stride_a == 0) role = kColumns;
      const ContractionDim found{dim.size, {dim.stride_a, dim.stride_b, dim.stride_c, bias_stride}};
      if (!visit(static_cast<ContractionRole>(role), found)) return false;
      bias_stride *= dim.size;
    }
  }
  return true;
}

// Returns whether a step along `outer` equals a walk through all of `inner` in every operand, so that both are one.
inline bool continues(const ContractionDim& outer, const ContractionDim& inner) {
  for (size_t i = 0; i < std::size(outer.strides); ++i)
    if (outer.strides[i] != inner.strides[i] * inner.size) return false;
  return true;
}

// Merges dimensions that are contiguous together in all operands, in place. Returns how many are left.
inline int merge_dims(ContractionDim* dims, int count) {
  int kept = 0;
  for (int d = 0; d < count; ++d) {
    if (kept > 0 && continues(dims[kept - 1], dims[d])) {
      const int64_t size = dims[kept - 1].size * dims[d].size;
      dims[kept - 1] = dims[d];
      dims[kept - 1].size = size;
    } else {
      dims[kept++] = dims[d];
    }
  }
  return kept;
}

// Sorts the dimensions of a role from the largest stride in `operand` to the smallest, equal ones by `other`, and
// merges them. Returns how many are left. Their order does not change the result.
inline int sort_and_merge_dims(ContractionDim* dims, int count, int operand, int other) {
  const auto reaches_further = [&](const ContractionDim& x, const ContractionDim& y) {
    const int64_t x_step = std::abs(x.strides[operand]), y_step = std::abs(y.strides[operand]);
    return x_step != y_step ? x_step > y_step : std::abs(x.strides[other]) > std::abs(y.strides[other]);
  };
  if (count > 1) std::stable_sort(dims, dims + count, reaches_further);
  return merge_dims(dims, count);
}

}  // namespace oneflow

#endif  // ONEFLOW_DEVICES_SHARED_CONTRACTION_DIMS_H_
