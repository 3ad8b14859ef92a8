// The loops of rows/loops.h; compiled once per instruction set.
#include "rows/loops.h"
#include "simd/maths.h"

namespace oneflow::cpu::OF_ISA {
namespace {

// Sums of so many elements are added up in double precision.
constexpr int64_t kPiece = 4096;
// Functions such as exp are computed in blocks, of which the last one is padded: all elements pass through the same
// vector instructions, so that a result does not depend on the position of its element.
constexpr int64_t kBlock = 64;

// Returns the sum of value(i) for the positions of a row.
template <class T, class Value>
static inline double sum_over(int64_t count, Value value) {
  double total = 0;
  for (int64_t first = 0; first < count; first += kPiece) {
    const int64_t end = count - first < kPiece ? count : first + kPiece;
    T a = 0, b = 0;  // two sums, because an addition waits for the one before
    const int64_t middle = first + (end - first) / 2;
#pragma omp simd reduction(+ : a, b)
    for (int64_t i = first; i < middle; ++i) {
      a += value(i);
      b += value(i - first + middle);
    }
    if ((end - first) % 2 == 1) b += value(end - 1);
    total += static_cast<double>(a) + static_cast<double>(b);
  }
  return total;
}

// The sums of the values of a row, and of their products with other values.
struct Sums {
  double of_first, of_products;
};

template <class T, class First, class Second>
static inline Sums sums_over(int64_t count, First first_of, Second second_of) {
  Sums sums{0, 0};
  for (int64_t first = 0; first < count; first += kPiece) {
    const int64_t end = count - first < kPiece ? count : first + kPiece;
    T a = 0, b = 0;
#pragma omp simd reduction(+ : a, b)
    for (int64_t i = first; i < end; ++i) {
      a += first_of(i);
      b += first_of(i) * second_of(i);
    }
    sums.of_first += static_cast<double>(a);
    sums.of_products += static_cast<double>(b);
  }
  return sums;
}

// Calls write(i, exp(argument(i))) for the positions of a row.
template <class T, class Argument, class Write>
static inline void for_each_exp(int64_t count, Argument argument, Write write) {
  const int64_t whole = count - count % kBlock;
  for (int64_t i = 0; i < whole; ++i) write(i, maths::exp(argument(i)));
  if (whole == count) return;
  T block[kBlock];
  for (int64_t j = 0; j < kBlock; ++j) block[j] = T(0);
  for (int64_t j = 0; j < count - whole; ++j) block[j] = argument(whole + j);
  for (int64_t j = 0; j < kBlock; ++j) block[j] = maths::exp(block[j]);
  for (int64_t j = 0; j < count - whole; ++j) write(whole + j, block[j]);
}

// Returns the largest element; a NaN is passed over.
template <class T>
static inline T largest(const T* row, int64_t count) {
  T found = row[0];
#pragma omp simd reduction(max : found)
  for (int64_t i = 0; i < count; ++i) found = found < row[i] ? row[i] : found;
  return found;
}

template <class T>
void softmax(const T* input, T* result, int64_t count) {
  const T shift = largest(input, count);
  for_each_exp<T>(
      count, [=](int64_t i) { return input[i] - shift; }, [=](int64_t i, T value) { result[i] = value; });
  const T total = static_cast<T>(sum_over<T>(count, [=](int64_t i) { return result[i]; }));
  for (int64_t i = 0; i < count; ++i) result[i] /= total;
}

template <class T>
void log_softmax(const T* input, T* result, int64_t count) {
  const T shift = largest(input, count);
  for_each_exp<T>(
      count, [=](int64_t i) { return input[i] - shift; }, [=](int64_t i, T value) { result[i] = value; });
  const T log_total = maths::log(static_cast<T>(sum_over<T>(count, [=](int64_t i) { return result[i]; })));
  for (int64_t i = 0; i < count; ++i) result[i] = input[i] - shift - log_total;
}

template <class T>
void softmax_gradient(const T* grad, const T* result, T* of_input, int64_t count) {
  const T total = static_cast<T>(sum_over<T>(count, [=](int64_t i) { return grad[i] * result[i]; }));
  for (int64_t i = 0; i < count; ++i) of_input[i] = result[i] * (grad[i] - total);
}

template <class T>
void log_softmax_gradient(const T* grad, const T* result, T* of_input, int64_t count) {
  const T total = static_cast<T>(sum_over<T>(count, [=](int64_t i) { return grad[i]; }));
  for_each_exp<T>(
      count, [=](int64_t i) { return result[i]; }, [=](int64_t i, T value) { of_input[i] = grad[i] - value * total; });
}

// The mean of a row, and the reciprocal of its standard deviation.
template <class T>
struct Moments {
  T mean, scale;
};

template <class T>
static inline Moments<T> moments_of(const T* row, int64_t count, double eps) {
  const double n = static_cast<double>(count);
  const T mean = static_cast<T>(sum_over<T>(count, [=](int64_t i) { return row[i]; }) / n);
  const double squares = sum_over<T>(count, [=](int64_t i) { return (row[i] - mean) * (row[i] - mean); });
  return {mean, maths::rsqrt(static_cast<T>(squares / n) + static_cast<T>(eps))};
}

template <class T>
void standardize(const T* input, const T* weight, const T* bias, double eps, T* result, int64_t count) {
  const Moments<T> moments = moments_of(input, count, eps);
  const T mean = moments.mean, scale = moments.scale;
  const auto run = [=](auto factor, auto shift) {
    for (int64_t i = 0; i < count; ++i) result[i] = (input[i] - mean) * scale * factor(i) + shift(i);
  };
  const auto one = [](int64_t) { return T(1); };
  const auto zero = [](int64_t) { return T(0); };
  const auto factors = [=](int64_t i) { return weight[i]; };
  const auto shifts = [=](int64_t i) { return bias[i]; };
  if (weight && bias) return run(factors, shifts);
  if (weight) return run(factors, zero);
  if (bias) return run(one, shifts);
  run(one, zero);
}

// `weighted` gives the gradient times the weight.
template <class T, class Weighted>
static inline void standardize_gradient_of(const StandardizeGradient<T>& row, Weighted weighted) {
  const T *grad = row.grad, *input = row.input;
  const Moments<T> moments = moments_of(input, row.count, row.eps);
  const T mean = moments.mean, scale = moments.scale;
  const double n = static_cast<double>(row.count);
  const Sums sums = sums_over<T>(row.count, weighted, [=](int64_t i) { return (input[i] - mean) * scale; });
  const T of_mean = static_cast<T>(sums.of_first / n), of_variance = static_cast<T>(sums.of_products / n);
  T* __restrict of_input = row.of_input;
  T* __restrict of_weight = row.of_weight;
  T* __restrict of_bias = row.of_bias;
  if (of_weight && of_bias) {
#pragma omp simd
    for (int64_t i = 0; i < row.count; ++i) {
      const T normalized = (input[i] - mean) * scale;
      of_input[i] = scale * (weighted(i) - of_mean - normalized * of_variance);
      of_weight[i] += grad[i] * normalized;
      of_bias[i] += grad[i];
    }
    return;
  }
  for (int64_t i = 0; i < row.count; ++i)
    of_input[i] = scale * (weighted(i) - of_mean - (input[i] - mean) * scale * of_variance);
  if (of_weight)
    for (int64_t i = 0; i < row.count; ++i) of_weight[i] += grad[i] * ((input[i] - mean) * scale);
  if (of_bias)
    for (int64_t i = 0; i < row.count; ++i) of_bias[i] += grad[i];
}

template <class T>
void standardize_gradient(const StandardizeGradient<T>& row) {
  const T *grad = row.grad, *weight = row.weight;
  if (weight) return standardize_gradient_of(row, [=](int64_t i) { return grad[i] * weight[i]; });
  standardize_gradient_of(row, [=](int64_t i) { return grad[i]; });
}

template <class T>
void add(const T* added, T* sum, int64_t count) {
  for (int64_t i = 0; i < count; ++i) sum[i] += added[i];
}

template <class T>
double sum(const T* input, int64_t count) {
  return sum_over<T>(count, [=](int64_t i) { return input[i]; });
}

template <class T>
double sum_of_squares(const T* input, T mean, int64_t count) {
  return sum_over<T>(count, [=](int64_t i) { return (input[i] - mean) * (input[i] - mean); });
}

template <class T>
void map(const T* input, Affine<T> map, T* result, int64_t count) {
  for (int64_t i = 0; i < count; ++i) result[i] = (input[i] - map.mean) * map.factor + map.shift;
}

template <class T>
GradientSums gradient_sums(const T* grad, const T* input, Affine<T> normal, int64_t count) {
  const Sums sums = sums_over<T>(
      count, [=](int64_t i) { return grad[i]; }, [=](int64_t i) { return (input[i] - normal.mean) * normal.factor; });
  return {sums.of_first, sums.of_products};
}

template <class T>
void map_gradient(const T* grad, const T* input, Affine<T> normal, T factor, T of_mean, T of_variance, T* of_input,
                  int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    of_input[i] = factor * (grad[i] - of_mean - (input[i] - normal.mean) * normal.factor * of_variance);
}

template <class T>
struct Largest {
  T operator()(T a, T b) const { return (b > a) | (b != b) ? b : a; }
};
template <class T>
struct Sum {
  T operator()(T a, T b) const { return a + b; }
};

template <class T, template <class> class Fold>
void fold_rows(const T* const* rows, int64_t row_count, T* result, int64_t count) {
  const Fold<T> fold;
  if (row_count == 1) {
    for (int64_t i = 0; i < count; ++i) result[i] = rows[0][i];
    return;
  }
  for (int64_t k = 1; k < row_count; ++k) {
    const T *left = k == 1 ? rows[0] : result, *right = rows[k];
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) result[i] = fold(left[i], right[i]);
  }
}

template <class T, template <class> class Fold>
static inline void fold_windows_by(const RowWindows<T>& windows, int64_t step) {
  const Fold<T> fold;
  const T* const row = windows.row;
  T* const result = windows.result;
  for (int64_t i = 0; i < windows.count; ++i) result[i] = row[i * step];
  for (int64_t k = 1; k < windows.size; ++k) {
    const T* const other = row + k * windows.apart;
#pragma omp simd
    for (int64_t i = 0; i < windows.count; ++i) result[i] = fold(result[i], other[i * step]);
  }
}

// A step that is known is compiled to shuffles of vectors.
template <class T, template <class> class Fold>
void fold_windows(const RowWindows<T>& windows) {
  if (windows.step == 1)
    fold_windows_by<T, Fold>(windows, 1);
  else if (windows.step == 2)
    fold_windows_by<T, Fold>(windows, 2);
  else
    fold_windows_by<T, Fold>(windows, windows.step);
}

template <class T>
constexpr RowLoops<T> loops() {
  return {softmax<T>,
          softmax_gradient<T>,
          log_softmax<T>,
          log_softmax_gradient<T>,
          standardize<T>,
          standardize_gradient<T>,
          add<T>,
          sum<T>,
          sum_of_squares<T>,
          map<T>,
          gradient_sums<T>,
          map_gradient<T>,
          fold_rows<T, Largest>,
          fold_rows<T, Sum>,
          fold_windows<T, Largest>,
          fold_windows<T, Sum>};
}

}  // namespace

extern const RowLoops<float> kFloatRows = loops<float>();
extern const RowLoops<double> kDoubleRows = loops<double>();

}  // namespace oneflow::cpu::OF_ISA
