#include "contract_direct.h"

#include <algorithm>
#include <atomic>
#include <vector>

#include "contract_copied.h"
#include "contract_kernels.h"
#include "contract_small.h"
#include "convert.h"
#include "element.h"
#include "host.h"
#include "scratch.h"
#include "stream.h"
#include "strided.h"
#include "thread_pool.h"
#include "tiling.h"

namespace oneflow::cpu {
namespace {

// A side with this few rows or columns makes a product thin, as a depth of one does: packing would cost more than it
// saves.
constexpr int64_t kThin = 2;
// Multiplications of one member of the batch up to which the whole product is tiny.
constexpr int64_t kTiny = 16 * 16 * 16;
// Lanes that one task walks, of a sum and of single products: a few kilobytes, which stay in the first-level cache.
constexpr int64_t kTaskLanes = 512, kTaskProducts = 4096;
// Lanes are turned in squares of up to so many.
constexpr int64_t kTurned = 16;
// Multiplications that a task should have at least.
constexpr int64_t kTaskWork = int64_t{1} << 16;
// Elements of one piece of a long sum; the pieces are added up in order. Shorter where they are copied.
constexpr int64_t kPiece = int64_t{1} << 15;
constexpr int64_t kCopiedPiece = int64_t{1} << 11;
// Elements of C up to which sums are dots rather than packed: panels would be all but empty.
constexpr int64_t kFewCells = 16;
// Elements that one dot has at least to be quicker than permuting vectors.
constexpr int64_t kFewElements = 4;
// Depths from which on elements that lie apart are worth copying.
constexpr int64_t kFewDepths = 32;
// Multiplications of one member of the batch that are not worth packing, though there are no lanes.
constexpr int64_t kFewProducts = 256;

// The dimensions of C, outermost first.
DimGroup cells_of(const Problem& problem) {
  DimGroup cells;
  for (const DimGroup* group : {&problem.batch, &problem.rows, &problem.columns})
    for (int d = 0; d < group->rank; ++d) cells.add(group->dims[d]);
  return cells;
}

bool is_unit(const Dim& dim) {
  const int64_t a = dim.strides[kA], b = dim.strides[kB];
  return (a == 0 || a == 1) && (b == 0 || b == 1) && a + b > 0;
}

// The dimension to walk in vectors: one that lies next to each other in C too, if there is one, and the longest of
// those. -1 where there is none.
int choose_lane(const DimGroup& cells) {
  int best = -1;
  const auto rank_of = [&](int d) { return std::pair(cells.dims[d].strides[kC] == 1, cells.dims[d].size); };
  for (int d = 0; d < cells.rank; ++d)
    if (is_unit(cells.dims[d]) && (best < 0 || rank_of(d) > rank_of(best))) best = d;
  return best;
}

Dim take(DimGroup& group, int position) {
  const Dim dim = group.dims[position];
  std::move(group.dims + position + 1, group.dims + group.rank, group.dims + position);
  --group.rank;
  group.count = 1;
  for (int d = 0; d < group.rank; ++d) group.count *= group.dims[d].size;
  return dim;
}

constexpr Dim kNoDim{1, {0, 0, 0, 0}};

// The dimension that is walked next to the lane: where that lies apart in C, the one that does not, so that the two can
// be turned; otherwise the last one.
Dim take_inner(DimGroup& cells, const Dim& lane) {
  if (cells.rank == 0) return kNoDim;
  for (int d = 0; lane.strides[kC] != 1 && d < cells.rank; ++d)
    if (cells.dims[d].strides[kC] == 1) return take(cells, d);
  return take(cells, cells.rank - 1);
}

// Offsets of all elements of a group within one operand.
std::vector<int64_t> all_offsets(const DimGroup& group, Operand operand) {
  std::vector<int64_t> offsets(static_cast<size_t>(group.count));
  fill_offsets(group, operand, 0, group.count, offsets.data());
  return offsets;
}

// Calls kernel(first, count, places) for the elements of a group, a few at a time, on all threads where there are many:
// places[operand] are the offsets of `count` elements from the one numbered `first` on. `work` is that of one of them.
constexpr int64_t kPlaces = 256;
template <class Kernel>
void for_each_place(const DimGroup& group, int64_t work, Kernel&& kernel) {
  const int64_t task_places = std::clamp<int64_t>(kTaskWork / std::max<int64_t>(1, work), 1, kPlaces);
  parallel_for(divide_up(group.count, task_places), [&](int64_t task) {
    const int64_t first = task * task_places, count = std::min(task_places, group.count - first);
    int64_t places[3][kPlaces];
    for (const Operand operand : {kA, kB, kC}) fill_offsets(group, operand, first, count, places[operand]);
    kernel(count, places);
  });
}

// The elements that a group of dimensions reaches within one operand: from its first one on, so many.
int64_t reach_of(std::initializer_list<const DimGroup*> groups, Operand operand) {
  int64_t reach = 1;
  for (const DimGroup* group : groups) {
    for (int d = 0; d < group->rank; ++d) {
      if (group->dims[d].strides[operand] < 0) return INT64_MAX;
      reach += (group->dims[d].size - 1) * group->dims[d].strides[operand];
    }
  }
  return reach;
}

// A batch of products each of whose operands lies within one vector.
class VectorProducts final : public Solution {
 public:
  static bool takes(const Problem& problem, const ContractKernels& kernels) {
    return kernels.in_vectors != nullptr && problem.depth.count <= VectorProduct::kMostDepth &&
           reach_of({&problem.rows, &problem.depth}, kA) <= kernels.lane_count &&
           reach_of({&problem.columns, &problem.depth}, kB) <= kernels.lane_count &&
           reach_of({&problem.rows, &problem.columns}, kC) <= kernels.lane_count;
  }

