#include "contract/direct/small.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <initializer_list>
#include <vector>

#include "contract/kernels.h"
#include "simd/cache_sizes.h"
#include "simd/element.h"
#include "simd/non_temporal.h"
#include "threads/scratch.h"
#include "threads/thread_pool.h"

namespace oneflow::cpu {
namespace {

// Runs of at least this many contiguous elements are read as fast as fully contiguous memory. A stride of up to
// kShortStride counts as contiguous, too: that of the parts of complex numbers.
constexpr int64_t kMinContiguous = 128, kShortStride = 2;
// The least size of i and j: of smaller ones, elements are hardly reused.
constexpr int64_t kMinSize = 3;
// The most multiplications of a product whose j fills at most a quarter of a vector.
constexpr int64_t kMaxNarrowWork = int64_t{1} << 16;
// A task has a multiple of kTileRows rows i, the rows of a register tile: at least kMinReuse where reading a piece of
// the contiguous operand from a slower cache has to pay, and kMinPackedReuse where packing it has to.
constexpr int64_t kTileRows = 8, kMinReuse = 32, kMinPackedReuse = 256;
// From this many rows i on, a piece is packed even where it is contiguous: in place, its vectors may cross cache lines,
// and its depths may compete for the same sets of a cache.
constexpr int64_t kMinPackedRows = 128;
// A long contiguous operand is not packed for up to kMaxSkinnyRows rows, as these do not reuse it often enough; nor for
// any number of rows in one dimension where the first-level cache holds the whole depth of kMinContiguous elements.
// Pieces of a deeper sum have about kPieceDepth depths.
constexpr int64_t kMaxSkinnyRows = 64, kPieceDepth = 32;
// A piece that few rows use need only stay in the second-level cache, so that it has long contiguous runs. One or two
// rows, too, take an operand of at least kMinLongBytes this way: no cache holds it.
constexpr int64_t kL2PieceBytes = kL2Bytes / 2, kMinLongBytes = int64_t{2} << 20;
// Pieces for each thread, where there are several.
constexpr int64_t kThreadPieces = 2;
// The most times that an operand is packed which is strided along both j and the depth.
constexpr int64_t kMaxRepacks = 8;
// With a deeper sum, fewer elements j make too few pieces for all threads.
constexpr int64_t kLongSum = 4096;
// With more multiplications, packing both operands pays, as the register tiles of packed panels have more sums: where
// both would be cut otherwise, or elements j be packed that do not fill such a tile.
constexpr int64_t kMaxCutWork = int64_t{1} << 24;
// Where both j and the depth are cut, a piece is a multiple of kPieceVectors vectors wide, and vectors must have at
// least kMinVectorBytes: with narrower ones, packing both operands is faster.
constexpr int64_t kPieceVectors = 2, kMinVectorBytes = 64;

// The roles of the operands and dimensions in C[n, i, j] = sum over p of broadcast[n, i, p] * contiguous[n, p, j]. The
// contiguous operand is the one that has j; it is packed where it is strided along j. It is cut into pieces.
struct SmallSides {
  Operand contiguous, broadcast;
  Dim j, i;    // j is contiguous in C
  DimGroup n;  // all other dimensions of C, those of the contiguous operand before those of the other one
  int64_t piece_j, piece_depth;  // the size of a piece
};

// Returns the position of the dimension that is contiguous in C, or -1 where there is none or it is short.
int find_contiguous(const DimGroup& group) {
  for (int d = 0; d < group.rank; ++d)
    if (group.dims[d].strides[kC] == 1 && group.dims[d].size >= kMinSize) return d;
  return -1;
}

// Returns the position of the longest dimension, or -1 where there is none.
int find_longest(const DimGroup& group) {
  int longest = -1;
  for (int d = 0; d < group.rank; ++d)
    if (longest < 0 || group.dims[d].size >= group.dims[longest].size) longest = d;
  return longest;
}

// Returns the rows or columns that only the broadcast operand has.
const DimGroup& broadcast_side(const Problem& problem, const SmallSides& roles) {
  return roles.contiguous == kA ? problem.columns : problem.rows;
}

// Returns whether packing the contiguous operand does not pay: j is long and contiguous, and it is used for few rows,
// or its whole depth fits into the cache. A result that is larger than its operands and the caches is left to register
// tiles of packed panels, which write it with non-temporal stores.
bool is_better_unpacked(const Problem& problem, const SmallSides& roles, int64_t l1_elements, int64_t item_size) {
  const int64_t depth = problem.depth.count,
                elements_c = problem.batch.count * problem.rows.count * problem.columns.count;
  const DimGroup& side = broadcast_side(problem, roles);
  if (roles.j.strides[roles.contiguous] != 1 || roles.j.size < kMinContiguous) return false;
  if (side.count > depth && elements_c * item_size >= non_temporal_tile_bytes()) return false;
  if (depth > kLongSum && roles.j.size < kLongSum) return false;
  return side.count <= kMaxSkinnyRows || (side.rank == 1 && depth <= l1_elements / kMinContiguous);
}

// Returns whether all rows of the broadcast operand, which may be only one or two, are one dimension, and the
// contiguous operand is too large for the caches and better read in place.
bool is_skinny_and_long(const Problem& problem, const SmallSides& roles, int64_t item_size) {
  return broadcast_side(problem, roles).count == roles.i.size &&
         problem.depth.count * roles.j.size * item_size >= kMinLongBytes &&
         is_better_unpacked(problem, roles, 0, item_size);
}

// Chooses the size of a piece of the contiguous operand, which should stay in a cache. The sums over several pieces of
// the depth are added up in C, of which a piece then has to stay there, too. Returns false where no piece is fast.
bool choose_piece(const Problem& problem, const ContractKernels& kernels, SmallSides& roles) {
  const int64_t l1_elements = kL1Bytes / kernels.size, depth = problem.depth.count;
  const int64_t rows = problem.rows.count, columns = problem.columns.count;
  const int64_t unit = kPieceVectors * kernels.lane_count;
  roles.piece_j = roles.j.size;
  roles.piece_depth = depth;
  if (roles.piece_j <= l1_elements / depth) return true;
  if (is_better_unpacked(problem, roles, l1_elements, kernels.size)) {
    if (depth > l1_elements / kMinContiguous) roles.piece_depth = divide_up(depth, divide_up(depth, kPieceDepth));
    if (broadcast_side(problem, roles).count > kMaxSkinnyRows) {
      roles.piece_j = std::min(roles.piece_j, l1_elements / roles.piece_depth / unit * unit);
      return true;
    }
    const int64_t threads = thread_count(), work = rows * columns * depth;
    const int64_t tasks = threads > 1 ? std::clamp<int64_t>(work / kTaskWork, 1, kThreadPieces * threads) : 1;
    const int64_t pieces = std::max(divide_up(roles.piece_j * roles.piece_depth, kL2PieceBytes / kernels.size), tasks);
    roles.piece_j = round_up(divide_up(roles.piece_j, pieces), unit);
    return true;
  }
  if (rows * columns <= l1_elements / 2 && roles.piece_j <= l1_elements) {
    roles.piece_depth = l1_elements / roles.piece_j;
    return true;
  }
  if (std::max({rows * depth, columns * depth, rows * columns}) > kL2Bytes / kernels.size) return false;
  if (rows * columns * depth > kMaxCutWork) return false;
  roles.piece_depth = divide_up(depth, divide_up(depth, l1_elements / unit));
  roles.piece_j = l1_elements / roles.piece_depth / unit * unit;
  return kernels.lane_count * kernels.size >= kMinVectorBytes;
}

// Assigns the roles and chooses the size of a piece, without regard to how fast the layouts are read and written.
bool find_roles(const Problem& problem, const ContractKernels& kernels, SmallSides& roles) {
  const bool is_in_rows = find_contiguous(problem.rows) >= 0;
  const DimGroup& side = is_in_rows ? problem.rows : problem.columns;
  const DimGroup& other = is_in_rows ? problem.columns : problem.rows;
  const int j = find_contiguous(side), i = find_longest(other);
  if (j < 0) return false;
  if (side.dims[j].size <= kernels.lane_count / 4 && side.count >= kernels.lane_count &&
      problem.rows.count * problem.columns.count > kMaxNarrowWork / problem.depth.count)
    return false;
  roles.contiguous = is_in_rows ? kA : kB;
  roles.broadcast = is_in_rows ? kB : kA;
  roles.j = side.dims[j];
  roles.i = i < 0 ? Dim{1, {}} : other.dims[i];
  if (roles.i.size < kMinSize && !is_skinny_and_long(problem, roles, kernels.size)) return false;
  if (!choose_piece(problem, kernels, roles)) return false;
  const bool is_strided = roles.j.strides[roles.contiguous] != 1 &&
                          problem.depth.dims[problem.depth.rank - 1].strides[roles.contiguous] != 1;
  if (is_strided && other.count / roles.i.size > kMaxRepacks) return false;
  if (is_strided && side.count > roles.j.size && roles.j.size < kernels.rows &&
      problem.rows.count * problem.columns.count > kMaxCutWork / problem.depth.count)
    return false;
  roles.n.append(problem.batch);
  roles.n.append(side, j);
  roles.n.append(other, i);
  return true;
}

// Returns whether one product, the dimensions in `groups`, reads or writes an operand at full speed: its elements are
// dense in memory or in long contiguous runs, or the caches hold the whole operand of `bytes` bytes.
bool is_fast(int64_t bytes, Operand operand, std::initializer_list<DimGroup> groups) {
  int64_t span = 1, count = 1, run = 1;
  for (const DimGroup& group : groups) {
    count *= group.count;
    for (int d = 0; d < group.rank; ++d) {
      const int64_t stride = std::abs(group.dims[d].strides[operand]);
      span += (group.dims[d].size - 1) * stride;
      if (stride <= kShortStride) run = group.dims[d].size;
    }
  }
  return span <= 2 * count || run >= kMinContiguous || bytes <= kL1Bytes || (bytes <= kL2Bytes && run > 1);
}

// Returns whether A, B and C are read and written at full speed.
bool all_are_fast(const Problem& problem, const SmallSides& roles, int64_t item_size) {
  DimGroup j, i;
  j.add(roles.j);
  i.add(roles.i);
  const int64_t rows = problem.rows.count, columns = problem.columns.count, depth = problem.depth.count;
  int64_t bytes[] = {rows * depth, columns * depth, rows * columns};  // of A, B and C
  for (int64_t& count : bytes) count *= problem.batch.count * item_size;
  // Pieces of the depth are cut from its innermost dimension first.
  const auto has_fast_pieces = [&](Operand operand, const Dim& dim) {
    const Dim& last = problem.depth.dims[problem.depth.rank - 1];
    return std::min(std::abs(dim.strides[operand]), std::abs(last.strides[operand])) <= kShortStride ||
           bytes[operand] <= kL2Bytes;
  };
  const bool is_cut = roles.piece_depth < depth;
  if (is_cut && !(has_fast_pieces(roles.contiguous, roles.j) && has_fast_pieces(roles.broadcast, roles.i)))
    return false;
  return is_fast(bytes[roles.contiguous], roles.contiguous, {j, problem.depth}) &&
         is_fast(bytes[roles.broadcast], roles.broadcast, {i, problem.depth}) && is_fast(bytes[kC], kC, {j, i});
}

// Assigns the roles and chooses the size of a piece. Returns false where the problem is not small.
bool choose_roles(const Problem& problem, const ContractKernels& kernels, SmallSides& roles) {
  return problem.depth.count >= 2 && find_roles(problem, kernels, roles) && all_are_fast(problem, roles, kernels.size);
}

class SmallProducts final : public Solution {
 public:
  SmallProducts(const Problem& problem, const ContractKernels& kernels, const SmallSides& roles)
      : kernels_(kernels),
        roles_(roles),
        depth_(problem.depth),
        is_cut_(roles.piece_depth < depth_.count),
        pieces_(divide_up(roles.j.size, roles.piece_j)),
        packs_(roles.j.strides[roles.contiguous] != 1 || ((is_cut_ || pieces_ > 1) && roles.i.size >= kMinPackedRows)) {
    const int64_t depth = depth_.count, size = roles.piece_j;
    const bool is_whole = !packs_ && !is_cut_ && pieces_ == 1;
    const int64_t least = is_whole ? kTileRows : packs_ ? kMinPackedReuse : kMinReuse;
    task_i_ = std::max(least, kTaskWork / (size * depth));
    task_i_ = std::min(divide_up(task_i_, kTileRows) * kTileRows, roles.i.size);
    i_tasks_ = divide_up(roles.i.size, task_i_);
    task_n_ = std::clamp<int64_t>(kTaskWork / (size * depth * task_i_), 1, roles.n.count);
    common_.broadcast_stride = roles.i.strides[roles.broadcast];
    common_.c_stride = roles.i.strides[kC];
    if (packs_) {
      for (int64_t p = 0; p < roles.piece_depth; ++p) packed_depth_.push_back(p * size);
      for (int64_t j = 0; j < size; ++j) unpacked_j_.push_back(j * roles.j.strides[roles.contiguous]);
    }
    if (is_cut_) return;
    whole_tables_.resize(static_cast<size_t>(kTables * depth));
    fill_tables(0, depth, whole_tables_.data());
  }

