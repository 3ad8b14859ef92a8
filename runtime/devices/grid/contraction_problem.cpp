#include "contraction_problem.h"

#include <algorithm>
#include <cstdlib>

namespace oneflow::grid {
namespace {

// The dimensions of one role as they are collected.
class Dims {
 public:
  // Appends a dimension unless its size is 1. Returns false where there are too many.
  bool add(const Dim& dim) {
    if (dim.size == 1) return true;
    if (count_ == Role::kMost) return false;
    list_[count_++] = dim;
    return true;
  }

  // Returns the role with its dimensions sorted by decreasing stride in `side`, then in `other`, and merged where they
  // continue each other. The dimensions of a role may have any order, as long as all operands share it.
  Role sorted(Side side, Side other) const {
    Dim dims[Role::kMost];
    std::copy_n(list_, count_, dims);
    return role_of(dims, static_cast<size_t>(sort_and_merge_dims(dims, count_, side, other)));
  }

  int64_t count() const {
    int64_t product = 1;
    for (int d = 0; d < count_; ++d) product *= list_[d].size;
    return product;
  }

  void swap_sides() {
    for (int d = 0; d < count_; ++d) std::swap(list_[d].strides[kA], list_[d].strides[kB]);
  }

 private:
  int count_ = 0;
  Dim list_[Role::kMost];
};

// Returns the type of sums. Integers wrap around, so that any integer type that is at least as wide gives the same
// result. Sums of booleans only increase, so that in floating point they never return to zero.
of_dtype type_for(of_dtype dtype) {
  switch (dtype) {
    case OF_FLOAT64:
      return OF_FLOAT64;
    case OF_INT64:
    case OF_UINT64:
      return OF_UINT64;
    case OF_BOOL:
    case OF_FLOAT16:
    case OF_BFLOAT16:
    case OF_FLOAT32:
      return OF_FLOAT32;
    default:
      return OF_UINT32;
  }
}

struct Roles {
  Dims batch, rows, columns, depth;
};

// Assigns each dimension to a role. Returns false where a role has too many.
bool sort_dims(const of_contraction& contraction, Roles& roles) {
  Dims* const by_role[] = {&roles.batch, &roles.rows, &roles.columns, &roles.depth};
  return for_each_dim(contraction, [&](ContractionRole role, const Dim& dim) { return by_role[role]->add(dim); });
}

// Returns whether to swap rows and columns. Neighbouring work-items compute neighbouring columns, which therefore
// should be contiguous in C, and enough for several work-items.
bool should_swap(const Dims& rows, const Dims& columns) {
  constexpr int64_t kEnough = 16;
  if (columns.count() < kEnough && rows.count() > columns.count()) return true;
  if (rows.count() < kEnough && columns.count() > rows.count()) return false;
  return rows.sorted(kC, kA).step(kC) < columns.sorted(kC, kB).step(kC);
}

// Returns the rows (or columns) in the order of C; in the order of the operand `side` where reads outnumber writes and
// the depth does not have unit stride in it.
Role role_of(const Dims& dims, Side side, const Role& depth, int64_t others) {
  const bool follows = depth.count > 2 * others && depth.step(side) != 1;
  return follows ? dims.sorted(side, kC) : dims.sorted(kC, side);
}

}  // namespace

Role role_of(const Dim* dims, size_t count) {
  Role role;
  role.rank = static_cast<int32_t>(count);
  for (size_t d = 0; d < count; ++d) {
    role.sizes[d] = dims[d].size;
    role.count *= dims[d].size;
    for (int i = 0; i < kSides; ++i) role.strides[i][d] = dims[d].strides[i];
  }
  return role;
}

int64_t Role::step(Side side) const { return rank == 0 ? INT64_MAX : std::abs(strides[side][rank - 1]); }

bool make_problem(const of_contraction& contraction, Problem& problem) {
  if (!has_common_types(contraction) || contraction.epilogue != 0) return false;
  // Elementwise kernels compute outer products with no more memory traffic, and in simpler loops.
  if (contraction.k_count == 0) return false;
  Roles roles;
  if (!sort_dims(contraction, roles)) return false;
  problem.dtype = contraction.dtype;
  problem.type = type_for(contraction.dtype);
  problem.alpha = contraction.alpha;
  problem.beta = contraction.beta;
  problem.is_swapped = should_swap(roles.rows, roles.columns);
  set_operands(contraction, problem);
  if (problem.is_swapped) {
    std::swap(roles.rows, roles.columns);
    for (Dims* dims : {&roles.batch, &roles.rows, &roles.columns, &roles.depth}) dims->swap_sides();
  }
  const bool a_is_larger = roles.rows.count() >= roles.columns.count();
  problem.batch = roles.batch.sorted(kC, kA);
  problem.depth = a_is_larger ? roles.depth.sorted(kA, kB) : roles.depth.sorted(kB, kA);
  problem.rows = role_of(roles.rows, kA, problem.depth, roles.columns.count());
  problem.columns = role_of(roles.columns, kB, problem.depth, roles.rows.count());
  // finish() walks all dimensions of C as one iteration space.
  return problem.batch.rank + problem.rows.rank + problem.columns.rank <= OF_MAX_RANK;
}

void set_operands(const of_contraction& contraction, Problem& problem) {
  problem.operands[kA] = static_cast<const char*>(problem.is_swapped ? contraction.b : contraction.a);
  problem.operands[kB] = static_cast<const char*>(problem.is_swapped ? contraction.a : contraction.b);
  problem.operands[kC] = static_cast<const char*>(contraction.c);
  problem.operands[kBias] = static_cast<const char*>(contraction.bias);
}

Problem sums_of(const Problem& problem, void* memory) {
  Problem sums = problem;
  int64_t step = 1;
  for (Role* role : {&sums.columns, &sums.rows, &sums.batch}) {
    for (int32_t d = role->rank - 1; d >= 0; --d) {
      role->strides[kC][d] = step;
      step *= role->sizes[d];
    }
  }
  sums.operands[kC] = static_cast<const char*>(memory);
  sums.operands[kBias] = nullptr;
  sums.alpha = 1;
  sums.beta = 0;
  sums.is_sums = true;
  return sums;
}

}  // namespace oneflow::grid
