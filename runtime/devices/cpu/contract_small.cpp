#include "contract_small.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <initializer_list>
#include <vector>

#include "contract_kernels.h"
#include "element.h"
#include "scratch.h"
#include "thread_pool.h"

namespace oneflow::cpu {
namespace {

// What the first-level cache keeps while the other side passes by.
constexpr int64_t kCacheBytes = int64_t{32} << 10;
// Operands up to this size stay in the second-level cache, however they lie.
constexpr int64_t kNearBytes = int64_t{1} << 20;
// Fewer lanes, or elements of the other side, make a thin product: there is nothing to use again.
constexpr int64_t kLeast = 3;
// Multiplications that a task should have at least.
constexpr int64_t kTaskWork = int64_t{1} << 16;
// The other side goes through the registers so many elements at a time, and so many make up for turning the lanes.
constexpr int64_t kTogether = 8, kWorthTurning = 64;

// Which dimensions of a problem are the lanes and what they are multiplied by.
struct Roles {
  Operand lanes_of, factors_of;  // the operand that has the lanes, and the other one
  Dim lane, inner;
  DimGroup places;  // all others, those of the lanes' operand first
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

void add_others(const DimGroup& group, int taken, DimGroup& places) {
  for (int d = 0; d < group.rank; ++d)
    if (d != taken) places.add(group.dims[d]);
}

bool find_roles(const Problem& problem, int64_t item_size, Roles& roles) {
  const bool is_in_rows = find_lane(problem.rows) >= 0;
  const DimGroup& side = is_in_rows ? problem.rows : problem.columns;
  const DimGroup& other = is_in_rows ? problem.columns : problem.rows;
  const int lane = find_lane(side), inner = find_longest(other);
  if (lane < 0 || inner < 0 || other.dims[inner].size < kLeast) return false;
  roles.lanes_of = is_in_rows ? kA : kB;
  roles.factors_of = is_in_rows ? kB : kA;
  roles.lane = side.dims[lane];
  roles.inner = other.dims[inner];
  if (roles.lane.size > kCacheBytes / item_size / problem.depth.count) return false;
  add_others(problem.batch, -1, roles.places);
  add_others(side, lane, roles.places);
  add_others(other, inner, roles.places);
  return true;
}

// Whether what one product takes from an operand, the dimensions of `groups`, comes in whole cache lines that are near
// each other, or the caches keep all of the operand, of so many bytes.
bool is_near(int64_t bytes, Operand operand, std::initializer_list<DimGroup> groups) {
  int64_t reach = 1, count = 1;
  bool fills_lines = false;
  for (const DimGroup& group : groups) {
    count *= group.count;
    for (int d = 0; d < group.rank; ++d) {
      const int64_t step = std::abs(group.dims[d].strides[operand]);
      reach += (group.dims[d].size - 1) * step;
      fills_lines |= step == 1;
    }
  }
  return reach <= 2 * count || bytes <= kCacheBytes || (bytes <= kNearBytes && fills_lines);
}

bool are_near(const Problem& problem, const Roles& roles, int64_t item_size) {
  DimGroup lane, inner;
  lane.add(roles.lane);
  inner.add(roles.inner);
  const int64_t batch = problem.batch.count * item_size, rows = problem.rows.count, columns = problem.columns.count;
  const int64_t bytes[] = {batch * rows * problem.depth.count, batch * columns * problem.depth.count,
                           batch * rows * columns};
  return is_near(bytes[roles.lanes_of], roles.lanes_of, {lane, problem.depth}) &&
         is_near(bytes[roles.factors_of], roles.factors_of, {inner, problem.depth}) &&
         is_near(bytes[kC], kC, {lane, inner});
}

std::vector<int64_t> offsets_of(const DimGroup& group, Operand operand) {
  std::vector<int64_t> offsets(static_cast<size_t>(group.count));
  fill_offsets(group, operand, 0, group.count, offsets.data());
  return offsets;
}

class SmallProducts final : public Solution {
 public:
  SmallProducts(const Problem& problem, const ContractKernels& kernels, const Roles& roles)
      : kernels_(kernels),
        roles_(roles),
        depth_lanes_(offsets_of(problem.depth, roles.lanes_of)),
        depth_factors_(offsets_of(problem.depth, roles.factors_of)),
        turns_(roles.lane.strides[roles.lanes_of] != 1) {
    const int64_t depth = problem.depth.count, size = roles.lane.size;
    task_inner_ = std::max(turns_ ? kWorthTurning : kTogether, kTaskWork / (size * depth) / kTogether * kTogether);
    task_inner_ = std::min(task_inner_, roles.inner.size);
    inner_tasks_ = divide_up(roles.inner.size, task_inner_);
    task_places_ = std::clamp<int64_t>(kTaskWork / (size * depth * task_inner_), 1, roles.places.count);
    common_.lane_count = size;
    common_.depth = depth;
    common_.factor_step = roles.inner.strides[roles.factors_of];
    common_.c_step = roles.inner.strides[kC];
    common_.depth_factors = depth_factors_.data();
    common_.depth_lanes = depth_lanes_.data();
    if (!turns_) return;
    for (int64_t p = 0; p < depth; ++p) turned_.push_back(p * size);
    for (int64_t i = 0; i < size; ++i) lanes_.push_back(i * roles.lane.strides[roles.lanes_of]);
    runs_.resize(depth_lanes_.size());
    fill_runs(depth_lanes_.data(), depth, runs_.data());
    common_.depth_lanes = turned_.data();
  }