  of_status run(const Addresses& addresses) const override {
    std::atomic<bool> complete{true};
    parallel_for(i_tasks_ * pieces_ * divide_up(roles_.n.count, task_n_), [&](int64_t task) {
      const int64_t i = task % i_tasks_, piece = task / i_tasks_ % pieces_, n = task / i_tasks_ / pieces_;
      if (!run_task(addresses, n * task_n_, piece * roles_.piece_j, i * task_i_)) complete = false;
    });
    return complete ? OF_OK : no_working_memory();
  }

 private:
  // Fills the tables of a piece of the depth: its offsets in the contiguous and in the broadcast operand, and the runs
  // in the former, which packing needs.
  static constexpr int64_t kTables = 3;
  void fill_tables(int64_t first, int64_t depth, int64_t* tables) const {
    fill_offsets(depth_, roles_.contiguous, first, depth, tables);
    fill_offsets(depth_, roles_.broadcast, first, depth, tables + depth);
    if (packs_) fill_runs(tables, depth, tables + 2 * depth);
  }

  bool run_task(const Addresses& addresses, int64_t first_n, int64_t first_j, int64_t first_i) const {
    // Packing may write half a tile's rows after the panel.
    const Scratch packed(packs_ ? (roles_.piece_j * roles_.piece_depth + kernels_.rows) * kernels_.size : 1);
    const Scratch piece_tables(is_cut_ ? kTables * roles_.piece_depth * int64_t{sizeof(int64_t)} : 1);
    if (packed.data() == nullptr || piece_tables.data() == nullptr) return false;
    SmallProduct product = common_;
    product.j_count = std::min(roles_.piece_j, roles_.j.size - first_j);
    product.i_count = std::min(task_i_, roles_.i.size - first_i);
    const char* last = nullptr;  // the address of the piece that is packed
    for (int64_t n = first_n, end = std::min(first_n + task_n_, roles_.n.count); n < end; ++n) {
      const auto at = [&](Operand operand, int64_t j, int64_t i) {
        return (offset_at(roles_.n, operand, n) + j * roles_.j.strides[operand] + i * roles_.i.strides[operand]) *
               kernels_.size;
      };
      const char* piece = addresses.operands[roles_.contiguous] + at(roles_.contiguous, first_j, 0);
      product.broadcast = addresses.operands[roles_.broadcast] + at(roles_.broadcast, 0, first_i);
      product.c = addresses.c + at(kC, first_j, first_i);
      for (int64_t first = 0; first < depth_.count; first += roles_.piece_depth) {
        product.depth = std::min(roles_.piece_depth, depth_.count - first);
        product.accumulate = first > 0;
        const int64_t* tables = whole_tables_.data();
        if (is_cut_) {
          fill_tables(first, product.depth, static_cast<int64_t*>(piece_tables.data()));
          tables = static_cast<const int64_t*>(piece_tables.data());
        }
        product.depth_broadcast = tables + product.depth;
        product.depth_contiguous = packs_ ? packed_depth_.data() : tables;
        product.contiguous = packs_ ? packed.data() : piece;
        if (packs_ && (is_cut_ || piece != last)) pack(piece, product.j_count, product.depth, tables, packed.data());
        kernels_.small_product(product);
      }
      last = piece;
    }
    return true;
  }

