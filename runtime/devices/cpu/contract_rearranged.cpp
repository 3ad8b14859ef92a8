#include "contract_rearranged.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "contract_costs.h"
#include "contract_direct.h"
#include "contract_kernels.h"
#include "contract_parts.h"
#include "element.h"
#include "emitted.h"
#include "scratch.h"
#include "thread_pool.h"

namespace oneflow::cpu {
namespace {

// What copies may take: with what packing takes then, about the 4 MiB that a thread has.
constexpr double kMostBytes = 3 << 20;
// What the largest operand has of a part of a problem that is too large to be copied as a whole.
constexpr double kPartBytes = 0.6 * kMostBytes;
// Multiplications of all members of the batch that are not worth a copy.
constexpr int64_t kLeastWork = 2048;
// A rearrangement has to be so much quicker than the problem as it is.
constexpr double kWorth = 0.7;
// Shorter runs are not worth making; how long they should become by stretching operands.
constexpr int64_t kLeastRun = 3, kStretched = 64;
// What copying an element takes besides, in nanoseconds: over the length of the runs, where they are the same ones;
// where they are turned, and over the length of the shorter ones then, if the longer ones fill vectors or if they do
// not.
constexpr double kCopyRun = 1, kCopyTurned = 0.07, kCopyLong = 0.25, kCopyShort = 0.7;
constexpr int64_t kLongRun = 16;

// Of the operands that have a role, the largest one.
Operand largest_with(const Problem& problem, int role) {
  Operand found = kOperands;
  for (const Operand operand : {kA, kB, kC})
    if (has(operand, role) && (found == kOperands || elements_of(problem, operand) > elements_of(problem, found)))
      found = operand;
  return found;
}

// An operand in another order: C is copied back, the others are copied before.
struct Copy {
  Operand operand;
  int64_t count = 1;
  // Of what is copied, as it comes to lie: strides[kA] are those of the source, strides[kC] the result's.
  DimGroup dims;

  // The dimensions of one role come last. The problem becomes the one with the copy in the operand's place.
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

  // In nanoseconds.
  double cost() const {
    const Dim& last = dims.dims[dims.rank - 1];
    return kCopying + static_cast<double>(count) *
                          (kCopy + (last.strides[kA] == 1 ? kCopyRun / static_cast<double>(last.size) : turning(last)));
  }

  // What an element takes where runs of the source, along another dimension, become runs of the result.
  double turning(const Dim& last) const {
    int64_t first = 1;
    for (int d = 0; d < dims.rank; ++d)
      if (dims.dims[d].strides[kA] == 1) first = dims.dims[d].size;
    const int64_t shorter = std::min(first, last.size), longer = std::max(first, last.size);
    return kCopyTurned + (longer >= kLongRun ? kCopyLong : kCopyShort) / static_cast<double>(shorter);
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

// Copies, and the problem that is left.
struct Arrangement {
  std::vector<Copy> copies;  // that of C last
  Problem problem;
  double cost = 0;
};

// The operands in `copied` copied so that they can be walked along a role, in the order in which `order` has it;
// nothing where that takes longer than `most`.
std::optional<Arrangement> arrange(const Problem& problem, int role, Operand order, unsigned copied, double most) {
  Arrangement found;
  found.problem = problem;
  for (int other = 0; other < kRoles; ++other) {
    DimGroup& group = found.problem.*kGroups[other];
    group = in_order_of(group, other == role ? order : largest_with(problem, other));
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
  bring_in_order(found.problem);
  found.cost += cost_as_it_lies(found.problem);
  if (found.cost > most) return std::nullopt;
  return found;
}

// Where a dimension is.
struct Place {
  int role, dim;
};

// That of which the elements lie so far apart in an operand.
std::optional<Place> find_step(const Problem& problem, Operand operand, int64_t step) {
  for (const int role : {kBatch, kRows, kColumns}) {
    const DimGroup& group = problem.*kGroups[role];
    for (int d = 0; has(operand, role) && d < group.rank; ++d)
      if (group.dims[d].strides[operand] == step) return Place{role, d};
  }
  return std::nullopt;
}

// The problem with the dimensions of C that lie next to each other in an operand, at least so many elements if there
// are, as ones of the batch: the operands that lack them are to be stretched along them by a copy.
std::optional<Problem> stretch(const Problem& problem, Operand operand) {
  Problem stretched = problem;
  bool changes = false;
  int64_t reach = 1;
  while (reach < kStretched) {
    const auto place = find_step(stretched, operand, reach);
    if (!place) break;
    reach *= (stretched.*kGroups[place->role]).dims[place->dim].size;
    if (place->role == kBatch) continue;
    stretched.batch.add(take(stretched.*kGroups[place->role], place->dim));
    changes = true;
  }
  if (!changes) return std::nullopt;
  return stretched;
}

// The quickest one, if that takes at most so long.
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
    const auto stretched = stretch(problem, order);
    if (!stretched) continue;
    const DimGroup batch = in_order_of(stretched->batch, order);
    unsigned copied = 0;
    for (const Operand operand : {kA, kB, kC})
      if (run_of(batch, operand) < std::min(batch.count, kStretched)) copied |= 1U << operand;
    if (copied > 0) consider(*stretched, kBatch, order, copied);
  }
  return best;
}

class Rearranged final : public Solution {
 public:
  Rearranged(Arrangement arrangement, SolveAsItLies solve)
      : dtype_(arrangement.problem.dtype),
        size_(item_size(dtype_)),
        copies_(std::move(arrangement.copies)),
        rest_(solve(arrangement.problem)) {
    for (const Copy& copy : copies_) bytes_ += round_up(copy.count * size_, kLine);
  }

