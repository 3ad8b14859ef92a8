#include "contract/rewrite/rearranged.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "contract/current_layout.h"
#include "contract/direct/direct.h"
#include "contract/kernels.h"
#include "contract/rewrite/parts.h"
#include "plugin/emitted.h"
#include "simd/element.h"
#include "threads/partition.h"
#include "threads/scratch.h"

namespace oneflow::cpu {
namespace {

// The most bytes of copies: together with what packing needs, about the 4 MiB of working memory of a thread.
constexpr double kMostBytes = 3 << 20;
// The bytes of the largest operand in a part of a problem that is too large to be copied as a whole.
constexpr double kPartBytes = 0.6 * kMostBytes;
// The multiplications of all batch items below which no copy pays.
constexpr int64_t kLeastWork = 2048;
// A rearrangement has to cost less than this fraction of the cost in the current layout.
constexpr double kWorthwhile = 0.7;
// The shortest runs that copies are made for, and about how long runs become by expanding operands.
constexpr int64_t kLeastRun = 3, kExpandedRun = 64;
// The additional cost of copying an element, in nanoseconds. Divided by the length of runs that are contiguous in both
// layouts; or where a copy transposes, a fixed cost and one divided by the length of the shorter runs, which is lower
// if the longer runs fill vectors.
constexpr double kCopyRun = 1, kCopyTransposed = 0.07, kCopyLong = 0.25, kCopyShort = 0.7;
constexpr int64_t kVectorRun = 16;

// Returns the cost of a problem with the operands in their current layout. Conversions are left out: they cost the same
// in any layout.
double cost_of_layout(const Problem& problem) {
  const of_dtype computed = contract_kernels(problem.dtype).dtype;
  if (computed == problem.dtype) return cost_in_current_layout(problem);
  Problem converted = problem;
  converted.dtype = computed;
  return cost_in_current_layout(converted);
}

// Returns the largest of the operands that have a role.
Operand largest_with(const Problem& problem, int role) {
  Operand found = kOperands;
  for (const Operand operand : {kA, kB, kC})
    if (has(operand, role) && (found == kOperands || elements_of(problem, operand) > elements_of(problem, found)))
      found = operand;
  return found;
}

// A copy of an operand with another order of dimensions: of A or B before the product, of C after it.
struct Copy {
  Operand operand;
  int64_t count = 1;
  // The copied dimensions: strides[kA] are those of the source, strides[kC] those of the destination.
  DimGroup dims;

  // Makes the dimensions of the role `inner` the innermost ones, and changes the problem to the one with the copy.
  Copy(Problem& problem, Operand copied, int inner) : operand(copied) {
    std::vector<int> roles{inner};
    for (const int role : {kDepth, kRows, kColumns, kBatch})
      if (role != inner && has(operand, role)) roles.push_back(role);
    for (const int role : roles) {
      DimGroup& group = problem.*kGroups[role];
      for (int d = group.rank - 1; d >= 0; --d) {
        int64_t& stride = group.dims[d].strides[operand];
        const int64_t own = std::exchange(stride, count);
        dims.add({group.dims[d].size, {operand == kC ? count : own, 0, operand == kC ? own : count, 0}});
        count *= group.dims[d].size;
      }
    }
    canonicalize(dims, kC, kA);
  }

  // Returns the cost in nanoseconds.
  double cost() const {
    const Dim& last = dims.dims[dims.rank - 1];
    return kCopyOverhead + static_cast<double>(count) *
                               (kCopyElement + (last.strides[kA] == 1 ? kCopyRun / static_cast<double>(last.size)
                                                                      : transposing_cost(last)));
  }

  // Returns the additional cost per element where the source and the destination are contiguous along different
  // dimensions.
  double transposing_cost(const Dim& last) const {
    int64_t first = 1;
    for (int d = 0; d < dims.rank; ++d)
      if (dims.dims[d].strides[kA] == 1) first = dims.dims[d].size;
    const int64_t shorter = std::min(first, last.size), longer = std::max(first, last.size);
    return kCopyTransposed + (longer >= kVectorRun ? kCopyLong : kCopyShort) / static_cast<double>(shorter);
  }

