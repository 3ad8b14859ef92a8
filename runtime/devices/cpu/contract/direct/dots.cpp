#include "contract/direct/dots.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include "contract/kernels.h"
#include "contract/offset_blocks.h"
#include "copy/tiling.h"
#include "simd/cache_sizes.h"
#include "simd/convert.h"
#include "simd/element.h"
#include "threads/scratch.h"
#include "threads/thread_pool.h"

namespace oneflow::cpu {
namespace {

// Elements of one piece of a row or column that is copied: the copies are read while they are in the caches.
constexpr int64_t kCopiedPiece = int64_t{1} << 11;

// The most elements of C, per product of the batch, that are computed as dot products of copied rows and columns, and
// the least depth for which the copies pay.
constexpr int64_t kMaxDotCount = 16, kMinCopiedDepth = 32;
// The overhead of a dot product, and the factor where an interleaved operand is read from a second-level cache.
constexpr double kDotOverhead = 0.6, kFarInterleaved = 1.7;
// The costs of adding up the lanes of several interleaved sums, of the overhead of a batch item of copied rows and
// columns, and of reading an element that is alone on its cache line.
constexpr double kAddInterleavedLanes = 20, kCopiedItem = 700, kLoneElement = 2.5;

// The partial sums of some elements of C, one for each piece of the depth.
class PartialSums {
 public:
  // `converts`: C has another dtype than the sums, which then need memory of their own even where there is one piece.
  PartialSums(const ContractKernels& kernels, int64_t outputs, int64_t pieces, bool converts = false)
      : kernels_(kernels),
        pieces_(pieces),
        is_used_(pieces > 1 || converts),
        memory_(is_used_ ? pieces * outputs * kernels.size : 1) {}

  bool is_allocated() const { return memory_.data() != nullptr; }
  // Returns whether the partial sums have memory of their own. Otherwise the sum of the only piece is stored to C.
  bool is_used() const { return is_used_; }

  // Returns the address of a partial sum; `target`, the element of C itself, where partial sums are not used.
  char* at(int64_t output, int64_t piece, char* target) const {
    return is_used_ ? static_cast<char*>(memory_.data()) + (output * pieces_ + piece) * kernels_.size : target;
  }

  // Adds up the partial sums of an element of C, in the order of the pieces, and stores the total to `target`.
  void add_up(int64_t output, of_dtype dtype, char* target) const {
    if (!is_used_) return;
    char* total = at(output, 0, nullptr);
    for (int64_t piece = 1; piece < pieces_; ++piece) store(kernels_.dtype, at(output, piece, nullptr), total, 1.0);
    store(dtype, total, target, 0.0);
  }

 private:
  // Stores beta * target + sum.
  void store(of_dtype dtype, const char* sum, char* target, double beta) const {
    static constexpr int64_t kZero = 0, kOne = 1;
    const TileTarget tile{target, &kZero, &kZero, 1, &kOne, false, false};
    kernels_.epilogue(dtype, sum, 1, {tile, 1, 1, beta, nullptr, nullptr, nullptr});
  }

  const ContractKernels& kernels_;
  const int64_t pieces_;
  const bool is_used_;
  const Scratch memory_;
};

// Dot products along a depth that is contiguous in A and B, or interleaved there.
class Dots final : public Solution {
 public:
  // `interleaved`: the dimension of interleaved dot products; `problem` does not have it.
  Dots(const Problem& problem, const ContractKernels& kernels, const Dim& interleaved = {1, {0, 0, 0, 0}})
      : kernels_(kernels), depth_(problem.depth.dims[0]), interleaved_(interleaved), outputs_(dims_of_c(problem)) {
    // An operand that is much larger than C is read in the order of its memory, else C is written in the order of its.
    const int64_t few = std::min(problem.rows.count, problem.columns.count);
    const Operand longer = longer_operand(problem);
    canonicalize(outputs_, depth_.size >= kMuchLarger * few ? longer : kC, longer);
    const int64_t elements = depth_.size * interleaved_.size;
    pieces_ = outputs_.count * interleaved_.size < 64 ? divide_up(elements, kDotPiece) : 1;
    task_outputs_ = pieces_ > 1 ? 1 : std::max<int64_t>(1, kTaskWork / std::max<int64_t>(1, elements));
  }

