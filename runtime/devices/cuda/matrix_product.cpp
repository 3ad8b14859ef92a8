#include "matrix_product.h"

#include <algorithm>

#include "../grid/driver.h"

namespace oneflow::cuda {
namespace {

using grid::kA;
using grid::kB;
using grid::kBias;
using grid::kC;
using grid::Problem;
using grid::Role;
using grid::Side;

constexpr int64_t kMost = (int64_t{1} << 31) - 1;
// Products of kBusyTiles tiles of kTile x kTile elements keep a large GPU busy, which has as many multiprocessors.
constexpr int64_t kBusyTiles = 132, kTile = 128;

// A dimension of a matrix; a role without dimensions gives one of size 1.
struct Axis {
  int64_t size, stride;
};
Axis axis(const Role& role, Side side) {
  return role.rank == 0 ? Axis{1, 1} : Axis{role.sizes[0], role.strides[side][0]};
}

// Returns the leading dimension (the stride of columns) of a matrix of rows x columns; 0 if it is not column-major.
int64_t leading(Axis rows, Axis columns) {
  if (rows.size > 1 && rows.stride != 1) return 0;
  if (columns.size == 1) return rows.size;
  return columns.stride >= rows.size && columns.stride <= kMost ? columns.stride : 0;
}

// Finds the leading dimension of an operand of rows x columns, which may be stored as its transpose. Returns false if
// neither form is a column-major matrix.
bool find_layout(Axis rows, Axis columns, int64_t& distance, int32_t& is_transposed) {
  distance = leading(rows, columns);
  is_transposed = distance == 0;
  if (is_transposed) distance = leading(columns, rows);
  return distance != 0;
}

// Returns the largest power of 2, up to 256, that divides an address, or the bitwise or of several addresses.
int32_t alignment_of(uintptr_t addresses) {
  const uintptr_t bounded = addresses | 256;
  return static_cast<int32_t>(bounded & (~bounded + 1));
}
uintptr_t address_of(const void* memory) { return reinterpret_cast<uintptr_t>(memory); }

}  // namespace

bool make_product(const Problem& problem, MatrixProduct& product) {
  if (problem.rows.rank > 1 || problem.columns.rank > 1 || problem.depth.rank > 1) return false;
  Shape& shape = product.shape;
  shape.m = problem.columns.count;
  shape.n = problem.rows.count;
  shape.k = problem.depth.count;
  if (std::min({shape.m, shape.n, shape.k}) < 1 || std::max({shape.m, shape.n, shape.k}) > kMost) return false;
  if (!find_layout(axis(problem.columns, kB), axis(problem.depth, kB), shape.leading_a, shape.a_is_transposed))
    return false;
  if (!find_layout(axis(problem.depth, kA), axis(problem.rows, kA), shape.leading_b, shape.b_is_transposed))
    return false;
  shape.leading_d = leading(axis(problem.columns, kC), axis(problem.rows, kC));
  if (shape.leading_d == 0) return false;

  const Role& batch = problem.batch;
  const auto inner = static_cast<int32_t>(std::max_element(batch.sizes, batch.sizes + batch.rank) - batch.sizes);
  shape.batch = batch.rank == 0 ? 1 : batch.sizes[inner];
  if (shape.batch > kMost || problem.batch.count < 1) return false;
  if (batch.rank > 0) {
    shape.step_a = batch.strides[kB][inner];
    shape.step_b = batch.strides[kA][inner];
    shape.step_d = batch.strides[kC][inner];
    if (std::min({shape.step_a, shape.step_b, shape.step_d}) < 0) return false;
  }
  if (batch.rank > 1) product.outer = &batch;
  product.inner = inner;

  product.a = problem.operands[kB];
  product.b = problem.operands[kA];
  product.d = const_cast<char*>(problem.operands[kC]);
  product.bias = problem.operands[kBias];
  if (product.bias != nullptr) {  // must be a contiguous vector with an element for each of the problem's columns
    if (problem.columns.rank == 0 || problem.columns.strides[kBias][0] != 1) return false;
    if (problem.rows.rank == 1 && problem.rows.strides[kBias][0] != 0) return false;
    if (batch.rank != 0) return false;
  }
  shape.has_bias = product.bias != nullptr;
  shape.reads_c = problem.beta != 0;
  shape.dtype = problem.dtype == OF_UINT8 ? OF_INT8 : problem.dtype;
  // The alignment of an operand holds for the products of all outer batch dimensions.
  const int64_t item = grid::item_size(problem.dtype), d_item = grid::item_size(problem.result_dtype());
  uintptr_t steps_a = 0, steps_b = 0, steps_d = 0;
  for (int32_t d = 0; d < batch.rank; ++d) {
    if (d == inner) continue;
    steps_a |= static_cast<uintptr_t>(batch.strides[kB][d] * item);
    steps_b |= static_cast<uintptr_t>(batch.strides[kA][d] * item);
    steps_d |= static_cast<uintptr_t>(batch.strides[kC][d] * d_item);
  }
  shape.alignment_a = alignment_of(address_of(product.a) | steps_a);
  shape.alignment_b = alignment_of(address_of(product.b) | steps_b);
  shape.alignment_d = alignment_of(address_of(product.d) | steps_d);
  shape.alignment_bias = product.bias != nullptr ? alignment_of(address_of(product.bias)) : 0;
  return true;
}

bool make_list(const Problem& problem, const MatrixProduct& product, Shape& shape, ProductList& list) {
  const Role& batch = problem.batch;
  shape = product.shape;
  const int64_t tiles = shape.batch * grid::divide_up(shape.m, kTile) * grid::divide_up(shape.n, kTile);
  if (product.outer == nullptr || tiles >= kBusyTiles || batch.count > kMost) return false;
  list.count = shape.batch = batch.count;
  list.rank = batch.rank;
  std::copy_n(batch.sizes, batch.rank, list.sizes);
  const int64_t item = grid::item_size(problem.dtype), d_item = grid::item_size(problem.result_dtype());
  const auto add = [&](ProductList::Operand& operand, const char* first, Side side, int64_t bytes, int64_t& step,
                       int32_t& alignment) {
    operand.first = const_cast<char*>(first);
    for (int32_t d = 0; d < batch.rank; ++d) operand.steps[d] = batch.strides[side][d] * bytes;
    alignment = std::min(alignment, alignment_of(static_cast<uintptr_t>(operand.steps[product.inner])));
    step = 0;
  };
  add(list.operands[0], product.a, kB, item, shape.step_a, shape.alignment_a);
  add(list.operands[1], product.b, kA, item, shape.step_b, shape.alignment_b);
  add(list.operands[2], product.d, kC, d_item, shape.step_d, shape.alignment_d);
  shape.is_listed = true;
  return true;
}

int64_t Outer::offset(Side side) const {
  int64_t offset = 0;
  for (int32_t d = 0; d < rank(); ++d) offset += at_[d] * role_->strides[side][d];
  return offset;
}

bool Outer::next() {
  for (int32_t d = rank() - 1; d >= 0; --d) {
    if (d == inner_) continue;
    if (++at_[d] < role_->sizes[d]) return true;
    at_[d] = 0;
  }
  return false;
}

}  // namespace oneflow::cuda
