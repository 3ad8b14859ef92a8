// Loops of `standardize` over contiguous elements: a row, which stays in the cache, or pieces of a slice.
#ifndef ONEFLOW_DEVICES_CPU_ROWS_STANDARDIZE_LOOPS_H_
#define ONEFLOW_DEVICES_CPU_ROWS_STANDARDIZE_LOOPS_H_

#include <cstdint>

#include "simd/isa.h"

namespace oneflow::cpu {

// What the gradient of `standardize` computes from a row.
template <class T>
struct StandardizeGradient {
  const T* grad;
  const T* input;
  const T* weight;  // null: 1
  T* of_input;      // the gradient of the row
  T* of_weight;     // the gradient of the weight, to which that of the row is added; null: not wanted
  T* of_bias;       // likewise
  int64_t count;
  double eps;
};

// The sums of a gradient, and of its products with normalised elements.
struct GradientSums {
  double of_grad, of_products;
};

// The affine map (input - mean) * factor + shift.
template <class T>
struct Affine {
  T mean, factor, shift;
};

// Returns `scale`, the reciprocal of the standard deviation of `count` elements, or what it is without the overflow or
// the underflow of squares.
template <class T>
__attribute__((noinline)) static T in_range(T scale, const T* elements, T mean, int64_t count, double eps) {
  if (scale != T(0) && !__builtin_isinf(scale)) return scale;
  double largest = 0, squares = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double distance = __builtin_fabs(static_cast<double>(elements[i] - mean));
    largest = distance > largest ? distance : largest;
  }
  if (largest == 0 || __builtin_isinf(largest)) return scale;
  for (int64_t i = 0; i < count; ++i) {
    const double part = static_cast<double>(elements[i] - mean) / largest;
    squares += part * part;
  }
  const double deviation = largest * __builtin_sqrt(squares / static_cast<double>(count));
  return static_cast<T>(1 / __builtin_hypot(deviation, __builtin_sqrt(eps)));
}

template <class T>
struct StandardizeLoops {
  // `weight` and `bias` may be null.
  void (*standardize)(const T* input, const T* weight, const T* bias, double eps, T* result, int64_t count);
  void (*standardize_gradient)(const StandardizeGradient<T>& row);
  // Adds `count` elements to a sum.
  void (*add)(const T* added, T* sum, int64_t count);

  // The parts of `standardize` for elements that are normalised together but lie in several pieces.
  double (*sum)(const T* input, int64_t count);
  double (*sum_of_squares)(const T* input, T mean, int64_t count);  // of the differences from the mean
  void (*map)(const T* input, Affine<T> map, T* result, int64_t count);
  // `normal` maps an element to its normalised value.
  GradientSums (*gradient_sums)(const T* grad, const T* input, Affine<T> normal, int64_t count);
  // Computes factor * (grad - of_mean - normalised * of_variance).
  void (*map_gradient)(const T* grad, const T* input, Affine<T> normal, T factor, T of_mean, T of_variance, T* of_input,
                       int64_t count);
};

OF_EACH_ISA(extern const StandardizeLoops<float> kFloatStandardize)
OF_EACH_ISA(extern const StandardizeLoops<double> kDoubleStandardize)

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_ROWS_STANDARDIZE_LOOPS_H_