  of_status run(const Addresses& addresses) const override {
    const Scratch memory(bytes_);
    auto* to = static_cast<char*>(memory.data());
    if (to == nullptr) return no_working_memory();
    Addresses rearranged = addresses;
    for (const Copy& copy : copies_) {
      if (copy.operand == kC)
        rearranged.c = to;
      else
        copy.run(addresses.operands[copy.operand], to, dtype_);
      rearranged.operands[copy.operand] = to;
      to += round_up(copy.count * size_, kLine);
    }
    const of_status status = rest_.run(rearranged);
    if (status == OF_OK && rearranged.c != addresses.c) copies_.back().run(rearranged.c, addresses.c, dtype_);
    return status;
  }

 private:
  static constexpr int64_t kLine = 64;

  const of_dtype dtype_;
  const int64_t size_;
  const std::vector<Copy> copies_;
  const Solved rest_;
  int64_t bytes_ = 0;
};

std::unique_ptr<Solution> rearrange(const Problem& problem, double most, SolveAsItLies solve) {
  auto arrangement = find_arrangement(problem, most);
  return arrangement ? std::make_unique<Rearranged>(std::move(*arrangement), solve) : nullptr;
}

}  // namespace

std::unique_ptr<Solution> solve_rearranged(const Problem& problem, SolveAsItLies solve) {
  if (!problem.is_plain() || problem.depth.count == 0) return nullptr;
  if (problem.batch.count * problem.rows.count * problem.columns.count < kLeastWork / problem.depth.count)
    return nullptr;
  const int rank = problem.batch.rank + problem.rows.rank + problem.columns.rank + problem.depth.rank;
  if (rank > OF_MAX_RANK || fits_vectors(problem)) return nullptr;
  // Dots convert what they copy.
  if (!computes_in_itself(problem.dtype) && std::min(problem.rows.count, problem.columns.count) <= kThin)
    return nullptr;
  const double most = kWorth * cost_as_it_lies(problem);
  if (most < least_cost(problem) + kCopying) return nullptr;
  if (auto whole = rearrange(problem, most, solve)) return whole;
  const auto parts = find_parts(problem, kPartBytes);
  if (!parts) return nullptr;
  auto part = rearrange(parts->part, most * parts->share() - parts->cost, solve);
  return part ? solve_parts(*parts, std::move(part)) : nullptr;
}

}  // namespace oneflow::cpu
