#include "contract/direct/direct.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "contract/direct/dots.h"
#include "contract/direct/lines.h"
#include "contract/direct/small.h"
#include "contract/kernels.h"
#include "contract/offset_blocks.h"
#include "contract/rewrite/copied.h"
#include "contract/rewrite/long.h"
#include "simd/element.h"
#include "simd/non_temporal.h"
#include "threads/thread_pool.h"

namespace oneflow::cpu {
namespace {

// Elements along the vectorised dimension of one task, with a sum and without one: a few kilobytes, which stay in the
// first-level cache.
constexpr int64_t kTaskSums = 512, kTaskProducts = 4096;
// The widest square of sums that is transposed in registers: the elements of the widest vector.
constexpr int64_t kMaxSquare = 16;
// The least length of a single dot product for which it is faster than permuting one vector.
constexpr int64_t kMinDotLength = 4;
// A tall and skinny product is computed several rows at a time within a vector register up to this size of its short
// side and of its depth. With a short side of 2, for which other kernels are slow, a deeper sum still pays.
constexpr int64_t kMaxSkinny = 4;
// A dimension of fewer than kMinVector elements is not worth vectorising along. A product of at least kMinCopiedWork
// multiplications that can be computed as dot products of copied rows and columns needs kMinWideVector elements.
constexpr int64_t kMinVector = 3, kMinWideVector = 8, kMinCopiedWork = 8192;
// The most multiplications of one product of the batch that are computed one by one where no dimension can be
// vectorised: packing would take longer.
constexpr int64_t kMaxScalarWork = 256;
// The most multiplications of one product of the batch for which it counts as tiny.
constexpr int64_t kMaxTinyWork = 16 * 16 * 16;
// The least size of a batch dimension that kernels vectorise along; it is contiguous in A, B and C.
constexpr int64_t kMinBatchVector = 8;

// The factor of the cost of vectors along the batch where both operands are read repeatedly from a second-level cache
// or memory.
constexpr double kRereadFactor = 3;
// The factor for vectors along a dimension that is strided in C, whose squares are transposed in registers: they have
// one vector of sums at a time, so that each addition waits for the one before. It is larger where large operands are
// read from as many memory pages as the depth has indices. And the cost of transposing an element.
constexpr double kTransposedFactor = 3, kTransposedDeepFactor = 5, kTransposeElement = 0.3;
constexpr int64_t kManyPages = 16;
// The rows that are multiplied by the same factors at a time, and the sums that are added to at a time.
constexpr double kSharedRows = 8, kSumsAtATime = 2;
// The factor for vectors of every second element. The kernel always computes kSharedRows rows.
constexpr double kSecondFactor = 3;
// The cost of a product within registers, and of each step of its depth.
constexpr double kRegisterProduct = 3.2, kRegisterStep = 0.6;
// The overhead of each contiguous run of C of sums.
constexpr double kSumRunOverhead = 8;

bool is_tiny(const Problem& problem) {
  return problem.rows.count * problem.columns.count <= kMaxTinyWork / problem.depth.count;
}

// Returns whether C is contiguous along a dimension, one of A and B broadcast, and of the other every second element is
// read, as by a convolution with a stride of 2, and there are kernels for it.
bool reads_every_second(const Dim& dim, const ContractKernels& kernels) {
  const int64_t a = dim.strides[kA], b = dim.strides[kB];
  return kernels.reads_every_second && dim.strides[kC] == 1 && std::min(a, b) == 0 && std::max(a, b) == 2;
}

// Returns whether vectors of A and B can be loaded along a dimension: they are contiguous or broadcast, and at least
// one of them is contiguous, or reads_every_second() holds.
bool is_vectorisable(const Dim& dim, const ContractKernels& kernels) {
  const int64_t a = dim.strides[kA], b = dim.strides[kB];
  return ((a == 0 || a == 1) && (b == 0 || b == 1) && a + b > 0) || reads_every_second(dim, kernels);
}

// Returns the dimension of C to vectorise along, or -1 where there is none. A dimension that is contiguous in C, too,
// is preferred, then the longest.
int choose_vector_dim(const DimGroup& dims_of_c, const ContractKernels& kernels) {
  int best = -1;
  const auto rank_of = [&](int d) { return std::pair(dims_of_c.dims[d].strides[kC] == 1, dims_of_c.dims[d].size); };
  for (int d = 0; d < dims_of_c.rank; ++d)
    if (is_vectorisable(dims_of_c.dims[d], kernels) && (best < 0 || rank_of(d) > rank_of(best))) best = d;
  return best;
}

// Returns whether a dimension of the batch is long, and contiguous in A, B and C.
bool is_contiguous_batch(const Dim& dim) {
  return dim.size >= kMinBatchVector && dim.strides[kA] == 1 && dim.strides[kB] == 1 && dim.strides[kC] == 1;
}

// Returns such a dimension, or -1 where there is none.
int find_contiguous_batch(const Problem& problem) {
  const DimGroup& batch = problem.batch;
  const auto found = std::find_if(batch.dims, batch.dims + batch.rank, is_contiguous_batch);
  return found == batch.dims + batch.rank ? -1 : static_cast<int>(found - batch.dims);
}

constexpr Dim kNoDim{1, {0, 0, 0, 0}};

// Removes and returns the dimension i of a ContiguousProduct that is vectorised along j: where j is strided in C, the
// one that is contiguous there, so that squares of both can be transposed; otherwise the innermost one.
Dim take_row_dim(DimGroup& dims_of_c, const Dim& j) {
  if (dims_of_c.rank == 0) return kNoDim;
  for (int d = 0; j.strides[kC] != 1 && d < dims_of_c.rank; ++d)
    if (dims_of_c.dims[d].strides[kC] == 1) return take(dims_of_c, d);
  return take(dims_of_c, dims_of_c.rank - 1);
}

// Returns the number of elements from the first to the last one that groups of dimensions span in an operand, INT64_MAX
// where a stride is negative.
int64_t span_of(std::initializer_list<const DimGroup*> groups, Operand operand) {
  int64_t span = 1;
  for (const DimGroup* group : groups) {
    for (int d = 0; d < group->rank; ++d) {
      if (group->dims[d].strides[operand] < 0) return INT64_MAX;
      span += (group->dims[d].size - 1) * group->dims[d].strides[operand];
    }
  }
  return span;
}

// A batch of products whose operands A, B and C each fit into one vector register.
class RegisterProducts final : public Solution {
 public:
  static bool takes(const Problem& problem, const ContractKernels& kernels) {
    return kernels.register_product != nullptr && problem.depth.count <= RegisterProduct::kMostDepth &&
           span_of({&problem.rows, &problem.depth}, kA) <= kernels.lane_count &&
           span_of({&problem.columns, &problem.depth}, kB) <= kernels.lane_count &&
           span_of({&problem.rows, &problem.columns}, kC) <= kernels.lane_count;
  }

