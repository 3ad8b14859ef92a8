// Dot products: sums of products along the memory of both operands; compiled once per instruction set. The lanes of a
// vector hold partial sums, which are added up at the end.
#include "contract/direct/kernels.h"
#include "simd/vectors.h"

namespace oneflow::cpu::OF_ISA {
namespace {

// Whether the vectors of short dot products are prefetched. With narrower registers, the products take so long that the
// hardware prefetcher keeps up, and prefetch instructions only cost.
constexpr bool kPrefetches = kVectorBytes == 64;

// Computes `number` dot products at the same time, from the index `first` on. The result of each does not depend on the
// others.
template <class T, int number>
void long_dots(const DotProducts& products, int64_t first) {
  constexpr int width = kLanes<T>, vectors = 4;
  const int64_t count = products.length;
  const T *a[number], *b[number];
  for (int n = 0; n < number; ++n) {
    a[n] = static_cast<const T*>(products.a) + products.offsets_a[first + n];
    b[n] = static_cast<const T*>(products.b) + products.offsets_b[first + n];
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
    for (int64_t last = i; last < count; ++last) sum += a[n][last] * b[n][last];
    static_cast<T*>(products.c)[products.offsets_c[first + n]] = sum;
  }
}

// Computes short dot products, from the index `first` on at most as many as a vector has lanes: one vector of partial
// sums for each, which are then added up together. The result of each does not depend on the others.
template <class T>
void short_dots(const DotProducts& products, int64_t first) {
  constexpr int width = kLanes<T>;
  const int64_t count = products.length, whole = count / width * width;
  const int64_t number = products.count - first < width ? products.count - first : width;
  constexpr int64_t kPrefetchDistance = 4 * width;
  Vector<T> sums[width];
  T rests[width] = {};
  const auto a_of = [&](int64_t n) { return static_cast<const T*>(products.a) + products.offsets_a[n]; };
  const auto b_of = [&](int64_t n) { return static_cast<const T*>(products.b) + products.offsets_b[n]; };
  if (kPrefetches && whole == 0 && number == width) {
#pragma GCC unroll 16
    for (int n = 0; n < width; ++n) sums[n] = load_some(a_of(first + n), count) * load_some(b_of(first + n), count);
  } else {
    // One after the other, as they often follow each other in memory. Missing ones repeat the first.
#pragma GCC unroll 16
    for (int n = 0; n < width; ++n) {
      const int64_t taken = n < number ? first + n : first;
      const int64_t later = taken + kPrefetchDistance < products.count ? taken + kPrefetchDistance : taken;
      const T *a = a_of(taken), *b = b_of(taken), *a_later = a_of(later);
      if (kPrefetches && whole > width)
        for (int64_t i = 0; i < whole; i += width) __builtin_prefetch(a_later + i);
      Vector<T> sum = {};
      for (int64_t i = 0; i < whole; i += width) sum += load(a + i) * load(b + i);
      if constexpr (kHasMasks) {
        if (whole < count) sum += load_some(a + whole, count - whole) * load_some(b + whole, count - whole);
      } else {
        for (int64_t i = whole; i < count; ++i) rests[n] += a[i] * b[i];
      }
      sums[n] = sum;
    }
  }
  const Vector<T> totals = add_lanes<T>(sums) + load(rests);
  for (int64_t n = 0; n < number; ++n) static_cast<T*>(products.c)[products.offsets_c[first + n]] = totals[n];
}

template <class T>
void dots(const DotProducts& products) {
  constexpr int64_t kShort = (kPrefetches ? 16 : 8) * kLanes<T>;
  int64_t n = 0;
  if (products.length < kShort) {
    for (; n < products.count; n += kLanes<T>) short_dots<T>(products, n);
    return;
  }
  // Several streams use more of the memory bandwidth than one, but not where short vectors follow each other in memory.
  constexpr int streams = 4;
  constexpr int64_t kLong = 8192 / sizeof(T);
  for (; products.length >= kLong && n + streams <= products.count; n += streams) long_dots<T, streams>(products, n);
  for (; n < products.count; ++n) long_dots<T, 1>(products, n);
}

// Computes the sum of a vector's even lanes and that of its odd ones.
template <class T>
class PairAdder {
 public:
  PairAdder() {
    for (int step = 0; step < kSteps; ++step)
      for (int lane = 0; lane < kLanes<T>; ++lane) partners_[step][lane] = lane ^ (2 << step);
  }

  void add_up(Vector<T> sums, T& even, T& odd) const {
#pragma GCC unroll 3
    for (int step = 0; step < kSteps; ++step) sums += __builtin_shuffle(sums, partners_[step]);
    even = sums[0];
    odd = sums[1];
  }

