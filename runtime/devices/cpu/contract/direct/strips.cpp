#include "contract/direct/strips.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "contract/kernels.h"
#include "simd/cache_sizes.h"
#include "simd/element.h"
#include "simd/non_temporal.h"
#include "threads/scratch.h"
#include "threads/thread_pool.h"

namespace oneflow::cpu {
namespace {

// The least size of the large operand: a smaller one does not pay for the tables of offsets. Where C is contiguous
// along the vectors, too, kernels with several vectors at a time are as fast up to kMinBytesInOrder.
constexpr int64_t kMinBytes = int64_t{64} << 10, kMinBytesInOrder = int64_t{4} << 20;
// The least and the most columns of the small operand, by which each element of the large one is multiplied; more pay
// where C is contiguous along an outer dimension. The small operand, of at most kMaxSmallBytes, stays in the
// second-level cache.
constexpr int64_t kMinColumns = 3, kMaxColumns = 48, kMaxColumnsOuter = 96, kMaxSmallBytes = kL2Bytes / 4;
// Shorter sums are left to kernels that write C as fast as memory allows, as are small operands of fewer elements
// unless C is contiguous along an outer dimension. Longer sums are split into pieces elsewhere, which also keeps them
// precise.
constexpr int64_t kMinDepth = 8, kMaxDepth = 1024, kMinSmallElements = 128;
// The fewest lanes of a vector for which strips, which are one vector wide, are as fast as register tiles of two
// vectors: where sums are transposed, and where C is contiguous along the vectors.
constexpr int64_t kMinLanesTransposed = 8, kMinLanesInOrder = 16;
// The approximate numbers of contiguous elements of a piece and of rows (of the large operand) of a task, and the most
// bytes of the sums of a piece.
constexpr int64_t kPieceElements = 512, kTaskRows = 2048, kMaxSumsBytes = kL2Bytes;
// A typical second-level cache: lines that are a multiple of kSetPeriod bytes apart share a set, which keeps kWays
// lines.
constexpr int64_t kSetPeriod = int64_t{128} << 10, kWays = 16;
// The most memory pages that the strips of one vector read, over the whole depth and the outer elements of a piece: the
// processor caches the translations of about so many addresses. With more than kMaxPagesOuter, all vectors of a piece
// come before the next outer element, and the sums of the whole piece are kept.
constexpr int64_t kMaxPages = 1536, kMaxPagesOuter = 768, kPage = 4096;
// The sums of as many outer elements as fill a cache line of C are transposed together; this pays from kMinOuter on.
constexpr int64_t kLine = 64, kMinOuter = 8;

// The dimension along which C is contiguous.
enum class Along {
  kContiguous,  // the vectors: strips store their sums to C
  kColumns,     // the columns of the small operand: the sums of each vector are transposed
  kOuter,       // an outer dimension of the large operand: the sums of several strips are transposed together
};

// The roles of the operands and dimensions.
struct StripSides {
  Operand large, small;
  DimGroup contiguous;  // contiguous dimensions of the large operand: vectors are loaded along them
  DimGroup columns;     // the rows or columns that only the small operand has
  Along c_along;
  Dim outer{1, {}};  // of the large operand; contiguous in C. Only for Along::kOuter
  DimGroup others;   // all other dimensions of the large operand, but the batch
};

// Removes the innermost dimensions of `side` that are contiguous in the operand, and returns them: only the innermost
// one where that is contiguous in C, too; otherwise all within the one that is.
DimGroup take_contiguous(DimGroup& side, Operand operand) {
  int first = side.rank;
  int64_t span = 1;
  while (first > 0 && side.dims[first - 1].strides[operand] == span) {
    const Dim& dim = side.dims[first - 1];
    if (dim.strides[kC] == 1 && span > 1) break;
    span *= dim.size;
    --first;
    if (dim.strides[kC] == 1) break;
  }
  DimGroup contiguous;
  for (int d = first; d < side.rank; ++d) contiguous.add(side.dims[d]);
  side.rank = first;
  return contiguous;
}

// Assigns the roles. Returns false where the large operand is not contiguous along a dimension of C, or C along none of
// the dimensions that Along names.
bool find_roles(const Problem& problem, StripSides& roles) {
  const bool is_in_rows = problem.rows.count >= problem.columns.count;
  roles.large = is_in_rows ? kA : kB;
  roles.small = is_in_rows ? kB : kA;
  roles.columns = is_in_rows ? problem.columns : problem.rows;
  DimGroup side = is_in_rows ? problem.rows : problem.columns;
  canonicalize(side, roles.large, kC);
  roles.contiguous = take_contiguous(side, roles.large);
  if (roles.contiguous.rank == 0) return false;
  const auto is_contiguous = [](const Dim& dim) { return dim.strides[kC] == 1; };
  int outer = -1;
  if (is_contiguous(roles.contiguous.dims[roles.contiguous.rank - 1])) {
    roles.c_along = Along::kContiguous;
  } else if (roles.columns.rank == 1 && is_contiguous(roles.columns.dims[0])) {
    roles.c_along = Along::kColumns;
  } else {
    outer = static_cast<int>(std::find_if(side.dims, side.dims + side.rank, is_contiguous) - side.dims);
    if (outer == side.rank || side.dims[outer].size < kMinOuter) return false;
    roles.c_along = Along::kOuter;
    roles.outer = side.dims[outer];
  }
  roles.others.append(side, outer);
  return true;
}

// Estimates the number of memory pages that hold the elements of these dimensions.
int64_t pages_of(DimGroup group, Operand operand, int64_t item_size) {
  canonicalize(group, operand, kC);
  int64_t pages = 1, span = 0;
  for (int d = group.rank - 1; d >= 0; --d) {
    const int64_t stride = std::abs(group.dims[d].strides[operand]) * item_size, rest = group.dims[d].size - 1;
    if (stride > kPage || pages > 1) {
      pages *= group.dims[d].size;
    } else {
      span += rest * stride;
    }
  }
  return pages * divide_up(span + 1, kPage);
}

// Returns whether the cache lines of all depths share so few cache sets that a cache cannot keep them all.
bool share_few_sets(const DimGroup& depth, Operand operand, int64_t item_size) {
  const int64_t stride = std::abs(depth.dims[depth.rank - 1].strides[operand]) * item_size;
  return depth.count > kSetPeriod / std::gcd(stride, kSetPeriod) * kWays;
}

class Strips final : public Solution {
 public:
  // `vectors_first`: whether all vectors of a piece come before the next outer element.
  Strips(const Problem& problem, const ContractKernels& kernels, const StripSides& roles, bool vectors_first)
      : kernels_(kernels),
        size_(kernels.size),
        roles_(roles),
        batch_(problem.batch),
        depth_(problem.depth.count),
        depth_large_(all_offsets(problem.depth, roles.large)),
        depth_small_(all_offsets(problem.depth, roles.small)),
        runs_small_(all_runs(depth_small_)),
        columns_small_(all_offsets(roles.columns, roles.small)),
        columns_c_(all_offsets(roles.columns, kC)),
        vectors_first_(vectors_first),
        outer_(std::min(kLine / size_, roles.outer.size)),
        pieces_outer_(divide_up(roles.outer.size, outer_)) {
    const int64_t columns = roles.columns.count, panels = divide_up(columns, kernels.strip_columns);
    const int64_t panel = divide_up(columns, panels) * depth_ * size_;
    panels_ = {columns, panels, round_up(panel, kLine) + kernels.rows * size_, 0, panels};
    for (int64_t j = 0; j < columns; ++j) columns_sums_.push_back(j * kernels.lane_count);
    const int64_t others = roles.outer.size * roles.others.count, rows = roles.contiguous.count * others;
    const int64_t outputs = rows * columns;
    // Each task packs the small operand, so that it should have many rows; but each thread should have a task.
    const int64_t threads = thread_count(), least = std::min(threads, batch_.count * outputs * depth_ / kTaskWork);
    const int64_t tasks = std::clamp(batch_.count * rows / kTaskRows, least, 16 * threads);
    member_tasks_ = std::max<int64_t>(1, divide_up(tasks, batch_.count));
    const int64_t fitting = kMaxSumsBytes / size_ / (outer_ * columns);
    const int64_t most = vectors_first ? std::clamp(fitting, kernels.lane_count, kPieceElements) : kPieceElements;
    const int64_t cuts =
        std::max(divide_up(roles.contiguous.count, most), divide_up(member_tasks_, roles.others.count * pieces_outer_));
    elements_ = round_up(divide_up(roles.contiguous.count, cuts), kernels.lane_count);
    pieces_contiguous_ = divide_up(roles.contiguous.count, elements_);
    pieces_ = roles.others.count * pieces_outer_ * pieces_contiguous_;
    streams_ = batch_.count * outputs * size_ >= non_temporal_tile_bytes();
  }