  void run(const char* from, char* to, of_dtype dtype) const {
    int64_t sizes[OF_MAX_RANK], from_strides[OF_MAX_RANK], to_strides[OF_MAX_RANK];
    for (int d = 0; d < dims.rank; ++d) {
      sizes[d] = dims.dims[d].size;
      from_strides[d] = dims.dims[d].strides[kA];
      to_strides[d] = dims.dims[d].strides[kC];
    }
    const of_kernel_tensor source{const_cast<char*>(from), dtype, dims.rank, sizes, from_strides, {}};
    const of_kernel_tensor result{to, dtype, dims.rank, sizes, to_strides, {}};
    of_kernel_context context{};
    context.inputs = &source;
    context.outputs = &result;
    run_kernel(CopyKernel{0}, context);
  }
};

// Copies, and the problem that remains.
struct Arrangement {
  std::vector<Copy> copies;  // the one of C last
  Problem problem;
  double cost = 0;
};

// Returns the arrangement in which the operands of the bit set `copied` are copied, with the dimensions of a role
// innermost, in the order of the operand `order`; nothing where it costs more than `most`.
std::optional<Arrangement> arrange(const Problem& problem, int role, Operand order, unsigned copied, double most) {
  Arrangement found;
  found.problem = problem;
  for (int other = 0; other < kRoles; ++other) {
    DimGroup& group = found.problem.*kGroups[other];
    group = sorted_by(other == role ? order : largest_with(problem, other), group);
  }
  double bytes = 0;
  for (const Operand operand : {kA, kB, kC}) {
    if ((copied >> operand & 1) == 0) continue;
    bytes += elements_of(problem, operand) * static_cast<double>(item_size(problem.dtype));
    if (bytes > kMostBytes) return std::nullopt;
    found.copies.emplace_back(found.problem, operand, role);
    found.cost += found.copies.back().cost();
    if (found.cost > most) return std::nullopt;
  }
  canonicalize(found.problem);
  found.cost += cost_of_layout(found.problem);
  if (found.cost > most) return std::nullopt;
  return found;
}

// The position of a dimension in a problem.
struct DimPosition {
  int role, dim;
};

// Returns the dimension of C that has a stride in an operand.
std::optional<DimPosition> find_dim(const Problem& problem, Operand operand, int64_t stride) {
  for (const int role : {kBatch, kRows, kColumns}) {
    const DimGroup& group = problem.*kGroups[role];
    for (int d = 0; has(operand, role) && d < group.rank; ++d)
      if (group.dims[d].strides[operand] == stride) return DimPosition{role, d};
  }
  return std::nullopt;
}

// Returns the problem in which the dimensions of C that are contiguous in an operand, up to about kExpandedRun
// elements, are dimensions of the batch. Operands that do not have them are broadcast along them, which a copy then
// expands, so that vectors can run along the batch.
std::optional<Problem> expand(const Problem& problem, Operand operand) {
  Problem expanded = problem;
  bool changes = false;
  int64_t reach = 1;
  while (reach < kExpandedRun) {
    const auto position = find_dim(expanded, operand, reach);
    if (!position) break;
    reach *= (expanded.*kGroups[position->role]).dims[position->dim].size;
    if (position->role == kBatch) continue;
    expanded.batch.add(take(expanded.*kGroups[position->role], position->dim));
    changes = true;
  }
  if (!changes) return std::nullopt;
  return expanded;
}

// Returns the arrangement with the lowest cost, if that is at most `most`.
std::optional<Arrangement> find_arrangement(const Problem& problem, double most) {
  std::optional<Arrangement> best;
  const auto consider = [&](const Problem& each, int role, Operand order, unsigned copied) {
    if (auto found = arrange(each, role, order, copied, best ? best->cost : most)) best = std::move(found);
  };
  for (int role = 0; role < kRoles; ++role) {
    if ((problem.*kGroups[role]).count < kLeastRun) continue;
    unsigned having = 0;
    for (const Operand operand : {kA, kB, kC})
      if (has(operand, role)) having |= 1U << operand;
    for (const Operand order : {kA, kB, kC}) {
      if (!has(order, role)) continue;
      for (unsigned copied = 1; copied <= having; ++copied)
        if ((copied & having) == copied) consider(problem, role, order, copied);
    }
  }
  for (const Operand order : {kA, kB, kC}) {
    const auto expanded = expand(problem, order);
    if (!expanded) continue;
    const DimGroup batch = sorted_by(order, expanded->batch);
    unsigned copied = 0;
    for (const Operand operand : {kA, kB, kC})
      if (contiguous_count(batch, operand) < std::min(batch.count, kExpandedRun)) copied |= 1U << operand;
    if (copied > 0) consider(*expanded, kBatch, order, copied);
  }
  return best;
}

// Copies A and B, runs the solution of the remaining problem, and copies C.
class Rearranged final : public Solution {
 public:
  Rearranged(Arrangement arrangement, SolveInCurrentLayout solve)
      : dtype_(arrangement.problem.dtype),
        size_(item_size(dtype_)),
        copies_(std::move(arrangement.copies)),
        solved_(solve(arrangement.problem)) {
    for (const Copy& copy : copies_) {
      const bool is_kept = copy.operand != kC && arrangement.problem.is_constant[copy.operand];
      kept_.push_back({is_kept, nullptr});
      if (!is_kept) bytes_ += bytes_of(copy);
    }
  }

