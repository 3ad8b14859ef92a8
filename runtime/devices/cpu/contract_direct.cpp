#include "contract_direct.h"

#include <algorithm>
#include <vector>

#include "contract_copied.h"
#include "contract_dots.h"
#include "contract_kernels.h"
#include "contract_lines.h"
#include "contract_long.h"
#include "contract_places.h"
#include "contract_small.h"
#include "element.h"
#include "stream.h"
#include "thread_pool.h"

namespace oneflow::cpu {
namespace {

// Lanes that one task walks, of a sum and of single products: a few kilobytes, which stay in the first-level cache.
constexpr int64_t kTaskLanes = 512, kTaskProducts = 4096;
// Lanes are turned in squares of up to so many.
constexpr int64_t kTurned = 16;
// Elements that one dot has at least to be quicker than permuting vectors.
constexpr int64_t kFewElements = 4;
// Rows up to so long are multiplied several at a time within a vector, by up to so many others; longer ones by two,
// which other kernels are slow with. (2,000 x 3 by 3 x 3 2.7 us for 5.0, by 3 x 2 2.6 for 24, 2,000 x 8 by 8 x 2 8.8
// for 25.)
constexpr int64_t kShortRows = 4;
// Fewer lanes are not worth walking; nor are narrow ones rather than copying pieces of a member of the batch, if that
// has so many multiplications.
constexpr int64_t kFewestLanes = 3, kNarrow = 8, kWorthPieces = 8192;
// Multiplications of one member of the batch that are not worth packing, though there are no lanes.
constexpr int64_t kFewProducts = 256;

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

// The dimension of the batch whose members lie next to each other everywhere, if they are many. -1 where there is none.
int lane_of_batch(const Problem& problem) {
  for (int d = 0; d < problem.batch.rank; ++d) {
    const Dim& dim = problem.batch.dims[d];
    if (dim.size >= kBatchLanes && dim.strides[kA] == 1 && dim.strides[kB] == 1 && dim.strides[kC] == 1) return d;
  }
  return -1;
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
    // Two elements of the inner dimension that need the same lanes are one task's, which reads those once.
    const bool shares_lanes =
        (lane.strides[kB] == 0 && inner_.strides[kA] == 0) || (lane.strides[kA] == 0 && inner_.strides[kB] == 0);
    const int64_t least = shares_lanes && inner_.size > 1 ? 2 : 1;
    task_inner_ =
        is_turned ? squares * kTurned : std::clamp<int64_t>(kTaskWork / (task_lanes_ * depth), least, inner_.size);
    inner_tasks_ = divide_up(inner_.size, task_inner_);
    const int64_t cells_bytes = lane.size * inner_.size * cells_.count * kernels.size;
    common_.streams =
        is_turned ? cells_bytes >= streamed_tile_bytes() / 2 : lane.strides[kC] == 1 && cells_bytes >= streamed_bytes();
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

// A long side of short rows, or columns, for a few others: as a batch of as many of them as fit into vectors at a time.
std::unique_ptr<Solution> solve_in_vectors(const Problem& problem, const ContractKernels& kernels) {
  if (VectorProducts::takes(problem, kernels)) return std::make_unique<VectorProducts>(problem, kernels);
  const int64_t few = std::min(problem.rows.count, problem.columns.count);
  if (few > kShortRows || problem.depth.count > (few == kThin ? kernels.lane_count / 2 : kShortRows)) return nullptr;
  if (problem.batch.rank == DimGroup::kMaximum) return nullptr;
  const bool is_in_rows = problem.rows.count >= problem.columns.count;
  const DimGroup& side = is_in_rows ? problem.rows : problem.columns;
  if (side.rank == 0) return nullptr;
  const Dim dim = side.dims[side.rank - 1];
  for (int64_t together = std::min(dim.size - 1, kernels.lane_count); together > 0; --together) {
    if (dim.size % together != 0) continue;
    Problem split = problem;
    DimGroup& rest = is_in_rows ? split.rows : split.columns;
    Dim outer = dim;
    outer.size = dim.size / together;
    for (int64_t& stride : outer.strides) stride *= together;
    rest.resize(rest.rank - 1, together);
    split.batch.add(outer);
    if (VectorProducts::takes(split, kernels)) return std::make_unique<VectorProducts>(split, kernels);
  }
  return nullptr;
}

}  // namespace

bool fits_vectors(const Problem& problem) {
  if (problem.depth.count < 2 || std::min(problem.rows.count, problem.columns.count) < 2) return false;
  return solve_in_vectors(problem, contract_kernels(problem.dtype)) != nullptr;
}

std::unique_ptr<Solution> solve_directly(const Problem& problem) {
  if (auto lines = solve_by_lines(problem)) return lines;
  if (auto pieces = solve_in_pieces(problem)) return pieces;
  return solve_whole(problem);
}

std::unique_ptr<Solution> solve_whole(const Problem& problem) {
  const ContractKernels& kernels = contract_kernels(problem.dtype);
  const int64_t depth = problem.depth.count;
  if (!problem.is_plain() || depth == 0) return nullptr;
  const int64_t products = problem.rows.count * problem.columns.count;  // of one member of the batch, by the depth
  const bool is_thin = depth == 1 || std::min(problem.rows.count, problem.columns.count) <= kThin;
  const bool is_few_dots = is_thin && depth >= kFewDepths && products <= kFewCells;
  if (!computes_in_itself(problem.dtype)) return is_few_dots ? make_copied_dots(problem) : nullptr;
  const bool unit_depth =
      problem.depth.rank == 1 && problem.depth.dims[0].strides[kA] == 1 && problem.depth.dims[0].strides[kB] == 1;
  const int together = lane_of_batch(problem);
  if (!(unit_depth && products == 1 && depth >= kFewElements) && together < 0)
    if (auto vectors = solve_in_vectors(problem, kernels)) return vectors;
  if (auto pairs = make_pair_dots(problem)) return pairs;
  if (const auto interleaved = find_interleaved(problem)) return make_interleaved_dots(*interleaved);
  if (auto small = solve_small(problem)) return small;
  const bool is_tiny = products <= kTiny / depth;
  if (together >= 0 && !(is_thin && unit_depth)) {
    DimGroup cells = cells_of(problem);  // the batch comes first
    const Dim lane = take(cells, together);
    return std::make_unique<LaneProducts>(problem, kernels, cells, lane);
  }
  if (!is_thin && !is_tiny) return nullptr;

  if (is_thin && unit_depth) return make_dots(problem);
  if (auto copied = is_thin ? solve_with_copy(problem) : nullptr) return copied;
  DimGroup cells = cells_of(problem);
  const int lane = choose_lane(cells);
  const int64_t lanes = lane < 0 ? 1 : cells.dims[lane].size;
  const int64_t fewest = depth * products < kWorthPieces ? kFewestLanes : kNarrow;
  if (is_few_dots && depth > lanes && lanes < fewest) return make_copied_dots(problem);
  if (lane < 0 && depth > 1 && products > kFewProducts / depth) return nullptr;
  if (!is_tiny && depth > 1 && lanes < kFewestLanes) return nullptr;
  const Dim walked = lane < 0 ? kNoDim : take(cells, lane);
  return std::make_unique<LaneProducts>(problem, kernels, cells, walked);
}

}  // namespace oneflow::cpu