  VectorProducts(const Problem& problem, const ContractKernels& kernels) : kernels_(kernels), batch_(problem.batch) {
    const auto rows_a = all_offsets(problem.rows, kA), rows_c = all_offsets(problem.rows, kC);
    const auto columns_b = all_offsets(problem.columns, kB), columns_c = all_offsets(problem.columns, kC);
    const auto depth_a = all_offsets(problem.depth, kA), depth_b = all_offsets(problem.depth, kB);
    const size_t lanes = static_cast<size_t>(kernels.lane_count);
    from_a_.resize(depth_a.size() * lanes);
    from_b_.resize(depth_a.size() * lanes);
    for (size_t p = 0; p < depth_a.size(); ++p) {
      for (size_t i = 0; i < rows_a.size(); ++i) {
        for (size_t j = 0; j < columns_b.size(); ++j) {
          const auto lane = static_cast<size_t>(rows_c[i] + columns_c[j]);
          const int64_t a = rows_a[i] + depth_a[p], b = columns_b[j] + depth_b[p];
          from_a_[p * lanes + lane] = static_cast<int32_t>(a);
          from_b_[p * lanes + lane] = static_cast<int32_t>(b);
          common_.mask_a |= uint32_t{1} << a;
          common_.mask_b |= uint32_t{1} << b;
          common_.mask_c |= uint32_t{1} << lane;
        }
      }
    }
    common_.depth = problem.depth.count;
    common_.from_a = from_a_.data();
    common_.from_b = from_b_.data();
  }

  of_status run(const Addresses& addresses) const override {
    VectorProduct product = common_;
    product.a = addresses.operands[kA];
    product.b = addresses.operands[kB];
    product.c = addresses.c;
    if (batch_.count == 1) {
      static constexpr int64_t kZero = 0;
      product.count = 1;
      product.places_a = product.places_b = product.places_c = &kZero;
      kernels_.in_vectors(product);
      return OF_OK;
    }
    for_each_place(batch_, kernels_.lane_count * common_.depth, [&](int64_t count, const int64_t(*places)[kPlaces]) {
      VectorProduct part = product;
      part.count = count;
      part.places_a = places[kA];
      part.places_b = places[kB];
      part.places_c = places[kC];
      kernels_.in_vectors(part);
    });
    return OF_OK;
  }