  RegisterProducts(const Problem& problem, const ContractKernels& kernels) : kernels_(kernels), batch_(problem.batch) {
    const auto rows_a = all_offsets(problem.rows, kA), rows_c = all_offsets(problem.rows, kC);
    const auto columns_b = all_offsets(problem.columns, kB), columns_c = all_offsets(problem.columns, kC);
    const auto depth_a = all_offsets(problem.depth, kA), depth_b = all_offsets(problem.depth, kB);
    const size_t lanes = static_cast<size_t>(kernels.lane_count);
    permutation_a_.resize(depth_a.size() * lanes);
    permutation_b_.resize(depth_a.size() * lanes);
    for (size_t p = 0; p < depth_a.size(); ++p) {
      for (size_t i = 0; i < rows_a.size(); ++i) {
        for (size_t j = 0; j < columns_b.size(); ++j) {
          const auto lane = static_cast<size_t>(rows_c[i] + columns_c[j]);
          const int64_t a = rows_a[i] + depth_a[p], b = columns_b[j] + depth_b[p];
          permutation_a_[p * lanes + lane] = static_cast<int32_t>(a);
          permutation_b_[p * lanes + lane] = static_cast<int32_t>(b);
          common_.mask_a |= uint32_t{1} << a;
          common_.mask_b |= uint32_t{1} << b;
          common_.mask_c |= uint32_t{1} << lane;
        }
      }
    }
    common_.depth = problem.depth.count;
    common_.permutation_a = permutation_a_.data();
    common_.permutation_b = permutation_b_.data();
  }

