// The loops of rows/softmax_loops.h; compiled once per instruction set.
#include "rows/row_sums.h"
#include "rows/softmax_loops.h"
#include "simd/maths.h"

namespace oneflow::cpu::OF_ISA {
namespace {

// Functions such as exp are computed in blocks, of which the last one is padded: all elements pass through the same
// vector instructions, so that a result does not depend on the position of its element.
constexpr int64_t kBlock = 64;

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

template <class T>
constexpr SoftmaxLoops<T> loops() {
  return {softmax<T>, softmax_gradient<T>, log_softmax<T>, log_softmax_gradient<T>};
}

}  // namespace

extern const SoftmaxLoops<float> kFloatSoftmax = loops<float>();
extern const SoftmaxLoops<double> kDoubleSoftmax = loops<double>();

}  // namespace oneflow::cpu::OF_ISA
