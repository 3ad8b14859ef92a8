#include "rows/pooling.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <vector>

#include "rows/plain.h"
#include "rows/pooling_loops.h"
#include "threads/partition.h"
#include "threads/scratch.h"
#include "threads/thread_pool.h"

namespace oneflow::cpu {
namespace {

constexpr int64_t kTaskElements = 16 * 1024;

// The elements of a window along one dimension that are not in the border: those from `first` to `last`, if any.
struct Window {
  int64_t first, last;
  bool is_empty() const { return last < first; }
};

// The windows along one dimension.
struct Windows {
  int64_t length = 1, apart = 1;
  std::vector<Window> all{{0, 0}};
};

Windows windows_of(int64_t length, int64_t count, int64_t size, int64_t step, int64_t before, int64_t apart) {
  Windows windows{length, apart, {}};
  for (int64_t i = 0; i < count; ++i) {
    const int64_t start = i * step - before, end = std::min(length, start + (size - 1) * apart + 1);
    const int64_t first = start < 0 ? start + divide_up(-start, apart) * apart : start;
    windows.all.push_back({first, first < end ? first + (end - 1 - first) / apart * apart : first - 1});
  }
  return windows;
}

// Returns `at` if an element is the largest one of its window, else `found`. Without a branch, because its direction
// cannot be predicted. If the largest element is not NaN, none is.
template <class T>
inline int64_t choose(T element, T largest, int64_t at, int64_t found) {
  const bool is_largest = (element == largest) | (element != element);
  return found + ((at - found) & -static_cast<int64_t>(is_largest));
}

// Adds the gradient of each window of a plane to the gradient of its first largest element.
template <class T>
void give_to_largest(const Windows& rows, const Windows& columns, const T* grad, const T* input, const T* result,
                     T* of_input) {
  std::fill_n(of_input, rows.length * columns.length, T(0));
  for (const Window& row : rows.all)
    for (const Window& column : columns.all) {
      const T largest = *result++, given = *grad++;
      if (row.is_empty() || column.is_empty()) continue;
      const int64_t first = row.first * columns.length + column.first;
      int64_t found = first;
      if (row.last - row.first == 1 && column.last - column.first == 1) {  // the most common size
        const int64_t below = first + columns.length;
        found = choose(input[below + 1], largest, below + 1, found);
        found = choose(input[below], largest, below, found);
        found = choose(input[first + 1], largest, first + 1, found);
        found = choose(input[first], largest, first, found);
      } else {
        for (int64_t y = row.last; y >= row.first; y -= rows.apart)
          for (int64_t x = column.last; x >= column.first; x -= columns.apart) {
            const int64_t at = y * columns.length + x;
            found = choose(input[at], largest, at, found);
          }
      }
      of_input[found] += given;
    }
}

template <class T>
const PoolingLoops<T>& loops_of();
template <>
const PoolingLoops<float>& loops_of() {
  return OF_BEST_ISA(kFloatPooling);
}
template <>
const PoolingLoops<double>& loops_of() {
  return OF_BEST_ISA(kDoublePooling);
}

// What one dimension of a forward pass has.
struct Axis {
  int64_t length = 1, count = 1;  // of the elements, and of the windows
  int64_t size = 1, step = 1, border = 0, apart = 1;
  std::vector<double> counts;  // by which the sum of each window is divided; empty: by none

  // Returns how many elements the windows reach from the first one of the border on.
  int64_t reach() const { return (count - 1) * step + (size - 1) * apart + 1; }
};

// Folds the windows of planes: first rows into one row, which has room for the border, and then its windows.
template <class T>
struct Pooling {
  const Axis& rows;
  const Axis& columns;
  void (*fold_rows)(const T* const* rows, int64_t row_count, T* result, int64_t count);
  void (*fold_windows)(const RowWindows<T>& windows);
  T border;   // what the elements of the border are
  T divisor;  // of all results

  void run(const T* input, T* result, T* row, std::vector<const T*>& folded) const {
    const int64_t inside = std::min(columns.length, columns.reach() - columns.border);
    for (int64_t y = 0; y < rows.count; ++y, result += columns.count) {
      folded.clear();
      for (int64_t k = 0; k < rows.size; ++k) {
        const int64_t at = y * rows.step - rows.border + k * rows.apart;
        if (at >= 0 && at < rows.length) folded.push_back(input + at * columns.length);
      }
      if (folded.empty())
        std::fill_n(row + columns.border, inside, border);
      else
        fold_rows(folded.data(), std::ssize(folded), row + columns.border, inside);
      fold_windows({row, columns.size, columns.apart, columns.step, result, columns.count});
      if (divisor != 1)
        for (int64_t x = 0; x < columns.count; ++x) result[x] /= divisor;
      if (!rows.counts.empty())
        for (int64_t x = 0; x < columns.count; ++x) result[x] /= static_cast<T>(rows.counts[static_cast<size_t>(y)]);
      if (!columns.counts.empty())
        for (int64_t x = 0; x < columns.count; ++x) result[x] /= static_cast<T>(columns.counts[static_cast<size_t>(x)]);
    }
  }