  of_status run(const Addresses& addresses) const override {
    RegisterProduct product = common_;
    product.a = addresses.operands[kA];
    product.b = addresses.operands[kB];
    product.c = addresses.c;
    if (batch_.count == 1) {
      static constexpr int64_t kZero = 0;
      product.count = 1;
      product.offsets_a = product.offsets_b = product.offsets_c = &kZero;
      kernels_.register_product(product);
      return OF_OK;
    }
    for_each_offset_block(batch_, kernels_.lane_count * common_.depth,
                          [&](int64_t count, const int64_t(*offsets)[kOffsetBlock]) {
                            RegisterProduct part = product;
                            part.count = count;
                            part.offsets_a = offsets[kA];
                            part.offsets_b = offsets[kB];
                            part.offsets_c = offsets[kC];
                            kernels_.register_product(part);
                          });
    return OF_OK;
  }

 private:
  const ContractKernels& kernels_;
  const DimGroup batch_;
  std::vector<int32_t> permutation_a_, permutation_b_;
  RegisterProduct common_{};
};

// A product that is vectorised along j, one of the dimensions of C; the kernel also walks a second one, i, and the
// offsets of all others, n. Without a dimension to vectorise along, j is kNoDim.
class ContiguousProducts final : public Solution {
 public:
  // `others` has the dimensions of C without j.
  ContiguousProducts(const Problem& problem, const ContractKernels& kernels, DimGroup others, const Dim& j)
      : kernels_(kernels), j_(j), i_(take_row_dim(others, j)), n_(others) {
    const int64_t depth = problem.depth.count;
    depth_a_ = all_offsets(problem.depth, kA);
    depth_b_ = all_offsets(problem.depth, kB);
    // Where C is transposed, a task has all of j and a few squares along i, so that it reads whole rows of A and B.
    const bool transposes = j.strides[kC] != 1 && i_.strides[kC] == 1 && j.size >= kMaxSquare;
    j_tasks_ = transposes ? 1 : divide_up(j.size, depth > 1 ? kTaskSums : kTaskProducts);
    task_j_ = divide_up(j.size, j_tasks_);
    const int64_t square_row_work = kMaxSquare * j.size * depth;
    const int64_t squares = std::max(divide_up(kTaskWork, square_row_work), divide_up(i_.size, 16 * kMaxSquare));
    // Two indices i that multiply the same vectors belong to one task, as the kernel then reads the vectors once.
    const bool shares_vectors =
        (j.strides[kB] == 0 && i_.strides[kA] == 0) || (j.strides[kA] == 0 && i_.strides[kB] == 0);
    const int64_t least = shares_vectors && i_.size > 1 ? 2 : 1;
    task_i_ = transposes ? squares * kMaxSquare : std::clamp<int64_t>(kTaskWork / (task_j_ * depth), least, i_.size);
    i_tasks_ = divide_up(i_.size, task_i_);
    const int64_t c_bytes = j.size * i_.size * n_.count * kernels.size;
    common_.streams =
        transposes ? c_bytes >= non_temporal_tile_bytes() / 2 : j.strides[kC] == 1 && c_bytes >= non_temporal_bytes();
    const int64_t work_per_n = std::max<int64_t>(1, task_j_ * task_i_ * depth);
    task_n_ = std::clamp<int64_t>(kTaskWork / work_per_n, 1, kOffsetBlock);
    n_tasks_ = divide_up(n_.count, task_n_);
    common_.j_strides = {j.strides[kA], j.strides[kB], j.strides[kC]};
    common_.i_strides = {i_.strides[kA], i_.strides[kB], i_.strides[kC]};
    common_.depth = depth;
    common_.depth_a = depth_a_.data();
    common_.depth_b = depth_b_.data();
    if (tasks() > 1) return;
    for (const Operand operand : {kA, kB, kC}) only_offsets_[operand] = all_offsets(n_, operand);
  }

  of_status run(const Addresses& addresses) const override {
    if (tasks() == 1) {
      run_task(addresses, 0, 0, n_.count, only_offsets_[kA].data(), only_offsets_[kB].data(), only_offsets_[kC].data());
      return OF_OK;
    }
    parallel_for(tasks(), [&](int64_t task) {
      const int64_t first_n = task % n_tasks_ * task_n_;
      const int64_t count = std::min(task_n_, n_.count - first_n);
      int64_t offsets[3][kOffsetBlock];
      for (const Operand operand : {kA, kB, kC}) fill_offsets(n_, operand, first_n, count, offsets[operand]);
      const int64_t block = task / n_tasks_;
      run_task(addresses, block / i_tasks_ * task_j_, block % i_tasks_ * task_i_, count, offsets[kA], offsets[kB],
               offsets[kC]);
    });
    return OF_OK;
  }

 private:
  int64_t tasks() const { return j_tasks_ * i_tasks_ * n_tasks_; }

