#include "contract_lines.h"

#include <algorithm>
#include <atomic>
#include <vector>

#include "contract_kernels.h"
#include "element.h"
#include "scratch.h"
#include "thread_pool.h"

namespace oneflow::cpu {
namespace {

// Lines whose offsets are worked out at a time, and that a task has, about: each collects the others for itself.
constexpr int64_t kTogether = 256, kTaskLines = 1024;

// How many others pay at most, and how long the sum has to be for each of them: adding up vectors takes longer than
// multiplying short ones, and so does bringing the others together where they lie across the sum. (One thread, 1,000
// lines of float32 by others that lie along it: 8 of 32 elements 1.26 of the time of packing or of small products, of
// 64 0.88; 32 of 128 1.24, of 256 1.0, of 1,000 0.5; 128 of 1,000 0.95.)
struct Limits {
  int64_t others, depth;
};
constexpr Limits kAsTheyLie{64, 8}, kTurned{16, 16};
// More others than lines, of a side that lies across the sum, are lanes for small products where there are 8 of them.
constexpr Limits kMoreThanLines{7, 16};
// More bytes of others do not stay in a second-level cache.
constexpr int64_t kOthersBytes = int64_t{1} << 20;
// Fewer lines do not make up for that; two others are what dots take, too.
constexpr int64_t kFewest = 4, kFewestOfThin = 16;

// What the sides of a problem are: the one that lies along the sum, or has more lines where both do, and the other one.
struct Roles {
  Operand of_lines, of_others;
  DimGroup lines, others;
};

Roles find_roles(const Problem& problem) {
  const Dim& along = problem.depth.dims[0];
  const bool has_a = along.strides[kA] == 1, has_b = along.strides[kB] == 1;
  if (has_a != has_b ? has_a : problem.rows.count >= problem.columns.count)
    return {kA, kB, problem.rows, problem.columns};
  return {kB, kA, problem.columns, problem.rows};
}

class LineProducts final : public Solution {
 public:
  LineProducts(const Problem& problem, const ContractKernels& kernels, const Roles& roles)
      : kernels_(kernels),
        size_(kernels.size),
        roles_(roles),
        batch_(problem.batch),
        depth_(problem.depth.count),
        step_(problem.depth.dims[0].strides[roles.of_others]),
        others_c_(all_offsets(roles.others, kC)),
        others_(all_offsets(roles.others, roles.of_others)) {
    const int64_t lines = roles.lines.count, work = batch_.count * lines * roles.others.count * depth_;
    const int64_t tasks = std::min<int64_t>(thread_count(), work / kTaskWork) / batch_.count;
    member_tasks_ = std::clamp<int64_t>(std::max(tasks, lines / kTaskLines), 1, lines);
    if (step_ == 1) return;
    runs_ = all_runs(others_);
    for (int64_t p = 0; p < depth_; ++p) depths_.push_back(p * step_);
    for (size_t m = 0; m < others_.size(); ++m) lines_.push_back(static_cast<int64_t>(m) * depth_);
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
  // Some lines of one member of the batch.
  bool run_lines(const Addresses& addresses, int64_t member, const Range& lines) const {
    const auto at = [&](Operand operand) { return offset_at(batch_, operand, member) * size_; };
    LineProduct product{};
    product.length = depth_;
    product.other_count = roles_.others.count;
    product.lines = addresses.operands[roles_.of_lines] + at(roles_.of_lines);
    const Scratch others(product.other_count * round_up(depth_, kernels_.lane_count) * size_);
    if (!collect(addresses.operands[roles_.of_others] + at(roles_.of_others), product, others.data())) return false;
    product.c = addresses.c + at(kC);
    int64_t from[kTogether], to[kTogether];
    product.from_lines = from;
    product.to_lines = to;
    product.to_others = others_c_.data();
    for (int64_t done = 0; done < lines.count; done += kTogether) {
      product.line_count = std::min(kTogether, lines.count - done);
      fill_offsets(roles_.lines, roles_.of_lines, lines.begin + done, product.line_count, from);
      fill_offsets(roles_.lines, kC, lines.begin + done, product.line_count, to);
      kernels_.lines(product);
    }
    return true;
  }

  // Brings the others together; those that lie across the sum are turned into lines before. (As panels as wide as a
  // vector, packing alone would do: 1.1 to 1.7 of the time of a product where they lie along the sum.)
  bool collect(const char* others, LineProduct& product, void* collected) const {
    // Packing may write half a tile's rows behind the last line.
    const Scratch turned(step_ == 1 ? 1 : (product.other_count * depth_ + kernels_.rows) * size_);
    if (collected == nullptr || turned.data() == nullptr) return false;
    product.others = others;
    if (step_ != 1) {
      const PanelSource source{others, depths_.data(), {product.other_count, others_.data(), runs_.data(), nullptr}};
      kernels_.pack(kernels_.dtype, source, {depth_, 1, 0, depth_, 1}, 0, 1, turned.data());
      product.others = turned.data();
    }
    kernels_.collect_others(product, step_ == 1 ? others_.data() : lines_.data(), collected);
    product.others = collected;
    return true;
  }

  const ContractKernels& kernels_;
  const int64_t size_;  // bytes of an element
  const Roles roles_;
  const DimGroup batch_;
  const int64_t depth_, step_;  // of the sum, and between its elements in the others
  const std::vector<int64_t> others_c_, others_;
  std::vector<int64_t> runs_, depths_, lines_;  // where the others have to be turned
  int64_t member_tasks_;                        // of one member of the batch
};

}  // namespace

std::unique_ptr<Solution> solve_by_lines(const Problem& problem) {
  if (!problem.is_plain() || !computes_in_itself(problem.dtype) || problem.depth.rank != 1) return nullptr;
  const Roles roles = find_roles(problem);
  const int64_t many = roles.lines.count, few = roles.others.count, depth = problem.depth.count;
  const Dim& along = problem.depth.dims[0];
  const Limits& limits = along.strides[roles.of_others] == 1 ? kAsTheyLie : few <= many ? kTurned : kMoreThanLines;
  if (along.strides[roles.of_lines] != 1 || few < 2 || few > limits.others || depth < few * limits.depth)
    return nullptr;
  if (many < (few > kThin ? kFewest : kFewestOfThin)) return nullptr;
  const ContractKernels& kernels = contract_kernels(problem.dtype);
  if (few * depth * kernels.size > kOthersBytes) return nullptr;
  return std::make_unique<LineProducts>(problem, kernels, roles);
}

}  // namespace oneflow::cpu
