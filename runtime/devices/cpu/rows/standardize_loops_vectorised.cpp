// The loops of rows/standardize_loops.h; compiled once per instruction set.
#include "rows/row_sums.h"
#include "rows/standardize_loops.h"
#include "simd/maths.h"

namespace oneflow::cpu::OF_ISA {
namespace {

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
  const T scale = maths::rsqrt(static_cast<T>(squares / n) + static_cast<T>(eps));
  return {mean, in_range(scale, row, mean, count, eps)};
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
constexpr StandardizeLoops<T> loops() {
  return {standardize<T>, standardize_gradient<T>, add<T>,         sum<T>, sum_of_squares<T>,
          map<T>,         gradient_sums<T>,        map_gradient<T>};
}

}  // namespace

extern const StandardizeLoops<float> kFloatStandardize = loops<float>();
extern const StandardizeLoops<double> kDoubleStandardize = loops<double>();

}  // namespace oneflow::cpu::OF_ISA
