#include "contract/rewrite/converted.h"

#include <algorithm>
#include <vector>

#include "contract/direct/direct.h"
#include "contract/kernels.h"
#include "simd/convert.h"
#include "simd/element.h"
#include "threads/scratch.h"
#include "threads/thread_pool.h"

namespace oneflow::cpu {
namespace {

// The most elements of all operands: converted, they fill the 4 MiB that working memory may have.
constexpr int64_t kMostElements = 1 << 20;
// The multiplications of one batch item from which on packed panels of pairs of bfloat16 are faster.
constexpr int64_t kWorthPairs = 32 * 32 * 32;
// The elements that one task converts.
constexpr int64_t kTaskElements = 1 << 15;

// Returns the number of elements of an operand that occupies its memory without gaps, with its dimensions in any order;
// 0 for other operands.
int64_t dense_count(const Problem& problem, Operand operand) {
  std::vector<Dim> dims;
  for (const DimGroup* group : {&problem.batch, &problem.rows, &problem.columns, &problem.depth})
    for (int d = 0; d < group->rank; ++d)
      if (group->dims[d].strides[operand] != 0) dims.push_back(group->dims[d]);
  std::sort(dims.begin(), dims.end(),
            [&](const Dim& x, const Dim& y) { return x.strides[operand] < y.strides[operand]; });
  int64_t count = 1;
  for (const Dim& dim : dims) {
    if (dim.strides[operand] != count || dim.size > kMostElements) return 0;
    count *= dim.size;
    if (count > kMostElements) return 0;
  }
  return count;
}

// Converts `count` contiguous elements, in parallel.
void convert_all(Convert convert, const char* from, int64_t from_size, char* to, int64_t to_size, int64_t count) {
  const int64_t tasks = divide_up(count, kTaskElements);
  parallel_for(tasks, [&](int64_t task) {
    const int64_t first = task * kTaskElements;
    convert(from + first * from_size, to + first * to_size, std::min(kTaskElements, count - first));
  });
}

// Runs the solution for the compute type on converted copies.
class Converted final : public Solution {
 public:
  Converted(of_dtype dtype, of_dtype wide, const int64_t (&counts)[3], std::unique_ptr<Solution> solution)
      : size_(item_size(dtype)),
        wide_size_(item_size(wide)),
        widen_(find_conversion(dtype, wide)),
        narrow_(find_conversion(wide, dtype)),
        counts_{counts[kA], counts[kB], counts[kC]},
        solution_(std::move(solution)) {}

  of_status run(const Addresses& addresses) const override {
    constexpr int64_t kLine = 16;  // elements; operands that start at multiples of it share no cache line
    const int64_t b_start = round_up(counts_[kA], kLine);
    const int64_t starts[] = {0, b_start, b_start + round_up(counts_[kB], kLine)};
    const Scratch memory((starts[kC] + counts_[kC]) * wide_size_);
    auto* wide = static_cast<char*>(memory.data());
    if (wide == nullptr) return no_working_memory();
    Addresses converted{};
    for (const Operand operand : {kA, kB}) {
      char* to = wide + starts[operand] * wide_size_;
      convert_all(widen_, addresses.operands[operand], size_, to, wide_size_, counts_[operand]);
      converted.operands[operand] = to;
    }
    converted.c = wide + starts[kC] * wide_size_;
    converted.operands[kC] = converted.c;
    const of_status status = solution_->run(converted);
    if (status == OF_OK) convert_all(narrow_, converted.c, wide_size_, addresses.c, size_, counts_[kC]);
    return status;
  }

 private:
  const int64_t size_, wide_size_;
  const Convert widen_, narrow_;
  const int64_t counts_[3];
  const std::unique_ptr<Solution> solution_;  // for the compute type
};

// Finds the numbers of elements of A, B and C. Returns false where converting them does not pay.
bool count_elements(const Problem& problem, int64_t (&counts)[3]) {
  const ContractKernels& kernels = contract_kernels(problem.dtype);
  // Sums of bool are counts: converting them to one byte could make a nonzero count false.
  if (!problem.is_plain() || problem.dtype == OF_BOOL || computes_in_itself(problem.dtype)) return false;
  const int64_t c_count = problem.rows.count * problem.columns.count;
  if (kernels.depths_per_element > 1 && c_count >= divide_up(kWorthPairs, std::max<int64_t>(1, problem.depth.count)))
    return false;
  int64_t all = 0;
  for (const Operand operand : {kA, kB, kC}) {
    counts[operand] = dense_count(problem, operand);
    all += counts[operand];
    if (counts[operand] == 0 || all > kMostElements) return false;
  }
  return true;
}

// Returns the problem for the compute type.
Problem widened(const Problem& problem) {
  Problem wide = problem;
  wide.dtype = contract_kernels(problem.dtype).dtype;
  return wide;
}

}  // namespace

void offer_converted(const Work& work, Chooser& chooser) {
  const Problem& problem = work.problem;
  int64_t counts[3];
  if (!count_elements(problem, counts)) return;
  const Problem wide = widened(problem);
  chooser.offer([&] { return cost_by(offer_directly, Work(wide)); },
                [&]() -> std::unique_ptr<Solution> {
                  auto solution = solve_by(offer_directly, wide);
                  if (!solution) return nullptr;
                  return std::make_unique<Converted>(problem.dtype, wide.dtype, counts, std::move(solution));
                });
}

}  // namespace oneflow::cpu
