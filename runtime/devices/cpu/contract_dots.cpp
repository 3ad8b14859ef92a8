#include "contract_dots.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>
#include <vector>

#include "contract_kernels.h"
#include "contract_places.h"
#include "convert.h"
#include "element.h"
#include "scratch.h"
#include "thread_pool.h"
#include "tiling.h"

namespace oneflow::cpu {
namespace {

// Pieces are shorter where they are copied.
constexpr int64_t kCopiedPiece = int64_t{1} << 11;

// Memory for the sums over pieces of the depth, of some cells of C.
class PieceSums {
 public:
  // `converts`: the cells are of a type of their own, so that also a single piece is no result yet.
  PieceSums(const ContractKernels& kernels, int64_t cells, int64_t pieces, bool converts = false)
      : kernels_(kernels),
        pieces_(pieces),
        is_used_(pieces > 1 || converts),
        memory_(is_used_ ? pieces * cells * kernels.size : 1) {}

  bool is_there() const { return memory_.data() != nullptr; }
  bool is_used() const { return is_used_; }

  // Where the sum over a piece goes: to the cell itself, at `target`, where there is nothing left to do then.
  char* at(int64_t cell, int64_t piece, char* target) const {
    return is_used_ ? static_cast<char*>(memory_.data()) + (cell * pieces_ + piece) * kernels_.size : target;
  }

  // Adds up the pieces of a cell, which is of the type `dtype`, in their order.
  void add_up(int64_t cell, of_dtype dtype, char* target) const {
    if (!is_used_) return;
    char* total = at(cell, 0, nullptr);
    for (int64_t piece = 1; piece < pieces_; ++piece) put(kernels_.dtype, at(cell, piece, nullptr), total, 1.0);
    put(dtype, total, target, 0.0);
  }

 private:
  void put(of_dtype dtype, const char* sum, char* target, double beta) const {
    static constexpr int64_t kZero = 0, kOne = 1;
    const TileTarget tile{target, &kZero, &kZero, 1, &kOne, false, false};
    kernels_.finish(dtype, sum, 1, {tile, 1, 1, beta, nullptr, nullptr, nullptr});
  }

  const ContractKernels& kernels_;
  const int64_t pieces_;
  const bool is_used_;
  const Scratch memory_;
};

// Sums by vectors: the depth's elements lie next to each other in A and B, or those of several sums in turns.
class Dots final : public Solution {
 public:
  // `interleaved`: the dimension of those; the problem is the one without it.
  Dots(const Problem& problem, const ContractKernels& kernels, const Dim& interleaved = {1, {0, 0, 0, 0}})
      : kernels_(kernels), depth_(problem.depth.dims[0]), interleaved_(interleaved), cells_(cells_of(problem)) {
    // An operand that is much larger than C is read from end to end.
    const int64_t few = std::min(problem.rows.count, problem.columns.count);
    const Operand longer = longer_of(problem);
    canonicalize(cells_, depth_.size >= kLarger * few ? longer : kC, longer);
    const int64_t elements = depth_.size * interleaved_.size;
    pieces_ = cells_.count * interleaved_.size < 64 ? divide_up(elements, kDotPiece) : 1;
    task_cells_ = pieces_ > 1 ? 1 : std::max<int64_t>(1, kTaskWork / std::max<int64_t>(1, elements));
  }

  of_status run(const Addresses& addresses) const override {
    const PieceSums sums(kernels_, cells_.count * interleaved_.size, pieces_);
    if (!sums.is_there()) return no_working_memory();
    parallel_for(divide_up(cells_.count, task_cells_) * pieces_, [&](int64_t task) {
      const int64_t first = task / pieces_ * task_cells_, piece = task % pieces_;
      const Range depths = part(depth_.size, piece, pieces_);
      for (int64_t cell = first, last = std::min(first + task_cells_, cells_.count); cell < last; cell += kTogether)
        run_cells(addresses, cell, std::min(kTogether, last - cell), depths, piece, sums);
    });
    for (int64_t cell = 0; cell < cells_.count && pieces_ > 1; ++cell) {
      char* target = addresses.c + offset_at(cells_, kC, cell) * kernels_.size;
      for (int64_t i = 0; i < interleaved_.size; ++i)
        sums.add_up(cell * interleaved_.size + i, kernels_.dtype,
                    target + i * interleaved_.strides[kC] * kernels_.size);
    }
    return OF_OK;
  }

