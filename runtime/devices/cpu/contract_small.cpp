#include "contract_small.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <initializer_list>
#include <vector>

#include "contract_kernels.h"
#include "element.h"
#include "scratch.h"
#include "stream.h"
#include "thread_pool.h"

namespace oneflow::cpu {
namespace {

// What the first-level cache keeps while the other side passes by.
constexpr int64_t kCacheBytes = int64_t{32} << 10;
// Operands up to this size stay in the second-level cache, however they lie.
constexpr int64_t kNearBytes = int64_t{1} << 20;
// Elements next to each other that are read as quickly as if all were; the parts of complex numbers are, each.
constexpr int64_t kLongRun = 128, kShortStep = 2;
// Fewer lanes, or elements of the other side, make a thin product: there is nothing to use again.
constexpr int64_t kLeast = 3;
// Lanes that fill a quarter of a vector are for products of so many multiplications at most.
constexpr int64_t kMostNarrow = int64_t{1} << 16;
// The other side goes through the registers so many elements at a time, and so many make up for reading the lanes from
// a cache further away, or for copying them.
constexpr int64_t kTogether = 8, kWorthKeeping = 32, kWorthCopying = 256;
// From so many on, the lanes of a piece are copied even where they lie next to each other: off the cache lines, or with
// depths that fall on the same sets of a cache, they take longer (128^3 29 us for 32, 16 of them 494 for 573).
constexpr int64_t kWorthAligning = 128;
// Up to so many elements of the other side do not make up for packing long lanes, nor do any number in a row where all
// of a sum goes into the cache with a long run of lanes. Pieces of deeper sums have about so many depths. (10 x 1,000
// by 1,000 x 1,000 275 us for 582, ijkl,im->mjkl of 30^4 x 20 264 for 620.)
constexpr int64_t kFew = 64, kShallow = 32;
// What few others pass by need not stay nearer than in the second-level cache: rows of lanes are read from end to end.
// (32 x 4,096 floats at a time 3,200 us for 5,000 with 32 x 256, 4,096 x 4,096 by 8; 64 of 1,024 x 1,024 1,060 for
// 1,260 packed.) One or two others take whole rows, too, of lanes that no cache keeps: 0.6 to 0.9 of the time.
constexpr int64_t kNearPiece = int64_t{512} << 10, kLongRows = int64_t{2} << 20;
// Pieces for each thread, where there are several.
constexpr int64_t kThreadPieces = 2;
// Lanes that lie apart along the sum, too, are copied so often at most.
constexpr int64_t kMostCopies = 8;
// Of a sum that is longer, fewer lanes make too few pieces for all threads.
constexpr int64_t kLongSum = 4096;
// With more multiplications, tiles of panels, which have more sums at once, make up for packing both sides (256^3 218
// us for 219, 384^3 723 for 779).
constexpr int64_t kMostCutWork = int64_t{1} << 24;
// The vectors of lanes of a piece of many, or a multiple; and how wide they have to be: with half of that, packing
// took 0.77 of the time for 400^3.
constexpr int64_t kPieceVectors = 2, kWideBytes = 64;

// Which dimensions of a problem are the lanes and what they are multiplied by.
struct Roles {
  Operand lanes_of, factors_of;  // the operand that has the lanes, and the other one
  Dim lane, inner;
  DimGroup places;       // all others, those of the lanes' operand first
  int64_t lanes, depth;  // of one piece
};

int find_lane(const DimGroup& group) {
  for (int d = 0; d < group.rank; ++d)
    if (group.dims[d].strides[kC] == 1 && group.dims[d].size >= kLeast) return d;
  return -1;
}

int find_longest(const DimGroup& group) {
  int longest = -1;
  for (int d = 0; d < group.rank; ++d)
    if (longest < 0 || group.dims[d].size >= group.dims[longest].size) longest = d;
  return longest;
}

const DimGroup& other_side(const Problem& problem, const Roles& roles) {
  return roles.lanes_of == kA ? problem.columns : problem.rows;
}

// Whether packing the lanes would not pay: they are long as they lie, and the other side is few, or one run for a sum
// that is shallow. Results that are larger than what they are made from and than the caches are for tiles, which pass
// those.
bool are_better_in_place(const Problem& problem, const Roles& roles, int64_t kept, int64_t item_size) {
  const int64_t depth = problem.depth.count, cells = problem.batch.count * problem.rows.count * problem.columns.count;
  const DimGroup& others = other_side(problem, roles);
  if (roles.lane.strides[roles.lanes_of] != 1 || roles.lane.size < kLongRun) return false;
  if (others.count > depth && cells * item_size >= streamed_tile_bytes()) return false;
  if (depth > kLongSum && roles.lane.size < kLongSum) return false;
  return others.count <= kFew || (others.rank == 1 && depth <= kept / kLongRun);
}

// Whether the other side, of one or two elements, passes by rows of lanes that are many and long.
bool are_long_rows(const Problem& problem, const Roles& roles, int64_t item_size) {
  return other_side(problem, roles).count == roles.inner.size &&
         problem.depth.count * roles.lane.size * item_size >= kLongRows &&
         are_better_in_place(problem, roles, 0, item_size);
}

// How much of the lanes, and of the sum, goes into the cache at a time. What is cut is added up in C, of which a piece
// then has to stay near as well.
bool choose_piece(const Problem& problem, const ContractKernels& kernels, Roles& roles) {
  const int64_t kept = kCacheBytes / kernels.size, depth = problem.depth.count;
  const int64_t rows = problem.rows.count, columns = problem.columns.count;
  const int64_t least = kPieceVectors * kernels.lane_count;
  roles.lanes = roles.lane.size;
  roles.depth = depth;
  if (roles.lanes <= kept / depth) return true;
  if (are_better_in_place(problem, roles, kept, kernels.size)) {
    if (depth > kept / kLongRun) roles.depth = divide_up(depth, divide_up(depth, kShallow));
    if (other_side(problem, roles).count > kFew) {
      roles.lanes = std::min(roles.lanes, kept / roles.depth / least * least);
      return true;
    }
    const int64_t threads = thread_count(), work = rows * columns * depth;
    const int64_t tasks = threads > 1 ? std::clamp<int64_t>(work / kTaskWork, 1, kThreadPieces * threads) : 1;
    const int64_t pieces = std::max(divide_up(roles.lanes * roles.depth, kNearPiece / kernels.size), tasks);
    roles.lanes = round_up(divide_up(roles.lanes, pieces), least);
    return true;
  }
  if (rows * columns <= kept / 2 && roles.lanes <= kept) {
    roles.depth = kept / roles.lanes;
    return true;
  }
  if (std::max({rows * depth, columns * depth, rows * columns}) > kNearBytes / kernels.size) return false;
  if (rows * columns * depth > kMostCutWork) return false;
  roles.depth = divide_up(depth, divide_up(depth, kept / least));
  roles.lanes = kept / roles.depth / least * least;
  return kernels.lane_count * kernels.size >= kWideBytes;
}

bool find_roles(const Problem& problem, const ContractKernels& kernels, Roles& roles) {
  const bool is_in_rows = find_lane(problem.rows) >= 0;
  const DimGroup& side = is_in_rows ? problem.rows : problem.columns;
  const DimGroup& other = is_in_rows ? problem.columns : problem.rows;
  const int lane = find_lane(side), inner = find_longest(other);
  if (lane < 0) return false;
  if (side.dims[lane].size <= kernels.lane_count / 4 && side.count >= kernels.lane_count &&
      problem.rows.count * problem.columns.count > kMostNarrow / problem.depth.count)
    return false;
  roles.lanes_of = is_in_rows ? kA : kB;
  roles.factors_of = is_in_rows ? kB : kA;
  roles.lane = side.dims[lane];
  roles.inner = inner < 0 ? Dim{1, {}} : other.dims[inner];
  if (roles.inner.size < kLeast && !are_long_rows(problem, roles, kernels.size)) return false;
  if (!choose_piece(problem, kernels, roles)) return false;
  const bool is_scattered = roles.lane.strides[roles.lanes_of] != 1 &&
                            problem.depth.dims[problem.depth.rank - 1].strides[roles.lanes_of] != 1;
  if (is_scattered && other.count / roles.inner.size > kMostCopies) return false;
  roles.places.add_others(problem.batch);
  roles.places.add_others(side, lane);
  roles.places.add_others(other, inner);
  return true;
}

// Whether what one product takes from an operand, the dimensions of `groups`, comes in whole cache lines that are near
// each other, or many in a row, or the caches keep all of the operand, of so many bytes.
bool is_near(int64_t bytes, Operand operand, std::initializer_list<DimGroup> groups) {
  int64_t reach = 1, count = 1, run = 1;
  for (const DimGroup& group : groups) {
    count *= group.count;
    for (int d = 0; d < group.rank; ++d) {
      const int64_t step = std::abs(group.dims[d].strides[operand]);
      reach += (group.dims[d].size - 1) * step;
      if (step <= kShortStep) run = group.dims[d].size;
    }
  }
  return reach <= 2 * count || run >= kLongRun || bytes <= kCacheBytes || (bytes <= kNearBytes && run > 1);
}

bool are_near(const Problem& problem, const Roles& roles, int64_t item_size) {
  DimGroup lane, inner;
  lane.add(roles.lane);
  inner.add(roles.inner);
  const int64_t rows = problem.rows.count, columns = problem.columns.count, depth = problem.depth.count;
  int64_t bytes[] = {rows * depth, columns * depth, rows * columns};  // of A, B and C
  for (int64_t& count : bytes) count *= problem.batch.count * item_size;
  // A piece of the depth takes the last dimension first.
  const auto lies_in_pieces = [&](Operand operand, const Dim& dim) {
    const Dim& last = problem.depth.dims[problem.depth.rank - 1];
    return std::min(std::abs(dim.strides[operand]), std::abs(last.strides[operand])) <= kShortStep ||
           bytes[operand] <= kNearBytes;
  };
  const bool is_cut = roles.depth < depth;
  if (is_cut && !(lies_in_pieces(roles.lanes_of, roles.lane) && lies_in_pieces(roles.factors_of, roles.inner)))
    return false;
  return is_near(bytes[roles.lanes_of], roles.lanes_of, {lane, problem.depth}) &&
         is_near(bytes[roles.factors_of], roles.factors_of, {inner, problem.depth}) &&
         is_near(bytes[kC], kC, {lane, inner});
}

bool choose_roles(const Problem& problem, const ContractKernels& kernels, Roles& roles) {
  return problem.depth.count >= 2 && find_roles(problem, kernels, roles) && are_near(problem, roles, kernels.size);
}

class SmallProducts final : public Solution {
 public:
  SmallProducts(const Problem& problem, const ContractKernels& kernels, const Roles& roles)
      : kernels_(kernels),
        roles_(roles),
        depth_(problem.depth),
        is_cut_(roles.depth < depth_.count),
        pieces_(divide_up(roles.lane.size, roles.lanes)),
        copies_(roles.lane.strides[roles.lanes_of] != 1 ||
                ((is_cut_ || pieces_ > 1) && roles.inner.size >= kWorthAligning)) {
    const int64_t depth = depth_.count, size = roles.lanes;
    const bool is_whole = !copies_ && !is_cut_ && pieces_ == 1;
    const int64_t least = is_whole ? kTogether : copies_ ? kWorthCopying : kWorthKeeping;
    task_inner_ = std::max(least, kTaskWork / (size * depth));
    task_inner_ = std::min(divide_up(task_inner_, kTogether) * kTogether, roles.inner.size);
    inner_tasks_ = divide_up(roles.inner.size, task_inner_);
    task_places_ = std::clamp<int64_t>(kTaskWork / (size * depth * task_inner_), 1, roles.places.count);
    common_.factor_step = roles.inner.strides[roles.factors_of];
    common_.c_step = roles.inner.strides[kC];
    if (copies_) {
      for (int64_t p = 0; p < roles.depth; ++p) copied_.push_back(p * size);
      for (int64_t i = 0; i < size; ++i) lanes_.push_back(i * roles.lane.strides[roles.lanes_of]);
    }
    if (is_cut_) return;
    whole_.resize(static_cast<size_t>(kTables * depth));
    fill_tables(0, depth, whole_.data());
  }