  of_status run(const of_kernel_tensor& input, const of_kernel_tensor& result) const {
    const int64_t plane = rows.length * columns.length, pooled = rows.count * columns.count;
    const int64_t planes = element_count(layout_of(input)) / plane;
    const int64_t group = std::max<int64_t>(1, kTaskElements / (plane + pooled));
    parallel_for(divide_up(planes, group), [&](int64_t task) {
      const int64_t length = std::max(columns.reach(), columns.border + columns.length);
      const ScratchArray<T> row(length);
      std::fill_n(row.data(), length, border);
      std::vector<const T*> folded;
      for (int64_t i = task * group; i < std::min(planes, (task + 1) * group); ++i)
        run(data_of<T>(input) + i * plane, data_of<T>(result) + i * pooled, row.data(), folded);
    });
    return OF_OK;
  }
};

}  // namespace

// max_pool(input, n, kernel_size, stride, padding, dilation, ceil_mode)
of_status max_pool(const of_kernel_context& context) {
  const of_kernel_tensor &input = context.inputs[0], &result = context.outputs[0];
  const of_value* const arguments = context.arguments;
  const int64_t n = arguments[1].as.integer;
  if (n < 1 || n > 2 || !are_plain(context, {&input}) || !are_plain(context, {&result})) return OF_UNSUPPORTED;
  Axis axes[2];
  for (int64_t d = 0; d < n; ++d) {
    const auto number_of = [&](int argument) {
      return arguments[argument].as.integers[arguments[argument].count > 1 ? d : 0];
    };
    const int64_t size = number_of(2), step = arguments[3].count > 0 ? number_of(3) : size;
    axes[2 - n + d] = {
        input.sizes[input.rank - n + d], result.sizes[input.rank - n + d], size, step, number_of(4), number_of(5), {}};
  }
  return with_type(context, [&](auto type) {
    using T = decltype(type);
    const PoolingLoops<T>& loops = loops_of<T>();
    return Pooling<T>{
        axes[0], axes[1], loops.largest_of_rows, loops.largest_of_windows, -std::numeric_limits<T>::infinity(), T(1)}
        .run(input, result);
  });
}

// avg_pool(input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
of_status avg_pool(const of_kernel_context& context) {
  const of_kernel_tensor &input = context.inputs[0], &result = context.outputs[0];
  const of_value* const arguments = context.arguments;
  const int64_t n = arguments[1].count;
  if (n < 1 || n > 2 || !are_plain(context, {&input}) || !are_plain(context, {&result})) return OF_UNSUPPORTED;
  const bool counts_border = arguments[5].as.boolean, is_overridden = arguments[6].kind == OF_VALUE_INT;
  Axis axes[2];
  double divisor = 1;
  bool has_border = false, reaches_beyond = false;
  for (int64_t d = 0; d < n; ++d) {
    const int64_t size = arguments[1].as.integers[d],
                  step = arguments[2].count > 0 ? arguments[2].as.integers[d] : size;
    Axis& axis = axes[2 - n + d];
    axis = {input.sizes[input.rank - n + d],
            result.sizes[input.rank - n + d],
            size,
            step,
            arguments[3].as.integers[d],
            1,
            {}};
    divisor *= static_cast<double>(size);
    has_border |= axis.border > 0;
    reaches_beyond |= axis.reach() > axis.length + 2 * axis.border;
  }
  if (is_overridden) {
    divisor = static_cast<double>(arguments[6].as.integer);
  } else if (reaches_beyond || (has_border && !counts_border)) {
    divisor = 1;
    for (Axis& axis : axes) {
      const int64_t first = counts_border ? 0 : axis.border;
      const int64_t end = axis.length + axis.border + (counts_border ? axis.border : 0);
      for (int64_t i = 0; i < axis.count; ++i)
        axis.counts.push_back(
            static_cast<double>(std::min(i * axis.step + axis.size, end) - std::max(i * axis.step, first)));
    }
  }
  return with_type(context, [&](auto type) {
    using T = decltype(type);
    const PoolingLoops<T>& loops = loops_of<T>();
    return Pooling<T>{axes[0], axes[1], loops.sum_of_rows, loops.sum_of_windows, T(0), static_cast<T>(divisor)}.run(
        input, result);
  });
}

// max_pool.gradient_input(grad, input, n, kernel_size, stride, padding, dilation, ceil_mode, result)
of_status max_pool_gradient(const of_kernel_context& context) {
  const of_kernel_tensor &grad = context.inputs[0], &input = context.inputs[1], &result = context.inputs[2];
  const of_value* const arguments = context.arguments;
  const int64_t n = arguments[2].as.integer;
  if (n < 1 || n > 2 || !are_plain(context, {&input, &context.outputs[0]}) || !are_plain(context, {&grad, &result}))
    return OF_UNSUPPORTED;
  Windows dims[2];  // rows and columns; windows over one dimension are those of a single row
  for (int64_t d = 0; d < n; ++d) {
    const int64_t dim = input.rank - n + d;
    const auto number_of = [&](int argument) {
      return arguments[argument].as.integers[arguments[argument].count > 1 ? d : 0];
    };
    const int64_t size = number_of(3), step = arguments[4].count > 0 ? number_of(4) : size;
    dims[2 - n + d] = windows_of(input.sizes[dim], result.sizes[dim], size, step, number_of(5), number_of(6));
  }
  const int64_t plane = dims[0].length * dims[1].length, pooled = std::ssize(dims[0].all) * std::ssize(dims[1].all);
  const int64_t planes = element_count(layout_of(input)) / plane, group = std::max<int64_t>(1, kTaskElements / plane);
  return with_type(context, [&](auto type) {
    using T = decltype(type);
    parallel_for(divide_up(planes, group), [&](int64_t task) {
      for (int64_t i = task * group; i < std::min(planes, (task + 1) * group); ++i)
        give_to_largest(dims[0], dims[1], data_of<T>(grad) + i * pooled, data_of<T>(input) + i * plane,
                        data_of<T>(result) + i * pooled, data_of<T>(context.outputs[0]) + i * plane);
    });
    return OF_OK;
  });
}

}  // namespace oneflow::cpu