 private:
  static constexpr int64_t kTogether = 256, kLarger = 4;

  // A piece of the sums of at most kTogether cells.
  void run_cells(const Addresses& addresses, int64_t first, int64_t number, const Range& depths, int64_t piece,
                 const PieceSums& sums) const {
    int64_t offsets[3][kTogether];
    for (const Operand operand : {kA, kB}) fill_offsets(cells_, operand, first, number, offsets[operand]);
    const auto begin_of = [&](Operand operand) {
      return addresses.operands[operand] + depths.begin * depth_.strides[operand] * kernels_.size;
    };
    DotProducts products{depths.count, number,      begin_of(kA), begin_of(kB),
                         addresses.c,  offsets[kA], offsets[kB],  offsets[kC]};
    int64_t step = interleaved_.strides[kC];
    if (pieces_ > 1) {
      products.c = sums.at(first * interleaved_.size, piece, nullptr);
      step = pieces_;
      for (int64_t i = 0; i < number; ++i) offsets[kC][i] = i * interleaved_.size * step;
    } else {
      fill_offsets(cells_, kC, first, number, offsets[kC]);
    }
    if (interleaved_.size == 1) return kernels_.dots(products);
    if (interleaved_.strides[kA] == 0) {
      std::swap(products.a, products.b);
      std::swap(products.from_a, products.from_b);
    }
    const bool is_in_both = interleaved_.strides[kA] == interleaved_.strides[kB];
    kernels_.interleaved_dots[interleaved_.size](products, step, is_in_both);
  }

  const ContractKernels& kernels_;
  const Dim depth_, interleaved_;
  DimGroup cells_;
  int64_t pieces_, task_cells_;
};

// The same for a few rows and columns whose elements lie apart, or are of another type: of a piece of the depth, each
// of them is copied once.
class CopiedDots final : public Solution {
 public:
  CopiedDots(const Problem& problem, const ContractKernels& kernels)
      : kernels_(kernels),
        dtype_(problem.dtype),
        size_(item_size(dtype_)),
        convert_(computes_in_itself(dtype_) ? nullptr : find_conversion(dtype_, kernels.dtype)),
        batch_(problem.batch),
        depth_(problem.depth),
        cells_(problem.rows.count * problem.columns.count),
        lines_{all_offsets(problem.rows, kA), all_offsets(problem.columns, kB)},
        tiling_(depth_.tiling(size_)),
        places_{tiling_.places(depth_.strides[kA]), tiling_.places(depth_.strides[kB])},
        piece_tiles_(kCopiedPiece / tiling_.most_elements()),
        pieces_(divide_up(tiling_.tile_count(), piece_tiles_)) {
    task_pieces_ = std::min(pieces_, kDotPiece / kCopiedPiece);
    task_members_ = pieces_ > 1 ? 1 : std::max<int64_t>(1, kTaskWork / (problem.depth.count * cells_));
    for (const int64_t row : all_offsets(problem.rows, kC))
      for (const int64_t column : all_offsets(problem.columns, kC)) to_.push_back(row + column);
    const int64_t columns = problem.columns.count;
    for (int64_t cell = 0; cell < cells_; ++cell) {
      from_[kA].push_back(cell / columns * kCopiedPiece);
      from_[kB].push_back(cell % columns * kCopiedPiece);
      to_sums_.push_back(cell * pieces_);
    }
  }

  of_status run(const Addresses& addresses) const override {
    std::atomic<bool> complete{true};
    parallel_for(divide_up(batch_.count, task_members_), [&](int64_t task) {
      const int64_t first = task * task_members_, end = std::min(first + task_members_, batch_.count);
      for (int64_t member = first; member < end; ++member)
        if (!run_member(addresses, member)) complete = false;
    });
    return complete ? OF_OK : no_working_memory();
  }

 private:
  int64_t line_bytes() const { return kCopiedPiece * kernels_.size; }