 private:
  const ContractKernels& kernels_;
  const DimGroup batch_;
  std::vector<int32_t> from_a_, from_b_;
  VectorProduct common_{};
};

// Vectors over `lane`, a dimension of the cells; kNoDim for single elements.
class LaneProducts final : public Solution {
 public:
  LaneProducts(const Problem& problem, const ContractKernels& kernels, DimGroup cells, const Dim& lane)
      : kernels_(kernels), lane_(lane), inner_(take_inner(cells, lane)), cells_(cells) {
    const int64_t depth = problem.depth.count;
    depth_a_ = all_offsets(problem.depth, kA);
    depth_b_ = all_offsets(problem.depth, kB);
    // Lanes that lie apart in C are walked whole, a few of the inner dimension at a time: lines of A and B are read
    // from end to end.
    const bool is_turned = lane.strides[kC] != 1 && inner_.strides[kC] == 1 && lane.size >= kTurned;
    lane_tasks_ = is_turned ? 1 : divide_up(lane.size, depth > 1 ? kTaskLanes : kTaskProducts);
    task_lanes_ = divide_up(lane.size, lane_tasks_);
    const int64_t turned_work = kTurned * lane.size * depth;
    const int64_t squares = std::max(divide_up(kTaskWork, turned_work), divide_up(inner_.size, 16 * kTurned));
    task_inner_ =
        is_turned ? squares * kTurned : std::clamp<int64_t>(kTaskWork / (task_lanes_ * depth), 1, inner_.size);
    inner_tasks_ = divide_up(inner_.size, task_inner_);
    const int64_t cells_bytes = lane.size * inner_.size * cells_.count * kernels.size;
    common_.streams =
        is_turned ? cells_bytes >= streamed_bytes() / 2 : lane.strides[kC] == 1 && cells_bytes >= streamed_bytes();
    const int64_t work_per_place = std::max<int64_t>(1, task_lanes_ * task_inner_ * depth);
    task_places_ = std::clamp<int64_t>(kTaskWork / work_per_place, 1, kPlaces);
    place_tasks_ = divide_up(cells_.count, task_places_);
    common_.lane = {lane.strides[kA], lane.strides[kB], lane.strides[kC]};
    common_.inner_step = {inner_.strides[kA], inner_.strides[kB], inner_.strides[kC]};
    common_.depth = depth;
    common_.depth_a = depth_a_.data();
    common_.depth_b = depth_b_.data();
    if (tasks() > 1) return;
    for (const Operand operand : {kA, kB, kC}) only_places_[operand] = all_offsets(cells_, operand);
  }

  of_status run(const Addresses& addresses) const override {
    if (tasks() == 1) {
      run_task(addresses, 0, 0, cells_.count, only_places_[kA].data(), only_places_[kB].data(),
               only_places_[kC].data());
      return OF_OK;
    }
    parallel_for(tasks(), [&](int64_t task) {
      const int64_t first_place = task % place_tasks_ * task_places_;
      const int64_t count = std::min(task_places_, cells_.count - first_place);
      int64_t places[3][kPlaces];
      for (const Operand operand : {kA, kB, kC}) fill_offsets(cells_, operand, first_place, count, places[operand]);
      const int64_t block = task / place_tasks_;
      run_task(addresses, block / inner_tasks_ * task_lanes_, block % inner_tasks_ * task_inner_, count, places[kA],
               places[kB], places[kC]);
    });
    return OF_OK;
  }

 private:
  int64_t tasks() const { return lane_tasks_ * inner_tasks_ * place_tasks_; }

