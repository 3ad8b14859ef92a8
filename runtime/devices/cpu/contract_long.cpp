#include "contract_long.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "contract_direct.h"
#include "contract_gemm.h"
#include "contract_kernels.h"
#include "contract_lines.h"
#include "element.h"
#include "scratch.h"

namespace oneflow::cpu {
namespace {

// Cells of C, and of all pieces together, which have memory of their own.
constexpr int64_t kMostCells = 1 << 12, kMostSums = 1 << 17;
// Multiplications and depths that a piece has at least: adding up costs little next to them.
constexpr int64_t kPieceWork = int64_t{1} << 18, kPieceDepth = 64;
// Fewer lanes are no vector.
constexpr int64_t kLeastLanes = 8;
// A depth is long from so many pieces on.
constexpr int64_t kLeastPieces = 4;

// The number one of a type that kernels compute with.
int64_t one_of(of_dtype dtype) {
  int64_t bytes = 0;
  visit_dtype(dtype, [&](auto element) {
    element = convert<decltype(element)>(1.0F);
    std::memcpy(&bytes, &element, sizeof element);
  });
  return bytes;
}

std::vector<Dim*> dims_of_cells(Problem& problem) {
  std::vector<Dim*> dims;
  for (DimGroup* group : {&problem.batch, &problem.rows, &problem.columns})
    for (int d = 0; d < group->rank; ++d) dims.push_back(&group->dims[d]);
  return dims;
}

int longest_of(const DimGroup& group) {
  return static_cast<int>(std::max_element(group.dims, group.dims + group.rank,
                                           [](const Dim& x, const Dim& y) { return x.size < y.size; }) -
                          group.dims);
}

// Whether these are sums along vectors, which have pieces of their own: see contract_dots.h.
bool are_dots(const Problem& problem) {
  if (std::min(problem.rows.count, problem.columns.count) > kThin) return false;
  const Dim& last = problem.depth.dims[problem.depth.rank - 1];
  const int64_t step = last.strides[kA];  // 2 where elements are pairs
  const bool are_lines = problem.depth.rank == 1 && (step == 1 || step == 2) && last.strides[kB] == step;
  return are_lines || std::max(problem.rows.count, problem.columns.count) < kLeastLanes;
}

std::unique_ptr<Solution> solve_piece(const Problem& piece) {
  auto lines = solve_by_lines(piece);
  return lines ? std::move(lines) : solve_whole(piece);
}

class PieceProducts final : public Solution {
 public:
  // The longest dimension of the depth is cut into parts of `length`.
  PieceProducts(const Problem& problem, int64_t length)
      : item_(contract_kernels(problem.dtype).size), one_(one_of(contract_kernels(problem.dtype).dtype)) {
    Problem piece = problem, total = problem;
    total.batch = total.rows = total.columns = total.depth = DimGroup{};
    // The cells of a piece lie next to each other, in the order that they have in C, but that the longest dimension
    // which lies so in an operand is the innermost one. (262,144 x 2 times x 12, into 12 x 2: 0.34 of the time.)
    std::vector<Dim*> cells = dims_of_cells(piece);
    std::stable_sort(cells.begin(), cells.end(),
                     [](const Dim* x, const Dim* y) { return std::abs(x->strides[kC]) < std::abs(y->strides[kC]); });
    const auto run = [](const Dim* dim) { return dim->strides[kA] == 1 || dim->strides[kB] == 1 ? dim->size : 0; };
    const auto longest =
        std::max_element(cells.begin(), cells.end(), [&](const Dim* x, const Dim* y) { return run(x) < run(y); });
    std::rotate(cells.begin(), longest, longest + 1);
    for (Dim* dim : cells) {
      total.rows.add({dim->size, {cells_, 0, dim->strides[kC], 0}});
      dim->strides[kC] = cells_;
      cells_ *= dim->size;
    }

    const int cut = longest_of(problem.depth);
    const Dim& dim = problem.depth.dims[cut];
    const int64_t whole = dim.size / length, rest = dim.size % length;
    pieces_ = whole + (rest > 0 ? 1 : 0);
    for (const Operand operand : {kA, kB}) rest_offset_[operand] = whole * length * dim.strides[operand] * item_;
    rest_offset_[kC] = whole * cells_ * item_;
    if (rest > 0) {
      piece.depth.resize(cut, rest);
      rest_ = solve_piece(piece);
    }
    piece.depth.resize(cut, length);
    DimGroup batch;
    batch.add({whole, {length * dim.strides[kA], length * dim.strides[kB], cells_, 0}});
    batch.add_others(piece.batch);
    piece.batch = batch;
    whole_ = solve_piece(piece);
    has_rest_ = rest > 0;

    total.depth.add({pieces_, {cells_, 0, 0, 0}});
    canonicalize(total.rows, kC, kA);
    total_ = solve_whole(total);
    if (!total_) total_ = solve_by_packing(total);
  }

  bool is_there() const { return whole_ != nullptr && (rest_ != nullptr || !has_rest_); }

  of_status run(const Addresses& addresses) const override {
    const Scratch memory(pieces_ * cells_ * item_);
    auto* sums = static_cast<char*>(memory.data());
    if (sums == nullptr) return no_working_memory();
    Addresses parts = addresses;
    parts.c = sums;
    if (const of_status status = whole_->run(parts); status != OF_OK) return status;
    if (has_rest_) {
      for (const Operand operand : {kA, kB}) parts.operands[operand] += rest_offset_[operand];
      parts.c += rest_offset_[kC];
      if (const of_status status = rest_->run(parts); status != OF_OK) return status;
    }
    return total_->run({{sums, reinterpret_cast<const char*>(&one_)}, addresses.c});
  }

 private:
  const int64_t item_;
  const int64_t one_;  // what sums are multiplied by to be added up
  int64_t cells_ = 1;  // of a piece
  int64_t pieces_;
  int64_t rest_offset_[3];  // of the last piece, which may be shorter, in bytes
  bool has_rest_;
  std::unique_ptr<Solution> whole_, rest_, total_;
};

}  // namespace

std::unique_ptr<Solution> solve_in_pieces(const Problem& problem) {
  const int64_t cells = problem.batch.count * problem.rows.count * problem.columns.count, depth = problem.depth.count;
  if (cells > kMostCells || depth / kPieceDepth < kLeastPieces || problem.batch.rank == DimGroup::kMaximum)
    return nullptr;
  if (!problem.is_plain() || !computes_in_itself(problem.dtype) || are_dots(problem)) return nullptr;
  const int64_t wanted = std::min({depth / kPieceDepth, cells * depth / kPieceWork, kMostSums / cells});
  const int64_t longest = problem.depth.dims[longest_of(problem.depth)].size;
  const int64_t length = std::max<int64_t>(1, longest / std::max<int64_t>(1, wanted));
  if (std::min(wanted, longest / length) < kLeastPieces) return nullptr;
  auto solution = std::make_unique<PieceProducts>(problem, length);
  return solution->is_there() ? std::move(solution) : nullptr;
}

}  // namespace oneflow::cpu