  char* cell_at(const Addresses& addresses, int64_t member, int64_t cell) const {
    return addresses.c + (offset_at(batch_, kC, member) + to_[static_cast<size_t>(cell)]) * size_;
  }

  // A piece of one line, as it is computed with.
  void copy_line(const char* from, const RowLayout& rows, char* to) const {
    const RowLayout packed{rows.rows, rows.lanes, rows.lanes, 1};
    if (convert_ == nullptr) return copy_rows(from, rows, to, packed, size_);
    alignas(64) char stored[kCopiedPiece * 8];
    copy_rows(from, rows, stored, packed, size_);
    convert_(stored, to, rows.rows * rows.lanes);
  }

  bool run_member(const Addresses& addresses, int64_t member) const {
    const PieceSums sums(kernels_, cells_, pieces_, convert_ != nullptr);
    if (!sums.is_there()) return false;
    std::atomic<bool> complete{true};
    parallel_for(divide_up(pieces_, task_pieces_), [&](int64_t task) {
      const Scratch copies(static_cast<int64_t>(lines_[kA].size() + lines_[kB].size()) * line_bytes());
      if (copies.data() == nullptr) {
        complete = false;
        return;
      }
      const int64_t first = task * task_pieces_, end = std::min(first + task_pieces_, pieces_);
      for (int64_t piece = first; piece < end; ++piece)
        run_piece(addresses, member, piece, static_cast<char*>(copies.data()), sums);
    });
    if (!complete) return false;
    for (int64_t cell = 0; cell < cells_; ++cell) sums.add_up(cell, dtype_, cell_at(addresses, member, cell));
    return true;
  }

  void run_piece(const Addresses& addresses, int64_t member, int64_t piece, char* copies, const PieceSums& sums) const {
    int64_t count = 0;
    for (int64_t i = piece * piece_tiles_; i < tiling_.tile_count() && i < (piece + 1) * piece_tiles_; ++i) {
      const Tile tile = tiling_.tile_at(i);
      char* to = copies + count * kernels_.size;
      for (const Operand operand : {kA, kB}) {
        const int64_t first = offset_at(batch_, operand, member) + tiling_.offset(tile, places_[operand]);
        const RowLayout rows = tiling_.layout(tile, places_[operand]);
        for (const int64_t line : lines_[operand]) {
          copy_line(addresses.operands[operand] + (first + line) * size_, rows, to);
          to += line_bytes();
        }
      }
      count += tile.rows * tile.lanes;
    }
    const char* copied_b = copies + static_cast<int64_t>(lines_[kA].size()) * line_bytes();
    DotProducts products{count, cells_, copies, copied_b, nullptr, from_[kA].data(), from_[kB].data(), nullptr};
    if (sums.is_used()) {
      products.c = sums.at(0, piece, nullptr);
      products.to = to_sums_.data();
    } else {
      products.c = addresses.c + offset_at(batch_, kC, member) * size_;
      products.to = to_.data();
    }
    kernels_.dots(products);
  }

  // The dimensions of the sum.
  struct Depth {
    explicit Depth(const DimGroup& group) : rank(group.rank) {
      for (int d = 0; d < rank; ++d) {
        sizes[d] = group.dims[d].size;
        for (const Operand operand : {kA, kB}) strides[operand][d] = group.dims[d].strides[operand];
      }
    }
    Tiling tiling(int64_t item_size) const {
      const Layout layouts[] = {{rank, sizes, strides[kA]}, {rank, sizes, strides[kB]}};
      const auto found = Tiling::find(layouts, item_size, kCopiedPiece);
      return found ? *found : Tiling::by_rows(layouts[0], item_size, kCopiedPiece);
    }

    int32_t rank;
    int64_t sizes[OF_MAX_RANK], strides[2][OF_MAX_RANK];
  };

