#include "contract/rewrite/costs.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "contract/direct/direct.h"
#include "contract/direct/dots.h"
#include "contract/direct/small.h"
#include "contract/kernels.h"
#include "simd/cache_sizes.h"
#include "simd/element.h"
#include "threads/partition.h"

namespace oneflow::cpu {
namespace {

// Costs in nanoseconds, and factors.
//
// Multiplying two vectors that run along the rows or columns, along the batch, or along the depth.
constexpr double kAlongSide = 0.35, kAlongBatch = 0.55, kAlongDepth = 0.45;
// Multiplying two elements without vectors.
constexpr double kScalar = 3;
// The factor for operands larger than a first-level cache that are read in contiguous runs of fewer elements than
// kMinFarRun.
constexpr double kFarFactor = 2;
constexpr int64_t kMinFarRun = 64;
// The factor for vectors along the batch where both operands are read repeatedly from a second-level cache or memory.
constexpr double kRereadFactor = 3;
// The factor for vectors along a dimension that is strided in C, whose squares are transposed in registers: they have
// one vector of sums at a time, so that each addition waits for the one before. It is larger where large operands are
// read from as many memory pages as the depth has indices. And the cost of transposing an element.
constexpr double kTransposedFactor = 3, kTransposedDeepFactor = 5, kTransposeElement = 0.3;
constexpr int64_t kSquare = 16, kManyPages = 16;
// The factor for vectors of every second element.
constexpr double kSecondFactor = 2;
// Adding up the lanes of a sum, or of several interleaved sums.
constexpr double kAddLanes = 1.5, kAddInterleavedLanes = 20;
// The overhead of each contiguous run of C, of single products and of sums.
constexpr double kRunOverhead = 2, kSumRunOverhead = 8;
// Storing an element of C that is not contiguous with the one before.
constexpr double kStridedStore = 1.2;
// Packing an element that is in a long contiguous run, in a short one, or strided; the overhead for a batch item.
constexpr double kPack = 0.3, kPackShort = 2, kPackStrided = 2, kPackItem = 300;
// Dot products of copied rows and columns: the overhead for a batch item, and reading an element that is alone on its
// cache line.
constexpr double kCopiedDotsItem = 700, kLoneElement = 2.5;
// About the limits of strategies: the most few lines of contract/direct/lines.h, the least depth for each of them, and
// the least depth of packed products.
constexpr int64_t kMostFewLines = 64, kLineDepth = 8, kMinPackedDepth = 4;
// Elements of float32 in a cache line.
constexpr int64_t kLineElements = 16;

// The costs of one problem by strategy.
class Costs {
 public:
  explicit Costs(const Problem& problem)
      : problem_(problem),
        kernels_(contract_kernels(problem.dtype)),
        lanes_(kernels_.lane_count),
        size_(item_size(problem.dtype)) {
    for (const Operand operand : {kA, kB, kC}) elements_[operand] = elements_of(problem, operand);
    work_ = elements_[kC] * static_cast<double>(problem.depth.count);
    min_side_ = std::min(problem.rows.count, problem.columns.count);
    is_small_ = is_small(problem);
    const double bytes = (elements_[kA] + elements_[kB]) * static_cast<double>(size_);
    exceeds_l1_ = bytes > kL1Bytes;
    exceeds_l2_ = bytes > kL2Bytes;
  }

  double least() const { return work_ / static_cast<double>(lanes_) * kAlongSide; }

  double of_best() const {
    double best = std::min({packed(), dots(), lines(), interleaved(), copied_dots(), work_ * kScalar});
    for (const int role : {kBatch, kRows, kColumns}) {
      const DimGroup& group = problem_.*kGroups[role];
      for (int d = 0; d < group.rank; ++d)
        best = std::min({best, contiguous(role, group.dims[d]), small(role, group.dims[d])});
    }
    return best;
  }

