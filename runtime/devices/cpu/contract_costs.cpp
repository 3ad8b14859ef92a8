#include "contract_costs.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "contract_direct.h"
#include "contract_dots.h"
#include "contract_kernels.h"
#include "contract_small.h"
#include "element.h"
#include "thread_pool.h"

namespace oneflow::cpu {
namespace {

// A first-level cache and a second-level one, about.
constexpr double kFirstBytes = 32 << 10, kSecondBytes = 1 << 20;

// What things take, in nanoseconds.
// Multiplying two vectors, by what the vectors run along; from operands that are larger than a first-level cache, in
// runs of fewer elements, so many times that. Elements one by one.
constexpr double kAlongSide = 0.35, kAlongBatch = 0.55, kAlongDepth = 0.45, kFar = 2, kSingle = 3;
constexpr int64_t kLongRun = 64;
// Lanes of both operands that are read again and again, from another cache.
constexpr double kAgain = 3;
// Lanes that are turned in squares, of one vector at a time, so many times that: each addition waits for the one
// before, and large operands are read line by line from as many pages as sums are deep. Turning an element.
constexpr double kTurned = 3, kTurnedDeep = 5, kTurning = 0.3;
constexpr int64_t kSquare = 16, kManyPages = 16;
// Adding up the lanes of a sum, and what each run of lanes takes besides, of single products and of sums.
constexpr double kAddUp = 1.5, kRun = 2, kRunOfSums = 8;
// Adding up several sums that are interleaved.
constexpr double kAddUpTurns = 20;
// Storing an element of C where it lies apart from its neighbour.
constexpr double kApart = 1.2;
// Packing an element, where it lies in a run, in short ones, and apart; a member of the batch.
constexpr double kPack = 0.3, kPackShort = 2, kPackApart = 2, kPackMember = 300;
// Sums of elements that are copied piece by piece: what a member of the batch takes, and an element that is alone on
// its cache line.
constexpr double kFewMember = 700, kLineEach = 2.5;
// What kernels are for, about: the most lines, how deep they are by how many there are, depths that are packed at
// least.
constexpr int64_t kMostLines = 64, kLineDepth = 8, kLeastPacked = 4;
// Elements of a cache line of floats.
constexpr int64_t kWholeLine = 16;

// What a problem takes as it lies.
class Costs {
 public:
  explicit Costs(const Problem& problem)
      : problem_(problem), lanes_(contract_kernels(problem.dtype).lane_count), size_(item_size(problem.dtype)) {
    for (const Operand operand : {kA, kB, kC}) elements_[operand] = elements_of(problem, operand);
    work_ = elements_[kC] * static_cast<double>(problem.depth.count);
    few_ = std::min(problem.rows.count, problem.columns.count);
    is_small_ = is_small(problem);
    const double bytes = (elements_[kA] + elements_[kB]) * static_cast<double>(size_);
    is_far_ = bytes > kFirstBytes;
    is_farther_ = bytes > kSecondBytes;
  }

  double least() const { return work_ / static_cast<double>(lanes_) * kAlongSide; }

  double of_best() const {
    double best = std::min({packed(), dots(), lines(), interleaved(), copied_dots(), work_ * kSingle});
    for (const int role : {kBatch, kRows, kColumns}) {
      const DimGroup& group = problem_.*kGroups[role];
      for (int d = 0; d < group.rank; ++d)
        best = std::min({best, lanes(role, group.dims[d]), small(role, group.dims[d])});
    }
    return best;
  }

 private:
  // Walked in vectors along runs of so many elements of a role.
  double along(int role, int64_t run, double each_run = 0) const {
    const double vectors = work_ / static_cast<double>(run) * static_cast<double>(divide_up(run, lanes_));
    const double far = run < kLongRun && is_far_ ? kFar : 1;
    if (role == kDepth) return vectors * kAlongDepth * far + elements_[kC] * kAddUp;
    const double runs = elements_[kC] / static_cast<double>(run);
    return vectors * (role == kBatch ? kAlongBatch : kAlongSide) * far + runs * each_run;
  }

  // Lanes next to each other in the operands.
  double lanes(int role, const Dim& dim) const {
    const auto lies = [&](Operand operand) { return !has(operand, role) || dim.strides[operand] == 1; };
    const bool is_thin = few_ <= kThin || problem_.depth.count == 1;
    const bool is_tiny = problem_.rows.count * problem_.columns.count <= kTiny / problem_.depth.count;
    const bool is_of_batch = role == kBatch && lies(kC) && dim.size >= kBatchLanes;
    if (!lies(kA) || !lies(kB) || !(is_thin || is_tiny || is_of_batch)) return INFINITY;
    const double again = role == kBatch && few_ > kThin && is_far_ ? kAgain : 1;
    const double vectors = along(role, dim.size, problem_.depth.count > 1 ? kRunOfSums : kRun) * again;
    if (lies(kC)) return vectors;
    if (problem_.depth.count == 1 || dim.size < kSquare || !has_runs_of_squares())
      return vectors + elements_[kC] * kApart;
    const bool is_deep = is_farther_ && problem_.depth.count >= kManyPages;
    return vectors * (is_deep ? kTurnedDeep : kTurned) + elements_[kC] * kTurning;
  }

  // Whether C has runs into which lanes across it are turned.
  bool has_runs_of_squares() const {
    for (const int role : {kBatch, kRows, kColumns}) {
      const DimGroup& group = problem_.*kGroups[role];
      for (int d = 0; d < group.rank; ++d)
        if (group.dims[d].strides[kC] == 1 && group.dims[d].size >= kSquare) return true;
    }
    return false;
  }

