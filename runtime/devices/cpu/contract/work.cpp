#include "contract/work.h"

#include <algorithm>

#include "simd/cache_sizes.h"
#include "simd/element.h"
#include "threads/partition.h"

namespace oneflow::cpu {
namespace {

// The factor for operands larger than a first-level cache that are read in contiguous runs of fewer elements than
// kMinFarRun.
constexpr double kFarFactor = 2;
constexpr int64_t kMinFarRun = 64;

}  // namespace

Work::Work(const Problem& given)
    : problem(given),
      kernels(contract_kernels(given.dtype)),
      item_size(cpu::item_size(given.dtype)),
      min_side(std::min(given.rows.count, given.columns.count)) {
  for (const Operand operand : {kA, kB, kC}) elements[operand] = elements_of(problem, operand);
  multiplications = elements[kC] * static_cast<double>(problem.depth.count);
  const double bytes = (elements[kA] + elements[kB]) * static_cast<double>(item_size);
  exceeds_l1 = bytes > kL1Bytes;
  exceeds_l2 = bytes > kL2Bytes;
}

int64_t Work::steps_of(int64_t run) const {
  if (kernels.has_masks) return divide_up(run, kernels.lane_count);
  constexpr int64_t kHalf = 4;  // the elements of the vectors that take the rest of wider ones
  const int64_t rest = run % kernels.lane_count;
  const int64_t halves = kernels.lane_count > kHalf ? rest / kHalf : 0;
  return run / kernels.lane_count + halves + rest - halves * kHalf;
}

double Work::along(int role, int64_t run, double run_overhead) const {
  const int64_t steps = role == kDepth ? divide_up(run, kernels.lane_count) : steps_of(run);
  const double vectors = multiplications / static_cast<double>(run) * static_cast<double>(steps);
  const double far = run < kMinFarRun && exceeds_l1 ? kFarFactor : 1;
  if (role == kDepth) return vectors * kAlongDepth * far + elements[kC] * kAddLanes;
  const double runs = elements[kC] / static_cast<double>(run);
  return vectors * (role == kBatch ? kAlongBatch : kAlongSide) * far + runs * run_overhead;
}

}  // namespace oneflow::cpu