  void run_task(const Addresses& addresses, int64_t first_j, int64_t first_i, int64_t count, const int64_t* offsets_a,
                const int64_t* offsets_b, const int64_t* offsets_c) const {
    ContiguousProduct product = common_;
    product.j_count = std::min(task_j_, j_.size - first_j);
    product.i_count = std::min(task_i_, i_.size - first_i);
    product.count = count;
    product.offsets_a = offsets_a;
    product.offsets_b = offsets_b;
    product.offsets_c = offsets_c;
    const auto offset = [&](Operand operand) {
      return (first_j * j_.strides[operand] + first_i * i_.strides[operand]) * kernels_.size;
    };
    product.a = addresses.operands[kA] + offset(kA);
    product.b = addresses.operands[kB] + offset(kB);
    product.c = addresses.c + offset(kC);
    kernels_.contiguous_product(product);
    if (product.streams) end_non_temporal();
  }

  const ContractKernels& kernels_;
  const Dim j_, i_;
  const DimGroup n_;
  int64_t j_tasks_, task_j_, i_tasks_, task_i_, n_tasks_, task_n_;  // numbers of tasks, and their sizes
  std::vector<int64_t> depth_a_, depth_b_;
  std::vector<int64_t> only_offsets_[3];  // of n, where there is one task
  ContiguousProduct common_{};            // what all tasks share
};

// Returns the batch of products within vector registers that a problem is. A tall and skinny product becomes one: its
// long side is split into blocks of as many rows (or columns) as fit into a register.
std::optional<Problem> find_register_products(const Problem& problem, const ContractKernels& kernels) {
  if (RegisterProducts::takes(problem, kernels)) return problem;
  const int64_t few = std::min(problem.rows.count, problem.columns.count);
  if (few > kMaxSkinny || problem.depth.count > (few == kThin ? kernels.lane_count / 2 : kMaxSkinny))
    return std::nullopt;
  if (problem.batch.rank == DimGroup::kMaximum) return std::nullopt;
  const bool is_in_rows = problem.rows.count >= problem.columns.count;
  const DimGroup& side = is_in_rows ? problem.rows : problem.columns;
  if (side.rank == 0) return std::nullopt;
  const Dim dim = side.dims[side.rank - 1];
  for (int64_t block = std::min(dim.size - 1, kernels.lane_count); block > 0; --block) {
    if (dim.size % block != 0) continue;
    Problem split = problem;
    DimGroup& rest = is_in_rows ? split.rows : split.columns;
    Dim outer = dim;
    outer.size = dim.size / block;
    for (int64_t& stride : outer.strides) stride *= block;
    rest.resize(rest.rank - 1, block);
    split.batch.add(outer);
    if (RegisterProducts::takes(split, kernels)) return split;
  }
  return std::nullopt;
}

// Returns whether C has a contiguous dimension for squares to be transposed into.
bool has_runs_of_squares(const Problem& problem) {
  const DimGroup dims = dims_of_c(problem);
  return std::any_of(dims.dims, dims.dims + dims.rank,
                     [](const Dim& dim) { return dim.strides[kC] == 1 && dim.size >= kMaxSquare; });
}

// Returns how many rows of C are multiplied by the same factors, or the same vectors, at a time.
double rows_at_a_time(const Dim& dim, const DimGroup& others) {
  DimGroup rest = others;
  const Dim row = take_row_dim(rest, dim);
  const Operand vectors = dim.strides[kA] == 0 ? kB : kA, factors = vectors == kA ? kB : kA;
  const double most = row.strides[factors] == 0 ? kSharedRows : row.strides[vectors] == 0 ? 2 : 1;
  return std::min(static_cast<double>(row.size), most);
}

// Returns the factor of sums that are so few at a time that each addition waits for the one before.
double waiting_factor(const Work& work, const Dim& dim, const DimGroup& others) {
  if (work.problem.depth.count == 1) return 1;
  const auto vectors = static_cast<double>(work.steps_of(dim.size));
  return std::max(1.0, kSumsAtATime / (vectors * rows_at_a_time(dim, others)));
}

// Returns the cost of products that are vectorised along a dimension of C; `others` are the other ones.
double cost_along(const Work& work, int role, const Dim& dim, const DimGroup& others) {
  const Problem& problem = work.problem;
  if (reads_every_second(dim, work.kernels))
    return work.along(role, dim.size, kRunOverhead) * kSecondFactor * kSharedRows / rows_at_a_time(dim, others);
  const double reread = role == kBatch && work.min_side > kThin && work.exceeds_l1 ? kRereadFactor : 1;
  const double overhead = problem.depth.count > 1 ? kSumRunOverhead : kRunOverhead;
  const double vectors = work.along(role, dim.size, overhead) * reread * waiting_factor(work, dim, others);
  if (dim.strides[kC] == 1) return vectors;
  if (problem.depth.count == 1 || dim.size < kMaxSquare || !has_runs_of_squares(problem))
    return vectors + work.elements[kC] * kStridedStore;
  const bool is_deep = work.exceeds_l2 && problem.depth.count >= kManyPages;
  return vectors * (is_deep ? kTransposedDeepFactor : kTransposedFactor) + work.elements[kC] * kTransposeElement;
}

// Returns the role of a dimension of dims_of_c().
int role_of(const Problem& problem, int position) {
  if (position < problem.batch.rank) return kBatch;
  return position < problem.batch.rank + problem.rows.rank ? kRows : kColumns;
}

void offer_in_registers(const Work& work, Chooser& chooser) {
  const Problem& problem = work.problem;
  if (find_contiguous_batch(problem) >= 0) return;
  const int64_t elements = problem.rows.count * problem.columns.count;
  if (has_unit_depth(problem) && elements == 1 && problem.depth.count >= kMinDotLength) return;
  const auto products = find_register_products(problem, work.kernels);
  if (!products) return;
  chooser.offer(
      [&] {
        const double each = kRegisterProduct + kRegisterStep * static_cast<double>(products->depth.count);
        return each * static_cast<double>(products->batch.count);
      },
      [&] { return std::make_unique<RegisterProducts>(*products, work.kernels); });
}

void offer_along_batch(const Work& work, Chooser& chooser) {
  const int batch = find_contiguous_batch(work.problem);
  if (batch < 0) return;
  DimGroup others = dims_of_c(work.problem);  // those of the batch come first
  const Dim j = take(others, batch);
  chooser.offer([&] { return cost_along(work, kBatch, j, others); },
                [&] { return std::make_unique<ContiguousProducts>(work.problem, work.kernels, others, j); });
}

// Takes thin and tiny problems, unless vectors would be too short.
void offer_along_one(const Work& work, Chooser& chooser) {
  const Problem& problem = work.problem;
  const int64_t depth = problem.depth.count, elements = problem.rows.count * problem.columns.count;
  const bool tiny = is_tiny(problem);
  if (!work.is_thin() && !tiny) return;
  DimGroup others = dims_of_c(problem);
  const int position = choose_vector_dim(others, work.kernels);
  const int64_t size = position < 0 ? 1 : others.dims[position].size;
  if (size < (depth * elements < kMinCopiedWork ? kMinVector : kMinWideVector) && has_few_dots(work)) return;
  if (position < 0 && depth > 1 && elements > kMaxScalarWork / depth) return;
  if (!tiny && depth > 1 && size < kMinVector) return;
  const Dim j = position < 0 ? kNoDim : take(others, position);
  chooser.offer(
      [&] {
        if (position < 0) return work.multiplications * kScalar;
        return cost_along(work, role_of(problem, position), j, others);
      },
      [&] { return std::make_unique<ContiguousProducts>(problem, work.kernels, others, j); });
}

}  // namespace

bool fits_registers(const Problem& problem) {
  if (problem.depth.count < 2 || std::min(problem.rows.count, problem.columns.count) < 2) return false;
  return find_register_products(problem, contract_kernels(problem.dtype)).has_value();
}

void offer_in_place(const Work& work, Chooser& chooser) {
  if (!work.problem.is_plain() || work.problem.depth.count == 0) return;
  if (!computes_in_itself(work.problem.dtype)) return offer_copied_dots(work, chooser);
  ask({offer_lines, offer_in_registers, offer_pair_dots, offer_interleaved_dots, offer_small, offer_dots,
       offer_along_batch, offer_along_one, offer_copied_dots},
      work, chooser);
}

void offer_directly(const Work& work, Chooser& chooser) {
  // Pieces of the depth stay in the caches. Costs do not count this, so that it is not left to them.
  const bool is_cut = cost_by(offer_lines, work) == INFINITY && cost_by(offer_pieces, work) < INFINITY;
  is_cut ? offer_pieces(work, chooser) : ask({offer_in_place, offer_copy}, work, chooser);
}

}  // namespace oneflow::cpu