 private:
  // Returns the cost of vectors along contiguous runs of `run` elements of a role.
  double along(int role, int64_t run, double run_overhead = 0) const {
    const double vectors = work_ / static_cast<double>(run) * static_cast<double>(divide_up(run, lanes_));
    const double far = run < kMinFarRun && exceeds_l1_ ? kFarFactor : 1;
    if (role == kDepth) return vectors * kAlongDepth * far + elements_[kC] * kAddLanes;
    const double runs = elements_[kC] / static_cast<double>(run);
    return vectors * (role == kBatch ? kAlongBatch : kAlongSide) * far + runs * run_overhead;
  }

  // Returns the cost of vectors along a dimension of C that is contiguous in the operands that have it
  // (direct/direct.h).
  double contiguous(int role, const Dim& dim) const {
    const auto is_contiguous = [&](Operand operand) { return !has(operand, role) || dim.strides[operand] == 1; };
    const bool is_thin = min_side_ <= kThin || problem_.depth.count == 1;
    const bool is_tiny = problem_.rows.count * problem_.columns.count <= kMaxTinyWork / problem_.depth.count;
    const bool is_batch_vector = role == kBatch && is_contiguous(kC) && dim.size >= kMinBatchVector;
    if (is_thin && reads_every_second(dim, kernels_)) return along(role, dim.size, kSumRunOverhead) * kSecondFactor;
    if (!is_contiguous(kA) || !is_contiguous(kB) || !(is_thin || is_tiny || is_batch_vector)) return INFINITY;
    const double reread = role == kBatch && min_side_ > kThin && exceeds_l1_ ? kRereadFactor : 1;
    const double vectors = along(role, dim.size, problem_.depth.count > 1 ? kSumRunOverhead : kRunOverhead) * reread;
    if (is_contiguous(kC)) return vectors;
    if (problem_.depth.count == 1 || dim.size < kSquare || !has_runs_of_squares())
      return vectors + elements_[kC] * kStridedStore;
    const bool is_deep = exceeds_l2_ && problem_.depth.count >= kManyPages;
    return vectors * (is_deep ? kTransposedDeepFactor : kTransposedFactor) + elements_[kC] * kTransposeElement;
  }

  // Returns whether C has a contiguous dimension for squares to be transposed into.
  bool has_runs_of_squares() const {
    for (const int role : {kBatch, kRows, kColumns}) {
      const DimGroup& group = problem_.*kGroups[role];
      for (int d = 0; d < group.rank; ++d)
        if (group.dims[d].strides[kC] == 1 && group.dims[d].size >= kSquare) return true;
    }
    return false;
  }

  // Returns the cost of vectors along a dimension that is contiguous in C, with a small operand (direct/small.h).
  double small(int role, const Dim& dim) const {
    if (!is_small_ || role == kBatch || dim.strides[kC] != 1 || dim.size < 3) return INFINITY;
    const Operand operand = role == kRows ? kA : kB;
    if (dim.strides[operand] == 1) return along(role, dim.size, kRunOverhead);
    const DimGroup &other = role == kRows ? problem_.columns : problem_.rows, &depth = problem_.depth;
    int64_t longest = 1;
    for (int d = 0; d < other.rank; ++d) longest = std::max(longest, other.dims[d].size);
    const double times = static_cast<double>(other.count / longest);
    return along(role, dim.size, kRunOverhead) +
           elements_[operand] * times * (depth.dims[depth.rank - 1].strides[operand] == 1 ? kPack : kPackStrided);
  }

  // Returns the cost of many lines along the depth by a few lines (direct/lines.h).
  double lines() const {
    const DimGroup& depth = problem_.depth;
    if (depth.rank != 1 || depth.dims[0].strides[kA] != 1 || depth.dims[0].strides[kB] != 1) return INFINITY;
    if (min_side_ <= kThin || min_side_ > kMostFewLines || depth.count < kLineDepth * min_side_) return INFINITY;
    return work_ / static_cast<double>(lanes_) * kAlongSide + elements_[kC] * kAddLanes;
  }

  // Returns the cost of dot products (direct/dots.h), of which the smaller operand may be copied first
  // (rewrite/copied.h).
  double dots() const {
    const DimGroup& depth = problem_.depth;
    const Operand longer = longer_operand(problem_), other = longer == kA ? kB : kA;
    if (min_side_ > kThin || depth.rank == 0 || contiguous_count(depth, longer) < depth.count) return INFINITY;
    const bool is_contiguous = contiguous_count(depth, other) == depth.count;
    if (!is_contiguous && elements_[other] * static_cast<double>(size_) > kL2Bytes) return INFINITY;
    return along(kDepth, depth.count) + (is_contiguous ? 0 : kCopyOverhead + elements_[other]);
  }