  of_status run(const Addresses& addresses) const override {
    const Scratch memory(bytes_);
    auto* to = static_cast<char*>(memory.data());
    if (to == nullptr && bytes_ > 0) return no_working_memory();
    Addresses rearranged = addresses;
    for (size_t i = 0; i < copies_.size(); ++i) {
      const Copy& copy = copies_[i];
      if (kept_[i].is_kept) {
        if (!kept_[i].copy && !keep(i, addresses)) return no_working_memory();
        rearranged.operands[copy.operand] = static_cast<char*>(kept_[i].copy->data());
        continue;
      }
      if (copy.operand == kC)
        rearranged.c = to;
      else
        copy.run(addresses.operands[copy.operand], to, dtype_);
      rearranged.operands[copy.operand] = to;
      to += bytes_of(copy);
    }
    const of_status status = solved_.run(rearranged);
    if (status == OF_OK && rearranged.c != addresses.c) copies_.back().run(rearranged.c, addresses.c, dtype_);
    return status;
  }

 private:
  // The copy of a constant operand, which the first run makes.
  struct Kept {
    bool is_kept;
    std::unique_ptr<Scratch> copy;
  };
  static constexpr int64_t kLine = 64;

  int64_t bytes_of(const Copy& copy) const { return round_up(copy.count * size_, kLine); }
  // Makes the copy of a constant operand. Returns whether there was memory.
  bool keep(size_t number, const Addresses& addresses) const {
    const Copy& copy = copies_[number];
    auto memory = std::make_unique<Scratch>(bytes_of(copy));
    if (memory->data() == nullptr) return false;
    copy.run(addresses.operands[copy.operand], static_cast<char*>(memory->data()), dtype_);
    kept_[number].copy = std::move(memory);
    return true;
  }

  const of_dtype dtype_;
  const int64_t size_;
  const std::vector<Copy> copies_;
  mutable std::vector<Kept> kept_;  // of each copy
  const Solved solved_;
  int64_t bytes_ = 0;
};

std::unique_ptr<Solution> rearrange(const Problem& problem, double most, SolveInCurrentLayout solve) {
  auto arrangement = find_arrangement(problem, most);
  return arrangement ? std::make_unique<Rearranged>(std::move(*arrangement), solve) : nullptr;
}

}  // namespace

std::unique_ptr<Solution> solve_rearranged(const Problem& problem, SolveInCurrentLayout solve) {
  if (!problem.is_plain() || problem.depth.count == 0) return nullptr;
  if (problem.batch.count * problem.rows.count * problem.columns.count < kLeastWork / problem.depth.count)
    return nullptr;
  const int rank = problem.batch.rank + problem.rows.rank + problem.columns.rank + problem.depth.rank;
  if (rank > OF_MAX_RANK || fits_registers(problem)) return nullptr;
  // Dot products convert the elements that they copy.
  if (!computes_in_itself(problem.dtype) && std::min(problem.rows.count, problem.columns.count) <= kThin)
    return nullptr;
  const double most = kWorthwhile * cost_of_layout(problem);
  if (most < Work(problem).least() + kCopyOverhead) return nullptr;
  if (auto whole = rearrange(problem, most, solve)) return whole;
  Problem varying = problem;  // the operands of a part are others each time
  varying.is_constant[kA] = varying.is_constant[kB] = false;
  const auto parts = find_parts(varying, kPartBytes);
  if (!parts) return nullptr;
  auto part = rearrange(parts->part, most * parts->share() - parts->cost, solve);
  return part ? solve_parts(*parts, std::move(part)) : nullptr;
}

}  // namespace oneflow::cpu
