// The loops of rows/pooling_loops.h; compiled once per instruction set.
#include "rows/pooling_loops.h"

namespace oneflow::cpu::OF_ISA {
namespace {

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
constexpr PoolingLoops<T> loops() {
  return {fold_rows<T, Largest>, fold_rows<T, Sum>, fold_windows<T, Largest>, fold_windows<T, Sum>};
}

}  // namespace

extern const PoolingLoops<float> kFloatPooling = loops<float>();
extern const PoolingLoops<double> kDoublePooling = loops<double>();

}  // namespace oneflow::cpu::OF_ISA