  const ContractKernels& kernels_;
  const of_dtype dtype_;
  const int64_t size_;     // of what is stored
  const Convert convert_;  // NULL: stored as it is computed with
  const DimGroup batch_;
  const Depth depth_;
  const int64_t cells_;                  // of one member
  const std::vector<int64_t> lines_[2];  // where the rows of A and the columns of B begin
  std::vector<int64_t> from_[2], to_;    // where each cell's copied lines are, and it is itself
  std::vector<int64_t> to_sums_;         // where the sums over its pieces are
  const Tiling tiling_;                  // of the depth
  const TilePlaces places_[2];
  const int64_t piece_tiles_, pieces_;
  int64_t task_pieces_, task_members_;
};

// Sums of products of pairs: four for each of the other cells.
class PairDots final : public Solution {
 public:
  PairDots(const ContractKernels& kernels, int64_t depth, const DimGroup& cells, int64_t step_a, int64_t step_b)
      : kernels_(kernels), depth_(depth), step_a_(step_a), step_b_(step_b), cells_(cells) {}

  of_status run(const Addresses& addresses) const override {
    for_each_place(cells_, 4 * depth_, [&](int64_t count, const int64_t(*places)[kPlaces]) {
      kernels_.pair_dots({depth_, count, addresses.operands[kA], addresses.operands[kB], addresses.c, places[kA],
                          places[kB], places[kC]},
                         step_a_, step_b_);
    });
    return OF_OK;
  }

 private:
  const ContractKernels& kernels_;
  const int64_t depth_, step_a_, step_b_;
  const DimGroup cells_;
};

// Takes the dimension of pairs out of the rows (or columns); its step in C, or 0 where there is none.
int64_t take_pair(DimGroup& side, Operand operand) {
  for (int d = 0; d < side.rank; ++d) {
    if (side.dims[d].size != 2 || side.dims[d].strides[operand] != 1) continue;
    const int64_t step = side.dims[d].strides[kC];
    std::move(side.dims + d + 1, side.dims + side.rank, side.dims + d);
    --side.rank;
    side.count /= 2;
    return step;
  }
  return 0;
}

// Takes the dimension of C that lies innermost in the operands that have it, and the depth next to it, out of a
// problem.
std::optional<Dim> take_interleaved(Problem& problem) {
  const Dim& depth = problem.depth.dims[0];
  for (DimGroup* group : {&problem.batch, &problem.rows, &problem.columns}) {
    for (int d = 0; d < group->rank; ++d) {
      const Dim& dim = group->dims[d];
      const auto follows = [&](Operand operand) {
        const int64_t stride = dim.strides[operand];
        return (stride == 0 || stride == 1) && depth.strides[operand] == (stride == 0 ? 1 : dim.size);
      };
      const bool is_innermost = dim.strides[kA] == 1 || dim.strides[kB] == 1;
      if (dim.size <= ContractKernels::kMaxInterleaved && is_innermost && follows(kA) && follows(kB))
        return take(*group, d);
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Interleaved> find_interleaved(const Problem& problem) {
  if (problem.depth.rank != 1 || problem.depth.count < contract_kernels(problem.dtype).least_interleaved)
    return std::nullopt;
  Interleaved found{problem, {}};
  const auto dim = take_interleaved(found.others);
  if (!dim || std::min(found.others.rows.count, found.others.columns.count) > kThin) return std::nullopt;
  found.dim = *dim;
  return found;
}

std::unique_ptr<Solution> make_interleaved_dots(const Interleaved& interleaved) {
  return std::make_unique<Dots>(interleaved.others, contract_kernels(interleaved.others.dtype), interleaved.dim);
}

std::unique_ptr<Solution> make_pair_dots(const Problem& problem) {
  const DimGroup& depth = problem.depth;
  if (depth.rank != 1 || depth.dims[0].strides[kA] != 2 || depth.dims[0].strides[kB] != 2) return nullptr;
  Problem pairs = problem;
  const int64_t step_a = take_pair(pairs.rows, kA), step_b = take_pair(pairs.columns, kB);
  if (step_a == 0 || step_b == 0 || std::min(pairs.rows.count, pairs.columns.count) > 1) return nullptr;
  return std::make_unique<PairDots>(contract_kernels(problem.dtype), depth.count, cells_of(pairs), step_a, step_b);
}

std::unique_ptr<Solution> make_dots(const Problem& problem) {
  return std::make_unique<Dots>(problem, contract_kernels(problem.dtype));
}

std::unique_ptr<Solution> make_copied_dots(const Problem& problem) {
  return std::make_unique<CopiedDots>(problem, contract_kernels(problem.dtype));
}

}  // namespace oneflow::cpu
