#include "arrangement.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "../grid/driver.h"

namespace oneflow::cuda {
namespace {

using grid::kA;
using grid::kB;
using grid::kC;
using grid::kSides;
using grid::Problem;
using grid::Role;
using grid::Side;

// What the estimates assume of a data-centre GPU, in units per second. Only the ratios matter.
constexpr double kBandwidth = 2.5e12;      // bytes that the library reads or writes
constexpr double kDotBandwidth = 2e12;     // the same of dot products by the shared kernels
constexpr double kCopyBandwidth = 1.5e12;  // the same of copies into another layout
constexpr double kNearBandwidth = 4e12;    // bytes that dot products read from caches
constexpr double kSharedPeak = 10e12;      // operations of the shared tiles
constexpr double kLaunch = 4e-6;           // seconds of a launch
constexpr double kCall = 6e-6;             // seconds of a call of the library
constexpr double kListed = 1.3;            // how much longer a product takes whose batch is a list of addresses
constexpr int64_t kTile = 64;              // rows and columns of a small tile
constexpr int64_t kGroups = 132;           // tiles at the same time
constexpr int64_t kThin = 16;              // fewer rows or columns are computed as dot products by the shared kernels

double library_peak(of_dtype dtype) { return dtype == OF_FLOAT32 || dtype == OF_FLOAT64 ? 45e12 : 500e12; }

// A dimension with its strides in the operands as they are multiplied.
struct Dim : grid::Dim {
  int64_t before[kSides];  // its strides in the original operands
};
using Dims = std::vector<Dim>;
struct Roles {
  Dims batch, rows, columns, depth;
};

Dims dims_of(const Role& role, bool is_swapped) {
  Dims dims;
  for (int32_t d = 0; d < role.rank; ++d) {
    Dim dim{{role.sizes[d], {}}, {}};
    for (int side = 0; side < kSides; ++side) dim.before[side] = role.strides[side][d];
    if (is_swapped) std::swap(dim.before[kA], dim.before[kB]);
    std::copy_n(dim.before, kSides, dim.strides);
    dims.push_back(dim);
  }
  return dims;
}

Roles roles_of(const Problem& problem, bool is_swapped) {
  Roles roles{dims_of(problem.batch, is_swapped), dims_of(problem.rows, is_swapped),
              dims_of(problem.columns, is_swapped), dims_of(problem.depth, is_swapped)};
  if (is_swapped) std::swap(roles.rows, roles.columns);
  return roles;
}

// Sorts by decreasing stride in the first operand that is not copied.
void sort(Dims& dims, std::initializer_list<Side> sides, const bool (&copied)[3]) {
  for (const Side side : sides) {
    if (copied[side]) continue;
    std::stable_sort(dims.begin(), dims.end(), [side](const Dim& a, const Dim& b) {
      return std::abs(a.before[side]) > std::abs(b.before[side]);
    });
    return;
  }
}

// Returns the smallest stride of an operand in some dimensions.
int64_t least_stride(const Dims& dims, Side side) {
  int64_t least = INT64_MAX;
  for (const Dim& dim : dims) least = std::min(least, std::abs(dim.before[side]));
  return least;
}

// Gives a copied operand contiguous strides, and describes the copy. `inner` varies fastest.
OperandCopy lay_out(Side side, Dims& batch, Dims& outer, Dims& inner) {
  OperandCopy copy;
  for (Dims* dims : {&inner, &outer, &batch}) {
    for (auto dim = dims->rbegin(); dim != dims->rend(); ++dim) {
      dim->strides[side] = copy.count;
      copy.count *= dim->size;
    }
  }
  for (const Dims* dims : {&batch, &outer, &inner}) {
    for (const Dim& dim : *dims) {
      copy.sizes[copy.rank] = dim.size;
      copy.before[copy.rank] = dim.before[side];
      copy.after[copy.rank++] = dim.strides[side];
    }
  }
  return copy;
}

// Returns the merged dimensions of the operands as they are multiplied.
std::vector<grid::Dim> merged(const Dims& dims) {
  std::vector<grid::Dim> merged(dims.begin(), dims.end());
  merged.resize(static_cast<size_t>(merge_dims(merged.data(), static_cast<int>(merged.size()))));
  return merged;
}

Role role_of(const std::vector<grid::Dim>& dims) { return grid::role_of(dims.data(), dims.size()); }

// Moves all dimensions but one to the batch, where the other operand repeats.
Role keep_one(const std::vector<grid::Dim>& dims, size_t kept, std::vector<grid::Dim>& batch) {
  for (size_t d = 0; d < dims.size(); ++d)
    if (d != kept) batch.push_back(dims[d]);
  return grid::role_of(dims.data() + kept, dims.empty() ? 0 : 1);
}

double share(int64_t size, int64_t tile) {
  return static_cast<double>(size) / static_cast<double>(grid::divide_up(size, tile) * tile);
}

// Estimates the seconds of a matrix product by the library.
double product_seconds(const Problem& problem, const MatrixProduct& product) {
  const Shape& shape = product.shape;
  const auto m = static_cast<double>(shape.m), n = static_cast<double>(shape.n), k = static_cast<double>(shape.k);
  const auto batch = static_cast<double>(problem.batch.count);
  Shape listed;
  ProductList list;
  const bool is_listed = make_list(problem, product, listed, list);
  const double calls = is_listed ? 2 : batch / static_cast<double>(shape.batch);
  const auto item = static_cast<double>(grid::item_size(problem.dtype));
  double traffic = batch * (m * k + n * k + m * n) * item / kBandwidth;
  double compute = 0;
  if (shape.m > 1 && shape.n > 1) {
    const int64_t at_once = (is_listed ? problem.batch.count : shape.batch) * grid::divide_up(shape.m, 2 * kTile) *
                            grid::divide_up(shape.n, 2 * kTile) * std::max<int64_t>(1, shape.k / 512);
    compute = 2 * batch * m * n * k / library_peak(problem.dtype) / share(shape.m, kTile) / share(shape.n, kTile) *
              (k + kThin) / k * std::max(1.0, static_cast<double>(kGroups) / static_cast<double>(at_once));
  } else if (shape.m == 1 && shape.n == 1 && problem.depth.rank > 0 &&
             std::max(problem.depth.step(kA), problem.depth.step(kB)) > 1) {
    traffic *= 8;  // dot products of strided vectors, measured
  }
  return calls * kCall + std::max(traffic, compute) * (is_listed ? kListed : 1);
}

// Estimates the seconds of the shared kernels.
double shared_seconds(const Problem& problem) {
  const auto batch = static_cast<double>(problem.batch.count), rows = static_cast<double>(problem.rows.count);
  const auto columns = static_cast<double>(problem.columns.count), depth = static_cast<double>(problem.depth.count);
  const auto item = static_cast<double>(grid::item_size(problem.dtype));
  if (std::min(problem.rows.count, problem.columns.count) >= kThin)
    return kLaunch + 2 * batch * rows * columns * (depth + kThin / 2) / kSharedPeak / share(problem.rows.count, kTile) /
                         share(problem.columns.count, kTile);
  const double once = batch * (rows * depth + columns * depth + rows * columns) * item;
  const double all = 2 * batch * rows * columns * depth * item;
  // Without a contiguous dimension, every element takes a sector of memory.
  const auto is_contiguous = [&](Side side, const Role& outer) {
    return std::min({problem.depth.step(side), problem.batch.step(side), outer.step(side)}) <= 1;
  };
  const double spread = is_contiguous(kA, problem.rows) && is_contiguous(kB, problem.columns) ? 1 : 8;
  return kLaunch + spread * std::max(once / kDotBandwidth, all / kNearBandwidth);
}

double copy_seconds(const OperandCopy& copy, of_dtype dtype) {
  if (!copy.is_needed()) return 0;
  return kLaunch + 2.0 * static_cast<double>(copy.count) * grid::item_size(dtype) / kCopyBandwidth;
}

// Visits the products over one dimension of the rows and one of the columns. All others are batch dimensions.
void visit_products(const Roles& roles, Arrangement& found, const std::function<void(const Arrangement&)>& visit) {
  const auto rows = merged(roles.rows), columns = merged(roles.columns), depth = merged(roles.depth);
  if (depth.size() > 1) return;
  const double copies = found.seconds;
  Problem& product = found.problem;
  product.depth = role_of(depth);
  for (size_t row = 0; row < std::max<size_t>(rows.size(), 1); ++row) {
    for (size_t column = 0; column < std::max<size_t>(columns.size(), 1); ++column) {
      auto batch = merged(roles.batch);
      product.rows = keep_one(rows, row, batch);
      product.columns = keep_one(columns, column, batch);
      if (batch.size() > static_cast<size_t>(Role::kMost)) continue;
      product.batch = role_of(batch);
      MatrixProduct matrix;
      if (!make_product(product, matrix)) continue;
      found.seconds = copies + product_seconds(product, matrix);
      visit(found);
    }
  }
}

// Visits the arrangements that copy the given operands.
void visit_copies(const Problem& problem, bool is_swapped, const bool (&copied)[3],
                  const std::function<void(const Arrangement&)>& visit) {
  Roles roles = roles_of(problem, is_swapped);
  sort(roles.batch, {kC, kA, kB}, copied);
  sort(roles.rows, {kC, kA}, copied);
  sort(roles.columns, {kC, kB}, copied);
  sort(roles.depth, {kA, kB}, copied);
  Arrangement found;
  found.uses_library = true;
  found.problem = problem;
  found.is_swapped = is_swapped;
  if (is_swapped) std::swap(found.problem.operands[kA], found.problem.operands[kB]);
  // The role with the operand's own contiguous dimension stays innermost, so that the copy moves whole runs. The
  // library wants the columns of C innermost.
  const auto copy_factor = [&](Side side, Dims& outer) {
    if (least_stride(outer, side) < least_stride(roles.depth, side))
      found.copies[side] = lay_out(side, roles.batch, roles.depth, outer);
    else
      found.copies[side] = lay_out(side, roles.batch, outer, roles.depth);
  };
  if (copied[kA]) copy_factor(kA, roles.rows);
  if (copied[kB]) copy_factor(kB, roles.columns);
  if (copied[kC]) found.copies[kC] = lay_out(kC, roles.batch, roles.rows, roles.columns);
  found.seconds = 0;
  for (const Side side : {kA, kB, kC}) {
    found.seconds += copy_seconds(found.copies[side], problem.dtype);
    if (found.copies[side].is_needed()) found.problem.operands[side] = nullptr;  // aligned, as scratch memory is
  }
  visit_products(roles, found, visit);
}

// Returns whether the operands are one batch of proper matrices, which need no search.
bool is_simple(const Problem& problem) {
  MatrixProduct product;
  return make_product(problem, product) && product.outer == nullptr &&
         std::min(product.shape.m, product.shape.n) >= kThin;
}

}  // namespace

void for_each_arrangement(const Problem& problem, const std::function<void(const Arrangement&)>& visit) {
  for (const bool is_swapped : {false, true}) {
    for (int copied = 0; copied < (problem.is_plain() ? 8 : 4); ++copied)
      visit_copies(problem, is_swapped, {(copied & 1) != 0, (copied & 2) != 0, (copied & 4) != 0}, visit);
  }
}

Arrangement arrange(const Problem& problem) {
  Arrangement best;
  best.problem = problem;
  best.seconds = shared_seconds(problem);
  best.uses_library = is_simple(problem);
  if (best.uses_library) return best;
  for_each_arrangement(problem, [&](const Arrangement& found) {
    if (found.seconds < best.seconds) best = found;
  });
  return best;
}

}  // namespace oneflow::cuda