  // Lanes next to each other in C.
  double small(int role, const Dim& dim) const {
    if (!is_small_ || role == kBatch || dim.strides[kC] != 1 || dim.size < 3) return INFINITY;
    const Operand operand = role == kRows ? kA : kB;
    if (dim.strides[operand] == 1) return along(role, dim.size, kRun);
    const DimGroup &other = role == kRows ? problem_.columns : problem_.rows, &depth = problem_.depth;
    int64_t longest = 1;
    for (int d = 0; d < other.rank; ++d) longest = std::max(longest, other.dims[d].size);
    const double times = static_cast<double>(other.count / longest);
    return along(role, dim.size, kRun) +
           elements_[operand] * times * (depth.dims[depth.rank - 1].strides[operand] == 1 ? kPack : kPackApart);
  }

  // Each of many lines along the sum with each of a few.
  double lines() const {
    const DimGroup& depth = problem_.depth;
    if (depth.rank != 1 || depth.dims[0].strides[kA] != 1 || depth.dims[0].strides[kB] != 1) return INFINITY;
    if (few_ <= kThin || few_ > kMostLines || depth.count < kLineDepth * few_) return INFINITY;
    return work_ / static_cast<double>(lanes_) * kAlongSide + elements_[kC] * kAddUp;
  }

  // Sums along the memory of both operands, of which the smaller one may be copied for that.
  double dots() const {
    const DimGroup& depth = problem_.depth;
    const Operand longer = longer_of(problem_), other = longer == kA ? kB : kA;
    if (few_ > kThin || depth.rank == 0 || run_of(depth, longer) < depth.count) return INFINITY;
    const bool lies = run_of(depth, other) == depth.count;
    if (!lies && elements_[other] * static_cast<double>(size_) > kSecondBytes) return INFINITY;
    return along(kDepth, depth.count) + (lies ? 0 : kCopying + elements_[other]);
  }

  // Several sums in turns.
  double interleaved() const {
    const auto found = find_interleaved(problem_);
    if (!found) return INFINITY;
    const auto number = static_cast<double>(found->dim.size);
    return along(kDepth, problem_.depth.count * found->dim.size) + elements_[kC] / number * kAddUpTurns;
  }

  // Sums of a few cells, of which the operands are copied piece by piece.
  double copied_dots() const {
    if (few_ > kThin || problem_.rows.count * problem_.columns.count > kFewCells || problem_.depth.count < kFewDepths)
      return INFINITY;
    const Operand longer = longer_of(problem_), other = longer == kA ? kB : kA;
    const int64_t run = run_of(in_order_of(problem_.depth, longer), other);
    const double each = kCopy + kPackApart / static_cast<double>(run);
    return static_cast<double>(problem_.batch.count) * kFewMember + (elements_[kA] + elements_[kB]) * each +
           along(kDepth, problem_.depth.count) + lines_of_depth(kA) + lines_of_depth(kB);
  }

  // What it takes besides to read a large operand along a depth of which each element is on a cache line of its own.
  double lines_of_depth(Operand operand) const {
    if (elements_[operand] * static_cast<double>(size_) <= kSecondBytes) return 0;
    const DimGroup& depth = problem_.depth;
    for (int d = 0; d < depth.rank; ++d)
      if (std::abs(depth.dims[d].strides[operand]) < kWholeLine) return 0;
    return elements_[operand] * kLineEach;
  }

  double packing(Operand operand) const {
    int64_t run = 1;
    for (const int role : {kRows, kColumns, kDepth})
      if (has(operand, role)) run = std::max(run, run_of(in_order_of(problem_.*kGroups[role], operand), operand));
    if (run == 1) return kPackApart;
    return run < kWholeLine ? kPackShort : kPack;
  }

  double packed() const {
    if (problem_.depth.count < kLeastPacked || few_ <= kThin) return INFINITY;
    const bool runs_along_columns = run_of(in_order_of(problem_.columns, kC), kC) > 1;
    const DimGroup& side = runs_along_columns ? problem_.columns : problem_.rows;
    const double vectors = work_ / static_cast<double>(side.count) * static_cast<double>(divide_up(side.count, lanes_));
    const double store = run_of(in_order_of(side, kC), kC) < lanes_ ? kApart : kCopy;
    return elements_[kA] * packing(kA) + elements_[kB] * packing(kB) + vectors * kAlongSide + elements_[kC] * store +
           static_cast<double>(problem_.batch.count) * kPackMember;
  }

  const Problem& problem_;
  const int64_t lanes_, size_;
  int64_t few_;
  bool is_small_, is_far_, is_farther_;
  double elements_[3], work_;
};

}  // namespace

bool has(Operand operand, int role) {
  switch (role) {
    case kRows:
      return operand != kB;
    case kColumns:
      return operand != kA;
    case kDepth:
      return operand != kC;
    default:
      return true;
  }
}

double elements_of(const Problem& problem, Operand operand) {
  double count = 1;
  for (int role = 0; role < kRoles; ++role)
    if (has(operand, role)) count *= static_cast<double>((problem.*kGroups[role]).count);
  return count;
}

DimGroup in_order_of(const DimGroup& group, Operand operand) {
  DimGroup sorted = group;
  std::stable_sort(sorted.dims, sorted.dims + sorted.rank, [&](const Dim& x, const Dim& y) {
    return std::abs(x.strides[operand]) > std::abs(y.strides[operand]);
  });
  return sorted;
}

int64_t run_of(const DimGroup& dims, Operand operand) {
  int64_t run = 1;
  for (int d = dims.rank - 1; d >= 0 && dims.dims[d].strides[operand] == run; --d) run *= dims.dims[d].size;
  return run;
}

double cost_as_it_lies(const Problem& problem) { return Costs(problem).of_best(); }
double least_cost(const Problem& problem) { return Costs(problem).least(); }

}  // namespace oneflow::cpu
