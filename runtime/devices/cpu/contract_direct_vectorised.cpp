// Products of operands where they lie; compiled once per instruction set.
#include "contract_direct_kernels.h"
#include "vectors.h"

namespace oneflow::cpu::OF_ISA {
namespace {

#if defined(__AVX512F__)
constexpr int kWide = 16;      // vectors of sums along lanes
constexpr int kSmallRows = 8;  // rows of small products: by three vectors, 24 sums and 3 vectors in 32 registers
#else
constexpr int kWide = 8;
constexpr int kSmallRows = 4;  // 12 sums and 3 vectors in 16 registers
#endif

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

// The first `count` of the last vector.
template <class T, int width, int vectors>
inline void store_lanes(const LaneProduct& product, const typename Narrow<T, width>::type* sums, T* c,
                        int64_t count = width) {
  using Wide = typename Narrow<T, width>::type;
  if (product.lane.c == 1) {
    if constexpr (width == kLanes<T>) {
      if (product.streams && can_store_past(c)) {
        for (int v = 0; v < vectors; ++v) store_past(c + v * width, sums[v]);
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
    for (int i = 0; i < (vectors - 1) * width + count; ++i) c[i * product.lane.c] = spilled[i];
  }
}

// `vectors` vectors of `width` lanes each, from the lane `first` on.
template <class T, int width, int vectors>
inline void lane_block(const LaneProduct& product, const T* a, const T* b, T* c, int64_t first) {
  typename Narrow<T, width>::type sums[vectors];
  sum_lanes<T, width, vectors>(product, a + first * product.lane.a, b + first * product.lane.b, sums);
  store_lanes<T, width, vectors>(product, sums, c + first * product.lane.c);
}

// Two elements of the inner dimension that share their lanes, which are read once: in blocks of as many sums as one
// element has otherwise. `a` has the lanes. Gives how many lanes were done.
template <class T>
int64_t shared_lanes(const LaneProduct& product, const T* a, const int64_t* depth_a, const T* b, const int64_t* depth_b,
                     int64_t step_b, T* c) {
  constexpr int width = kLanes<T>, vectors = kWide / 2;
  int64_t first = 0;
  for (; first + vectors * width <= product.lanes; first += vectors * width, a += vectors * width) {
    typename Narrow<T, width>::type sums[2][vectors] = {};
    for (int64_t p = 0; p < product.depth; ++p) {
      const T* from = a + depth_a[p];
      const Vector<T> b0 = b[depth_b[p]] - Vector<T>{}, b1 = b[depth_b[p] + step_b] - Vector<T>{};
#pragma GCC unroll 16
      for (int v = 0; v < vectors; ++v) {
        const Vector<T> lanes = load(from + v * width);
        sums[0][v] += lanes * b0;
        sums[1][v] += lanes * b1;
      }
    }
    for (int i = 0; i < 2; ++i)
      store_lanes<T, width, vectors>(product, sums[i], c + i * product.inner_step.c + first * product.lane.c);
  }
  return first;
}

// Lanes that lie apart in C, next to each other along `inner`: squares of them are turned in registers. Gives how many
// of `inner` were done, all lanes of each.
template <class T>
int64_t turned_lanes(const LaneProduct& product, const T* a, const T* b, T* c) {
  constexpr int width = kLanes<T>;
  const int64_t squares = kHasMasks ? product.lanes : product.lanes / width * width;
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
    for (int64_t first = 0; first < squares; first += width) {
      const int64_t lanes = product.lanes - first < width ? product.lanes - first : width;
      Vector<T> square[width];
      for (int i = 0; i < width; ++i) {
        const T* a_row = a_at + i * product.inner_step.a + first * product.lane.a;
        const T* b_row = b_at + i * product.inner_step.b + first * product.lane.b;
        fetch(a_row, product.inner_step.a, product.depth_a);
        fetch(b_row, product.inner_step.b, product.depth_b);
        typename Narrow<T, width>::type sum;
        sum_lanes<T, width, 1>(product, a_row, b_row, &sum, lanes);
        square[i] = sum;
      }
      transpose<T>(square);
      T* to = c + first * product.lane.c + done;
      if (streams) {
        for (int i = 0; i < lanes; ++i) store_past(to + i * product.lane.c, square[i]);
      } else {
        for (int i = 0; i < lanes; ++i) store(to + i * product.lane.c, square[i]);
      }
    }
    for (int i = 0; i < width; ++i)
      for (int64_t lane = squares; lane < product.lanes; ++lane)
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
  if (kHasMasks) {
    const int64_t rest = product.lanes - first;
    if (rest == 0) return;
    typename Narrow<T, width>::type sum;
    sum_lanes<T, width, 1>(product, a + first * product.lane.a, b + first * product.lane.b, &sum, rest);
    return store_lanes<T, width, 1>(product, &sum, c + first * product.lane.c, rest);
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

// The rows from `first` on: as many at a time as registers hold, then half as many, down to one.
template <class T, int rows>
void all_small_rows(const SmallProduct& product, int64_t first) {
  for (; first + rows <= product.inner; first += rows) small_rows<T, rows>(product, first);
  if constexpr (rows > 1) all_small_rows<T, rows / 2>(product, first);
}

template <class T>
void small(const SmallProduct& product) {
  all_small_rows<T, kSmallRows>(product, 0);
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
    int64_t shared = 0;  // lanes that are done for two at once
    for (int64_t i = done; i < product.inner; ++i) {
      int64_t first = shared;
      shared = 0;
      if (first == 0 && i + 1 < product.inner) {
        if (product.lane.b == 0 && product.inner_step.a == 0)
          shared = shared_lanes(product, a, product.depth_a, b, product.depth_b, product.inner_step.b, c);
        else if (product.lane.a == 0 && product.inner_step.b == 0)
          shared = shared_lanes(product, b, product.depth_b, a, product.depth_a, product.inner_step.a, c);
        first = shared;
      }
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
  constexpr int most = depth > 0 ? depth : VectorProduct::kMostDepth;
  const int64_t steps = depth > 0 ? depth : product.depth;
  Indices<T> from_a[most], from_b[most];
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

}  // namespace

template <class T>
void add_direct_kernels(ContractKernels& kernels) {
  kernels.lanes = lanes<T>;
  kernels.small = small<T>;
#if defined(__AVX512F__)
  kernels.in_vectors = in_vectors<T>;
#endif
}

template void add_direct_kernels<float>(ContractKernels&);
template void add_direct_kernels<double>(ContractKernels&);
template void add_direct_kernels<uint32_t>(ContractKernels&);
template void add_direct_kernels<uint64_t>(ContractKernels&);

}  // namespace oneflow::cpu::OF_ISA
