#include "rows/pooling.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "rows/plain.h"
#include "threads/partition.h"
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

}  // namespace

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
