// Packing, tile products and the final store of contractions; compiled once per instruction set.
#include "contract_direct_kernels.h"
#include "contract_kernels.h"
#include "element.h"
#include "halves.h"
#include "vectors.h"

namespace oneflow::cpu::OF_ISA {
namespace {

#if defined(__AVX512F__)
constexpr int kTileColumns = 14;  // 28 sums, two vectors of A and one of B: 31 of 32 registers
#else
constexpr int kTileColumns = 6;  // with AVX2: 12 sums, two vectors of A and one of B: 15 of 16 registers
#endif
// How long before a tile is done what it goes to is fetched: earlier, other lines of the same cache sets push it out.
constexpr int64_t kStepsToFetch = 128;
// A line of it every so many steps: loads of panels wait behind many at once. (adec,ebd->abc of 96 and 84 takes 0.94 of
// the time that it takes where all come at once, eafd,fbec->abcd 0.96.)
constexpr int64_t kStepsPerLine = 2;

// ------------------------------------------------------------------------------------------------ packing

// How many rows from `first` on lie next to each other.
inline int64_t run_from(const PanelSource& source, int64_t first, int64_t end) {
  int64_t next = first + 1;
  while (next < end && source.rows[next] - source.rows[next - 1] == 1) ++next;
  return next - first;
}

// Elements that lie next to each other, the first `count` of a vector.
template <class T, class S>
inline Vector<T> load_converted(const S* from, int64_t count) {
  constexpr int lanes = kLanes<T>;
  if constexpr (is_same_type<S, T>) {
    return load_some(from, count);
  } else {
    T line[lanes] = {};
    if (count >= lanes) {
      if constexpr (is_same_type<S, float16>) return load_halves(from);
      for (int i = 0; i < lanes; ++i) line[i] = convert<T>(from[i]);
    } else {
      for (int i = 0; i < count; ++i) line[i] = convert<T>(from[i]);
    }
    return load(line);
  }
}

// Rows of a panel that lie next to each other.
struct RowRun {
  int64_t from;  // the offset of the first
  int64_t count;
  int64_t to;     // where it goes, in elements
  int64_t width;  // of the panel: to the next depth
};

inline int64_t place_of(const DepthWalk& depth, int64_t p) { return depth.places == nullptr ? p : depth.places[p]; }

// Rows lie next to each other in runs, of which a vector is copied for a few depths: the panel is then written in long
// pieces, and the rest of a cache line is read while it is near. (Panels of 14 columns take 0.7 of the time that all
// runs of each depth take, one depth after the other; bhqk,bhkd->bhqd of heads of 64 takes 0.9, ijk,ikl->ijl 0.81.) It
// is a function of its own, with what it needs in variables, so that the inner loop stays in registers.
template <class T, class S>
__attribute__((noinline)) void pack_row_runs(const S* data, const DepthWalk& depth, const RowRun* runs, int count,
                                             T* packed) {
  constexpr int64_t lanes = kLanes<T>, kDepths = 8;
  const int64_t* const offsets = depth.offsets;
  const int64_t* const places = depth.places;
  const int64_t depths = depth.count;
  for (int64_t first = 0; first < depths; first += kDepths) {
    const int64_t now = depths - first < kDepths ? depths - first : kDepths;
    const int64_t* const here = offsets + first;
    const int64_t ahead = depths - first < 2 * kDepths ? 0 : kDepths;
    for (const RowRun* run = runs; run < runs + count; ++run) {
      const int64_t width = run->width;
      const auto copy = [&](const S* from, T* to, int64_t rows) {
        if (places == nullptr) {
          to += first * width;
          for (int64_t p = 0; p < now; ++p, to += width) {
            __builtin_prefetch(from + here[p + ahead]);
            store_some(to, load_converted<T>(from + here[p], rows), 0, rows);
          }
        } else {
          for (int64_t p = 0; p < now; ++p)
            store_some(to + places[first + p] * width, load_converted<T>(from + here[p], rows), 0, rows);
        }
      };
      const S* from = data + run->from;
      T* to = packed + run->to;
      int64_t rows = run->count;
      for (; rows >= lanes; rows -= lanes, from += lanes, to += lanes) copy(from, to, lanes);
      if (rows > 0) copy(from, to, rows);
    }
  }
}

// Depths lie next to each other in runs: squares of rows are transposed in registers.
template <class T, class S>
void pack_runs(const S* data, const PanelSource& source, int64_t count, int64_t width, T* panel) {
  constexpr int lanes = kLanes<T>;
  constexpr int64_t kAhead = 2 * lanes;
  const DepthWalk& depth = source.depth;
  for (int64_t p = 0, run; p < depth.count; p += run) {
    run = depth.runs[p];
    const S* from = data + depth.offsets[p];
    int64_t later = p;
    for (int64_t passed = 0; passed < kAhead && later + depth.runs[later] < depth.count; later += depth.runs[later])
      passed += depth.runs[later];
    for (int64_t done = 0; done < run; done += lanes) {
      const int64_t depths = run - done < lanes ? run - done : lanes;
      if (4 * depths < lanes) {  // hardly any of a square
        for (int64_t q = p + done; q < p + done + depths; ++q) {
          T* to = panel + place_of(depth, q) * width;
          for (int64_t i = 0; i < count; ++i) to[i] = convert<T>(from[source.rows[i] + q - p]);
          for (int64_t i = count; i < width; ++i) to[i] = T{0};
        }
        break;
      }
      const int64_t ahead =
          done + kAhead < run ? kAhead : depth.offsets[later] - depth.offsets[p] + done % kAhead - done;
      // Squares that are wider than the panel is spill into the next depth. From right to left, and depth by depth,
      // what they spill is overwritten by what belongs there; but not where depths are out of order.
      for (int64_t first = (width - 1) / lanes * lanes; first >= 0; first -= lanes) {
        Vector<T> square[lanes];
        for (int i = 0; i < lanes; ++i) {
          if (first + i >= count) {
            square[i] = Vector<T>{};
            continue;
          }
          const S* row = from + source.rows[first + i] + done;
          __builtin_prefetch(row + ahead);
          __builtin_prefetch(row + ahead + depths - 1);
          square[i] = load_converted<T>(row, depths);
        }
        transpose<T>(square);
        if (depth.places == nullptr) {
          for (int i = 0; i < depths; ++i) store(panel + (p + done + i) * width + first, square[i]);
        } else {
          const int64_t rows = width - first < lanes ? width - first : lanes;
          for (int i = 0; i < depths; ++i)
            store_some(panel + depth.places[p + done + i] * width + first, square[i], 0, rows);
        }
      }
    }
  }
}

template <class T>
void clear(void* panel, int64_t from, int64_t width, int64_t depth) {
  for (int64_t p = 0; p < depth; ++p)
    for (int64_t i = from; i < width; ++i) static_cast<T*>(panel)[p * width + i] = T{0};
}

template <class T, class S>
void pack_panels(const S* data, const PanelSource& source, const Panels& panels, int64_t first, int64_t last,
                 T* packed) {
  constexpr int kMostRuns = 64;
  RowRun runs[kMostRuns];
  int count = 0;
  int64_t rows = 0;
  const int64_t step = panels.bytes / static_cast<int64_t>(sizeof(T));
  for (int64_t i = first; i < last && count < kMostRuns; ++i) {
    const int64_t start = panels.start(i), end = start + panels.rows(i);
    for (int64_t row = start; row < end && count < kMostRuns;) {
      const int64_t run = run_from(source, row, end);
      runs[count++] = {source.rows[row], run, i * step + row - start, panels.width(i)};
      rows += run;
      row += run;
    }
  }
  const DepthWalk& depth = source.depth;
  int64_t longest_depth = 0;
  for (int64_t p = 0; p < depth.count; p += depth.runs[p])
    if (depth.runs[p] > longest_depth) longest_depth = depth.runs[p];
  const int64_t all_rows = panels.start(last - 1) + panels.rows(last - 1) - panels.start(first);
  if (rows == all_rows && (longest_depth < kLanes<T> ? rows >= 4 * count : rows > count && count <= last - first)) {
    pack_row_runs(data, depth, runs, count, packed);
    clear<T>(packed + (last - 1) * step, panels.rows(last - 1), panels.width(last - 1), depth.count);
    return;
  }
  for (int64_t i = first; i < last; ++i) {
    const PanelSource rows_of{source.data, source.rows + panels.start(i), depth};
    pack_runs(data, rows_of, panels.rows(i), panels.width(i), packed + i * step);
  }
}

// The storage types that each compute type stands for.
template <class T, class Visit>
inline void visit_storage(of_dtype dtype, Visit&& visit) {
  if constexpr (is_same_type<T, float>) {
    switch (dtype) {
      case OF_FLOAT16:
        return visit(float16{});
      case OF_BFLOAT16:
        return visit(bfloat16{});
      case OF_BOOL:
        return visit(bool{});
      default:
        return visit(float{});
    }
  } else if constexpr (is_same_type<T, uint32_t>) {
    switch (dtype) {
      case OF_INT8:
        return visit(int8_t{});
      case OF_UINT8:
        return visit(uint8_t{});
      case OF_INT16:
        return visit(int16_t{});
      case OF_UINT16:
        return visit(uint16_t{});
      default:
        return visit(uint32_t{});
    }
  } else {
    return visit(T{});
  }
}

template <class T>
void pack(of_dtype dtype, const PanelSource& source, const Panels& panels, int64_t first, int64_t last, void* packed) {
  visit_storage<T>(dtype, [&](auto element) {
    using S = decltype(element);
    pack_panels(static_cast<const S*>(source.data), source, panels, first, last, static_cast<T*>(packed));
  });
}

// Squares of lines by rows are turned in registers, so that what is read lies next to each other, and what is written
// too. The rows of one depth are copied first, while those of the next are on their way: each is somewhere else in
// memory.
template <class T>
void pack_turned(const TurnedRows& rows, int64_t depth, void* packed) {
  constexpr int lanes = kLanes<T>;
  const TurnedSource& source = rows.source;
  alignas(kVectorBytes) T copies[lanes][TurnedSource::kMostLines + lanes];
  const T* start = static_cast<const T*>(source.data) + source.start;
  for (int64_t p = 0; p < depth; ++p) {
    const int64_t next = p + 1 < depth ? source.depth[p + 1] - source.depth[p] : 0;
    for (int64_t i = 0; i < source.length; ++i) {
      const T* from = start + source.depth[p] + i * source.stride;
      for (int64_t line = 0; line < source.lines; line += lanes) {
        __builtin_prefetch(from + next + line);
        store(copies[i] + line, load_some(from + line, source.lines - line));
      }
      __builtin_prefetch(from + next + source.lines - 1);
    }
    for (int64_t line = 0; line < source.lines; line += lanes) {
      Vector<T> square[lanes];
      for (int i = 0; i < lanes; ++i) square[i] = i < source.length ? load(copies[i] + line) : Vector<T>{};
      transpose<T>(square);
      const int64_t lines = source.lines - line < lanes ? source.lines - line : lanes;
      for (int64_t j = 0; j < lines; ++j) {
        const int64_t row = (line + j) * source.row_step;
        if (rows.left[row] >= lanes && source.length == lanes) {
          store(static_cast<T*>(packed) + rows.places[row] + p * rows.widths[row], square[j]);
          continue;
        }
        for (int64_t done = 0; done < source.length;) {
          const int64_t at = row + done, rest = source.length - done;
          const int64_t part = rows.left[at] < rest ? rows.left[at] : rest;
          store_some(static_cast<T*>(packed) + rows.places[at] + p * rows.widths[at], square[j], done, part);
          done += part;
        }
      }
    }
  }
}

// ------------------------------------------------------------------------------------------------ tile products

// Stores `count` neighbours, or adds to them.
template <class T>
inline void put_run(T* to, const T* sums, int64_t count, bool accumulate) {
  constexpr int lanes = kLanes<T>;
  for (int64_t i = 0; i < count; i += lanes) {
    const int64_t rest = count - i;
    const Vector<T> sum = load_some(sums + i, rest);
    store_some(to + i, accumulate ? load_some(to + i, rest) + sum : sum, 0, rest < lanes ? rest : lanes);
  }
}

// A tile of which C has the columns next to each other and the rows apart.
template <class T>
void scatter_turned(const T* sums, int64_t step, int columns, const TileTarget& target) {
  T* c = static_cast<T*>(target.c) + target.column_offsets[0];
  for (int64_t i = 0; i < target.rows; i += kLanes<T>) {
    const int64_t rows = target.rows - i < kLanes<T> ? target.rows - i : kLanes<T>;
    turn_sums<T>({sums + i, step, columns, c, target.row_offsets + i, rows, false, target.accumulate});
  }
}

inline bool are_neighbours(const int64_t* offsets, int count) {
  for (int i = 1; i < count; ++i)
    if (offsets[i] != offsets[0] + i) return false;
  return true;
}

// Moves the sums of a tile, so many for each column, to where C is: any strides, and fewer rows than a full tile.
template <class T>
__attribute__((noinline)) void scatter(const T* sums, int64_t step, int columns, const TileTarget& target) {
  if (columns > 1 && target.row_runs[0] == 1 && are_neighbours(target.column_offsets, columns))
    return scatter_turned(sums, step, columns, target);
  for (int j = 0; j < columns; ++j, sums += step) {
    T* column = static_cast<T*>(target.c) + target.column_offsets[j];
    for (int64_t i = 0; i < target.rows;) {
      const int64_t run = target.row_runs[i] < target.rows - i ? target.row_runs[i] : target.rows - i;
      T* to = column + target.row_offsets[i];
      if (run > 1)
        put_run(to, sums + i, run, target.accumulate);
      else
        *to = target.accumulate ? *to + sums[i] : sums[i];
      i += run;
    }
  }
}

// The elements of B that the steps of a tile multiply: those of a panel.
template <class T, int columns>
class PackedColumns {
 public:
  explicit PackedColumns(const void* panel) : next_(static_cast<const T*>(panel)) {}