  of_status run(const Addresses& addresses) const override {
    std::atomic<bool> complete{true};
    parallel_for(batch_.count * member_tasks_, [&](int64_t task) {
      const Range pieces = part(pieces_, task % member_tasks_, member_tasks_);
      if (!run_pieces(addresses, task / member_tasks_, pieces)) complete = false;
    });
    return complete ? OF_OK : no_working_memory();
  }

 private:
  // Computes some pieces of one member of the batch.
  bool run_pieces(const Addresses& addresses, int64_t member, const Range& pieces) const {
    const Scratch panels(panels_.count * panels_.bytes);
    if (panels.data() == nullptr) return false;
    const auto at = [&](Operand operand) { return offset_at(batch_, operand, member) * size_; };
    const PanelSource source{addresses.operands[roles_.small] + at(roles_.small),
                             columns_small_.data(),
                             {depth_, depth_small_.data(), runs_small_.data(), nullptr}};
    kernels_.pack(kernels_.dtype, source, panels_, 0, panels_.count, panels.data());
    const char* large = addresses.operands[roles_.large] + at(roles_.large);
    char* c = addresses.c + at(kC);
    for (int64_t piece = pieces.begin; piece < pieces.begin + pieces.count; ++piece)
      if (!run_piece(large, static_cast<const char*>(panels.data()), c, piece)) return false;
    if (streams_) end_non_temporal();
    return true;
  }

