#include "contraction.h"

#include <algorithm>

#include "entries.h"
#include "space.h"

namespace oneflow::grid {
namespace {

constexpr uint32_t kItems = 256;
constexpr int64_t kTarget = 256;         // groups that keep a device busy
constexpr int64_t kMostSums = 64 << 20;  // the most bytes of scratch memory for partial sums

of_contract_dims dims_of(const Role& role, const Pieces& pieces) {
  const of_space& space = pieces.space();
  of_contract_dims dims{};
  dims.count = space.count;
  dims.rank = std::max(space.rank, 1);
  dims.sizes[0] = 1;
  const of_strides a = pieces.strides(role.strides[kA]), b = pieces.strides(role.strides[kB]);
  const of_strides c = pieces.strides(role.strides[kC]);
  for (int32_t d = 0; d < space.rank; ++d) {
    dims.sizes[d] = space.sizes[d];
    dims.multipliers[d] = space.multipliers[d];
    dims.shifts[d] = space.shifts[d];
    dims.a[d] = a.dims[d];
    dims.b[d] = b.dims[d];
    dims.c[d] = c.dims[d];
  }
  return dims;
}

// A problem that is computed in chunks.
class ChunkedProblem {
 public:
  ChunkedProblem(const Problem& problem, const of_kernel_context& context, Multiplier& multiplier)
      : problem_(problem), context_(context), multiplier_(multiplier), limits_(multiplier.limits()) {}

  of_status run() {
    const int64_t results = problem_.result_count(), depth = problem_.depth.count;
    if (results == 0) return OF_OK;
    if (depth == 0) return finish(problem_, context_, problem_, 0);
    const bool is_one_piece = problem_.depth.rank <= OF_CONTRACT_RANK && depth <= limits_.depth;
    if (is_one_piece) {
      const int64_t most = std::max<int64_t>(1, kMostSums / (results * item_size(problem_.type)));
      const int64_t parts = std::clamp<int64_t>(multiplier_.parts(problem_), 1, most);
      part_depth_ = divide_up(depth, parts);
      parts_ = static_cast<uint32_t>(divide_up(depth, part_depth_));
    }
    // Sums over several pieces of the depth are kept in the type of sums, to be rounded once, when they are complete.
    const bool adds_up = !is_one_piece && item_size(problem_.dtype) < 4;
    if (problem_.is_plain() && parts_ == 1 && !adds_up) return multiply(problem_);
    Scratch memory(context_);
    const uint64_t bytes = static_cast<uint64_t>(parts_ * results) * item_size(problem_.type);
    if (const of_status status = memory.allocate(bytes); status != OF_OK) return status;
    const Problem sums = sums_of(problem_, memory.data());
    const of_status status = multiply(sums);
    return status == OF_OK ? finish(problem_, context_, sums, parts_) : status;
  }

 private:
  static Pieces pieces_of(const Role& role, int64_t most) { return {role.rank, role.sizes, {OF_CONTRACT_RANK, most}}; }

  // Computes the products of `target`: the problem itself, or the plain sums of it.
  of_status multiply(const Problem& target) {
    of_status status = OF_OK;
    Pieces depth = pieces_of(target.depth, limits_.depth);
    do {
      status = multiply_depth(target, dims_of(target.depth, depth), depth.offset(target.depth.strides[kA]),
                              depth.offset(target.depth.strides[kB]));
      is_first_ = false;
    } while (status == OF_OK && depth.next());
    return status;
  }

