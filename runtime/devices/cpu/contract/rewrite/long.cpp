#include "contract/rewrite/long.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "contract/direct/direct.h"
#include "contract/direct/lines.h"
#include "contract/gemm/gemm.h"
#include "contract/kernels.h"
#include "contract/rewrite/copied.h"
#include "simd/element.h"
#include "threads/scratch.h"

namespace oneflow::cpu {
namespace {

// The most elements of C, and of the sums of all pieces, which need memory of their own.
constexpr int64_t kMostElements = 1 << 12, kMostSums = 1 << 17;
// The least multiplications and depth of a piece: adding up the pieces costs little compared to these.
constexpr int64_t kPieceWork = int64_t{1} << 18, kPieceDepth = 64;
// The least rows or columns that fill a vector.
constexpr int64_t kLeastRows = 8;
// The least number of pieces.
constexpr int64_t kLeastPieces = 4;

// Returns the bytes of the number 1 of a dtype.
int64_t one_of(of_dtype dtype) {
  int64_t bytes = 0;
  visit_dtype(dtype, [&](auto element) {
    element = convert<decltype(element)>(1.0F);
    std::memcpy(&bytes, &element, sizeof element);
  });
  return bytes;
}

// Returns the dimensions of C.
std::vector<Dim*> c_dims(Problem& problem) {
  std::vector<Dim*> dims;
  for (DimGroup* group : {&problem.batch, &problem.rows, &problem.columns})
    for (int d = 0; d < group->rank; ++d) dims.push_back(&group->dims[d]);
  return dims;
}

// Returns the index of the longest dimension.
int longest_of(const DimGroup& group) {
  return static_cast<int>(std::max_element(group.dims, group.dims + group.rank,
                                           [](const Dim& x, const Dim& y) { return x.size < y.size; }) -
                          group.dims);
}

// Returns whether the problem is one of dot products, which contract/direct/dots.h cuts into pieces itself.
bool are_dots(const Problem& problem) {
  if (std::min(problem.rows.count, problem.columns.count) > kThin) return false;
  const Dim& last = problem.depth.dims[problem.depth.rank - 1];
  const int64_t stride = last.strides[kA];  // 2 for pairs, such as complex numbers
  const bool is_contiguous = problem.depth.rank == 1 && (stride == 1 || stride == 2) && last.strides[kB] == stride;
  return is_contiguous || std::max(problem.rows.count, problem.columns.count) < kLeastRows;
}

void offer_piece(const Work& work, Chooser& chooser) { ask({offer_in_place, offer_copy}, work, chooser); }

// A problem whose longest dimension of the depth is cut into pieces of equal length, which are a batch, of which C is
// the sums; a shorter last piece follows. `total` adds up the sums, by a product with a vector of ones of stride 0.
struct Pieces {
  Problem one, whole, total;  // of one piece, of all whole pieces, and of the sums
  int position;               // of the dimension
  int64_t rest;               // the size of the last piece along it; 0: there is none
  int64_t count, sums;        // the pieces, and the sums of one of them
  int64_t rest_offsets[3];    // of the last piece, in elements
};

Pieces cut(const Problem& problem, int64_t length) {
  Pieces pieces{problem, problem, problem, longest_of(problem.depth), 0, 0, 1, {}};
  Problem &piece = pieces.one, &total = pieces.total;
  total.batch = total.rows = total.columns = total.depth = DimGroup{};
  // The sums of a piece are contiguous, in the order of C, except that the innermost dimension is the longest one that
  // is contiguous in an operand, which vectors of the kernels then run along.
  std::vector<Dim*> dims = c_dims(piece);
  std::stable_sort(dims.begin(), dims.end(),
                   [](const Dim* x, const Dim* y) { return std::abs(x->strides[kC]) < std::abs(y->strides[kC]); });
  const auto run = [](const Dim* dim) { return dim->strides[kA] == 1 || dim->strides[kB] == 1 ? dim->size : 0; };
  const auto longest =
      std::max_element(dims.begin(), dims.end(), [&](const Dim* x, const Dim* y) { return run(x) < run(y); });
  std::rotate(dims.begin(), longest, longest + 1);
  for (Dim* dim : dims) {
    total.rows.add({dim->size, {pieces.sums, 0, dim->strides[kC], 0}});
    dim->strides[kC] = pieces.sums;
    pieces.sums *= dim->size;
  }

  const Dim& dim = problem.depth.dims[pieces.position];
  const int64_t whole = dim.size / length;
  pieces.rest = dim.size % length;
  pieces.count = whole + (pieces.rest > 0 ? 1 : 0);
  for (const Operand operand : {kA, kB}) pieces.rest_offsets[operand] = whole * length * dim.strides[operand];
  pieces.rest_offsets[kC] = whole * pieces.sums;
  piece.depth.resize(pieces.position, length);
  pieces.whole = piece;
  DimGroup batch;
  batch.add({whole, {length * dim.strides[kA], length * dim.strides[kB], pieces.sums, 0}});
  batch.append(piece.batch);
  pieces.whole.batch = batch;

  total.depth.add({pieces.count, {pieces.sums, 0, 0, 0}});
  canonicalize(total.rows, kC, kA);
  return pieces;
}

class PieceProducts final : public Solution {
 public:
  explicit PieceProducts(const Pieces& pieces)
      : element_size_(contract_kernels(pieces.whole.dtype).size),
        one_(one_of(contract_kernels(pieces.whole.dtype).dtype)),
        sums_(pieces.count * pieces.sums),
        has_rest_(pieces.rest > 0),
        whole_(solve_by(offer_piece, pieces.whole)),
        total_(solve_by(offer_in_place, pieces.total)) {
    for (const Operand operand : {kA, kB, kC}) rest_offset_[operand] = pieces.rest_offsets[operand] * element_size_;
    if (has_rest_) {
      Problem rest = pieces.one;
      rest.depth.resize(pieces.position, pieces.rest);
      rest_ = solve_by(offer_piece, rest);
    }
    if (!total_) total_ = solve_by_packing(pieces.total);
  }