  void run_task(const Addresses& addresses, int64_t first_lane, int64_t first_inner, int64_t count,
                const int64_t* places_a, const int64_t* places_b, const int64_t* places_c) const {
    LaneProduct product = common_;
    product.lanes = std::min(task_lanes_, lane_.size - first_lane);
    product.inner = std::min(task_inner_, inner_.size - first_inner);
    product.count = count;
    product.places_a = places_a;
    product.places_b = places_b;
    product.places_c = places_c;
    const auto offset = [&](Operand operand) {
      return (first_lane * lane_.strides[operand] + first_inner * inner_.strides[operand]) * kernels_.size;
    };
    product.a = addresses.operands[kA] + offset(kA);
    product.b = addresses.operands[kB] + offset(kB);
    product.c = addresses.c + offset(kC);
    kernels_.lanes(product);
    if (product.streams) end_stream();
  }

  const ContractKernels& kernels_;
  const Dim lane_, inner_;
  const DimGroup cells_;  // the others
  int64_t lane_tasks_, task_lanes_, inner_tasks_, task_inner_, place_tasks_, task_places_;
  std::vector<int64_t> depth_a_, depth_b_;
  std::vector<int64_t> only_places_[3];  // where there is one task
  LaneProduct common_{};                 // of all tasks
};

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

// Sums by vectors: the depth's elements lie next to each other in A and B.
class Dots final : public Solution {
 public:
  Dots(const Problem& problem, const ContractKernels& kernels, const DimGroup& cells)
      : kernels_(kernels), depth_(problem.depth.count), cells_(cells) {
    pieces_ = cells.count < 64 ? divide_up(depth_, kPiece) : 1;
    task_cells_ = pieces_ > 1 ? 1 : std::max<int64_t>(1, kTaskWork / std::max<int64_t>(1, depth_));
  }

  of_status run(const Addresses& addresses) const override {
    const PieceSums sums(kernels_, cells_.count, pieces_);
    if (!sums.is_there()) return no_working_memory();
    parallel_for(divide_up(cells_.count, task_cells_) * pieces_, [&](int64_t task) {
      const int64_t first = task / pieces_ * task_cells_, piece = task % pieces_;
      const int64_t begin = depth_ * piece / pieces_, count = depth_ * (piece + 1) / pieces_ - begin;
      for (int64_t cell = first, last = std::min(first + task_cells_, cells_.count); cell < last; cell += kTogether)
        run_cells(addresses, cell, std::min(kTogether, last - cell), begin, count, piece, sums);
    });
    for (int64_t cell = 0; cell < cells_.count && pieces_ > 1; ++cell)
      sums.add_up(cell, kernels_.dtype, addresses.c + offset_at(cells_, kC, cell) * kernels_.size);
    return OF_OK;
  }

 private:
  static constexpr int64_t kTogether = 256;

  // A piece of the sums of at most kTogether cells.
  void run_cells(const Addresses& addresses, int64_t first, int64_t number, int64_t begin, int64_t count, int64_t piece,
                 const PieceSums& sums) const {
    int64_t offsets[3][kTogether];
    for (const Operand operand : {kA, kB}) fill_offsets(cells_, operand, first, number, offsets[operand]);
    DotProducts products{count,
                         number,
                         addresses.operands[kA] + begin * kernels_.size,
                         addresses.operands[kB] + begin * kernels_.size,
                         addresses.c,
                         offsets[kA],
                         offsets[kB],
                         offsets[kC]};
    if (pieces_ > 1) {
      products.c = sums.at(first, piece, nullptr);
      for (int64_t i = 0; i < number; ++i) offsets[kC][i] = i * pieces_;
    } else {
      fill_offsets(cells_, kC, first, number, offsets[kC]);
    }
    kernels_.dots(products);
  }

