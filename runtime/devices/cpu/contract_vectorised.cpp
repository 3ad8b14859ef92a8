// Packing, tile products and the final store of contractions; compiled once per instruction set.
#if defined(__AVX512F__)
#include <immintrin.h>
#endif

#include "contract_kernels.h"
#include "element.h"
#include "vectors.h"

namespace oneflow::cpu::OF_ISA {
namespace {

#if defined(__AVX512F__)
constexpr int kTileColumns = 14;  // 28 sums, two vectors of A and one of B: 31 of 32 registers
constexpr int kWide = 16;         // vectors of sums along lanes
#else
constexpr int kTileColumns = 6;  // with AVX2: 12 sums, two vectors of A and one of B: 15 of 16 registers
constexpr int kWide = 8;
#endif

// Whether store_past() does more than store(), every `step` elements: where a vector is a whole cache line.
template <class T>
inline bool can_store_past(const T* to, int64_t step = 0) {
  constexpr bool is_line = kVectorBytes == 64;
  return is_line && (reinterpret_cast<uintptr_t>(to) | static_cast<uintptr_t>(step) * sizeof(T)) % kVectorBytes == 0;
}
// To an address that can be stored to past the caches.
template <class T>
inline void store_past(T* to, Vector<T> value) {
#if defined(__AVX512F__)
  _mm512_stream_si512(reinterpret_cast<__m512i*>(to), reinterpret_cast<__m512i>(value));
#else
  store(to, value);
#endif
}

// ------------------------------------------------------------------------------------------------ packing

// How many rows from `first` on lie next to each other.
inline int64_t run_from(const PanelSource& source, int64_t first, int64_t end) {
  int64_t next = first + 1;
  while (next < end && source.rows[next] - source.rows[next - 1] == 1) ++next;
  return next - first;
}

// Rows that lie next to each other.
template <class T, class S>
inline void pack_run(const S* from, int64_t count, T* to) {
  constexpr int lanes = kLanes<T>;
  if constexpr (is_same_type<S, T>) {
    int64_t i = 0;
    for (; i + lanes <= count; i += lanes) store(to + i, load(from + i));
    if (i < count) store_some(to + i, load_some(from + i, count - i), 0, count - i);
  } else {
    for (int64_t i = 0; i < count; ++i) to[i] = convert<T>(from[i]);
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

// Rows lie next to each other in runs. Memory is read in long pieces: runs that continue each other, for a few depths,
// which may continue each other, too.
template <class T, class S>
void pack_row_runs(const S* data, const DepthWalk& depth, const RowRun* runs, int count, T* packed) {
  constexpr int64_t kDepths = 32, kAhead = 4;
  for (int64_t first = 0; first < depth.count; first += kDepths) {
    const int64_t end = depth.count - first < kDepths ? depth.count : first + kDepths;
    for (const RowRun *run = runs, *next = runs; run < runs + count; run = next) {
      do ++next;
      while (next < runs + count && next->from == next[-1].from + next[-1].count);
      for (int64_t p = first; p < end; ++p) {
        const int64_t later = p + kAhead < depth.count ? p + kAhead : depth.count - 1;
        const int64_t ahead = depth.offsets[later] - depth.offsets[p];
        for (const RowRun* each = run; each < next; ++each) {
          const S* from = data + depth.offsets[p] + each->from;
          for (int64_t i = 0; i < each->count; i += 64 / sizeof(S)) __builtin_prefetch(from + ahead + i);
          pack_run(from, each->count, packed + each->to + place_of(depth, p) * each->width);
        }
      }
    }
  }
}

// Elements that lie next to each other, the first `count` of a vector.
template <class T, class S>
inline Vector<T> load_converted(const S* from, int64_t count) {
  if constexpr (is_same_type<S, T>) {
    return load_some(from, count);
  } else {
    T line[kLanes<T>] = {};
    for (int64_t i = 0; i < kLanes<T> && i < count; ++i) line[i] = convert<T>(from[i]);
    return load(line);
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

// Moves the sums of a tile to where C is: any strides, and fewer rows than a full tile.
template <class T>
__attribute__((noinline)) void scatter(const T* sums, int columns, const TileTarget& target) {
  for (int j = 0; j < columns; ++j, sums += 2 * kLanes<T>) {
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

template <class T, int columns>
void tile(int64_t depth, const void* panel_a, const void* panel_b, const TileTarget& target) {
  constexpr int lanes = kLanes<T>;
  const T* a = static_cast<const T*>(panel_a);
  const T* b = static_cast<const T*>(panel_b);
  const bool direct = target.rows == 2 * lanes && target.row_runs[0] >= lanes && target.row_runs[lanes] >= lanes;
  T* c[2] = {static_cast<T*>(target.c), static_cast<T*>(target.c)};
  if (direct)
    for (int half = 0; half < 2; ++half) c[half] += target.row_offsets[half * lanes];
  if (direct && !target.streams) {
#pragma GCC unroll 16
    for (int j = 0; j < columns; ++j)
      for (const T* half : c) __builtin_prefetch(half + target.column_offsets[j], 1);
  }
  Vector<T> sums[columns][2] = {};
  const auto step = [&] {
    const Vector<T> a0 = load(a), a1 = load(a + lanes);
#pragma GCC unroll 16
    for (int j = 0; j < columns; ++j) {
      const Vector<T> b_j = b[j] - Vector<T>{};  // in all lanes; x - 0 is x, -0 included
      sums[j][0] += a0 * b_j;
      sums[j][1] += a1 * b_j;
    }
    a += 2 * lanes;
    b += columns;
  };
  if (target.ahead == nullptr) {
    for (int64_t p = 0; p < depth; ++p) step();
  } else {
    for (int64_t p = 0; p < depth; ++p) {
      __builtin_prefetch(target.ahead + target.ahead_offsets[p], 0, 2);
      step();
    }
  }
  if (!direct) {
    alignas(kVectorBytes) T spilled[columns * 2 * lanes];
#pragma GCC unroll 16
    for (int j = 0; j < columns; ++j) {
      store(spilled + 2 * j * lanes, sums[j][0]);
      store(spilled + (2 * j + 1) * lanes, sums[j][1]);
    }
    return scatter(spilled, columns, target);
  }
#pragma GCC unroll 16
  for (int j = 0; j < columns; ++j) {
    for (int half = 0; half < 2; ++half) {
      T* to = c[half] + target.column_offsets[j];
      if (target.accumulate) {
        store(to, load(to) + sums[j][half]);
      } else if (target.streams && can_store_past(to)) {
        store_past(to, sums[j][half]);
      } else {
        store(to, sums[j][half]);
      }
    }
  }
}

// ------------------------------------------------------------------------------------------------ without packing

// A vector of fewer bytes than the full one, for the ends of lanes.
template <class T, int width>
struct Narrow {
  typedef T type __attribute__((vector_size(width * sizeof(T)), aligned(alignof(T)), may_alias));
};

// The sums of `vectors` vectors of `width` lanes each; of the last one, only `last` where that is given.
template <class T, int width, int vectors>
inline void sum_lanes(const LaneProduct& product, const T* a, const T* b, typename Narrow<T, width>::type* sums,
                      int64_t last = width) {
  using Wide = typename Narrow<T, width>::type;
  for (int v = 0; v < vectors; ++v) sums[v] = Wide{};
  const auto add = [&](auto&& a_at, auto&& b_at) {
    for (int64_t p = 0; p < product.depth; ++p) {
      const T* a_p = a + product.depth_a[p];
      const T* b_p = b + product.depth_b[p];
#pragma GCC unroll 16
      for (int v = 0; v < vectors; ++v) sums[v] += a_at(a_p, v) * b_at(b_p, v);
    }
  };
  const auto vector_at = [last](const T* from, int v) -> Wide {
    if constexpr (kHasMasks && width == kLanes<T>)
      if (v == vectors - 1) return load_some(from + v * width, last);
    return *reinterpret_cast<const Wide*>(from + v * width);
  };
  const auto same = [](const T* from, int) { return *from - Wide{}; };
  if (product.lane.a == 0) {
    add(same, vector_at);
  } else if (product.lane.b == 0) {
    add(vector_at, same);
  } else {
    add(vector_at, vector_at);
  }
}

// `vectors` vectors of `width` lanes each, from the lane `first` on.
template <class T, int width, int vectors>
inline void lane_block(const LaneProduct& product, const T* a, const T* b, T* c, int64_t first) {
  using Wide = typename Narrow<T, width>::type;
  Wide sums[vectors];
  sum_lanes<T, width, vectors>(product, a + first * product.lane.a, b + first * product.lane.b, sums);
  c += first * product.lane.c;
  if (product.lane.c == 1) {
    if constexpr (width == kLanes<T>) {
      if (product.streams && can_store_past(c)) {
        for (int v = 0; v < vectors; ++v) store_past(c + v * width, sums[v]);
        return;
      }
    }
    for (int v = 0; v < vectors; ++v) *reinterpret_cast<Wide*>(c + v * width) = sums[v];
  } else {
    T spilled[vectors * width];
    for (int v = 0; v < vectors; ++v) *reinterpret_cast<Wide*>(spilled + v * width) = sums[v];
    for (int i = 0; i < vectors * width; ++i) c[i * product.lane.c] = spilled[i];
  }
}

// Lanes that lie apart in C, next to each other along `inner`: squares of them are turned in registers. Gives how many
// of `inner` were done, all lanes of each.
template <class T>
int64_t turned_lanes(const LaneProduct& product, const T* a, const T* b, T* c) {
  constexpr int width = kLanes<T>;
  const int64_t whole = product.lanes / width * width;
  const bool streams = product.streams && can_store_past(c, product.lane.c);
  // What the next square of these lanes reads: it is far from what this one does. Always inline, as GCC takes a
  // function that only fetches for one that does nothing.
  const auto fetch = [&](const T* from, int64_t step, const int64_t* depth) __attribute__((always_inline)) {
    if (step == 0) return;
    for (int64_t p = 0; p < product.depth; ++p) __builtin_prefetch(from + width * step + depth[p]);
  };
  int64_t done = 0;
  for (; done + width <= product.inner; done += width) {
    const T* a_at = a + done * product.inner_step.a;
    const T* b_at = b + done * product.inner_step.b;
    for (int64_t first = 0; first < whole; first += width) {
      Vector<T> square[width];
      for (int i = 0; i < width; ++i) {
        const T* a_row = a_at + i * product.inner_step.a + first * product.lane.a;
        const T* b_row = b_at + i * product.inner_step.b + first * product.lane.b;
        fetch(a_row, product.inner_step.a, product.depth_a);
        fetch(b_row, product.inner_step.b, product.depth_b);
        typename Narrow<T, width>::type sum;
        sum_lanes<T, width, 1>(product, a_row, b_row, &sum);
        square[i] = sum;
      }
      transpose<T>(square);
      T* to = c + first * product.lane.c + done;
      if (streams) {
        for (int i = 0; i < width; ++i) store_past(to + i * product.lane.c, square[i]);
      } else {
        for (int i = 0; i < width; ++i) store(to + i * product.lane.c, square[i]);
      }
    }
    for (int i = 0; i < width; ++i)
      for (int64_t lane = whole; lane < product.lanes; ++lane)
        lane_block<T, 1, 1>(product, a_at + i * product.inner_step.a, b_at + i * product.inner_step.b, c + done + i,
                            lane);
  }
  return done;
}

// The lanes from `first` on, less than so many vectors.
template <class T, int vectors>
inline void last_lanes(const LaneProduct& product, const T* a, const T* b, T* c, int64_t first) {
  constexpr int width = kLanes<T>;
  if constexpr (vectors > 1) {
    constexpr int half = vectors / 2;
    for (; first + half * width <= product.lanes; first += half * width)
      lane_block<T, width, half>(product, a, b, c, first);
    return last_lanes<T, half>(product, a, b, c, first);
  }
  if (kHasMasks && product.lane.c == 1) {
    if (first == product.lanes) return;
    Vector<T> sum;
    sum_lanes<T, width, 1>(product, a + first * product.lane.a, b + first * product.lane.b, &sum,
                           product.lanes - first);
    return store_some(c + first, sum, 0, product.lanes - first);
  }
  if constexpr (width > 4)
    for (; first + 4 <= product.lanes; first += 4) lane_block<T, 4, 1>(product, a, b, c, first);
  for (; first < product.lanes; ++first) lane_block<T, 1, 1>(product, a, b, c, first);
}

// Single products, next to each other in C. `at(from, lane, count)` gives so many elements of A and B from a lane on.
template <class T, class A, class B>
inline void single_products(const LaneProduct& product, const T* a, const T* b, T* c, A&& a_at, B&& b_at) {
  constexpr int width = kLanes<T>;
  const int64_t whole = product.lanes / width * width;
  for (int64_t i = 0; i < product.inner; ++i) {
    const bool streams = product.streams && can_store_past(c);
    for (int64_t lane = 0; lane < whole; lane += width) {
      const Vector<T> value = a_at(a, lane, width) * b_at(b, lane, width);
      if (streams)
        store_past(c + lane, value);
      else
        store(c + lane, value);
    }
    if (const int64_t rest = product.lanes - whole; rest > 0)
      store_some(c + whole, a_at(a, whole, rest) * b_at(b, whole, rest), 0, rest);
    a += product.inner_step.a;
    b += product.inner_step.b;
    c += product.inner_step.c;
  }
}

// `rows` elements of the inner dimension by `vectors` vectors of lanes, the last of which has `last` lanes.
template <class T, int width, int rows, int vectors>
inline void small_block(const SmallProduct& product, const T* lanes, const T* factors, T* c, int64_t last) {
  using Wide = typename Narrow<T, width>::type;
  constexpr bool is_whole = width < kLanes<T> || !kHasMasks;
  Wide sums[rows][vectors] = {};
  for (int64_t p = 0; p < product.depth; ++p) {
    const T* from = lanes + product.depth_lanes[p];
    Wide values[vectors];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) {
      if constexpr (is_whole)
        values[v] = *reinterpret_cast<const Wide*>(from + v * width);
      else
        values[v] = v + 1 < vectors ? load(from + v * width) : load_some(from + v * width, last);
    }
    const T* factors_p = factors + product.depth_factors[p];
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r) {
      const Wide factor = factors_p[r * product.factor_step] - Wide{};
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) sums[r][v] += factor * values[v];
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) {
      T* to = c + r * product.c_step + v * width;
      if constexpr (is_whole) {
        auto& target = *reinterpret_cast<Wide*>(to);
        target = product.accumulate ? target + sums[r][v] : sums[r][v];
      } else {
        const int64_t count = v + 1 < vectors ? width : last;
        store_some(to, product.accumulate ? sums[r][v] + load_some(to, count) : sums[r][v], 0, count);
      }
    }
  }
}

// All lanes of `rows` elements of the inner dimension, from `first` on.
template <class T, int rows>
void small_rows(const SmallProduct& product, int64_t first) {
  constexpr int width = kLanes<T>;
  constexpr int64_t kMost = 3;  // vectors at a time
  const T* lanes = static_cast<const T*>(product.lanes);
  const T* factors = static_cast<const T*>(product.factors) + first * product.factor_step;
  T* c = static_cast<T*>(product.c) + first * product.c_step;
  int64_t left = product.lane_count;
  const auto pass = [&](int64_t count) {
    lanes += count;
    c += count;
    left -= count;
  };
  int64_t vectors = kHasMasks ? (left + width - 1) / width : left / width;
  for (int64_t blocks = (vectors + kMost - 1) / kMost; blocks > 0; --blocks) {
    const int64_t together = (vectors + blocks - 1) / blocks;
    const int64_t last = left < together * width ? left - (together - 1) * width : width;
    if (together == 3)
      small_block<T, width, rows, 3>(product, lanes, factors, c, last);
    else if (together == 2)
      small_block<T, width, rows, 2>(product, lanes, factors, c, last);
    else
      small_block<T, width, rows, 1>(product, lanes, factors, c, last);
    vectors -= together;
    pass((together - 1) * width + last);
  }
  if constexpr (!kHasMasks) {
    if constexpr (width > 4)
      for (; left >= 4; pass(4)) small_block<T, 4, rows, 1>(product, lanes, factors, c, 4);
    for (; left > 0; pass(1)) small_block<T, 1, rows, 1>(product, lanes, factors, c, 1);
  }
}

template <class T>
void small(const SmallProduct& product) {
  int64_t i = 0;
  for (; i + 8 <= product.inner; i += 8) small_rows<T, 8>(product, i);
  if (i + 4 <= product.inner) small_rows<T, 4>(product, i), i += 4;
  if (i + 2 <= product.inner) small_rows<T, 2>(product, i), i += 2;
  if (i < product.inner) small_rows<T, 1>(product, i);
}

template <class T>
void lanes(const LaneProduct& product) {
  constexpr int width = kLanes<T>;
  const auto same = [](const T* from, int64_t, int64_t) { return *from - Vector<T>{}; };
  const auto neighbours = [](const T* from, int64_t lane, int64_t count) { return load_some(from + lane, count); };
  for (int64_t at = 0; at < product.count; ++at) {
    const T* a = static_cast<const T*>(product.a) + product.places_a[at];
    const T* b = static_cast<const T*>(product.b) + product.places_b[at];
    T* c = static_cast<T*>(product.c) + product.places_c[at];
    if (product.depth == 1 && product.lane.c == 1) {
      if (product.lane.a == 0)
        single_products<T>(product, a, b, c, same, neighbours);
      else if (product.lane.b == 0)
        single_products<T>(product, a, b, c, neighbours, same);
      else
        single_products<T>(product, a, b, c, neighbours, neighbours);
      continue;
    }
    int64_t done = 0;
    if (product.lane.c != 1 && product.inner_step.c == 1 && product.lanes >= width) {
      done = turned_lanes(product, a, b, c);
      a += done * product.inner_step.a;
      b += done * product.inner_step.b;
      c += done;
    }
    for (int64_t i = done; i < product.inner; ++i) {
      int64_t first = 0;
      for (; first + kWide * width <= product.lanes; first += kWide * width)
        lane_block<T, width, kWide>(product, a, b, c, first);
      last_lanes<T, kWide>(product, a, b, c, first);
      a += product.inner_step.a;
      b += product.inner_step.b;
      c += product.inner_step.c;
    }
  }
}

#if defined(__AVX512F__)
template <class T, int depth>
void in_vectors_of(const VectorProduct& product) {
  constexpr int lanes = kLanes<T>;
  using Index = typename LaneIndex<T>::type;
  typedef Index Indices __attribute__((vector_size(kVectorBytes)));
  constexpr int most = depth > 0 ? depth : VectorProduct::kMostDepth;
  const int64_t steps = depth > 0 ? depth : product.depth;
  Indices from_a[most], from_b[most];
  for (int64_t p = 0; p < steps; ++p) {
    for (int i = 0; i < lanes; ++i) {
      from_a[p][i] = product.from_a[p * lanes + i];
      from_b[p][i] = product.from_b[p * lanes + i];
    }
  }
  for (int64_t at = 0; at < product.count; ++at) {
    const Vector<T> a = load_masked(product.mask_a, static_cast<const T*>(product.a) + product.places_a[at]);
    const Vector<T> b = load_masked(product.mask_b, static_cast<const T*>(product.b) + product.places_b[at]);
    Vector<T> sum = {};
#pragma GCC unroll 4
    for (int64_t p = 0; p < steps; ++p) sum += __builtin_shuffle(a, from_a[p]) * __builtin_shuffle(b, from_b[p]);
    store_masked(product.mask_c, static_cast<T*>(product.c) + product.places_c[at], sum);
  }
}

template <class T>
void in_vectors(const VectorProduct& product) {
  switch (product.depth) {  // with the indices in registers
    case 1:
      return in_vectors_of<T, 1>(product);
    case 2:
      return in_vectors_of<T, 2>(product);
    case 3:
      return in_vectors_of<T, 3>(product);
    case 4:
      return in_vectors_of<T, 4>(product);
    default:
      return in_vectors_of<T, 0>(product);
  }
}
#endif

// So many sums at the same time, from the n-th on, each of which is added up as if alone.
template <class T, int number>
void add_dots(const DotProducts& products, int64_t first) {
  constexpr int width = kLanes<T>, vectors = 4;
  const int64_t count = products.length;
  const T *a[number], *b[number];
  for (int n = 0; n < number; ++n) {
    a[n] = static_cast<const T*>(products.a) + products.from_a[first + n];
    b[n] = static_cast<const T*>(products.b) + products.from_b[first + n];
  }
  Vector<T> sums[number][vectors] = {};
  int64_t i = 0;
  for (; i + vectors * width <= count; i += vectors * width) {
#pragma GCC unroll 4
    for (int n = 0; n < number; ++n)
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) sums[n][v] += load(a[n] + i + v * width) * load(b[n] + i + v * width);
  }
  for (; i + width <= count; i += width) {
#pragma GCC unroll 4
    for (int n = 0; n < number; ++n) sums[n][0] += load(a[n] + i) * load(b[n] + i);
  }
#pragma GCC unroll 4
  for (int n = 0; n < number; ++n) {
    const Vector<T> lanes = (sums[n][0] + sums[n][1]) + (sums[n][2] + sums[n][3]);
    T sum = 0;
    for (int lane = 0; lane < width; ++lane) sum += lanes[lane];
    for (int64_t at = i; at < count; ++at) sum += a[n][at] * b[n][at];
    static_cast<T*>(products.c)[products.to[first + n]] = sum;
  }
}

// Adds up the lanes of each of a vector's number of vectors, all at once.
template <class T>
inline Vector<T> add_lanes(Vector<T>* vectors) {
  transpose<T>(vectors);
#pragma GCC unroll 4
  for (int span = kLanes<T> / 2; span > 0; span /= 2)
#pragma GCC unroll 8
    for (int i = 0; i < span; ++i) vectors[i] += vectors[i + span];
  return vectors[0];
}

// Sums of short pieces, from the n-th on at most as many as a vector has lanes, each of which is added up in a vector
// as if alone.
template <class T>
void add_short_dots(const DotProducts& products, int64_t first) {
  constexpr int width = kLanes<T>;
  const int64_t count = products.length, whole = count / width * width;
  const int64_t number = products.count - first < width ? products.count - first : width;
  Vector<T> sums[width];
  T rests[width] = {};
  // One after the other, as they often lie in memory; what is missing repeats the first.
#pragma GCC unroll 16
  for (int n = 0; n < width; ++n) {
    const int64_t taken = n < number ? first + n : first;
    const T* a = static_cast<const T*>(products.a) + products.from_a[taken];
    const T* b = static_cast<const T*>(products.b) + products.from_b[taken];
    Vector<T> sum = {};
    for (int64_t i = 0; i < whole; i += width) sum += load(a + i) * load(b + i);
    if constexpr (kHasMasks) {
      if (whole < count) sum += load_some(a + whole, count - whole) * load_some(b + whole, count - whole);
    } else {
      for (int64_t i = whole; i < count; ++i) rests[n] += a[i] * b[i];
    }
    sums[n] = sum;
  }
  const Vector<T> totals = add_lanes<T>(sums) + load(rests);
  for (int64_t n = 0; n < number; ++n) static_cast<T*>(products.c)[products.to[first + n]] = totals[n];
}

template <class T>
void dots(const DotProducts& products) {
  constexpr int64_t kShort = 8 * kLanes<T>;
  int64_t n = 0;
  if (products.length < kShort) {
    for (; n < products.count; n += kLanes<T>) add_short_dots<T>(products, n);
    return;
  }
  // Memory gives more where it is read in several places, but for short pieces, which may follow each other.
  constexpr int together = 4;
  constexpr int64_t kLong = 8192 / sizeof(T);
  for (; products.length >= kLong && n + together <= products.count; n += together) add_dots<T, together>(products, n);
  for (; n < products.count; ++n) add_dots<T, 1>(products, n);
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
        for (int64_t i = 0; i < tile.rows; ++i) column[i] = convert<S>(sums[i]);
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
    filled.lanes = lanes<T>;
    filled.small = small<T>;
#if defined(__AVX512F__)
    filled.in_vectors = in_vectors<T>;
#endif
    filled.dots = dots<T>;
    filled.finish = finish<T>;
    fill_tiles<T, kTileColumns>(filled);
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
    case OF_BFLOAT16:
    case OF_FLOAT32:
      return table<float>();
    default:
      return table<uint32_t>();
  }
}

}  // namespace oneflow::cpu::OF_ISA