  bool has_solutions() const { return whole_ != nullptr && (rest_ != nullptr || !has_rest_); }

  of_status run(const Addresses& addresses) const override {
    const Scratch memory(sums_ * element_size_);
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
  const int64_t element_size_;
  const int64_t one_;   // the bytes of the number 1, by which the sums are multiplied
  const int64_t sums_;  // of all pieces
  const bool has_rest_;
  int64_t rest_offset_[3];  // of the last piece, which may be shorter, in bytes
  std::unique_ptr<Solution> whole_, rest_, total_;
};

}  // namespace

void offer_pieces(const Work& work, Chooser& chooser) {
  const Problem& problem = work.problem;
  const int64_t c_count = problem.batch.count * problem.rows.count * problem.columns.count, depth = problem.depth.count;
  if (c_count > kMostElements || depth / kPieceDepth < kLeastPieces || problem.batch.rank == DimGroup::kMaximum) return;
  if (!problem.is_plain() || !computes_in_itself(problem.dtype) || are_dots(problem)) return;
  const int64_t wanted = std::min({depth / kPieceDepth, c_count * depth / kPieceWork, kMostSums / c_count});
  const int64_t longest = problem.depth.dims[longest_of(problem.depth)].size;
  const int64_t length = std::max<int64_t>(1, longest / std::max<int64_t>(1, wanted));
  if (std::min(wanted, longest / length) < kLeastPieces) return;
  const Pieces pieces = cut(problem, length);
  chooser.offer(
      [&] {
        const double share =
            1 - static_cast<double>(pieces.rest) / static_cast<double>(problem.depth.dims[pieces.position].size);
        return cost_by(offer_piece, Work(pieces.whole)) / share +
               static_cast<double>(pieces.count * pieces.sums) * kCopyElement + kCopyOverhead;
      },
      [&]() -> std::unique_ptr<Solution> {
        auto solution = std::make_unique<PieceProducts>(pieces);
        return solution->has_solutions() ? std::move(solution) : nullptr;
      });
}

}  // namespace oneflow::cpu
