#include "contract_strips.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "contract_kernels.h"
#include "element.h"
#include "scratch.h"
#include "stream.h"
#include "thread_pool.h"

namespace oneflow::cpu {
namespace {

// A smaller operand is multiplied as quickly by kernels that have more vectors of lanes at a time, where C runs along
// them, too; otherwise strips are quicker from the least size on that is worth their tables.
constexpr int64_t kLargeBytes = int64_t{4} << 20, kLeastBytes = int64_t{64} << 10;
// The other one: by how many columns each element is multiplied, more where C runs across, and how much of the caches
// all of them may take.
constexpr int64_t kFewest = 3, kMost = 48, kMostAcross = 96, kSmallBytes = int64_t{256} << 10;
// Shorter sums are for kernels that write at the speed of memory, as are those with less to multiply each element by
// unless C runs across; longer ones are cut into pieces elsewhere, which also keeps them precise.
constexpr int64_t kLeastDepth = 8, kMostDepth = 1024, kLeastFactors = 128;
// Strips of fewer lanes, narrower vectors or wider elements, are slower than tiles, which have two vectors of them,
// where the results are turned, or stay as they are. (With 4 lanes ki,kj->ij of 10,000 x 30 and 12 columns takes 1.5 of
// the time, with 8 0.8 to 1.05; ki,kj->ji of 20,000 x 200 and 8 columns with 8 1.2 to 1.4, with 16 1.0.)
constexpr int64_t kLeastTurned = 8, kLeastAlong = 16;
// About how many lanes a piece has, and rows of the large operand a task; what the sums of a piece may take.
constexpr int64_t kPieceLanes = 512, kTaskRows = 2048, kSumsBytes = int64_t{1} << 20;
// A second-level cache, about: lines so many bytes apart fall on one set, which keeps so many of them.
constexpr int64_t kSetPeriod = int64_t{128} << 10, kWays = 16;
// The pages of memory that one vector of lanes reads from, with those across: page tables are slow to follow where the
// processor keeps fewer of their entries. With more of them, all lanes of a piece come before those across, and the
// sums of a whole piece are kept (0.9 of the time of dca,bd->abc, with 2,300 pages).
constexpr int64_t kMostPages = 1536, kMostPagesAcross = 768, kPage = 4096;
// The elements of C that are brought together make up a cache line; with half of one it still pays.
constexpr int64_t kLine = 64, kLeastAcross = 8;

// How the results of a strip, lanes x columns, come to lie in rows of C.
enum class Rows {
  kLanes,    // as they are
  kColumns,  // turned
  kAcross,   // turned together with those of other strips, along another dimension of the large operand
};

// What the dimensions of a problem are to its strips.
struct Roles {
  Operand large, small;
  DimGroup lanes;    // next to each other in the large operand, from the first to the last
  DimGroup columns;  // of the small one
  Rows rows;
  Dim across{1, {}};
  DimGroup places;  // all others but the batch
};

// Takes the dimensions that lie next to each other off the end of `side`, up to one along which C runs.
DimGroup take_lanes(DimGroup& side, Operand operand) {
  int first = side.rank;
  int64_t reach = 1;
  while (first > 0 && side.dims[first - 1].strides[operand] == reach) {
    const Dim& dim = side.dims[first - 1];
    if (dim.strides[kC] == 1 && reach > 1) break;
    reach *= dim.size;
    --first;
    if (dim.strides[kC] == 1) break;
  }
  DimGroup lanes;
  for (int d = first; d < side.rank; ++d) lanes.add(side.dims[d]);
  side.rank = first;
  return lanes;
}

bool find_roles(const Problem& problem, Roles& roles) {
  const bool is_in_rows = problem.rows.count >= problem.columns.count;
  roles.large = is_in_rows ? kA : kB;
  roles.small = is_in_rows ? kB : kA;
  roles.columns = is_in_rows ? problem.columns : problem.rows;
  DimGroup side = is_in_rows ? problem.rows : problem.columns;
  canonicalize(side, roles.large, kC);
  roles.lanes = take_lanes(side, roles.large);
  if (roles.lanes.rank == 0) return false;
  const auto runs = [](const Dim& dim) { return dim.strides[kC] == 1; };
  int across = -1;
  if (runs(roles.lanes.dims[roles.lanes.rank - 1])) {
    roles.rows = Rows::kLanes;
  } else if (roles.columns.rank == 1 && runs(roles.columns.dims[0])) {
    roles.rows = Rows::kColumns;
  } else {
    across = static_cast<int>(std::find_if(side.dims, side.dims + side.rank, runs) - side.dims);
    if (across == side.rank || side.dims[across].size < kLeastAcross) return false;
    roles.rows = Rows::kAcross;
    roles.across = side.dims[across];
  }
  roles.places.add_others(side, across);
  return true;
}

// The pages that the elements of these dimensions lie on, about.
int64_t pages_of(DimGroup group, Operand operand, int64_t item_size) {
  canonicalize(group, operand, kC);
  int64_t pages = 1, reach = 0;
  for (int d = group.rank - 1; d >= 0; --d) {
    const int64_t step = std::abs(group.dims[d].strides[operand]) * item_size, rest = group.dims[d].size - 1;
    if (step > kPage || pages > 1) {
      pages *= group.dims[d].size;
    } else {
      reach += rest * step;
    }
  }
  return pages * divide_up(reach + 1, kPage);
}

// Whether a cache does not keep a line of each depth.
bool fall_on_few_sets(const DimGroup& depth, Operand operand, int64_t item_size) {
  const int64_t step = std::abs(depth.dims[depth.rank - 1].strides[operand]) * item_size;
  return depth.count > kSetPeriod / std::gcd(step, kSetPeriod) * kWays;
}

class Strips final : public Solution {
 public:
  Strips(const Problem& problem, const ContractKernels& kernels, const Roles& roles, bool follows_lanes)
      : kernels_(kernels),
        size_(kernels.size),
        roles_(roles),
        batch_(problem.batch),
        depth_(problem.depth.count),
        depths_large_(all_offsets(problem.depth, roles.large)),
        depths_small_(all_offsets(problem.depth, roles.small)),
        runs_small_(all_runs(depths_small_)),
        columns_small_(all_offsets(roles.columns, roles.small)),
        columns_c_(all_offsets(roles.columns, kC)),
        follows_lanes_(follows_lanes),
        across_(std::min(kLine / size_, roles.across.size)),
        pieces_across_(divide_up(roles.across.size, across_)) {
    const int64_t columns = roles.columns.count, panels = divide_up(columns, kernels.strip_columns);
    const int64_t panel = divide_up(columns, panels) * depth_ * size_;
    panels_ = {columns, panels, round_up(panel, kLine) + kernels.rows * size_, 0, panels};
    for (int64_t j = 0; j < columns; ++j) columns_sums_.push_back(j * kernels.lane_count);
    const int64_t others = roles.across.size * roles.places.count, rows = roles.lanes.count * others;
    const int64_t cells = rows * columns;
    // Each task packs the panels for itself, so that it should have many rows; but there should be one for each thread.
    const int64_t threads = thread_count(), fewest = std::min(threads, batch_.count * cells * depth_ / kTaskWork);
    const int64_t tasks = std::clamp(batch_.count * rows / kTaskRows, fewest, 16 * threads);
    member_tasks_ = std::max<int64_t>(1, divide_up(tasks, batch_.count));
    const int64_t fitting = kSumsBytes / size_ / (across_ * columns);
    const int64_t most = follows_lanes ? std::clamp(fitting, kernels.lane_count, kPieceLanes) : kPieceLanes;
    const int64_t cuts =
        std::max(divide_up(roles.lanes.count, most), divide_up(member_tasks_, roles.places.count * pieces_across_));
    lanes_ = round_up(divide_up(roles.lanes.count, cuts), kernels.lane_count);
    pieces_of_lanes_ = divide_up(roles.lanes.count, lanes_);
    pieces_ = roles.places.count * pieces_across_ * pieces_of_lanes_;
    streams_ = batch_.count * cells * size_ >= streamed_tile_bytes();
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
  // Some pieces of one member of the batch.
  bool run_pieces(const Addresses& addresses, int64_t member, const Range& pieces) const {
    const Scratch panels(panels_.count * panels_.bytes);
    if (panels.data() == nullptr) return false;
    const auto at = [&](Operand operand) { return offset_at(batch_, operand, member) * size_; };
    const PanelSource source{addresses.operands[roles_.small] + at(roles_.small),
                             columns_small_.data(),
                             {depth_, depths_small_.data(), runs_small_.data(), nullptr}};
    kernels_.pack(kernels_.dtype, source, panels_, 0, panels_.count, panels.data());
    const char* large = addresses.operands[roles_.large] + at(roles_.large);
    char* c = addresses.c + at(kC);
    for (int64_t piece = pieces.begin; piece < pieces.begin + pieces.count; ++piece)
      if (!run_piece(large, static_cast<const char*>(panels.data()), c, piece)) return false;
    if (streams_) end_stream();
    return true;
  }

  // Where a piece is: of the places, across, and of the lanes.
  struct Position {
    int64_t place, across, lane;
  };
  Position position_of(int64_t piece) const {
    const int64_t other = piece / pieces_of_lanes_;
    return {other / pieces_across_, other % pieces_across_ * across_, piece % pieces_of_lanes_ * lanes_};
  }
  // Where its lanes begin in the large operand.
  int64_t start_of(const Position& at) const {
    return offset_at(roles_.places, roles_.large, at.place) + at.across * roles_.across.strides[roles_.large] + at.lane;
  }

  bool run_piece(const char* large, const char* panels, char* c, int64_t piece) const {
    const Position at = position_of(piece);
    const int64_t lanes = std::min(lanes_, roles_.lanes.count - at.lane), width = kernels_.lane_count;
    const int64_t across = std::min(across_, roles_.across.size - at.across);
    const int64_t start = start_of(at), next = piece + 1 < pieces_ ? start_of(position_of(piece + 1)) : start;
    large += start * size_;
    c += (offset_at(roles_.places, kC, at.place) + at.across * roles_.across.strides[kC]) * size_;
    const int64_t together = follows_lanes_ ? round_up(lanes, width) : width, strip_sums = columns() * width;
    const int64_t sums_bytes = across * columns() * together * size_;
    const Scratch memory(sums_bytes + lanes * static_cast<int64_t>(sizeof(int64_t)));
    auto* sums = static_cast<char*>(memory.data());
    if (sums == nullptr) return false;
    auto* lanes_c = reinterpret_cast<int64_t*>(sums + sums_bytes);
    fill_offsets(roles_.lanes, kC, at.lane, lanes, lanes_c);
    Strip strip{};
    strip.depths = depths_large_.data();
    strip.depth = depth_;
    strip.streams = roles_.rows == Rows::kLanes && streams_;
    for (int64_t first = 0; first < lanes; first += together) {
      const int64_t end = std::min(first + together, lanes);
      for (int64_t i = 0; i < across; ++i) {
        const char* from = large + i * roles_.across.strides[roles_.large] * size_;
        for (int64_t lane = first; lane < end; lane += width) {
          // The lanes behind these come next, or those of the next across or piece, with the cache line they end on.
          const int64_t step = follows_lanes_ && i + 1 < across ? roles_.across.strides[roles_.large] : next - start;
          const int64_t ahead = lane + width < lanes ? width : step - lane;
          strip.ahead[0] = ahead;
          strip.ahead[1] = ahead + width - 1;
          strip.lane_count = std::min(width, lanes - lane);
          strip.lanes = from + lane * size_;
          strip.c = roles_.rows == Rows::kLanes ? c + lanes_c[lane] * size_
                                                : sums + ((lane - first) / width * across + i) * strip_sums * size_;
          multiply(strip, panels);
        }
      }
      for (int64_t lane = first; lane < end && roles_.rows != Rows::kLanes; lane += width)
        turn(sums + (lane - first) / width * across * strip_sums * size_, across, lanes_c + lane,
             std::min(width, lanes - lane), c);
    }
    return true;
  }

  // The sums of the strips of one vector of lanes to where they belong.
  void turn(const char* sums, int64_t across, const int64_t* lanes_c, int64_t lane_count, char* c) const {
    const int64_t width = kernels_.lane_count;
    TurnedSums turned{sums, width, columns(), c, lanes_c, lane_count, streams_, false};
    if (roles_.rows == Rows::kColumns) return kernels_.turn_sums(turned);
    turned.step = columns() * width;
    turned.count = across;
    for (int64_t j = 0; j < columns(); ++j) {
      turned.sums = sums + j * width * size_;
      turned.c = c + columns_c_[j] * size_;
      kernels_.turn_sums(turned);
    }
  }

  void multiply(Strip& strip, const char* panels) const {
    const std::vector<int64_t>& places = roles_.rows == Rows::kLanes ? columns_c_ : columns_sums_;
    for (int64_t i = 0; i < panels_.count; ++i) {
      strip.panel = panels + i * panels_.bytes;
      strip.places = places.data() + panels_.start(i);
      strip.fetches = i == 0;  // the panels after that find the lanes in the caches
      kernels_.strip[panels_.width(i)](strip);
    }
  }

  int64_t columns() const { return roles_.columns.count; }

  const ContractKernels& kernels_;
  const int64_t size_;  // bytes of an element
  const Roles roles_;
  const DimGroup batch_;
  const int64_t depth_;
  const std::vector<int64_t> depths_large_, depths_small_, runs_small_, columns_small_, columns_c_;
  std::vector<int64_t> columns_sums_;
  const bool follows_lanes_;              // before those across
  const int64_t across_, pieces_across_;  // the elements across of one piece, and how many pieces that makes
  int64_t lanes_, pieces_of_lanes_;       // the same for lanes
  int64_t pieces_, member_tasks_;         // of one member of the batch, and how many tasks they make
  Panels panels_;                         // of the small operand
  bool streams_;                          // whether C passes the caches
};

}  // namespace

std::unique_ptr<Solution> solve_in_strips(const Problem& problem) {
  if (!problem.is_plain() || !computes_in_itself(problem.dtype)) return nullptr;
  const int64_t few = std::min(problem.rows.count, problem.columns.count);
  const int64_t many = std::max(problem.rows.count, problem.columns.count), depth = problem.depth.count;
  if (few < kFewest || few > kMostAcross || depth < kLeastDepth || depth > kMostDepth) return nullptr;
  const ContractKernels& kernels = contract_kernels(problem.dtype);
  Roles roles;
  if (few * depth * kernels.size > kSmallBytes || !find_roles(problem, roles)) return nullptr;
  if (roles.lanes.count < 2 * kernels.lane_count) return nullptr;
  if (roles.rows != Rows::kAcross && (few > kMost || few * depth < kLeastFactors)) return nullptr;
  if (roles.rows == Rows::kColumns && kernels.lane_count < kLeastTurned) return nullptr;
  if (roles.rows == Rows::kLanes && kernels.lane_count < kLeastAlong) return nullptr;
  if (many * depth * kernels.size < (roles.rows == Rows::kLanes ? kLargeBytes : kLeastBytes)) return nullptr;
  const bool keeps_lanes = roles.rows == Rows::kLanes || (roles.rows == Rows::kColumns && few > kernels.strip_columns);
  if (keeps_lanes && fall_on_few_sets(problem.depth, roles.large, kernels.size)) return nullptr;
  DimGroup walked = problem.depth;
  walked.add(roles.across);
  walked.dims[walked.rank - 1].size = std::min(kLine / kernels.size, roles.across.size);
  const int64_t pages = pages_of(walked, roles.large, kernels.size);
  if (roles.rows != Rows::kAcross && pages > kMostPages) return nullptr;
  return std::make_unique<Strips>(problem, kernels, roles, roles.rows == Rows::kAcross && pages > kMostPagesAcross);
}

}  // namespace oneflow::cpu
