// sort() and topk(). Sorting is always stable; a NaN counts as larger than every number.
#include <algorithm>
#include <atomic>
#include <span>

#include "copy/rows.h"
#include "fold/plan.h"
#include "native/items.h"
#include "native/native.h"
#include "threads/scratch.h"
#include "threads/thread_pool.h"

namespace oneflow::cpu {
namespace {

constexpr int64_t kTaskElements = 8 * 1024;
// The elements of a long line that are read or written in one task, and the best of which are found in one task.
constexpr int64_t kPartElements = 32 * 1024;

// Returns the dimensions of a tensor except `dim`.
Walk all_but(const of_kernel_tensor& tensor, int32_t dim) {
  Walk walk;
  for (int32_t d = 0; d < tensor.rank; ++d) {
    if (d != dim) walk.add(d, tensor.sizes[d]);
  }
  return walk;
}

// Calls run(first, count) for chunks of at most kChunk that cover [0, count).
template <class Run>
void for_each_chunk(int64_t count, Run run) {
  parallel_for(divide_up(count, kPartElements), [&](int64_t part) {
    const int64_t end = std::min(count, (part + 1) * kPartElements);
    for (int64_t first = part * kPartElements; first < end; first += kChunk) run(first, std::min(kChunk, end - first));
  });
}

// The lines of a tensor along one dimension, and the results of ordering them.
template <class Value, class Item>
class Lines {
 public:
  // Elements are compared as values of `value_dtype`, the dtype of Value, which has all values of the input.
  Lines(const of_kernel_context& context, int32_t dim, bool descending, of_dtype value_dtype,
        MakeItems<Value, Item> make_items)
      : input_(context.inputs[0]),
        values_(context.outputs[0]),
        positions_(context.outputs[1]),
        dim_(dim),
        others_(all_but(input_, dim)),
        flipped_(descending ? ~uint64_t{0} >> (64 - kKeyBits<Item>) : 0),
        make_items_(make_items),
        ranked_reader_(input_, value_dtype),
        reader_(input_, input_.dtype),
        value_writer_(values_, input_.dtype),
        position_writer_(positions_, OF_INT64) {}

  // Calls arrange(items, spare, kept, digits) for each line, which returns at least `kept` items, of which so many come
  // first in order. `digits` has the bits of the keys that are not the same for all.
  template <class Arrange>
  void order(Arrange arrange) const {
    const int64_t length = input_.sizes[dim_], kept = values_.sizes[dim_], count = others_.count();
    const int64_t group = std::max<int64_t>(1, kTaskElements / std::max<int64_t>(1, length));
    parallel_for(divide_up(count, group), [&](int64_t task) {
      const ScratchArray<Item> items(length), spare(length);
      for (int64_t line = task * group; line < std::min(count, (task + 1) * group); ++line) {
        const uint64_t digits = read(line, items.items());
        write(line, arrange(items.items(), spare.items(), kept, digits).first(static_cast<size_t>(kept)));
      }
    });
  }

 private:
  uint64_t read(int64_t line, std::span<Item> items) const {
    const int64_t offset = others_.offset(line, input_.strides), stride = input_.strides[dim_];
    std::atomic<uint64_t> of_any = 0, of_all = ~uint64_t{0};
    for_each_chunk(std::ssize(items), [&](int64_t first, int64_t count) {
      ChunkBuffer buffer;
      int64_t unused;
      const auto* values = static_cast<const Value*>(
          ranked_reader_.read(offset + first * stride, {1, count, 0, stride}, buffer, unused));
      const DifferingBits bits = make_items_(values, first, count, flipped_, &items[static_cast<size_t>(first)]);
      of_any |= bits.of_any;
      of_all &= bits.of_all;
    });
    return of_any & ~of_all;
  }