  of_status run(const Addresses& addresses) const override {
    const PartialSums sums(kernels_, outputs_.count * interleaved_.size, pieces_);
    if (!sums.is_allocated()) return no_working_memory();
    parallel_for(divide_up(outputs_.count, task_outputs_) * pieces_, [&](int64_t task) {
      const int64_t begin = task / pieces_ * task_outputs_, piece = task % pieces_;
      const Range depths = part(depth_.size, piece, pieces_);
      for (int64_t first = begin, end = std::min(begin + task_outputs_, outputs_.count); first < end; first += kBlock)
        run_block(addresses, first, std::min(kBlock, end - first), depths, piece, sums);
    });
    for (int64_t output = 0; output < outputs_.count && pieces_ > 1; ++output) {
      char* target = addresses.c + offset_at(outputs_, kC, output) * kernels_.size;
      for (int64_t i = 0; i < interleaved_.size; ++i)
        sums.add_up(output * interleaved_.size + i, kernels_.dtype,
                    target + i * interleaved_.strides[kC] * kernels_.size);
    }
    return OF_OK;
  }

 private:
  static constexpr int64_t kBlock = 256, kMuchLarger = 4;

  // Computes one piece of the sums of `number` elements of C, at most kBlock.
  void run_block(const Addresses& addresses, int64_t first, int64_t number, const Range& depths, int64_t piece,
                 const PartialSums& sums) const {
    int64_t offsets[3][kBlock];
    for (const Operand operand : {kA, kB}) fill_offsets(outputs_, operand, first, number, offsets[operand]);
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
      fill_offsets(outputs_, kC, first, number, offsets[kC]);
    }
    if (interleaved_.size == 1) return kernels_.dots(products);
    if (interleaved_.strides[kA] == 0) {
      std::swap(products.a, products.b);
      std::swap(products.offsets_a, products.offsets_b);
    }
    const bool is_in_both = interleaved_.strides[kA] == interleaved_.strides[kB];
    kernels_.interleaved_dots[interleaved_.size](products, step, is_in_both);
  }

