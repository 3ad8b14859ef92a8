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

// Loops over whole vectors are faster. They compute elements after the end of what is asked, which are not used.
template <class T>
constexpr int64_t kLanes = 64 / sizeof(T);

// Folds the windows of planes, some rows of results at a time: first the rows of windows into one row each, which has
// the border, and then the windows of all these rows at once.
template <class T>
class Pooling {
 public:
  using FoldRows = void (*)(const T* const* rows, int64_t row_count, T* result, int64_t count);
  using FoldWindows = void (*)(const RowWindows<T>& windows);

  // The elements of the border are `border`.
  Pooling(const Axis& rows, const Axis& columns, FoldRows fold_rows, FoldWindows fold_windows, T border)
      : rows_(rows),
        columns_(columns),
        fold_rows_(fold_rows),
        fold_windows_(fold_windows),
        border_(border),
        pitch_(round_up(columns.reach(), columns.step)),
        chunk_(std::clamp<int64_t>(kChunkElements / pitch_, 1, rows.count)) {
    for (const double count : columns.counts) counts_.push_back(static_cast<T>(count));
  }

  of_status run(const of_kernel_tensor& input, const of_kernel_tensor& result) const {
    const int64_t plane = rows_.length * columns_.length, pooled = rows_.count * columns_.count;
    const int64_t planes = element_count(layout_of(input)) / plane;
    const int64_t group = std::max<int64_t>(1, kTaskElements / (plane + pooled));
    const T* const end = data_of<T>(input) + planes * plane;
    parallel_for(divide_up(planes, group), [&](int64_t task) {
      Memory memory(*this);
      for (int64_t i = task * group; i < std::min(planes, (task + 1) * group); ++i)
        for (int64_t y = 0; y < rows_.count; y += chunk_)
          run_chunk(data_of<T>(input) + i * plane, end, y, data_of<T>(result) + i * pooled, memory);
    });
    return OF_OK;
  }

 private:
  static constexpr int64_t kChunkElements = 4096;

  // What a task needs: folded rows that are `pitch_` elements apart, and the results of their windows.
  struct Memory {
    explicit Memory(const Pooling& pooling) : rows(pooling.elements_read()), results(pooling.windows()) {
      std::fill(rows.items().begin(), rows.items().end(), pooling.border_);
    }

    ScratchArray<T> rows, results;
    std::vector<const T*> folded;
  };

  // Returns the number of windows in a chunk. Some are between the rows, and not used.
  int64_t windows() const { return round_up(chunk_ * (pitch_ / columns_.step), kLanes<T>); }
  int64_t elements_read() const {
    const int64_t folded = (chunk_ - 1) * pitch_ + columns_.border + round_up(columns_.length, kLanes<T>);
    return std::max(folded, (windows() - 1) * columns_.step + (columns_.size - 1) * columns_.apart + 1);
  }

  // Computes the rows of results of a chunk from `first` on. `end` is the end of the elements that may be read.
  void run_chunk(const T* input, const T* end, int64_t first, T* result, Memory& memory) const {
    const int64_t last = std::min(rows_.count, first + chunk_);
    for (int64_t y = first; y < last; ++y)
      fold_rows(input, end, y, memory.rows.data() + (y - first) * pitch_, memory.folded);
    T* const results = memory.results.data();
    fold_windows_({memory.rows.data(), columns_.size, columns_.apart, columns_.step, results, windows()});
    for (int64_t y = first; y < last; ++y) {
      T *const from = results + (y - first) * (pitch_ / columns_.step), *const to = result + y * columns_.count;
      if (rows_.counts.empty()) {
        std::copy_n(from, columns_.count, to);
      } else {
        const T factor = static_cast<T>(rows_.counts[static_cast<size_t>(y)]);
        for (int64_t x = 0; x < columns_.count; ++x) to[x] = from[x] / (factor * counts_[static_cast<size_t>(x)]);
      }
    }
  }

  // Folds the rows of a row of windows into one with its border.
  void fold_rows(const T* input, const T* end, int64_t y, T* row, std::vector<const T*>& folded) const {
    folded.clear();
    for (int64_t k = 0; k < rows_.size; ++k) {
      const int64_t at = y * rows_.step - rows_.border + k * rows_.apart;
      if (at >= 0 && at < rows_.length) folded.push_back(input + at * columns_.length);
    }
    const int64_t inside = std::min(columns_.length, columns_.reach() - columns_.border);
    std::fill_n(row, columns_.border, border_);
    row += columns_.border;
    if (folded.empty()) {
      std::fill_n(row, inside, border_);
    } else {
      const int64_t whole = round_up(inside, kLanes<T>);
      fold_rows_(folded.data(), std::ssize(folded), row, end - folded.back() >= whole ? whole : inside);
    }
    std::fill_n(row + inside, columns_.reach() - columns_.border - inside, border_);
  }

  const Axis& rows_;
  const Axis& columns_;
  const FoldRows fold_rows_;
  const FoldWindows fold_windows_;
  const T border_;
  const int64_t pitch_;
  const int64_t chunk_;    // rows of results
  std::vector<T> counts_;  // of the columns
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
    return Pooling<T>(axes[0], axes[1], loops.largest_of_rows, loops.largest_of_windows,
                      -std::numeric_limits<T>::infinity())
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
  for (int64_t d = 0; d < n; ++d) {
    const int64_t size = arguments[1].as.integers[d];
    axes[2 - n + d] = {input.sizes[input.rank - n + d],
                       result.sizes[input.rank - n + d],
                       size,
                       arguments[2].count > 0 ? arguments[2].as.integers[d] : size,
                       arguments[3].as.integers[d],
                       1,
                       {}};
  }
  // Windows may reach beyond the border if sizes are rounded up. What they have there is never counted.
  for (Axis& axis : axes) {
    const int64_t first = counts_border ? 0 : axis.border;
    const int64_t end = axis.length + axis.border + (counts_border ? axis.border : 0);
    for (int64_t i = 0; i < axis.count; ++i) {
      const int64_t begin = i * axis.step;
      const int64_t count = std::min(begin + axis.size, end) - std::max(begin, first);
      axis.counts.push_back(is_overridden ? 1 : static_cast<double>(count));
    }
  }
  if (is_overridden) std::ranges::fill(axes[0].counts, static_cast<double>(arguments[6].as.integer));
  return with_type(context, [&](auto type) {
    using T = decltype(type);
    const PoolingLoops<T>& loops = loops_of<T>();
    return Pooling<T>(axes[0], axes[1], loops.sum_of_rows, loops.sum_of_windows, T(0)).run(input, result);
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