  // The first element of a piece: its indices along the other dimensions, the outer one and the contiguous ones.
  struct Position {
    int64_t other, outer, element;
  };
  Position position_of(int64_t piece) const {
    const int64_t row = piece / pieces_contiguous_;
    return {row / pieces_outer_, row % pieces_outer_ * outer_, piece % pieces_contiguous_ * elements_};
  }
  // Returns its offset in the large operand.
  int64_t offset_of(const Position& at) const {
    return offset_at(roles_.others, roles_.large, at.other) + at.outer * roles_.outer.strides[roles_.large] +
           at.element;
  }

  bool run_piece(const char* large, const char* panels, char* c, int64_t piece) const {
    const Position at = position_of(piece);
    const int64_t elements = std::min(elements_, roles_.contiguous.count - at.element), width = kernels_.lane_count;
    const int64_t outer = std::min(outer_, roles_.outer.size - at.outer);
    const int64_t start = offset_of(at), next = piece + 1 < pieces_ ? offset_of(position_of(piece + 1)) : start;
    large += start * size_;
    c += (offset_at(roles_.others, kC, at.other) + at.outer * roles_.outer.strides[kC]) * size_;
    const int64_t block = vectors_first_ ? round_up(elements, width) : width, strip_sums = columns() * width;
    const int64_t sums_bytes = outer * columns() * block * size_;
    const Scratch memory(sums_bytes + elements * static_cast<int64_t>(sizeof(int64_t)));
    auto* sums = static_cast<char*>(memory.data());
    if (sums == nullptr) return false;
    auto* offsets_c = reinterpret_cast<int64_t*>(sums + sums_bytes);
    fill_offsets(roles_.contiguous, kC, at.element, elements, offsets_c);
    Strip strip{};
    strip.depth_offsets = depth_large_.data();
    strip.depth = depth_;
    strip.streams = roles_.c_along == Along::kContiguous && streams_;
    for (int64_t first = 0; first < elements; first += block) {
      const int64_t end = std::min(first + block, elements);
      for (int64_t i = 0; i < outer; ++i) {
        const char* from = large + i * roles_.outer.strides[roles_.large] * size_;
        for (int64_t element = first; element < end; element += width) {
          // The next vector is prefetched, or the first one of the next outer element or piece: the cache lines of its
          // first and last element.
          const int64_t step = vectors_first_ && i + 1 < outer ? roles_.outer.strides[roles_.large] : next - start;
          const int64_t ahead = element + width < elements ? width : step - element;
          strip.prefetch_offsets[0] = ahead;
          strip.prefetch_offsets[1] = ahead + width - 1;
          strip.lane_count = std::min(width, elements - element);
          strip.vector = from + element * size_;
          strip.c = roles_.c_along == Along::kContiguous
                        ? c + offsets_c[element] * size_
                        : sums + ((element - first) / width * outer + i) * strip_sums * size_;
          multiply(strip, panels);
        }
      }
      for (int64_t element = first; element < end && roles_.c_along != Along::kContiguous; element += width)
        transpose(sums + (element - first) / width * outer * strip_sums * size_, outer, offsets_c + element,
                  std::min(width, elements - element), c);
    }
    return true;
  }

