// Kernels for unpacked operands that are vectorised along a dimension of C, or that work within vector registers;
// compiled once per instruction set. A product C[i, j] = sum over p of A[i, j, p] * B[i, j, p] is a sequence of outer
// products (rank-1 updates), one for each p, whose sums stay in registers.
#include "contract/direct/kernels.h"
#include "simd/vectors.h"

namespace oneflow::cpu::OF_ISA {
namespace {

#if defined(__AVX512F__)
constexpr int kWide = 16;  // vectors of sums along j
constexpr int kSmallRows =
    8;  // rows of the tile of small_product(): 8 x 3 vectors of sums and 3 operands in 32 registers
#else
constexpr int kWide = 8;
constexpr int kSmallRows = 4;  // 4 x 3 vectors of sums and 3 operands in 16 registers
#endif

// Rows of up to kShortRow vectors are too few sums to hide the latency of additions: kSharedRows rows are computed at a
// time where they have their factors in common.
constexpr int kShortRow = 4, kSharedRows = 8;

// A vector of `width` elements, which may be fewer than those of a register, for the last elements along j.
template <class T, int width>
struct Narrow {
  typedef T type __attribute__((vector_size(width * sizeof(T)), aligned(alignof(T)), may_alias));
};

// Computes the sums of `vectors` vectors of `width` elements along j, from a and b on. Of the last vector it reads only
// the first `last` elements, where the instruction set has masks.
template <class T, int width, int vectors>
inline void sum_vectors(const ContiguousProduct& product, const T* a, const T* b, typename Narrow<T, width>::type* sums,
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
  const auto broadcast = [](const T* from, int) { return *from - Wide{}; };
  if (product.j_strides.a == 0) {
    add(broadcast, vector_at);
  } else if (product.j_strides.b == 0) {
    add(vector_at, broadcast);
  } else {
    add(vector_at, vector_at);
  }
}

// Stores the sums to C, of the last vector only the first `count` elements.
template <class T, int width, int vectors>
inline void store_vectors(const ContiguousProduct& product, const typename Narrow<T, width>::type* sums, T* c,
                          int64_t count = width) {
  using Wide = typename Narrow<T, width>::type;
  if (product.j_strides.c == 1) {
    if constexpr (width == kLanes<T>) {
      if (product.streams && can_store_non_temporal(c)) {
        for (int v = 0; v < vectors; ++v) store_non_temporal(c + v * width, sums[v]);
        return;
      }
    }
    for (int v = 0; v + 1 < vectors; ++v) *reinterpret_cast<Wide*>(c + v * width) = sums[v];
    T* last = c + (vectors - 1) * width;
    if constexpr (kHasMasks && width == kLanes<T>)
      if (count < width) return store_some(last, sums[vectors - 1], 0, count);
    *reinterpret_cast<Wide*>(last) = sums[vectors - 1];
  } else {
    T spilled[vectors * width];
    for (int v = 0; v < vectors; ++v) *reinterpret_cast<Wide*>(spilled + v * width) = sums[v];
    for (int i = 0; i < (vectors - 1) * width + count; ++i) c[i * product.j_strides.c] = spilled[i];
  }
}

// Computes `vectors` vectors of `width` elements of C, from the element `first` along j on.
template <class T, int width, int vectors>
inline void vector_block(const ContiguousProduct& product, const T* a, const T* b, T* c, int64_t first) {
  typename Narrow<T, width>::type sums[vectors];
  sum_vectors<T, width, vectors>(product, a + first * product.j_strides.a, b + first * product.j_strides.b, sums);
  store_vectors<T, width, vectors>(product, sums, c + first * product.j_strides.c);
}

// Rows of C that are sums of vectors times factors that all rows have in common.
struct SharedFactors {
  int64_t count;       // of the elements of a row
  int64_t row_stride;  // of the vectors
  int64_t row_stride_c;
  int64_t depth;
  const int64_t *depth_vectors, *depth_factors;  // the offsets of p
};

// Loads `width` elements that are `step` apart, and none behind the last one. The lanes from `count` on, where there
// are masks, are zeros.
template <class T, int width, int step>
class LoadApart {
 public:
  using Wide = typename Narrow<T, width>::type;
  static constexpr bool has_masks = kHasMasks && width == kLanes<T>;