  of_status run(const Addresses& addresses) const override {
    std::atomic<bool> complete{true};
    parallel_for(inner_tasks_ * pieces_ * divide_up(roles_.places.count, task_places_), [&](int64_t task) {
      const int64_t inner = task % inner_tasks_, piece = task / inner_tasks_ % pieces_;
      const int64_t places = task / inner_tasks_ / pieces_;
      if (!run_task(addresses, places * task_places_, piece * roles_.lanes, inner * task_inner_)) complete = false;
    });
    return complete ? OF_OK : no_working_memory();
  }

 private:
  // Of a piece of the sum: where its depths are in the lanes and in the factors, and the runs of those in the lanes.
  static constexpr int64_t kTables = 3;
  void fill_tables(int64_t first, int64_t depth, int64_t* tables) const {
    fill_offsets(depth_, roles_.lanes_of, first, depth, tables);
    fill_offsets(depth_, roles_.factors_of, first, depth, tables + depth);
    if (copies_) fill_runs(tables, depth, tables + 2 * depth);
  }

  bool run_task(const Addresses& addresses, int64_t first_place, int64_t first_lane, int64_t first_inner) const {
    // Packing may write half a tile's rows behind the panel.
    const Scratch copied(copies_ ? (roles_.lanes * roles_.depth + kernels_.rows) * kernels_.size : 1);
    const Scratch cut(is_cut_ ? kTables * roles_.depth * int64_t{sizeof(int64_t)} : 1);
    if (copied.data() == nullptr || cut.data() == nullptr) return false;
    SmallProduct product = common_;
    product.lane_count = std::min(roles_.lanes, roles_.lane.size - first_lane);
    product.inner = std::min(task_inner_, roles_.inner.size - first_inner);
    const char* last = nullptr;  // whose lanes were copied last
    for (int64_t place = first_place, end = std::min(first_place + task_places_, roles_.places.count); place < end;
         ++place) {
      const auto at = [&](Operand operand, int64_t lane, int64_t inner) {
        return (offset_at(roles_.places, operand, place) + lane * roles_.lane.strides[operand] +
                inner * roles_.inner.strides[operand]) *
               kernels_.size;
      };
      const char* lanes = addresses.operands[roles_.lanes_of] + at(roles_.lanes_of, first_lane, 0);
      product.factors = addresses.operands[roles_.factors_of] + at(roles_.factors_of, 0, first_inner);
      product.c = addresses.c + at(kC, first_lane, first_inner);
      for (int64_t first = 0; first < depth_.count; first += roles_.depth) {
        product.depth = std::min(roles_.depth, depth_.count - first);
        product.accumulate = first > 0;
        const int64_t* tables = whole_.data();
        if (is_cut_) {
          fill_tables(first, product.depth, static_cast<int64_t*>(cut.data()));
          tables = static_cast<const int64_t*>(cut.data());
        }
        product.depth_factors = tables + product.depth;
        product.depth_lanes = copies_ ? copied_.data() : tables;
        product.lanes = copies_ ? copied.data() : lanes;
        if (copies_ && (is_cut_ || lanes != last))
          copy_lanes(lanes, product.lane_count, product.depth, tables, copied.data());
        kernels_.small(product);
      }
      last = lanes;
    }
    return true;
  }