  const ContractKernels& kernels_;
  const int64_t depth_;
  const DimGroup cells_;
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
        columns_(problem.columns.count),
        lines_{all_offsets(problem.rows, kA), all_offsets(problem.columns, kB)},
        rows_c_(all_offsets(problem.rows, kC)),
        columns_c_(all_offsets(problem.columns, kC)),
        tiling_(depth_.tiling(size_)),
        pieces_(tiling_.tile_count()) {
    task_pieces_ = std::min(pieces_, kPiece / kCopiedPiece);
    task_members_ = pieces_ > 1 ? 1 : std::max<int64_t>(1, kTaskWork / (problem.depth.count * cells_));
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
    const int64_t offset =
        rows_c_[static_cast<size_t>(cell / columns_)] + columns_c_[static_cast<size_t>(cell % columns_)];
    return addresses.c + (offset_at(batch_, kC, member) + offset) * size_;
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
    const Tile tile = tiling_.tile_at(piece);
    const int64_t count = tile.rows * tile.lanes;
    const char* copied[2];
    for (const Operand operand : {kA, kB}) {
      copied[operand] = copies;
      const int64_t first = offset_at(batch_, operand, member) + tiling_.offset(tile, depth_.strides[operand]);
      const RowLayout rows = tiling_.layout(tile, depth_.strides[operand]);
      for (const int64_t line : lines_[operand]) {
        copy_line(addresses.operands[operand] + (first + line) * size_, rows, copies);
        copies += line_bytes();
      }
    }
    for (int64_t cell = 0; cell < cells_; ++cell) {
      const void *a = copied[kA] + cell / columns_ * line_bytes(), *b = copied[kB] + cell % columns_ * line_bytes();
      static constexpr int64_t kZero = 0;
      kernels_.dots({count, 1, a, b, sums.at(cell, piece, cell_at(addresses, member, cell)), &kZero, &kZero, &kZero});
    }
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
  const int64_t cells_, columns_;        // of one member
  const std::vector<int64_t> lines_[2];  // where the rows of A and the columns of B begin
  const std::vector<int64_t> rows_c_, columns_c_;
  const Tiling tiling_;  // of the depth
  const int64_t pieces_;
  int64_t task_pieces_, task_members_;
};

}  // namespace

std::unique_ptr<Solution> solve_directly(const Problem& problem) {
  const ContractKernels& kernels = contract_kernels(problem.dtype);
  const int64_t depth = problem.depth.count;
  if (!problem.is_plain() || depth == 0) return nullptr;
  const int64_t products = problem.rows.count * problem.columns.count;  // of one member of the batch, by the depth
  const bool is_thin = depth == 1 || std::min(problem.rows.count, problem.columns.count) <= kThin;
  const bool is_few_dots = is_thin && depth >= kFewDepths && products <= kFewCells;
  if (!computes_in_itself(problem.dtype)) return is_few_dots ? std::make_unique<CopiedDots>(problem, kernels) : nullptr;
  const bool unit_depth =
      problem.depth.rank == 1 && problem.depth.dims[0].strides[kA] == 1 && problem.depth.dims[0].strides[kB] == 1;
  if (!(unit_depth && products == 1 && depth >= kFewElements) && VectorProducts::takes(problem, kernels))
    return std::make_unique<VectorProducts>(problem, kernels);
  if (auto small = solve_small(problem)) return small;
  const bool is_tiny = products <= kTiny / depth;
  if (!is_thin && !is_tiny) return nullptr;

  DimGroup cells = cells_of(problem);
  if (is_thin && unit_depth) return std::make_unique<Dots>(problem, kernels, cells);
  if (auto copied = is_thin ? solve_with_copy(problem) : nullptr) return copied;
  const int lane = choose_lane(cells);
  const int64_t lanes = lane < 0 ? 1 : cells.dims[lane].size;
  if (is_few_dots && depth > lanes && lanes < 8) return std::make_unique<CopiedDots>(problem, kernels);
  if (lane < 0 && depth > 1 && products > kFewProducts / depth) return nullptr;
  // A few lanes over a long sum are left to the blocked product, which cuts the sum into parts.
  if (!is_tiny && depth > 1 && (lanes < 8 || (cells.count < 1024 && depth > kPiece))) return nullptr;
  const Dim walked = lane < 0 ? kNoDim : take(cells, lane);
  return std::make_unique<LaneProducts>(problem, kernels, cells, walked);
}

}  // namespace oneflow::cpu