  void begin(int64_t) {
    now_ = next_;
    next_ += columns;
  }
  const T& at(int j) { return now_[j]; }

 private:
  const T *now_ = nullptr, *next_;
};

// Those of the operand itself: four of them by one address, so that addresses stay in registers.
template <class T>
class ColumnsInPlace {
 public:
  explicit ColumnsInPlace(const ColumnSource& source)
      : data_(static_cast<const T*>(source.data)), depth_(source.depth), step_(source.step), triple_(3 * source.step) {}

  void begin(int64_t p) { now_ = data_ + depth_[p]; }
  // Called with j from 0 on.
  const T& at(int j) {
    if (j % 4 == 0 && j > 0) now_ += 4 * step_;
    return j % 4 == 0 ? now_[0] : j % 4 == 1 ? now_[step_] : j % 4 == 2 ? now_[2 * step_] : now_[triple_];
  }

 private:
  const T* const data_;
  const int64_t* const depth_;
  const int64_t step_, triple_;
  const T* now_ = nullptr;
};

// `halves` of a panel of rows, one vector or two.
template <class T, int columns, int halves, class Columns>
inline __attribute__((always_inline)) void multiply_halves(int64_t depth, const void* panel_a, Columns b,
                                                           const TileTarget& target) {
  constexpr int lanes = kLanes<T>, last = halves - 1;
  const T* a = static_cast<const T*>(panel_a);
  const bool direct =
      target.rows == halves * lanes && target.row_runs[0] >= lanes && target.row_runs[last * lanes] >= lanes;
  T* c[halves];
  for (int half = 0; half < halves; ++half)
    c[half] = static_cast<T*>(target.c) + (direct ? target.row_offsets[half * lanes] : 0);
  Vector<T> sums[columns][halves] = {};
  const auto step = [&](int64_t p) __attribute__((always_inline)) {
    __builtin_prefetch(target.ahead + target.ahead_offsets[p >> target.ahead_shift], 0, 2);
    const Vector<T> first = load(a), second = load(a + last * lanes);
    b.begin(p);
#pragma GCC unroll 16
    for (int j = 0; j < columns; ++j) {
      const Vector<T> b_j = b.at(j) - Vector<T>{};  // in all lanes; x - 0 is x, -0 included
      sums[j][0] += first * b_j;
      if constexpr (halves == 2) sums[j][1] += second * b_j;
    }
    a += 2 * lanes;
  };
  int64_t p = 0;
  for (const int64_t end = direct ? depth - kStepsToFetch : 0; p < end; ++p) step(p);
  if (direct) {
    for (int k = 0; k <= halves; ++k) {
      const T* const half = c[k < halves ? k : last];
      const int64_t place = k < halves ? 0 : lanes - 1;  // vectors may end on another cache line
      for (int j = 0; j < columns; ++j) {
        const T* const to = half + target.column_offsets[j];
        if (!target.streams || !can_store_past(to)) __builtin_prefetch(to + place, 1);
        for (const int64_t end = p + kStepsPerLine < depth ? p + kStepsPerLine : depth; p < end; ++p) step(p);
      }
    }
  }
  for (; p < depth; ++p) step(p);
  if (!direct) {
    alignas(kVectorBytes) T spilled[columns * halves * lanes];
#pragma GCC unroll 16
    for (int j = 0; j < columns; ++j)
#pragma GCC unroll 2
      for (int half = 0; half < halves; ++half) store(spilled + (j * halves + half) * lanes, sums[j][half]);
    return scatter(spilled, halves * lanes, columns, target);
  }
  const auto put = [&](auto&& put_one) {
#pragma GCC unroll 16
    for (int j = 0; j < columns; ++j)
#pragma GCC unroll 2
      for (int half = 0; half < halves; ++half) put_one(c[half] + target.column_offsets[j], sums[j][half]);
  };
  if (target.accumulate) return put([](T* to, const Vector<T>& sum) { store(to, load(to) + sum); });
  if (!target.streams) return put([](T* to, const Vector<T>& sum) { store(to, sum); });
  put([](T* to, const Vector<T>& sum) { can_store_past(to) ? store_past(to, sum) : store(to, sum); });
}

// The last panel may have rows in its first half only.
template <class T, int columns, class Columns>
inline __attribute__((always_inline)) void multiply_tile(int64_t depth, const void* panel_a, const Columns& b,
                                                         const TileTarget& target) {
  if (target.rows <= kLanes<T>)
    multiply_halves<T, columns, 1>(depth, panel_a, b, target);
  else
    multiply_halves<T, columns, 2>(depth, panel_a, b, target);
}

template <class T, int columns>
void tile(int64_t depth, const void* a, const void* b, const TileTarget& target) {
  multiply_tile<T, columns>(depth, a, PackedColumns<T, columns>(b), target);
}

template <class T, int columns>
void tile_in_place(int64_t depth, const void* a, const ColumnSource& b, const TileTarget& target) {
  multiply_tile<T, columns>(depth, a, ColumnsInPlace<T>(b), target);
}

// ------------------------------------------------------------------------------------------------ the last step

template <class T>
void finish(of_dtype dtype, const void* all_sums, int64_t ld, const FinishTarget& target) {
  visit_storage<T>(dtype, [&](auto element) {
    using S = decltype(element);
    const TileTarget& tile = target.tile;
    const T alpha = convert<T>(target.alpha), beta = convert<T>(target.beta);
    const S* bias = static_cast<const S*>(target.bias);
    for (int64_t j = 0; j < target.columns; ++j) {
      const T* sums = static_cast<const T*>(all_sums) + j * ld;
      S* column = static_cast<S*>(tile.c) + tile.column_offsets[j];
      if (tile.row_runs[0] >= tile.rows && target.alpha == 1 && target.beta == 0 && bias == nullptr) {
        column += tile.row_offsets[0];
        int64_t i = 0;
        if constexpr (is_same_type<S, float16>)
          for (; i + kLanes<T> <= tile.rows; i += kLanes<T>) store_halves(column + i, load(sums + i));
        for (; i < tile.rows; ++i) column[i] = convert<S>(sums[i]);
        continue;
      }
      for (int64_t i = 0; i < tile.rows; ++i) {
        S& result = column[tile.row_offsets[i]];
        T sum = alpha * sums[i];
        if (target.beta != 0) sum += beta * convert<T>(result);
        if (bias != nullptr) sum += convert<T>(bias[target.bias_rows[i] + target.bias_columns[j]]);
        result = convert<S>(sum);
      }
    }
  });
}

// ------------------------------------------------------------------------------------------------ the table

template <class T, int columns>
void fill_tiles(ContractKernels& kernels) {
  kernels.tile[columns] = tile<T, columns>;
  kernels.tile_in_place[columns] = tile_in_place<T, columns>;
  if constexpr (columns > 1) fill_tiles<T, columns - 1>(kernels);
}

template <class T>
constexpr of_dtype natural_dtype = OF_FLOAT32;
template <>
constexpr of_dtype natural_dtype<double> = OF_FLOAT64;
template <>
constexpr of_dtype natural_dtype<uint32_t> = OF_UINT32;
template <>
constexpr of_dtype natural_dtype<uint64_t> = OF_UINT64;

template <class T>
const ContractKernels& table() {
  static const ContractKernels kernels = [] {
    ContractKernels filled{};
    filled.dtype = natural_dtype<T>;
    filled.size = sizeof(T);
    filled.rows = 2 * kLanes<T>;
    filled.columns = kTileColumns;
    filled.lane_count = kLanes<T>;
    filled.pack = pack<T>;
    filled.pack_turned = pack_turned<T>;
    filled.clear = clear<T>;
    add_direct_kernels<T>(filled);
    add_dot_kernels<T>(filled);
    add_strip_kernels<T>(filled);
    add_line_kernels<T>(filled);
    filled.finish = finish<T>;
    fill_tiles<T, kTileColumns>(filled);
    return filled;
  }();
  return kernels;
}

const ContractKernels& pairs_table() {
  static const ContractKernels kernels = [] {
    ContractKernels filled = table<float>();
    add_pair_kernels(filled);
    return filled;
  }();
  return kernels;
}

}  // namespace

const ContractKernels& contract_kernels(of_dtype dtype) {
  switch (dtype) {
    case OF_FLOAT64:
      return table<double>();
    case OF_INT64:
    case OF_UINT64:
      return table<uint64_t>();
    // Sums of truths only ever grow, so that in floats they never come back to zero.
    case OF_BOOL:
    case OF_FLOAT16:
    case OF_FLOAT32:
      return table<float>();
    case OF_BFLOAT16:
      return pairs_table();
    default:
      return table<uint32_t>();
  }
}

}  // namespace oneflow::cpu::OF_ISA
