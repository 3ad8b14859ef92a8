// Packing, the micro-kernels and the epilogue of packed contractions; compiled once per instruction set.
//
// A micro-kernel keeps its register tile of two vectors of rows by up to 14 columns in registers and adds one outer
// product per step of the depth: it loads two vectors of the panel of A, broadcasts each element of the panel of B, and
// multiplies and adds. More columns would spill to memory, fewer would load more per multiplication.
#include "contract/direct/kernels.h"
#include "contract/kernels.h"
#include "simd/element.h"
#include "simd/halves.h"
#include "simd/vectors.h"

namespace oneflow::cpu::OF_ISA {
namespace {

#if defined(__AVX512F__)
constexpr int kTileColumns = 14;  // 28 sums, two vectors of A and one of B: 31 of 32 registers
#else
constexpr int kTileColumns = 6;  // with AVX2: 12 sums, two vectors of A and one of B: 15 of 16 registers
#endif
// The steps before its end in which a micro-kernel prefetches the lines of C that it stores to: earlier, other lines of
// the same cache sets would evict them.
constexpr int64_t kPrefetchSteps = 128;
// The steps between two of these prefetches: many at once would delay the loads of panels.
constexpr int64_t kStepsPerLine = 2;

// ------------------------------------------------------------------------------------------------ packing

// Returns how many rows from `first` on are contiguous.
inline int64_t run_from(const PanelSource& source, int64_t first, int64_t end) {
  int64_t next = first + 1;
  while (next < end && source.row_offsets[next] - source.row_offsets[next - 1] == 1) ++next;
  return next - first;
}

// Loads and converts `count` contiguous elements; the other lanes are zero.
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

// Rows of a panel that are contiguous in the operand.
struct RowRun {
  int64_t from;  // the offset of the first row in the operand
  int64_t count;
  int64_t to;     // the offset of the first row in the packed panels
  int64_t width;  // of the panel
};

// Returns the position in the panels of index `p` of a depth table.
inline int64_t position_of(const DepthTable& depth, int64_t p) {
  return depth.positions == nullptr ? p : depth.positions[p];
}

// Packs contiguous rows: copies one vector of a run for several indices of the depth before the next vector. The panel
// is then written in long pieces, and the rest of a cache line is read while it is in the cache. The function is not
// inlined and keeps its arguments in variables, so that the inner loop stays in registers.
template <class T, class S>
__attribute__((noinline)) void pack_row_runs(const S* data, const DepthTable& depth, const RowRun* runs, int count,
                                             T* packed) {
  constexpr int64_t lanes = kLanes<T>, kDepths = 8;
  const int64_t* const offsets = depth.offsets;
  const int64_t* const positions = depth.positions;
  const int64_t depths = depth.count;
  for (int64_t first = 0; first < depths; first += kDepths) {
    const int64_t block_depths = depths - first < kDepths ? depths - first : kDepths;
    const int64_t* const block = offsets + first;
    const int64_t ahead = depths - first < 2 * kDepths ? 0 : kDepths;
    for (const RowRun* run = runs; run < runs + count; ++run) {
      const int64_t width = run->width;
      const auto copy = [&](const S* from, T* to, int64_t rows) {
        if (positions == nullptr) {
          to += first * width;
          for (int64_t p = 0; p < block_depths; ++p, to += width) {
            __builtin_prefetch(from + block[p + ahead]);
            store_some(to, load_converted<T>(from + block[p], rows), 0, rows);
          }
        } else {
          for (int64_t p = 0; p < block_depths; ++p)
            store_some(to + positions[first + p] * width, load_converted<T>(from + block[p], rows), 0, rows);
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

// Packs rows that are contiguous along the depth: squares of rows by depth are transposed in registers.
template <class T, class S>
void pack_runs(const S* data, const PanelSource& source, int64_t count, int64_t width, T* panel) {
  constexpr int lanes = kLanes<T>;
  constexpr int64_t kAhead = 2 * lanes;
  const DepthTable& depth = source.depth;
  for (int64_t p = 0, run; p < depth.count; p += run) {
    run = depth.runs[p];
    const S* from = data + depth.offsets[p];
    int64_t later = p;
    for (int64_t passed = 0; passed < kAhead && later + depth.runs[later] < depth.count; later += depth.runs[later])
      passed += depth.runs[later];
    for (int64_t done = 0; done < run; done += lanes) {
      const int64_t depths = run - done < lanes ? run - done : lanes;
      if (4 * depths < lanes) {  // too little of a square to transpose
        for (int64_t q = p + done; q < p + done + depths; ++q) {
          T* to = panel + position_of(depth, q) * width;
          for (int64_t i = 0; i < count; ++i) to[i] = convert<T>(from[source.row_offsets[i] + q - p]);
          for (int64_t i = count; i < width; ++i) to[i] = T{0};
        }
        break;
      }
      const int64_t ahead =
          done + kAhead < run ? kAhead : depth.offsets[later] - depth.offsets[p] + done % kAhead - done;
      // Squares that are wider than the panel overflow into the row of the next index of the depth. From right to left,
      // and in the order of the depth, later stores overwrite the overflow. Where the depth is out of order they would
      // not, so that only the panel's width is stored.
      for (int64_t first = (width - 1) / lanes * lanes; first >= 0; first -= lanes) {
        Vector<T> square[lanes];
        for (int i = 0; i < lanes; ++i) {
          if (first + i >= count) {
            square[i] = Vector<T>{};
            continue;
          }
          const S* row = from + source.row_offsets[first + i] + done;
          __builtin_prefetch(row + ahead);
          __builtin_prefetch(row + ahead + depths - 1);
          square[i] = load_converted<T>(row, depths);
        }
        transpose<T>(square);
        if (depth.positions == nullptr) {
          for (int i = 0; i < depths; ++i) store(panel + (p + done + i) * width + first, square[i]);
        } else {
          const int64_t rows = width - first < lanes ? width - first : lanes;
          for (int i = 0; i < depths; ++i)
            store_some(panel + depth.positions[p + done + i] * width + first, square[i], 0, rows);
        }
      }
    }
  }
}

template <class T>
void zero_rows(void* panel, int64_t from, int64_t width, int64_t depth) {
  for (int64_t p = 0; p < depth; ++p)
    for (int64_t i = from; i < width; ++i) static_cast<T*>(panel)[p * width + i] = T{0};
}

// Packs by contiguous rows where they are long enough, else along the depth.
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
      runs[count++] = {source.row_offsets[row], run, i * step + row - start, panels.width(i)};
      rows += run;
      row += run;
    }
  }
  const DepthTable& depth = source.depth;
  int64_t longest_depth = 0;
  for (int64_t p = 0; p < depth.count; p += depth.runs[p])
    if (depth.runs[p] > longest_depth) longest_depth = depth.runs[p];
  const int64_t all_rows = panels.start(last - 1) + panels.rows(last - 1) - panels.start(first);
  if (rows == all_rows && (longest_depth < kLanes<T> ? rows >= 4 * count : rows > count && count <= last - first)) {
    pack_row_runs(data, depth, runs, count, packed);
    zero_rows<T>(packed + (last - 1) * step, panels.rows(last - 1), panels.width(last - 1), depth.count);
    return;
  }
  for (int64_t i = first; i < last; ++i) {
    const PanelSource rows_of{source.data, source.row_offsets + panels.start(i), depth};
    pack_runs(data, rows_of, panels.rows(i), panels.width(i), packed + i * step);
  }
}

// Calls visit(element) with an element of the storage type `dtype`, which the kernels compute in T.
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

// Transposes squares in registers, so that loads and stores are contiguous. The contiguous vectors of one index of the
// depth are copied first, while those of the next index are prefetched, as each of them is elsewhere in memory.
template <class T>
void pack_transposed(const TransposedRows& rows, int64_t depth, void* packed) {
  constexpr int lanes = kLanes<T>;
  const TransposedSource& source = rows.source;
  alignas(kVectorBytes) T copies[lanes][TransposedSource::kMaxContiguous + lanes];
  const T* start = static_cast<const T*>(source.data) + source.start;
  for (int64_t p = 0; p < depth; ++p) {
    const int64_t next = p + 1 < depth ? source.depth[p + 1] - source.depth[p] : 0;
    for (int64_t i = 0; i < source.strided; ++i) {
      const T* from = start + source.depth[p] + i * source.stride;
      for (int64_t first = 0; first < source.contiguous; first += lanes) {
        __builtin_prefetch(from + next + first);
        store(copies[i] + first, load_some(from + first, source.contiguous - first));
      }
      __builtin_prefetch(from + next + source.contiguous - 1);
    }
    for (int64_t first = 0; first < source.contiguous; first += lanes) {
      Vector<T> square[lanes];
      for (int i = 0; i < lanes; ++i) square[i] = i < source.strided ? load(copies[i] + first) : Vector<T>{};
      transpose<T>(square);
      const int64_t count = source.contiguous - first < lanes ? source.contiguous - first : lanes;
      for (int64_t j = 0; j < count; ++j) {
        const int64_t row = (first + j) * source.row_step;
        if (rows.remaining[row] >= lanes && source.strided == lanes) {
          store(static_cast<T*>(packed) + rows.positions[row] + p * rows.widths[row], square[j]);
          continue;
        }
        for (int64_t done = 0; done < source.strided;) {
          const int64_t at = row + done, rest = source.strided - done;
          const int64_t part = rows.remaining[at] < rest ? rows.remaining[at] : rest;
          store_some(static_cast<T*>(packed) + rows.positions[at] + p * rows.widths[at], square[j], done, part);
          done += part;
        }
      }
    }
  }
}

// ------------------------------------------------------------------------------------------------ micro-kernels

// Stores `count` contiguous sums, or adds them.
template <class T>
inline void put_run(T* to, const T* sums, int64_t count, bool accumulate) {
  constexpr int lanes = kLanes<T>;
  for (int64_t i = 0; i < count; i += lanes) {
    const int64_t rest = count - i;
    const Vector<T> sum = load_some(sums + i, rest);
    store_some(to + i, accumulate ? load_some(to + i, rest) + sum : sum, 0, rest < lanes ? rest : lanes);
  }
}

// Stores a tile whose columns are contiguous in C and whose rows are strided.
template <class T>
void store_transposed(const T* sums, int64_t step, int columns, const TileTarget& target) {
  T* c = static_cast<T*>(target.c) + target.column_offsets[0];
  for (int64_t i = 0; i < target.rows; i += kLanes<T>) {
    const int64_t rows = target.rows - i < kLanes<T> ? target.rows - i : kLanes<T>;
    transpose_sums<T>({sums + i, step, columns, c, target.row_offsets + i, rows, false, target.accumulate});
  }
}

inline bool are_contiguous(const int64_t* offsets, int count) {
  for (int i = 1; i < count; ++i)
    if (offsets[i] != offsets[0] + i) return false;
  return true;
}

// Stores a tile, of which each column has `step` sums, to C of any strides; for any number of rows.
template <class T>
__attribute__((noinline)) void store_strided(const T* sums, int64_t step, int columns, const TileTarget& target) {
  if (columns > 1 && target.row_runs[0] == 1 && are_contiguous(target.column_offsets, columns))
    return store_transposed(sums, step, columns, target);
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

// Stores a vector with a non-temporal store if possible.
template <class T>
inline void put_non_temporal(T* to, const Vector<T>& sum) {
  can_store_non_temporal(to) ? store_non_temporal(to, sum) : store(to, sum);
}

// Stores a tile whose vectors of rows are contiguous in C, with non-temporal stores where these are possible.
template <class T>
__attribute__((noinline)) void stream(const T* sums, int halves, int columns, const TileTarget& target) {
  for (int j = 0; j < columns; ++j) {
    for (int half = 0; half < halves; ++half, sums += kLanes<T>) {
      T* const to = static_cast<T*>(target.c) + target.row_offsets[half * kLanes<T>] + target.column_offsets[j];
      put_non_temporal(to, load(sums));
    }
  }
}

// The elements of B that the steps of a micro-kernel broadcast, from a packed panel.
template <class T, int columns>
class PackedColumns {
 public:
  explicit PackedColumns(const void* panel) : next_(static_cast<const T*>(panel)) {}

  void begin(int64_t) {
    current_ = next_;
    next_ += columns;
  }
  const T& at(int j) { return current_[j]; }

 private:
  const T *current_ = nullptr, *next_;
};

// The elements of B in place. Four columns share one address, so that the addresses stay in registers.
template <class T>
class UnpackedColumns {
 public:
  explicit UnpackedColumns(const ColumnSource& source)
      : data_(static_cast<const T*>(source.data)),
        depth_(source.depth),
        stride_(source.stride),
        triple_(3 * source.stride) {}

  void begin(int64_t p) { current_ = data_ + depth_[p]; }
  // Called with j = 0, 1, 2, ... in this order.
  const T& at(int j) {
    if (j % 4 == 0 && j > 0) current_ += 4 * stride_;
    return j % 4 == 0   ? current_[0]
           : j % 4 == 1 ? current_[stride_]
           : j % 4 == 2 ? current_[2 * stride_]
                        : current_[triple_];
  }

 private:
  const T* const data_;
  const int64_t* const depth_;
  const int64_t stride_, triple_;
  const T* current_ = nullptr;
};

// The elements of B in place, at an offset for each column.
template <class T>
class WindowColumns {
 public:
  explicit WindowColumns(const ColumnSource& source)
      : data_(static_cast<const T*>(source.data)), depth_(source.depth), offsets_(source.offsets) {}

  void begin(int64_t p) { current_ = data_ + depth_[p]; }
  const T& at(int j) { return current_[offsets_[j]]; }

 private:
  const T* const data_;
  const int64_t* const depth_;
  const int64_t* const offsets_;
  const T* current_ = nullptr;
};

// The micro-kernel for a panel of one or two vectors of rows (`halves`).
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
    __builtin_prefetch(target.prefetch_base + target.prefetch_offsets[p >> target.prefetch_shift], 0, 2);
    const Vector<T> first = load(a), second = load(a + last * lanes);
    b.begin(p);
#pragma GCC unroll 16
    for (int j = 0; j < columns; ++j) {
      const Vector<T> b_j = b.at(j) - Vector<T>{};  // broadcasts: x - 0 is x, also for -0
      sums[j][0] += first * b_j;
      if constexpr (halves == 2) sums[j][1] += second * b_j;
    }
    a += 2 * lanes;
  };
  int64_t p = 0;
  for (const int64_t end = direct ? depth - kPrefetchSteps : depth; p < end; ++p) step(p);
  for (int k = 0; k <= halves && p < depth; ++k) {
    const T* const half = c[k < halves ? k : last];
    const int64_t element = k < halves ? 0 : lanes - 1;  // the last vector may end in another cache line
    for (int j = 0; j < columns && p < depth; ++j) {
      const T* const to = half + target.column_offsets[j];
      if (!target.streams || !can_store_non_temporal(to)) __builtin_prefetch(to + element, 1);
      const bool is_last = k == halves && j == columns - 1;
      for (const int64_t end = is_last || p + kStepsPerLine > depth ? depth : p + kStepsPerLine; p < end; ++p) step(p);
    }
  }
  // Small tiles are rarely streamed, so that they need no code of their own for it.
  constexpr bool streams_from_registers = halves == 2 && columns > kTileColumns / 2;
  const bool streams = target.streams && !target.accumulate;
  if (!direct || (streams && !streams_from_registers)) {
    alignas(kVectorBytes) T spilled[columns * halves * lanes];
#pragma GCC unroll 16
    for (int j = 0; j < columns; ++j)
#pragma GCC unroll 2
      for (int half = 0; half < halves; ++half) store(spilled + (j * halves + half) * lanes, sums[j][half]);
    return direct ? stream<T>(spilled, halves, columns, target)
                  : store_strided(spilled, halves * lanes, columns, target);
  }
  const auto put = [&](auto&& put_one) {
#pragma GCC unroll 16
    for (int j = 0; j < columns; ++j)
#pragma GCC unroll 2
      for (int half = 0; half < halves; ++half) put_one(c[half] + target.column_offsets[j], sums[j][half]);
  };
  if (target.accumulate) return put([](T* to, const Vector<T>& sum) { store(to, load(to) + sum); });
  if (!streams) return put([](T* to, const Vector<T>& sum) { store(to, sum); });
  if constexpr (streams_from_registers) put(put_non_temporal<T>);
}

// The last panel of a block may have one vector of rows only.
template <class T, int columns, class Columns>
inline __attribute__((always_inline)) void multiply_panel(int64_t depth, const void* panel_a, const Columns& b,
                                                          const TileTarget& target) {
  if (target.rows <= kLanes<T>)
    multiply_halves<T, columns, 1>(depth, panel_a, b, target);
  else
    multiply_halves<T, columns, 2>(depth, panel_a, b, target);
}

template <class T, int columns>
void micro_kernel(int64_t depth, const void* a, const void* b, const TileTarget& target) {
  multiply_panel<T, columns>(depth, a, PackedColumns<T, columns>(b), target);
}

template <class T, int columns>
void micro_kernel_unpacked(int64_t depth, const void* a, const ColumnSource& b, const TileTarget& target) {
  multiply_panel<T, columns>(depth, a, UnpackedColumns<T>(b), target);
}

template <class T, int columns>
void micro_kernel_windows(int64_t depth, const void* a, const ColumnSource& b, const TileTarget& target) {
  multiply_panel<T, columns>(depth, a, WindowColumns<T>(b), target);
}

// ------------------------------------------------------------------------------------------------ the epilogue

template <class T>
void epilogue(of_dtype dtype, const void* all_sums, int64_t ld, const EpilogueTarget& target) {
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
void add_micro_kernels(ContractKernels& kernels) {
  kernels.micro_kernel[columns] = micro_kernel<T, columns>;
  kernels.micro_kernel_unpacked[columns] = micro_kernel_unpacked<T, columns>;
  kernels.micro_kernel_windows[columns] = micro_kernel_windows<T, columns>;
  if constexpr (columns > 1) add_micro_kernels<T, columns - 1>(kernels);
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
    filled.has_masks = kHasMasks;
    filled.pack = pack<T>;
    filled.pack_transposed = pack_transposed<T>;
    filled.zero_rows = zero_rows<T>;
    add_direct_kernels<T>(filled);
    add_dot_kernels<T>(filled);
    add_strip_kernels<T>(filled);
    add_line_kernels<T>(filled);
    filled.epilogue = epilogue<T>;
    add_micro_kernels<T, kTileColumns>(filled);
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
    // Sums of bool are counts of true products: in float they saturate rather than wrap around to 0, which is false.
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
