#include "contract/direct/lines.h"

#include <algorithm>
#include <atomic>
#include <vector>

#include "contract/direct/dots.h"
#include "contract/kernels.h"
#include "simd/cache_sizes.h"
#include "simd/element.h"
#include "threads/scratch.h"
#include "threads/thread_pool.h"

namespace oneflow::cpu {
namespace {

// Lines whose offsets are computed at a time, and about as many as a task has: each task packs the small operand.
constexpr int64_t kLineBlock = 256, kTaskLines = 1024;

// The most lines of the small operand, and the least depth for each of them: adding up the lanes of vectors takes
// longer than multiplying short lines, and so does packing the small operand, above all where it is strided along the
// depth.
struct Limits {
  int64_t few, depth;
};
constexpr Limits kContiguousLimits{64, 8}, kStridedLimits{16, 16};
// For a small operand that has more lines than the other one and is strided along the depth: 8 of its lines are better
// for small products (see small.h), which are vectorised along them.
constexpr Limits kWideStridedLimits{7, 16};
// The least number of lines of the large operand for which packing the small one pays; of 2 lines of the small operand,
// which dot products (see dots.h) take, too, kMinThinLines.
constexpr int64_t kMinLines = 4, kMinThinLines = 16;

// Packing an element of the small operand.
constexpr double kPackLine = 0.1, kTransposeLine = 1.05, kGatherLine = 2.4;

// The roles of the operands. `large` is the operand that is contiguous along the depth, or the one with more lines
// where both are.
struct LineSides {
  Operand large, small;
  DimGroup lines, few;  // the lines of both: rows of A or columns of B
};

// Assigns the roles. Returns false where the problem is not one of lines.
bool find_roles(const Problem& problem, LineSides& roles) {
  if (!problem.is_plain() || !computes_in_itself(problem.dtype) || problem.depth.rank != 1) return false;
  const Dim& along = problem.depth.dims[0];
  const bool has_a = along.strides[kA] == 1, has_b = along.strides[kB] == 1;
  const bool is_in_rows = has_a != has_b ? has_a : problem.rows.count >= problem.columns.count;
  roles.large = is_in_rows ? kA : kB;
  roles.small = is_in_rows ? kB : kA;
  const DimGroup &lines = is_in_rows ? problem.rows : problem.columns,
                 &other = is_in_rows ? problem.columns : problem.rows;
  const int64_t many = lines.count, few = other.count, depth = problem.depth.count;
  const Limits& limits = along.strides[roles.small] == 1 ? kContiguousLimits
                         : few <= many                   ? kStridedLimits
                                                         : kWideStridedLimits;
  if (along.strides[roles.large] != 1 || few < 2 || few > limits.few || depth < few * limits.depth) return false;
  if (many < (few > kThin ? kMinLines : kMinThinLines)) return false;
  if (few * depth * contract_kernels(problem.dtype).size > kL2Bytes) return false;
  roles.lines = lines;
  roles.few = other;
  return true;
}

class LineProducts final : public Solution {
 public:
  LineProducts(const Problem& problem, const ContractKernels& kernels, const LineSides& roles)
      : kernels_(kernels),
        size_(kernels.size),
        roles_(roles),
        batch_(problem.batch),
        depth_(problem.depth.count),
        stride_(problem.depth.dims[0].strides[roles.small]),
        few_c_(all_offsets(roles.few, kC)),
        few_(all_offsets(roles.few, roles.small)) {
    const int64_t lines = roles.lines.count, work = batch_.count * lines * roles.few.count * depth_;
    const int64_t tasks = std::min<int64_t>(thread_count(), work / kTaskWork) / batch_.count;
    member_tasks_ = std::clamp<int64_t>(std::max(tasks, lines / kTaskLines), 1, lines);
    if (stride_ == 1) return;
    few_runs_ = all_runs(few_);
    for (int64_t p = 0; p < depth_; ++p) depth_offsets_.push_back(p * stride_);
    for (size_t m = 0; m < few_.size(); ++m) transposed_few_.push_back(static_cast<int64_t>(m) * depth_);
  }