  of_status run(const Addresses& addresses) const override {
    std::atomic<bool> complete{true};
    parallel_for(inner_tasks_ * divide_up(roles_.places.count, task_places_), [&](int64_t task) {
      if (!run_task(addresses, task / inner_tasks_ * task_places_, task % inner_tasks_ * task_inner_)) complete = false;
    });
    return complete ? OF_OK : no_working_memory();
  }

 private:
  // The lanes next to each other, depth by depth.
  void turn_lanes(const char* from, void* to) const {
    const PanelSource source{from, lanes_.data(), {common_.depth, depth_lanes_.data(), runs_.data(), nullptr}};
    const Panels panel{common_.lane_count, 1, 0, common_.lane_count, 1};
    kernels_.pack(kernels_.dtype, source, panel, 0, 1, to);
  }

  bool run_task(const Addresses& addresses, int64_t first_place, int64_t first_inner) const {
    // Packing may write half a tile's rows behind the panel.
    const Scratch turned(turns_ ? (common_.lane_count * common_.depth + kernels_.rows) * kernels_.size : 1);
    if (turned.data() == nullptr) return false;
    SmallProduct product = common_;
    product.inner = std::min(task_inner_, roles_.inner.size - first_inner);
    const char* lanes = nullptr;
    for (int64_t place = first_place, end = std::min(first_place + task_places_, roles_.places.count); place < end;
         ++place) {
      const auto at = [&](Operand operand, int64_t inner) {
        return (offset_at(roles_.places, operand, place) + inner * roles_.inner.strides[operand]) * kernels_.size;
      };
      const char* from = addresses.operands[roles_.lanes_of] + at(roles_.lanes_of, 0);
      if (turns_ && from != lanes) turn_lanes(from, turned.data());
      lanes = from;
      product.lanes = turns_ ? turned.data() : lanes;
      product.factors = addresses.operands[roles_.factors_of] + at(roles_.factors_of, first_inner);
      product.c = addresses.c + at(kC, first_inner);
      kernels_.small(product);
    }
    return true;
  }

  const ContractKernels& kernels_;
  const Roles roles_;
  const std::vector<int64_t> depth_lanes_, depth_factors_;
  const bool turns_;  // whether lanes lie apart
  std::vector<int64_t> turned_, lanes_, runs_;
  int64_t task_inner_, inner_tasks_, task_places_;
  SmallProduct common_{};
};

}  // namespace

std::unique_ptr<Solution> solve_small(const Problem& problem) {
  const ContractKernels& kernels = contract_kernels(problem.dtype);
  Roles roles;
  if (problem.depth.count < 2 || !find_roles(problem, kernels.size, roles) || !are_near(problem, roles, kernels.size))
    return nullptr;
  return std::make_unique<SmallProducts>(problem, kernels, roles);
}

}  // namespace oneflow::cpu