  const ContractKernels& kernels_;
  const Dim depth_, interleaved_;
  DimGroup outputs_;  // the elements of C, without the interleaved dimension
  int64_t pieces_, task_outputs_;
};

// Dot products of a few rows and columns that are strided, or of another dtype than kernels compute with. Each row and
// column is copied to contiguous memory once, piece by piece.
class CopiedDots final : public Solution {
 public:
  CopiedDots(const Problem& problem, const ContractKernels& kernels)
      : kernels_(kernels),
        dtype_(problem.dtype),
        size_(item_size(dtype_)),
        convert_(computes_in_itself(dtype_) ? nullptr : find_conversion(dtype_, kernels.dtype)),
        batch_(problem.batch),
        depth_(problem.depth),
        outputs_(problem.rows.count * problem.columns.count),
        lines_{all_offsets(problem.rows, kA), all_offsets(problem.columns, kB)},
        tiling_(depth_.tiling(size_)),
        tile_strides_{tiling_.tile_strides(depth_.strides[kA]), tiling_.tile_strides(depth_.strides[kB])},
        piece_tiles_(kCopiedPiece / tiling_.max_elements()),
        pieces_(divide_up(tiling_.tile_count(), piece_tiles_)) {
    task_pieces_ = std::min(pieces_, kDotPiece / kCopiedPiece);
    task_members_ = pieces_ > 1 ? 1 : std::max<int64_t>(1, kTaskWork / (problem.depth.count * outputs_));
    for (const int64_t row : all_offsets(problem.rows, kC))
      for (const int64_t column : all_offsets(problem.columns, kC)) outputs_c_.push_back(row + column);
    const int64_t columns = problem.columns.count;
    for (int64_t output = 0; output < outputs_; ++output) {
      copies_[kA].push_back(output / columns * kCopiedPiece);
      copies_[kB].push_back(output % columns * kCopiedPiece);
      outputs_sums_.push_back(output * pieces_);
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

  // Returns the address of an element of C, of one member of the batch.
  char* output_at(const Addresses& addresses, int64_t member, int64_t output) const {
    return addresses.c + (offset_at(batch_, kC, member) + outputs_c_[static_cast<size_t>(output)]) * size_;
  }

  // Copies a piece of one row of A or column of B, and converts it to the type that kernels compute with.
  void copy_line(const char* from, const RowLayout& rows, char* to) const {
    const RowLayout packed{rows.rows, rows.columns, rows.columns, 1};
    if (convert_ == nullptr) return copy_rows(from, rows, to, packed, size_);
    alignas(64) char stored[kCopiedPiece * 8];
    copy_rows(from, rows, stored, packed, size_);
    convert_(stored, to, rows.rows * rows.columns);
  }

  bool run_member(const Addresses& addresses, int64_t member) const {
    const PartialSums sums(kernels_, outputs_, pieces_, convert_ != nullptr);
    if (!sums.is_allocated()) return false;
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
    for (int64_t output = 0; output < outputs_; ++output)
      sums.add_up(output, dtype_, output_at(addresses, member, output));
    return true;
  }

  void run_piece(const Addresses& addresses, int64_t member, int64_t piece, char* copies,
                 const PartialSums& sums) const {
    int64_t count = 0;
    for (int64_t i = piece * piece_tiles_; i < tiling_.tile_count() && i < (piece + 1) * piece_tiles_; ++i) {
      const Tile tile = tiling_.tile_at(i);
      char* to = copies + count * kernels_.size;
      for (const Operand operand : {kA, kB}) {
        const int64_t first = offset_at(batch_, operand, member) + tiling_.offset(tile, tile_strides_[operand]);
        const RowLayout rows = tiling_.layout(tile, tile_strides_[operand]);
        for (const int64_t line : lines_[operand]) {
          copy_line(addresses.operands[operand] + (first + line) * size_, rows, to);
          to += line_bytes();
        }
      }
      count += tile.rows * tile.columns;
    }
    const char* copied_b = copies + static_cast<int64_t>(lines_[kA].size()) * line_bytes();
    DotProducts products{count, outputs_, copies, copied_b, nullptr, copies_[kA].data(), copies_[kB].data(), nullptr};
    if (sums.is_used()) {
      products.c = sums.at(0, piece, nullptr);
      products.offsets_c = outputs_sums_.data();
    } else {
      products.c = addresses.c + offset_at(batch_, kC, member) * size_;
      products.offsets_c = outputs_c_.data();
    }
    kernels_.dots(products);
  }

  // The dimensions of the depth, as the tiles of copies need them.
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
  const int64_t size_;     // of an element of A, B and C, in bytes
  const Convert convert_;  // NULL where kernels compute with the dtype itself
  const DimGroup batch_;
  const Depth depth_;
  const int64_t outputs_;                // elements of C, of one member of the batch
  const std::vector<int64_t> lines_[2];  // the offsets of the rows of A and of the columns of B
  // By element of C: the offsets of its copied row and column, of itself in C, and of its partial sums.
  std::vector<int64_t> copies_[2], outputs_c_, outputs_sums_;
  const Tiling tiling_;  // of the depth
  const TileStrides tile_strides_[2];
  const int64_t piece_tiles_, pieces_;
  int64_t task_pieces_, task_members_;
};

// Dot products of pairs: four elements of C for each pair of a row and a column of pairs.
class PairDots final : public Solution {
 public:
  PairDots(const ContractKernels& kernels, int64_t depth, const DimGroup& outputs, int64_t step_a, int64_t step_b)
      : kernels_(kernels), depth_(depth), step_a_(step_a), step_b_(step_b), outputs_(outputs) {}

  of_status run(const Addresses& addresses) const override {
    for_each_offset_block(outputs_, 4 * depth_, [&](int64_t count, const int64_t(*offsets)[kOffsetBlock]) {
      kernels_.pair_dots({depth_, count, addresses.operands[kA], addresses.operands[kB], addresses.c, offsets[kA],
                          offsets[kB], offsets[kC]},
                         step_a_, step_b_);
    });
    return OF_OK;
  }

 private:
  const ContractKernels& kernels_;
  const int64_t depth_, step_a_, step_b_;  // steps in C: from one element of a pair of A, or of B, to the other
  const DimGroup outputs_;                 // the elements of C without those dimensions
};

// Removes the dimension of pairs from the rows (or columns). Returns its stride in C, or 0 where there is none.
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

// Removes and returns the dimension of C that is innermost in the operands that have it and that the depth follows
// there.
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

// Returns the additional cost of a large operand whose elements along the depth are each on a cache line of their own.
double cost_of_lone_elements(const Work& work, Operand operand) {
  if (work.elements[operand] * static_cast<double>(work.item_size) <= kL2Bytes) return 0;
  const DimGroup& depth = work.problem.depth;
  for (int d = 0; d < depth.rank; ++d)
    if (std::abs(depth.dims[d].strides[operand]) < kLineElements) return 0;
  return work.elements[operand] * kLoneElement;
}

double cost_of_copied_dots(const Work& work) {
  const Problem& problem = work.problem;
  const Operand longer = longer_operand(problem), other = longer == kA ? kB : kA;
  const int64_t run = contiguous_count(sorted_by(longer, problem.depth), other);
  const double each = kCopyElement + kPackStrided / static_cast<double>(run);
  return static_cast<double>(problem.batch.count) * kCopiedItem + (work.elements[kA] + work.elements[kB]) * each +
         work.along(kDepth, problem.depth.count) + cost_of_lone_elements(work, kA) + cost_of_lone_elements(work, kB);
}

}  // namespace

bool has_few_dots(const Work& work) {
  const Problem& problem = work.problem;
  return work.is_thin() && problem.depth.count >= kMinCopiedDepth &&
         problem.rows.count * problem.columns.count <= kMaxDotCount;
}

bool has_unit_depth(const Problem& problem) {
  const DimGroup& depth = problem.depth;
  return depth.rank == 1 && depth.dims[0].strides[kA] == 1 && depth.dims[0].strides[kB] == 1;
}

std::optional<Interleaved> find_interleaved(const Problem& problem) {
  if (problem.depth.rank != 1 || problem.depth.count < contract_kernels(problem.dtype).min_interleaved_depth)
    return std::nullopt;
  Interleaved found{problem, {}};
  const auto dim = take_interleaved(found.rest);
  if (!dim || std::min(found.rest.rows.count, found.rest.columns.count) > kThin) return std::nullopt;
  found.dim = *dim;
  return found;
}

std::unique_ptr<Solution> make_interleaved_dots(const Interleaved& interleaved) {
  return std::make_unique<Dots>(interleaved.rest, contract_kernels(interleaved.rest.dtype), interleaved.dim);
}

std::unique_ptr<Solution> make_dots(const Problem& problem) {
  return std::make_unique<Dots>(problem, contract_kernels(problem.dtype));
}

std::unique_ptr<Solution> make_copied_dots(const Problem& problem) {
  return std::make_unique<CopiedDots>(problem, contract_kernels(problem.dtype));
}

void offer_dots(const Work& work, Chooser& chooser) {
  if (!work.is_thin() || !has_unit_depth(work.problem)) return;
  chooser.offer([&] { return work.along(kDepth, work.problem.depth.count) + work.elements[kC] * kDotOverhead; },
                [&] { return make_dots(work.problem); });
}

void offer_interleaved_dots(const Work& work, Chooser& chooser) {
  const auto found = find_interleaved(work.problem);
  if (!found) return;
  const int64_t number = found->dim.size;
  chooser.offer(
      [&] {
        const int64_t elements = work.problem.depth.count * number;
        const double far = elements * work.item_size > kL1Bytes * 3 / 4 ? kFarInterleaved : 1;
        return work.along(kDepth, elements) * far +
               work.elements[kC] / static_cast<double>(number) * kAddInterleavedLanes;
      },
      [&] { return make_interleaved_dots(*found); });
}

void offer_pair_dots(const Work& work, Chooser& chooser) {
  const DimGroup& depth = work.problem.depth;
  if (depth.rank != 1 || depth.dims[0].strides[kA] != 2 || depth.dims[0].strides[kB] != 2) return;
  Problem pairs = work.problem;
  const int64_t step_a = take_pair(pairs.rows, kA), step_b = take_pair(pairs.columns, kB);
  if (step_a == 0 || step_b == 0 || std::min(pairs.rows.count, pairs.columns.count) > 1) return;
  chooser.offer(
      [&] { return work.along(kDepth, depth.count * 2); },
      [&] { return std::make_unique<PairDots>(work.kernels, depth.count, dims_of_c(pairs), step_a, step_b); });
}

void offer_copied_dots(const Work& work, Chooser& chooser) {
  if (!has_few_dots(work)) return;
  chooser.offer([&] { return cost_of_copied_dots(work); }, [&] { return make_copied_dots(work.problem); });
}

}  // namespace oneflow::cpu