  of_status run(const Addresses& addresses) const override {
    std::atomic<bool> complete{true};
    parallel_for(batch_.count * member_tasks_, [&](int64_t task) {
      const Range lines = part(roles_.lines.count, task % member_tasks_, member_tasks_);
      if (!run_lines(addresses, task / member_tasks_, lines)) complete = false;
    });
    return complete ? OF_OK : no_working_memory();
  }

 private:
  // Computes the products of some lines of one member of the batch.
  bool run_lines(const Addresses& addresses, int64_t member, const Range& lines) const {
    const auto at = [&](Operand operand) { return offset_at(batch_, operand, member) * size_; };
    LineProduct product{};
    product.length = depth_;
    product.few_count = roles_.few.count;
    product.lines = addresses.operands[roles_.large] + at(roles_.large);
    const Scratch packed(product.few_count * round_up(depth_, kernels_.lane_count) * size_);
    if (!pack_few(addresses.operands[roles_.small] + at(roles_.small), product, packed.data())) return false;
    product.c = addresses.c + at(kC);
    int64_t line_offsets[kLineBlock], line_offsets_c[kLineBlock];
    product.line_offsets = line_offsets;
    product.line_offsets_c = line_offsets_c;
    product.few_offsets_c = few_c_.data();
    for (int64_t done = 0; done < lines.count; done += kLineBlock) {
      product.line_count = std::min(kLineBlock, lines.count - done);
      fill_offsets(roles_.lines, roles_.large, lines.begin + done, product.line_count, line_offsets);
      fill_offsets(roles_.lines, kC, lines.begin + done, product.line_count, line_offsets_c);
      kernels_.line_product(product);
    }
    return true;
  }

  // Packs the lines of the small operand. Lines that are strided along the depth are transposed first, by a panel that
  // has the depth as its rows: panels as wide as a vector would do without this step, but they are slower.
  bool pack_few(const char* small, LineProduct& product, void* packed) const {
    // Packing may write half a tile's rows after the last line.
    const Scratch transposed(stride_ == 1 ? 1 : (product.few_count * depth_ + kernels_.rows) * size_);
    if (packed == nullptr || transposed.data() == nullptr) return false;
    product.few_lines = small;
    if (stride_ != 1) {
      const PanelSource source{
          small, depth_offsets_.data(), {product.few_count, few_.data(), few_runs_.data(), nullptr}};
      kernels_.pack(kernels_.dtype, source, {depth_, 1, 0, depth_, 1}, 0, 1, transposed.data());
      product.few_lines = transposed.data();
    }
    kernels_.pack_few_lines(product, stride_ == 1 ? few_.data() : transposed_few_.data(), packed);
    product.few_lines = packed;
    return true;
  }

  const ContractKernels& kernels_;
  const int64_t size_;  // bytes of an element
  const LineSides roles_;
  const DimGroup batch_;
  const int64_t depth_, stride_;            // the stride of the depth in the small operand
  const std::vector<int64_t> few_c_, few_;  // the offsets of the few lines, in C and in the small operand
  // What transposing the few lines needs: their runs, the offsets of the depth, and those of the transposed lines.
  std::vector<int64_t> few_runs_, depth_offsets_, transposed_few_;
  int64_t member_tasks_;  // tasks of one member of the batch
};

}  // namespace

void offer_lines(const Work& work, Chooser& chooser) {
  LineSides roles;
  if (!find_roles(work.problem, roles)) return;
  chooser.offer(
      [&] {
        const bool is_unit = work.problem.depth.dims[0].strides[roles.small] == 1;
        const double pack = is_unit                                                                ? kPackLine
                            : contiguous_count(sorted_by(roles.small, roles.few), roles.small) > 1 ? kTransposeLine
                                                                                                   : kGatherLine;
        return work.least() + work.elements[kC] * kAddLanes + work.elements[roles.small] * pack;
      },
      [&] { return std::make_unique<LineProducts>(work.problem, work.kernels, roles); });
}

}  // namespace oneflow::cpu