  // Transposes the sums of the strips of one vector, for each outer element, and stores them to C.
  void transpose(const char* sums, int64_t outer, const int64_t* lane_offsets, int64_t lane_count, char* c) const {
    const int64_t width = kernels_.lane_count;
    TransposedSums transposed{sums, width, columns(), c, lane_offsets, lane_count, streams_, false};
    if (roles_.c_along == Along::kColumns) return kernels_.transpose_sums(transposed);
    transposed.stride = columns() * width;
    transposed.count = outer;
    for (int64_t j = 0; j < columns(); ++j) {
      transposed.sums = sums + j * width * size_;
      transposed.c = c + columns_c_[j] * size_;
      kernels_.transpose_sums(transposed);
    }
  }

  // Multiplies one vector by all columns of the small operand.
  void multiply(Strip& strip, const char* panels) const {
    const std::vector<int64_t>& column_offsets = roles_.c_along == Along::kContiguous ? columns_c_ : columns_sums_;
    for (int64_t i = 0; i < panels_.count; ++i) {
      strip.panel = panels + i * panels_.bytes;
      strip.column_offsets = column_offsets.data() + panels_.start(i);
      strip.prefetches = i == 0;  // once is enough for all panels
      kernels_.strip[panels_.width(i)](strip);
    }
  }

  int64_t columns() const { return roles_.columns.count; }

  const ContractKernels& kernels_;
  const int64_t size_;  // bytes of an element
  const StripSides roles_;
  const DimGroup batch_;
  const int64_t depth_;
  // Offsets of the depth and of the columns in the operands, in C and in the sums of one strip.
  const std::vector<int64_t> depth_large_, depth_small_, runs_small_, columns_small_, columns_c_;
  std::vector<int64_t> columns_sums_;
  const bool vectors_first_;
  const int64_t outer_, pieces_outer_;    // the outer elements of one piece, and the number of pieces along them
  int64_t elements_, pieces_contiguous_;  // likewise along the contiguous dimensions
  int64_t pieces_, member_tasks_;         // pieces of one member of the batch, and the tasks they are divided into
  Panels panels_;                         // of the small operand
  bool streams_;                          // whether C is written with non-temporal stores
};

}  // namespace

std::unique_ptr<Solution> solve_in_strips(const Problem& problem) {
  if (!problem.is_plain() || !computes_in_itself(problem.dtype)) return nullptr;
  const int64_t few = std::min(problem.rows.count, problem.columns.count);
  const int64_t many = std::max(problem.rows.count, problem.columns.count), depth = problem.depth.count;
  if (few < kMinColumns || few > kMaxColumnsOuter || depth < kMinDepth || depth > kMaxDepth) return nullptr;
  const ContractKernels& kernels = contract_kernels(problem.dtype);
  StripSides roles;
  if (few * depth * kernels.size > kMaxSmallBytes || !find_roles(problem, roles)) return nullptr;
  if (roles.contiguous.count < 2 * kernels.lane_count) return nullptr;
  if (roles.c_along != Along::kOuter && (few > kMaxColumns || few * depth < kMinSmallElements)) return nullptr;
  if (roles.c_along == Along::kColumns && kernels.lane_count < kMinLanesTransposed) return nullptr;
  if (roles.c_along == Along::kContiguous && kernels.lane_count < kMinLanesInOrder) return nullptr;
  if (many * depth * kernels.size < (roles.c_along == Along::kContiguous ? kMinBytesInOrder : kMinBytes))
    return nullptr;
  // Whether the cache lines of a vector, one for each index of the depth, are read more than once.
  const bool rereads_vectors =
      roles.c_along == Along::kContiguous || (roles.c_along == Along::kColumns && few > kernels.strip_columns);
  if (rereads_vectors && share_few_sets(problem.depth, roles.large, kernels.size)) return nullptr;
  DimGroup block = problem.depth;  // what the strips of one vector read
  block.add(roles.outer);
  block.dims[block.rank - 1].size = std::min(kLine / kernels.size, roles.outer.size);
  const int64_t pages = pages_of(block, roles.large, kernels.size);
  if (roles.c_along != Along::kOuter && pages > kMaxPages) return nullptr;
  return std::make_unique<Strips>(problem, kernels, roles, roles.c_along == Along::kOuter && pages > kMaxPagesOuter);
}

}  // namespace oneflow::cpu