  of_status multiply_depth(const Problem& target, const of_contract_dims& depth, int64_t a_depth, int64_t b_depth) {
    const Role &batches = target.batch, &all_rows = target.rows, &all_columns = target.columns;
    const int64_t item = item_size(target.dtype), c_item = item_size(target.result_dtype());
    Chunk chunk;
    chunk.depth = depth;
    chunk.is_sums = target.is_sums;
    chunk.accumulate = !is_first_;
    chunk.parts = parts_;
    chunk.part_depth = parts_ == 1 ? depth.count : static_cast<uint32_t>(part_depth_);
    chunk.part_step = target.result_count();
    of_status status = OF_OK;
    Pieces batch = pieces_of(batches, limits_.batch);
    do {
      chunk.batch = dims_of(batches, batch);
      Pieces rows = pieces_of(all_rows, limits_.rows);
      do {
        chunk.rows = dims_of(all_rows, rows);
        Pieces columns = pieces_of(all_columns, limits_.columns);
        do {
          chunk.columns = dims_of(all_columns, columns);
          const auto offset = [&](Side side) {
            return batch.offset(batches.strides[side]) + rows.offset(all_rows.strides[side]) +
                   columns.offset(all_columns.strides[side]);
          };
          chunk.a = target.operands[kA] + (a_depth + offset(kA)) * item;
          chunk.b = target.operands[kB] + (b_depth + offset(kB)) * item;
          chunk.c = const_cast<char*>(target.operands[kC]) + offset(kC) * c_item;
          status = multiplier_.multiply(context_, chunk);
        } while (status == OF_OK && columns.next());
      } while (status == OF_OK && rows.next());
    } while (status == OF_OK && batch.next());
    return status;
  }

  const Problem& problem_;
  const of_kernel_context& context_;
  Multiplier& multiplier_;
  const Multiplier::Limits limits_;
  uint32_t parts_ = 1;
  int64_t part_depth_ = 0;
  bool is_first_ = true;
};

// Multiplies by tiles in group-shared memory; where rows or columns are few or the depth is short, by dot products.
class Lockstep : public Multiplier {
 public:
  explicit Lockstep(const Problem& problem)
      : dtype_(problem.dtype), rows_(problem.rows.count), columns_(problem.columns.count) {
    is_thin_ = std::min(rows_, columns_) < 16 || problem.depth.count < 4;
    a_along_depth_ = problem.depth.step(kA) < problem.rows.step(kA);
    b_along_depth_ = problem.depth.step(kB) < problem.columns.step(kB);
  }

  // Keeps a launch below 2^31 groups and, with dot products, below 2^31 results.
  Limits limits() const override {
    constexpr int64_t kMost = int64_t{1} << 30;
    const int64_t unit = is_thin_ ? 1 : kTile;
    const int64_t rows = std::min<int64_t>(rows_, is_thin_ ? 1 << 10 : kTile << 11);
    const int64_t columns = std::min<int64_t>(columns_, is_thin_ ? 1 << 20 : kTile << 11);
    return {kMost / (divide_up(rows, unit) * divide_up(columns, unit)), rows, columns, kMost};
  }

  uint32_t parts(const Problem& problem) const override {
    const int64_t rows = divide_up(problem.rows.count, kTile), columns = divide_up(problem.columns.count, kTile);
    const int64_t groups =
        is_thin_ ? divide_up(problem.result_count() * lanes(problem.result_count(), problem.depth.count), kItems)
                 : problem.batch.count * rows * columns;
    const int64_t shortest = is_thin_ ? 16 * kItems : 256;  // the least depth of a part
    return static_cast<uint32_t>(std::clamp<int64_t>(kTarget / std::max<int64_t>(groups, 1), 1,
                                                     std::max<int64_t>(1, problem.depth.count / shortest)));
  }

  of_status multiply(const of_kernel_context& context, const Chunk& chunk) override {
    Arguments arguments;
    chunk.add_to(arguments);
    if (!is_thin_) {
      arguments.value(a_along_depth_);
      arguments.value(b_along_depth_);
      const uint32_t groups = chunk.parts * chunk.batch.count * groups_for(chunk.rows.count, kTile) *
                              groups_for(chunk.columns.count, kTile);
      return launch(context, contraction_tiles()[dtype_], {.groups = groups, .items = kTileItems}, arguments);
    }
    const uint32_t lanes = this->lanes(chunk.result_count(), chunk.depth.count);
    const int32_t along_depth = chunk.columns.count >= chunk.rows.count ? b_along_depth_ : a_along_depth_;
    arguments.value(lanes);
    arguments.value(along_depth);
    const uint32_t groups = chunk.parts * groups_for(chunk.result_count(), kItems / lanes);
    return launch(context, contraction_dots()[dtype_], {.groups = groups, .items = kItems}, arguments);
  }

 private:
  static constexpr uint32_t kTile = 64, kTileItems = 64;  // as in programs/contraction_tiles.h