  explicit LoadApart(int64_t count) {
#if defined(__AVX512F__)
    const int64_t span = (count - 1) * step + 1;
    first_ = first_lanes(span < width ? span : width);
    second_ = first_lanes(span < width ? 0 : span - width + 1);
#endif
    (void)count;
  }

  Wide operator()(const T* from) const {
    if constexpr (step == 1 || width == 1) return some(from, first_);
    // The second vector begins one element early, so that it ends with the last element.
    typename Narrow<Index<T>, width>::type lanes;
#pragma GCC unroll 16
    for (int i = 0; i < width; ++i) lanes[i] = static_cast<Index<T>>(2 * i + (2 * i >= width));
    return __builtin_shuffle(some(from, first_), some(from + width - 1, second_), lanes);
  }

 private:
  static_assert(step <= 2);

  static Wide some(const T* from, uint32_t mask) {
#if defined(__AVX512F__)
    if constexpr (has_masks) return load_masked(mask, from);
#endif
    (void)mask;
    return *reinterpret_cast<const Wide*>(from);
  }

  uint32_t first_ = 0, second_ = 0;
};

// Computes one vector of up to kSharedRows rows of C, of which it stores `count` elements.
template <class T, int step, int width>
void shared_tile(const SharedFactors& factors, const T* from, const T* factor, T* c, int64_t rows, int64_t count) {
  using Load = LoadApart<T, width, step>;
  using Wide = typename Load::Wide;
  const Load load_apart(count);
  const T* row_from[kSharedRows];  // where there are fewer rows, the last one is computed repeatedly
#pragma GCC unroll 8
  for (int r = 0; r < kSharedRows; ++r) {
    row_from[r] = from;
    if (r + 1 < rows) from += factors.row_stride;
  }
  const int64_t depth = factors.depth;
  const int64_t *const depth_vectors = factors.depth_vectors, *const depth_factors = factors.depth_factors;
  Wide sums[kSharedRows] = {};
  for (int64_t p = 0; p < depth; ++p) {
    const int64_t offset = depth_vectors[p];
    const Wide common = factor[depth_factors[p]] - Wide{};
#pragma GCC unroll 8
    for (int r = 0; r < kSharedRows; ++r) sums[r] += load_apart(row_from[r] + offset) * common;
  }
#pragma GCC unroll 8
  for (int r = 0; r < kSharedRows; ++r) {
    if constexpr (Load::has_masks)
      store_some(c, sums[r], 0, count);
    else
      *reinterpret_cast<Wide*>(c) = sums[r];
    if (r + 1 < rows) c += factors.row_stride_c;
  }
}

// Computes the elements of some rows from `first` on, in vectors of `width` elements as long as these are whole.
// Returns the first element that is not computed.
template <class T, int step, int width>
int64_t shared_vectors(const SharedFactors& factors, const T* from, const T* factor, T* c, int64_t rows,
                       int64_t first) {
  constexpr int64_t least = LoadApart<T, width, step>::has_masks ? 1 : width;
  for (; factors.count - first >= least; first += width) {
    const int64_t count = factors.count - first < width ? factors.count - first : width;
    for (int64_t r = 0; r < rows; r += kSharedRows)
      shared_tile<T, step, width>(factors, from + r * factors.row_stride + first * step, factor,
                                  c + r * factors.row_stride_c + first, rows - r < kSharedRows ? rows - r : kSharedRows,
                                  count);
  }
  return first;
}

// Computes all elements of some rows.
template <class T, int step>
void shared_rows(const SharedFactors& factors, const T* from, const T* factor, T* c, int64_t rows) {
  constexpr int width = kLanes<T>;
  int64_t first = shared_vectors<T, step, width>(factors, from, factor, c, rows, 0);
  if constexpr (!kHasMasks) {
    if constexpr (width > 4) first = shared_vectors<T, step, 4>(factors, from, factor, c, rows, first);
    shared_vectors<T, step, 1>(factors, from, factor, c, rows, first);
  }
}

// Computes two rows i of C that multiply the same vectors of `a`, so that each vector is loaded once: in blocks of half
// as many vectors as one row has otherwise. Returns the number of elements along j that are done.
template <class T>
int64_t two_rows(const ContiguousProduct& product, const T* a, const int64_t* depth_a, const T* b,
                 const int64_t* depth_b, int64_t step_b, T* c) {
  constexpr int width = kLanes<T>, vectors = kWide / 2;
  int64_t first = 0;
  for (; first + vectors * width <= product.j_count; first += vectors * width, a += vectors * width) {
    typename Narrow<T, width>::type sums[2][vectors] = {};
    for (int64_t p = 0; p < product.depth; ++p) {
      const T* from = a + depth_a[p];
      const Vector<T> b0 = b[depth_b[p]] - Vector<T>{}, b1 = b[depth_b[p] + step_b] - Vector<T>{};
#pragma GCC unroll 16
      for (int v = 0; v < vectors; ++v) {
        const Vector<T> values = load(from + v * width);
        sums[0][v] += values * b0;
        sums[1][v] += values * b1;
      }
    }
    for (int i = 0; i < 2; ++i)
      store_vectors<T, width, vectors>(product, sums[i], c + i * product.i_strides.c + first * product.j_strides.c);
  }
  return first;
}

// Computes elements of C that are strided along j and contiguous along i: squares of vectors along j are transposed in
// registers and stored along i. Returns the number of rows i that are done, with all elements along j.
template <class T>
int64_t transposed_rows(const ContiguousProduct& product, const T* a, const T* b, T* c) {
  constexpr int width = kLanes<T>;
  const int64_t squares = kHasMasks ? product.j_count : product.j_count / width * width;
  const bool streams = product.streams && can_store_non_temporal(c, product.j_strides.c);
  // Prefetches what the next square along i reads, which is far in memory from what this one reads. Always inline, as
  // GCC takes a function that only prefetches for one without effects, and removes its calls.
  const auto prefetch = [&](const T* from, int64_t step, const int64_t* depth) __attribute__((always_inline)) {
    if (step == 0) return;
    for (int64_t p = 0; p < product.depth; ++p) __builtin_prefetch(from + width * step + depth[p]);
  };
  int64_t done = 0;
  for (; done + width <= product.i_count; done += width) {
    const T* a_at = a + done * product.i_strides.a;
    const T* b_at = b + done * product.i_strides.b;
    for (int64_t first = 0; first < squares; first += width) {
      const int64_t count = product.j_count - first < width ? product.j_count - first : width;
      Vector<T> square[width];
      for (int i = 0; i < width; ++i) {
        const T* a_row = a_at + i * product.i_strides.a + first * product.j_strides.a;
        const T* b_row = b_at + i * product.i_strides.b + first * product.j_strides.b;
        prefetch(a_row, product.i_strides.a, product.depth_a);
        prefetch(b_row, product.i_strides.b, product.depth_b);
        typename Narrow<T, width>::type sum;
        sum_vectors<T, width, 1>(product, a_row, b_row, &sum, count);
        square[i] = sum;
      }
      transpose<T>(square);
      T* to = c + first * product.j_strides.c + done;
      if (streams) {
        for (int i = 0; i < count; ++i) store_non_temporal(to + i * product.j_strides.c, square[i]);
      } else {
        for (int i = 0; i < count; ++i) store(to + i * product.j_strides.c, square[i]);
      }
    }
    for (int i = 0; i < width; ++i)
      for (int64_t j = squares; j < product.j_count; ++j)
        vector_block<T, 1, 1>(product, a_at + i * product.i_strides.a, b_at + i * product.i_strides.b, c + done + i, j);
  }
  return done;
}

// Computes the elements along j from `first` on, which are fewer than those of `vectors` vectors.
template <class T, int vectors>
inline void last_vectors(const ContiguousProduct& product, const T* a, const T* b, T* c, int64_t first) {
  constexpr int width = kLanes<T>;
  if constexpr (vectors > 1) {
    constexpr int half = vectors / 2;
    for (; first + half * width <= product.j_count; first += half * width)
      vector_block<T, width, half>(product, a, b, c, first);
    return last_vectors<T, half>(product, a, b, c, first);
  }
  if (kHasMasks) {
    const int64_t rest = product.j_count - first;
    if (rest == 0) return;
    typename Narrow<T, width>::type sum;
    sum_vectors<T, width, 1>(product, a + first * product.j_strides.a, b + first * product.j_strides.b, &sum, rest);
    return store_vectors<T, width, 1>(product, &sum, c + first * product.j_strides.c, rest);
  }
  if constexpr (width > 4)
    for (; first + 4 <= product.j_count; first += 4) vector_block<T, 4, 1>(product, a, b, c, first);
  for (; first < product.j_count; ++first) vector_block<T, 1, 1>(product, a, b, c, first);
}

// Computes products without a sum (depth 1) that are contiguous in C along j. a_at(a, j, count) and b_at(b, j, count)
// return the vector of `count` elements from j on.
template <class T, class A, class B>
inline void single_products(const ContiguousProduct& product, const T* a, const T* b, T* c, A&& a_at, B&& b_at) {
  constexpr int width = kLanes<T>;
  const int64_t whole = product.j_count / width * width;
  for (int64_t i = 0; i < product.i_count; ++i) {
    const bool streams = product.streams && can_store_non_temporal(c);
    for (int64_t j = 0; j < whole; j += width) {
      const Vector<T> value = a_at(a, j, width) * b_at(b, j, width);
      if (streams)
        store_non_temporal(c + j, value);
      else
        store(c + j, value);
    }
    if (const int64_t rest = product.j_count - whole; rest > 0)
      store_some(c + whole, a_at(a, whole, rest) * b_at(b, whole, rest), 0, rest);
    a += product.i_strides.a;
    b += product.i_strides.b;
    c += product.i_strides.c;
  }
}

// Computes a register tile of `rows` rows by `vectors` vectors of C, the last of which has `last` elements.
template <class T, int width, int rows, int vectors>
inline void small_tile(const SmallProduct& product, const T* contiguous, const T* broadcast, T* c, int64_t last) {
  using Wide = typename Narrow<T, width>::type;
  constexpr bool is_whole = width < kLanes<T> || !kHasMasks;
  Wide sums[rows][vectors] = {};
  for (int64_t p = 0; p < product.depth; ++p) {
    const T* from = contiguous + product.depth_contiguous[p];
    Wide values[vectors];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) {
      if constexpr (is_whole)
        values[v] = *reinterpret_cast<const Wide*>(from + v * width);
      else
        values[v] = v + 1 < vectors ? load(from + v * width) : load_some(from + v * width, last);
    }
    const T* broadcast_p = broadcast + product.depth_broadcast[p];
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r) {
      const Wide factor = broadcast_p[r * product.broadcast_stride] - Wide{};
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) sums[r][v] += factor * values[v];
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) {
      T* to = c + r * product.c_stride + v * width;
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

// Computes `rows` rows of C from `first` on, in tiles of up to three vectors.
template <class T, int rows>
void small_rows(const SmallProduct& product, int64_t first) {
  constexpr int width = kLanes<T>;
  constexpr int64_t kMaxVectors = 3;  // of a tile
  const T* contiguous = static_cast<const T*>(product.contiguous);
  const T* broadcast = static_cast<const T*>(product.broadcast) + first * product.broadcast_stride;
  T* c = static_cast<T*>(product.c) + first * product.c_stride;
  int64_t left = product.j_count;
  const auto advance = [&](int64_t count) {
    contiguous += count;
    c += count;
    left -= count;
  };
  int64_t vectors = kHasMasks ? (left + width - 1) / width : left / width;
  for (int64_t tiles = (vectors + kMaxVectors - 1) / kMaxVectors; tiles > 0; --tiles) {
    const int64_t tile = (vectors + tiles - 1) / tiles;
    const int64_t last = left < tile * width ? left - (tile - 1) * width : width;
    if (tile == 3)
      small_tile<T, width, rows, 3>(product, contiguous, broadcast, c, last);
    else if (tile == 2)
      small_tile<T, width, rows, 2>(product, contiguous, broadcast, c, last);
    else
      small_tile<T, width, rows, 1>(product, contiguous, broadcast, c, last);
    vectors -= tile;
    advance((tile - 1) * width + last);
  }
  if constexpr (!kHasMasks) {
    if constexpr (width > 4)
      for (; left >= 4; advance(4)) small_tile<T, 4, rows, 1>(product, contiguous, broadcast, c, 4);
    for (; left > 0; advance(1)) small_tile<T, 1, rows, 1>(product, contiguous, broadcast, c, 1);
  }
}

// Computes the rows from `first` on: as many at a time as the registers hold, then half as many, down to one.
template <class T, int rows>
void all_small_rows(const SmallProduct& product, int64_t first) {
  for (; first + rows <= product.i_count; first += rows) small_rows<T, rows>(product, first);
  if constexpr (rows > 1) all_small_rows<T, rows / 2>(product, first);
}

template <class T>
void small_product(const SmallProduct& product) {
  all_small_rows<T, kSmallRows>(product, 0);
}

// Other types are rarely those of convolutions, so that they need no code of their own.
template <class T>
constexpr bool kSharesFactors = false;
template <>
constexpr bool kSharesFactors<float> = true;

// Computes all rows where each multiplies vectors of one operand by elements of the other, if the rows have these in
// common and are short, or if the elements of vectors are apart. Returns whether it has.
template <class T>
bool rows_with_factors(const ContiguousProduct& product, const T* a, const T* b, T* c) {
  const auto &j = product.j_strides, &i = product.i_strides;
  const bool factors_are_b = j.b == 0;
  const int64_t step = factors_are_b ? j.a : j.b, row_stride = factors_are_b ? i.a : i.b;
  const int64_t factor_stride = factors_are_b ? i.b : i.a;
  const bool are_short = product.depth > 1 && product.i_count > 1 && product.j_count <= kShortRow * kLanes<T>;
  if (j.c != 1 || (!factors_are_b && j.a != 0) || (step == 1 && (factor_stride != 0 || !are_short))) return false;
  const SharedFactors factors{product.j_count,
                              row_stride,
                              i.c,
                              product.depth,
                              factors_are_b ? product.depth_a : product.depth_b,
                              factors_are_b ? product.depth_b : product.depth_a};
  const T *from = factors_are_b ? a : b, *factor = factors_are_b ? b : a;
  const int64_t rows = factor_stride == 0 ? product.i_count : 1;
  for (int64_t row = 0; row < product.i_count; row += rows) {
    if (step == 1)
      shared_rows<T, 1>(factors, from, factor, c, rows);
    else
      shared_rows<T, 2>(factors, from, factor, c, rows);
    from += rows * row_stride;
    factor += rows * factor_stride;
    c += rows * i.c;
  }
  return true;
}

template <class T>
void contiguous_product(const ContiguousProduct& product) {
  constexpr int width = kLanes<T>;
  const auto broadcast = [](const T* from, int64_t, int64_t) { return *from - Vector<T>{}; };
  const auto contiguous = [](const T* from, int64_t j, int64_t count) { return load_some(from + j, count); };
  for (int64_t n = 0; n < product.count; ++n) {
    const T* a = static_cast<const T*>(product.a) + product.offsets_a[n];
    const T* b = static_cast<const T*>(product.b) + product.offsets_b[n];
    T* c = static_cast<T*>(product.c) + product.offsets_c[n];
    if constexpr (kSharesFactors<T>)
      if (rows_with_factors(product, a, b, c)) continue;
    if (product.depth == 1 && product.j_strides.c == 1) {
      if (product.j_strides.a == 0)
        single_products<T>(product, a, b, c, broadcast, contiguous);
      else if (product.j_strides.b == 0)
        single_products<T>(product, a, b, c, contiguous, broadcast);
      else
        single_products<T>(product, a, b, c, contiguous, contiguous);
      continue;
    }
    int64_t done = 0;
    if (product.j_strides.c != 1 && product.i_strides.c == 1 && product.j_count >= width) {
      done = transposed_rows(product, a, b, c);
      a += done * product.i_strides.a;
      b += done * product.i_strides.b;
      c += done;
    }
    int64_t shared = 0;  // elements along j of this row that the row before has computed, too
    for (int64_t i = done; i < product.i_count; ++i) {
      int64_t first = shared;
      shared = 0;
      if (first == 0 && i + 1 < product.i_count) {
        if (product.j_strides.b == 0 && product.i_strides.a == 0)
          shared = two_rows(product, a, product.depth_a, b, product.depth_b, product.i_strides.b, c);
        else if (product.j_strides.a == 0 && product.i_strides.b == 0)
          shared = two_rows(product, b, product.depth_b, a, product.depth_a, product.i_strides.a, c);
        first = shared;
      }
      for (; first + kWide * width <= product.j_count; first += kWide * width)
        vector_block<T, width, kWide>(product, a, b, c, first);
      last_vectors<T, kWide>(product, a, b, c, first);
      a += product.i_strides.a;
      b += product.i_strides.b;
      c += product.i_strides.c;
    }
  }
}

#if defined(__AVX512F__)
// Multiplies operands that fit into one vector each, of the given depth; 0: known when the program runs.
template <class T, int depth>
void register_product_of(const RegisterProduct& product) {
  constexpr int lanes = kLanes<T>;
  constexpr int most = depth > 0 ? depth : RegisterProduct::kMostDepth;
  const int64_t steps = depth > 0 ? depth : product.depth;
  Indices<T> permutation_a[most], permutation_b[most];
  for (int64_t p = 0; p < steps; ++p) {
    for (int i = 0; i < lanes; ++i) {
      permutation_a[p][i] = product.permutation_a[p * lanes + i];
      permutation_b[p][i] = product.permutation_b[p * lanes + i];
    }
  }
  for (int64_t n = 0; n < product.count; ++n) {
    const Vector<T> a = load_masked(product.mask_a, static_cast<const T*>(product.a) + product.offsets_a[n]);
    const Vector<T> b = load_masked(product.mask_b, static_cast<const T*>(product.b) + product.offsets_b[n]);
    Vector<T> sum = {};
#pragma GCC unroll 4
    for (int64_t p = 0; p < steps; ++p)
      sum += __builtin_shuffle(a, permutation_a[p]) * __builtin_shuffle(b, permutation_b[p]);
    store_masked(product.mask_c, static_cast<T*>(product.c) + product.offsets_c[n], sum);
  }
}

template <class T>
void register_product(const RegisterProduct& product) {
  switch (product.depth) {  // a known depth keeps the permutations in registers
    case 1:
      return register_product_of<T, 1>(product);
    case 2:
      return register_product_of<T, 2>(product);
    case 3:
      return register_product_of<T, 3>(product);
    case 4:
      return register_product_of<T, 4>(product);
    default:
      return register_product_of<T, 0>(product);
  }
}
#endif

}  // namespace

template <class T>
void add_direct_kernels(ContractKernels& kernels) {
  kernels.contiguous_product = contiguous_product<T>;
  kernels.reads_every_second = kSharesFactors<T>;
  kernels.small_product = small_product<T>;
#if defined(__AVX512F__)
  kernels.register_product = register_product<T>;
#endif
}

template void add_direct_kernels<float>(ContractKernels&);
template void add_direct_kernels<double>(ContractKernels&);
template void add_direct_kernels<uint32_t>(ContractKernels&);
template void add_direct_kernels<uint64_t>(ContractKernels&);

}  // namespace oneflow::cpu::OF_ISA