 private:
  static constexpr int kSteps = kLanes<T> == 16 ? 3 : kLanes<T> == 8 ? 2 : kLanes<T> == 4 ? 1 : 0;
  Indices<T> partners_[kSteps + 1];
};

template <class T>
void pair_dots(const DotProducts& products, int64_t step_a, int64_t step_b) {
  constexpr int width = kLanes<T>;
  const int64_t count = 2 * products.length, whole = count / width * width;
  const PairAdder<T> adder;
  Indices<T> other;
  for (int lane = 0; lane < width; ++lane) other[lane] = lane ^ 1;
  // The distance of prefetches, in dot products: about a page of A.
  const int64_t ahead = 1 + 4096 / (count * static_cast<int64_t>(sizeof(T)));
  for (int64_t n = 0; n < products.count; ++n) {
    const T* a = static_cast<const T*>(products.a) + products.offsets_a[n];
    const T* b = static_cast<const T*>(products.b) + products.offsets_b[n];
    const int64_t later = n + ahead < products.count ? n + ahead : n;
    const int64_t a_ahead = products.offsets_a[later] - products.offsets_a[n];
    // Products of the elements of A with those of B at the same position in their pair, and with the other ones.
    Vector<T> same[2] = {}, crossed[2] = {};
    const auto add = [&](int v, Vector<T> of_a, Vector<T> of_b) {
      same[v] += of_a * of_b;
      crossed[v] += of_a * __builtin_shuffle(of_b, other);
    };
    int64_t i = 0;
    for (; i + 2 * width <= whole; i += 2 * width) {
      __builtin_prefetch(a + a_ahead + i);
      __builtin_prefetch(a + a_ahead + i + width);
      add(0, load(a + i), load(b + i));
      add(1, load(a + i + width), load(b + i + width));
    }
    for (; i < whole; i += width) add(0, load(a + i), load(b + i));
    if (i < count) add(1, load_some(a + i, count - i), load_some(b + i, count - i));
    T first, second;
    T* c = static_cast<T*>(products.c) + products.offsets_c[n];
    adder.add_up(same[0] + same[1], first, second);
    c[0] = first;
    c[step_a + step_b] = second;
    adder.add_up(crossed[0] + crossed[1], first, second);
    c[step_b] = first;
    c[step_a] = second;
  }
}

// Computes `number` dot products whose elements are interleaved in A, and in B where `b_is_interleaved`. `number`
// vectors of A hold one vector of each dot product, so that a lane of each of them belongs to the same dot product
// throughout.
template <class T, int number, bool b_is_interleaved>
void add_interleaved(const DotProducts& products, int64_t step) {
  constexpr int width = kLanes<T>, unroll = number < 4 ? 2 : 1;
  // The lane of a vector of B that each lane of A is multiplied by, where only A is interleaved.
  Indices<T> from[number];
#pragma GCC unroll 8
  for (int v = 0; v < number; ++v)
#pragma GCC unroll 16
    for (int lane = 0; lane < width; ++lane) from[v][lane] = (v * width + lane) / number;
  for (int64_t n = 0; n < products.count; ++n) {
    const T* a = static_cast<const T*>(products.a) + products.offsets_a[n];
    const T* b = static_cast<const T*>(products.b) + products.offsets_b[n];
    Vector<T> sums[unroll][number] = {};
    const auto add = [&](int u, auto&& vector_at, const Vector<T>& of_b) __attribute__((always_inline)) {
#pragma GCC unroll 8
      for (int v = 0; v < number; ++v)
        sums[u][v] += vector_at(a, v) * (b_is_interleaved ? vector_at(b, v) : __builtin_shuffle(of_b, from[v]));
    };
    const auto whole = [](const T* at, int v) { return load(at + v * width); };
    int64_t left = products.length;
    for (; left >= unroll * width; left -= unroll * width) {
#pragma GCC unroll 2
      for (int u = 0; u < unroll; ++u) {
        add(u, whole, b_is_interleaved ? Vector<T>{} : load(b));
        a += number * width;
        b += b_is_interleaved ? number * width : width;
      }
    }
    if (unroll > 1 && left >= width) {
      add(0, whole, b_is_interleaved ? Vector<T>{} : load(b));
      a += number * width;
      b += b_is_interleaved ? number * width : width;
      left -= width;
    }
    if (left > 0) {
      const auto some = [&](const T* at, int v) {
        const int64_t count = left * number - v * width;
        return load_some(at + v * width, count > 0 ? count : 0);
      };
      add(unroll - 1, some, b_is_interleaved ? Vector<T>{} : load_some(b, left));
    }
    // The lanes of one dot product are `number` elements apart.
    T stored[(number + 1) * width];
    for (int v = 0; v < number; ++v) {
      if constexpr (unroll > 1) sums[0][v] += sums[1][v];
      store(stored + v * width, sums[0][v]);
    }
    T* c = static_cast<T*>(products.c) + products.offsets_c[n];
    if constexpr (number <= width) {
      Vector<T> totals = load(stored);
      for (int i = 1; i < width; ++i) totals += load(stored + i * number);
      for (int j = 0; j < number; ++j) c[j * step] = totals[j];
    } else {
      for (int j = 0; j < number; ++j) {
        T total = 0;
        for (int i = 0; i < width; ++i) total += stored[i * number + j];
        c[j * step] = total;
      }
    }
  }
}

template <class T, int number>
void interleaved_dots(const DotProducts& products, int64_t step, bool b_is_interleaved) {
  b_is_interleaved ? add_interleaved<T, number, true>(products, step)
                   : add_interleaved<T, number, false>(products, step);
}

template <class T, int number = 2>
void add_interleaved_kernels(ContractKernels& kernels) {
  kernels.interleaved_dots[number] = interleaved_dots<T, number>;
  if constexpr (number < ContractKernels::kMaxInterleaved) add_interleaved_kernels<T, number + 1>(kernels);
}

}  // namespace

template <class T>
void add_dot_kernels(ContractKernels& kernels) {
  add_interleaved_kernels<T>(kernels);
  kernels.dots = dots<T>;
  kernels.pair_dots = pair_dots<T>;
  kernels.min_interleaved_depth = kHasMasks ? 24 : 8;
}

template void add_dot_kernels<float>(ContractKernels&);
template void add_dot_kernels<double>(ContractKernels&);
template void add_dot_kernels<uint32_t>(ContractKernels&);
template void add_dot_kernels<uint64_t>(ContractKernels&);

}  // namespace oneflow::cpu::OF_ISA