  // Returns how many work-items add up one result: more where the depth is long or results are few.
  uint32_t lanes(int64_t results, int64_t depth) const {
    uint32_t lanes = 1;
    const bool reads_along_depth = a_along_depth_ != 0 || b_along_depth_ != 0;
    while (lanes < kItems && lanes * 4 <= depth &&
           (results * lanes < kTarget * kItems || (reads_along_depth && lanes < 32)))
      lanes *= 2;
    return lanes;
  }

  const of_dtype dtype_;
  const int64_t rows_, columns_;
  bool is_thin_;
  int32_t a_along_depth_, b_along_depth_;  // whether the operand has its smallest stride along the depth
};

}  // namespace

void Chunk::add_to(Arguments& arguments) const {
  arguments.value(batch);
  arguments.value(rows);
  arguments.value(columns);
  arguments.value(depth);
  arguments.pointer(a);
  arguments.pointer(b);
  arguments.pointer(c);
  arguments.value(is_sums);
  arguments.value(accumulate);
  arguments.value(parts);
  arguments.value(part_depth);
  arguments.value(part_step);
}

of_kernel_context launch_context(const of_contraction& contraction) {
  of_kernel_context context{};
  context.struct_size = sizeof context;
  context.device = contraction.device;
  context.stream = contraction.stream;
  context.host = contraction.host;
  context.op = contraction.op;
  return context;
}

of_status contract(const Problem& problem, const of_kernel_context& context, Multiplier& multiplier) {
  return ChunkedProblem(problem, context, multiplier).run();
}

uint32_t put_factor(const Problem& problem, double factor, void* bytes) {
  of_scalar number{};
  number.kind = OF_SCALAR_FLOAT;
  number.as.real = factor;
  const bool is_narrow = problem.type == OF_UINT32;
  const uint32_t size = put_number(number, is_narrow ? OF_INT64 : problem.type, bytes);
  return is_narrow ? 4 : size;  // the lower half of the integer, as integers wrap around
}

of_status finish(const Problem& problem, const of_kernel_context& context, const Problem& sums, uint32_t parts) {
  // Joins all dimensions of C into one iteration space.
  int64_t sizes[Role::kMost], from[Role::kMost], to[Role::kMost], bias[Role::kMost];
  int32_t rank = 0;
  const auto add = [&](const Role& role, const Role& summed) {
    for (int32_t d = 0; d < role.rank; ++d, ++rank) {
      sizes[rank] = role.sizes[d];
      from[rank] = summed.strides[kC][d];
      to[rank] = role.strides[kC][d];
      bias[rank] = role.strides[kBias][d];
    }
  };
  add(problem.batch, sums.batch);
  add(problem.rows, sums.rows);
  add(problem.columns, sums.columns);
  const Handle kernel = contraction_finish()[problem.dtype];
  const int64_t item = item_size(problem.dtype), step = problem.result_count();
  alignas(8) unsigned char alpha[8], beta[8];
  const uint32_t bytes = put_factor(problem, problem.alpha, alpha);
  put_factor(problem, problem.beta, beta);
  const int32_t adds_c = problem.beta != 0;
  const char* bias_data = problem.operands[kBias];
  Pieces pieces(rank, sizes);
  of_status status = OF_OK;
  do {
    const of_space space = pieces.space();
    const of_strides from_strides = pieces.strides(from), to_strides = pieces.strides(to);
    const of_strides bias_strides = pieces.strides(bias);
    Arguments arguments;
    arguments.value(space);
    arguments.pointer(sums.operands[kC] + pieces.offset(from) * item_size(problem.type));
    arguments.value(from_strides);
    arguments.value(parts);
    arguments.value(step);
    arguments.pointer(problem.operands[kC] + pieces.offset(to) * item);
    arguments.value(to_strides);
    arguments.pointer(bias_data != nullptr ? bias_data + pieces.offset(bias) * item : nullptr);
    arguments.value(bias_strides);
    arguments.bytes(alpha, bytes);
    arguments.bytes(beta, bytes);
    arguments.value(adds_c);
    status = launch(context, kernel, {.groups = groups_for(space.count, kItems), .items = kItems}, arguments);
  } while (status == OF_OK && pieces.next());
  return status;
}

of_status contract(const Problem& problem, const of_kernel_context& context) {
  Lockstep multiplier(problem);
  return contract(problem, context, multiplier);
}

of_status unknown_contraction() { return fail(OF_UNSUPPORTED, "contractions of these types are not implemented"); }

}  // namespace oneflow::grid