  void write(int64_t line, std::span<const Item> items) const {
    const int64_t from = others_.offset(line, input_.strides), stride = input_.strides[dim_];
    const int64_t value_stride = values_.strides[dim_], position_stride = positions_.strides[dim_];
    const int64_t values_at = others_.offset(line, values_.strides),
                  positions_at = others_.offset(line, positions_.strides);
    for_each_chunk(std::ssize(items), [&](int64_t first, int64_t count) {
      ChunkBuffer values;
      int64_t positions[kChunk], offsets[kChunk];
      for (int64_t i = 0; i < count; ++i) positions[i] = position_of(items[static_cast<size_t>(first + i)]);
      for (int64_t i = 0; i < count; ++i) offsets[i] = positions[i] * stride;
      reader_.pack(from, {1, count, 0, 0, 0, nullptr, offsets}, values);
      value_writer_.write(values_at + first * value_stride, {1, count, 0, value_stride}, values.bytes);
      position_writer_.write(positions_at + first * position_stride, {1, count, 0, position_stride}, positions);
    });
  }

  const of_kernel_tensor &input_, &values_, &positions_;
  const int32_t dim_;
  const Walk others_;
  const uint64_t flipped_;  // the bits of keys that are inverted, so that the largest comes first
  const MakeItems<Value, Item> make_items_;
  const RowReader ranked_reader_, reader_;
  const RowWriter value_writer_, position_writer_;
};

// Puts the first k items in order, even if the caller does not request an order. A few of many are found in one pass,
// with a heap of the best so far: first in each part of a long line, then among the best of all parts.
template <class Item>
std::span<Item> pick_first(std::span<Item> items, std::span<Item> spare, int64_t k, uint64_t digits) {
  constexpr int64_t kMany = 64;
  const auto size = std::ssize(items);
  if (k * kMany > size) return sort_items(items, spare, digits);
  const int64_t parts = k * kMany > kPartElements ? 1 : divide_up(size, kPartElements);
  const auto item_at = [&](int64_t i) { return items.begin() + i; };
  const auto begin_of = [&](int64_t i) { return std::min(size, i * kPartElements); };
  if (parts > 1) {
    parallel_for(parts, [&](int64_t i) {
      const int64_t begin = begin_of(i), end = begin_of(i + 1);
      std::partial_sort(item_at(begin), item_at(std::min(end, begin + k)), item_at(end));
    });
    int64_t found = 0;
    for (int64_t i = 0; i < parts; ++i)
      for (int64_t j = begin_of(i); j < std::min(begin_of(i + 1), begin_of(i) + k); ++j) spare[found++] = items[j];
    items = spare.first(static_cast<size_t>(found));
  }
  std::partial_sort(items.begin(), item_at(k), items.end());
  return items;
}

// Orders the lines along a dimension; see Lines::order().
template <class Arrange>
of_status order_lines(const of_kernel_context& context, const of_value& dim_argument, bool descending,
                      Arrange arrange) {
  const auto dim = static_cast<int32_t>(dim_argument.as.integer);
  const auto order_as = [&]<class Value, class Item>(of_dtype dtype, MakeItems<Value, Item> make_items) {
    Lines<Value, Item>(context, dim, descending, dtype, make_items).order(arrange);
    return OF_OK;
  };
  const auto& [narrow, wide, draw_keys] = OF_BEST_ISA(kItemLoops);
  const bool is_short = context.inputs[0].sizes[dim] <= int64_t{1} << 32;
  switch (context.inputs[0].dtype) {
    case OF_FLOAT16:
    case OF_BFLOAT16:
    case OF_FLOAT32:
      return is_short ? order_as(OF_FLOAT32, narrow.of_floats) : order_as(OF_FLOAT32, wide.of_floats);
    case OF_FLOAT64:
      return order_as(OF_FLOAT64, wide.of_doubles);
    case OF_UINT64:
      return order_as(OF_UINT64, wide.of_naturals);
    case OF_INT64:
    case OF_UINT32:
      return order_as(OF_INT64, wide.of_longs);
    default:
      return is_short ? order_as(OF_INT32, narrow.of_ints) : order_as(OF_INT32, wide.of_ints);
  }
}

}  // namespace

of_status sort(const of_kernel_context& context) {
  const of_value* const arguments = context.arguments;
  return order_lines(context, arguments[1], arguments[2].as.boolean,
                     [](auto items, auto spare, int64_t, uint64_t digits) { return sort_items(items, spare, digits); });
}

of_status topk(const of_kernel_context& context) {
  const of_value* const arguments = context.arguments;
  return order_lines(context, arguments[2], arguments[3].as.boolean,
                     [](auto... of_line) { return pick_first(of_line...); });
}

}  // namespace oneflow::cpu