  // The lanes of a piece next to each other, depth by depth.
  void copy_lanes(const char* from, int64_t count, int64_t depth, const int64_t* tables, void* to) const {
    const PanelSource source{from, lanes_.data(), {depth, tables, tables + 2 * depth, nullptr}};
    const Panels panel{count, 1, 0, roles_.lanes, 1};
    kernels_.pack(kernels_.dtype, source, panel, 0, 1, to);
  }

  const ContractKernels& kernels_;
  const Roles roles_;
  const DimGroup depth_;
  std::vector<int64_t> whole_;           // the tables of a sum of one piece
  const bool is_cut_;                    // whether the sum is made of several pieces
  const int64_t pieces_;                 // of the lanes
  const bool copies_;                    // whether those of a piece are brought together
  std::vector<int64_t> copied_, lanes_;  // offsets of depths in lanes that were copied, and of lanes before
  int64_t task_inner_, inner_tasks_, task_places_;
  SmallProduct common_{};
};

}  // namespace

std::unique_ptr<Solution> solve_small(const Problem& problem) {
  const ContractKernels& kernels = contract_kernels(problem.dtype);
  Roles roles;
  if (!choose_roles(problem, kernels, roles)) return nullptr;
  return std::make_unique<SmallProducts>(problem, kernels, roles);
}

bool is_small(const Problem& problem) {
  Roles roles;
  return choose_roles(problem, contract_kernels(problem.dtype), roles);
}

}  // namespace oneflow::cpu