  // Packs a piece of the contiguous operand: `count` contiguous elements j for each depth.
  void pack(const char* from, int64_t count, int64_t depth, const int64_t* tables, void* to) const {
    const PanelSource source{from, unpacked_j_.data(), {depth, tables, tables + 2 * depth, nullptr}};
    const Panels panel{count, 1, 0, roles_.piece_j, 1};
    kernels_.pack(kernels_.dtype, source, panel, 0, 1, to);
  }

  const ContractKernels& kernels_;
  const SmallSides roles_;
  const DimGroup depth_;
  std::vector<int64_t> whole_tables_;               // fill_tables() of the whole depth, where it is not cut
  const bool is_cut_;                               // whether the depth is cut into pieces
  const int64_t pieces_;                            // of j
  const bool packs_;                                // whether pieces of the contiguous operand are packed
  std::vector<int64_t> packed_depth_, unpacked_j_;  // offsets of p in a packed piece, and of j in the operand
  int64_t task_i_, i_tasks_, task_n_;               // sizes of tasks, and their number along i
  SmallProduct common_{};
};

// Returns the cost in nanoseconds.
double cost_of(const Work& work, const SmallSides& roles) {
  const Problem& problem = work.problem;
  const double vectors = work.along(roles.contiguous == kA ? kRows : kColumns, roles.j.size, kRunOverhead);
  if (roles.j.strides[roles.contiguous] == 1) return vectors;
  // The contiguous operand is packed for each element of the other dimensions of the broadcast one.
  const auto times = static_cast<double>(broadcast_side(problem, roles).count / roles.i.size);
  const bool is_contiguous = problem.depth.dims[problem.depth.rank - 1].strides[roles.contiguous] == 1;
  return vectors + work.elements[roles.contiguous] * times * (is_contiguous ? kPack : kPackStrided);
}

}  // namespace

void offer_small(const Work& work, Chooser& chooser) {
  SmallSides roles;
  if (!choose_roles(work.problem, work.kernels, roles)) return;
  chooser.offer([&] { return cost_of(work, roles); },
                [&] { return std::make_unique<SmallProducts>(work.problem, work.kernels, roles); });
}

}  // namespace oneflow::cpu