  // Returns the cost of interleaved dot products.
  double interleaved() const {
    const auto found = find_interleaved(problem_);
    if (!found) return INFINITY;
    const auto number = static_cast<double>(found->dim.size);
    return along(kDepth, problem_.depth.count * found->dim.size) + elements_[kC] / number * kAddInterleavedLanes;
  }

  // Returns the cost of a few dot products of rows and columns that are copied in pieces.
  double copied_dots() const {
    if (min_side_ > kThin || problem_.rows.count * problem_.columns.count > kMaxDotCount ||
        problem_.depth.count < kMinCopiedDepth)
      return INFINITY;
    const Operand longer = longer_operand(problem_), other = longer == kA ? kB : kA;
    const int64_t run = contiguous_count(sorted_by(longer, problem_.depth), other);
    const double each = kCopyElement + kPackStrided / static_cast<double>(run);
    return static_cast<double>(problem_.batch.count) * kCopiedDotsItem + (elements_[kA] + elements_[kB]) * each +
           along(kDepth, problem_.depth.count) + strided_depth(kA) + strided_depth(kB);
  }

  // Returns the additional cost of a large operand whose elements along the depth are each on a cache line of their
  // own.
  double strided_depth(Operand operand) const {
    if (elements_[operand] * static_cast<double>(size_) <= kL2Bytes) return 0;
    const DimGroup& depth = problem_.depth;
    for (int d = 0; d < depth.rank; ++d)
      if (std::abs(depth.dims[d].strides[operand]) < kLineElements) return 0;
    return elements_[operand] * kLoneElement;
  }

  // Returns the cost of packing an element.
  double packing(Operand operand) const {
    int64_t run = 1;
    for (const int role : {kRows, kColumns, kDepth})
      if (has(operand, role))
        run = std::max(run, contiguous_count(sorted_by(operand, problem_.*kGroups[role]), operand));
    if (run == 1) return kPackStrided;
    return run < kLineElements ? kPackShort : kPack;
  }

  // Returns the cost of the packed product (gemm/gemm.h).
  double packed() const {
    if (problem_.depth.count < kMinPackedDepth || min_side_ <= kThin) return INFINITY;
    const bool runs_along_columns = contiguous_count(sorted_by(kC, problem_.columns), kC) > 1;
    const DimGroup& side = runs_along_columns ? problem_.columns : problem_.rows;
    const double vectors = work_ / static_cast<double>(side.count) * static_cast<double>(divide_up(side.count, lanes_));
    const double store = contiguous_count(sorted_by(kC, side), kC) < lanes_ ? kStridedStore : kCopyElement;
    return elements_[kA] * packing(kA) + elements_[kB] * packing(kB) + vectors * kAlongSide + elements_[kC] * store +
           static_cast<double>(problem_.batch.count) * kPackItem;
  }

  const Problem& problem_;
  const ContractKernels& kernels_;
  const int64_t lanes_, size_;
  int64_t min_side_;
  bool is_small_, exceeds_l1_, exceeds_l2_;
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

DimGroup sorted_by(Operand operand, const DimGroup& group) {
  DimGroup sorted = group;
  std::stable_sort(sorted.dims, sorted.dims + sorted.rank, [&](const Dim& x, const Dim& y) {
    return std::abs(x.strides[operand]) > std::abs(y.strides[operand]);
  });
  return sorted;
}

int64_t contiguous_count(const DimGroup& dims, Operand operand) {
  int64_t run = 1;
  for (int d = dims.rank - 1; d >= 0 && dims.dims[d].strides[operand] == run; --d) run *= dims.dims[d].size;
  return run;
}

double cost_in_current_layout(const Problem& problem) { return Costs(problem).of_best(); }
double least_cost(const Problem& problem) { return Costs(problem).least(); }

}  // namespace oneflow::cpu
