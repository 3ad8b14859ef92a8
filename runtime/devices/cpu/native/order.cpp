// sort(), topk() and randperm(). Sorting is always stable; a NaN counts as larger than every number.
#include <algorithm>
#include <bit>
#include <span>

#include "copy/rows.h"
#include "fold/plan.h"
#include "native/native.h"
#include "simd/element.h"
#include "simd/random.h"
#include "threads/scratch.h"
#include "threads/thread_pool.h"

namespace oneflow::cpu {
namespace {

constexpr int64_t kTaskElements = 8 * 1024;

template <class Key>
struct Keyed {
  Key key;
  int64_t position;
};

template <class Key>
bool is_less(Key a, Key b) {
  if constexpr (is_floating<Key>) return a < b || (b != b && a == a);
  return a < b;
}

template <class Key>
struct Ascending {
  bool operator()(const Keyed<Key>& a, const Keyed<Key>& b) const {
    return is_less(a.key, b.key) || (!is_less(b.key, a.key) && a.position < b.position);
  }
};

template <class Key>
struct Descending {
  bool operator()(const Keyed<Key>& a, const Keyed<Key>& b) const {
    return is_less(b.key, a.key) || (!is_less(a.key, b.key) && a.position < b.position);
  }
};

// Returns the dimensions of a tensor except `dim`.
Walk all_but(const of_kernel_tensor& tensor, int32_t dim) {
  Walk walk;
  for (int32_t d = 0; d < tensor.rank; ++d) {
    if (d != dim) walk.add(d, tensor.sizes[d]);
  }
  return walk;
}

// Calls arrange(line, kept) for each line along `dim`, which puts its first `kept` elements in order, and writes the
// values and positions of these. Elements are compared as keys, of a type that holds the input's values exactly.
template <class Key, class Arrange>
void order_lines(const of_kernel_context& context, int32_t dim, of_dtype key_dtype, Arrange arrange) {
  const of_kernel_tensor& input = context.inputs[0];
  const of_kernel_tensor &values = context.outputs[0], &positions = context.outputs[1];
  const Walk lines = all_but(input, dim);
  const int64_t length = input.sizes[dim], kept = values.sizes[dim];
  const RowReader reader(input, key_dtype);
  const RowWriter value_writer(values, key_dtype), position_writer(positions, OF_INT64);
  const int64_t group = std::max<int64_t>(1, kTaskElements / std::max<int64_t>(1, length)), count = lines.count();

  parallel_for((count + group - 1) / group, [&](int64_t task) {
    const ScratchArray<Keyed<Key>> line(length);
    ChunkBuffer keys, position_chunk;
    for (int64_t i = task * group; i < std::min(count, (task + 1) * group); ++i) {
      const int64_t from = lines.offset(i, input.strides), stride = input.strides[dim];
      for (int64_t first = 0; first < length; first += kChunk) {
        const int64_t piece = std::min(kChunk, length - first);
        int64_t unused;
        const auto* read =
            static_cast<const Key*>(reader.read(from + first * stride, {1, piece, 0, stride}, keys, unused));
        for (int64_t j = 0; j < piece; ++j) line[first + j] = {read[j], first + j};
      }
      arrange(line.items(), kept);
      for (int64_t first = 0; first < kept; first += kChunk) {
        const int64_t piece = std::min(kChunk, kept - first);
        for (int64_t j = 0; j < piece; ++j) {
          reinterpret_cast<Key*>(keys.bytes)[j] = line[first + j].key;
          reinterpret_cast<int64_t*>(position_chunk.bytes)[j] = line[first + j].position;
        }
        const int64_t value_stride = values.strides[dim], position_stride = positions.strides[dim];
        value_writer.write(lines.offset(i, values.strides) + first * value_stride, {1, piece, 0, value_stride},
                           keys.bytes);
        position_writer.write(lines.offset(i, positions.strides) + first * position_stride,
                              {1, piece, 0, position_stride}, position_chunk.bytes);
      }
    }
  });
}

template <class Key>
void sort_lines(const of_kernel_context& context, of_dtype key_dtype) {
  const auto dim = static_cast<int32_t>(context.arguments[1].as.integer);
  if (context.arguments[2].as.boolean) {
    order_lines<Key>(context, dim, key_dtype,
                     [](auto line, int64_t) { std::sort(line.begin(), line.end(), Descending<Key>()); });
  } else {
    order_lines<Key>(context, dim, key_dtype,
                     [](auto line, int64_t) { std::sort(line.begin(), line.end(), Ascending<Key>()); });
  }
}

// Puts the first k elements in order, even if the caller does not request an order. A few elements of many are found in
// one pass, with a heap of the best so far.
template <class Key, class Before>
void pick_first(std::span<Keyed<Key>> line, int64_t k, Before before) {
  const auto end = line.begin() + k;
  if (k * 64 <= static_cast<int64_t>(line.size())) {
    std::partial_sort(line.begin(), end, line.end(), before);
  } else {
    if (end != line.end()) std::nth_element(line.begin(), end, line.end(), before);
    std::sort(line.begin(), end, before);
  }
}

template <class Key>
void pick_lines(const of_kernel_context& context, of_dtype key_dtype) {
  const auto dim = static_cast<int32_t>(context.arguments[2].as.integer);
  if (context.arguments[3].as.boolean) {
    order_lines<Key>(context, dim, key_dtype, [](auto line, int64_t k) { pick_first(line, k, Descending<Key>()); });
  } else {
    order_lines<Key>(context, dim, key_dtype, [](auto line, int64_t k) { pick_first(line, k, Ascending<Key>()); });
  }
}

// Calls order(Key{}, key_dtype) with the type in which values of a dtype are compared.
template <class Order>
of_status with_key(of_dtype dtype, Order order) {
  switch (dtype) {
    case OF_FLOAT16:
    case OF_BFLOAT16:
    case OF_FLOAT32:
      order(float{}, OF_FLOAT32);
      break;
    case OF_FLOAT64:
      order(double{}, OF_FLOAT64);
      break;
    case OF_UINT64:
      order(uint64_t{}, OF_UINT64);
      break;
    default:
      order(int64_t{}, OF_INT64);
      break;
  }
  return OF_OK;
}

}  // namespace

of_status sort(const of_kernel_context& context) {
  return with_key(context.inputs[0].dtype,
                  [&context](auto key, of_dtype key_dtype) { sort_lines<decltype(key)>(context, key_dtype); });
}

of_status topk(const of_kernel_context& context) {
  return with_key(context.inputs[0].dtype,
                  [&context](auto key, of_dtype key_dtype) { pick_lines<decltype(key)>(context, key_dtype); });
}

// Returns the order of as many random 64-bit numbers. They are uniformly distributed, so that their upper bits sort
// them into buckets of a few numbers.
of_status randperm(const of_kernel_context& context) {
  const of_kernel_tensor& output = context.outputs[0];
  const auto count = static_cast<size_t>(output.sizes[0]);
  const int bucket_bits = std::max(1, static_cast<int>(std::bit_width(count)) - 3);
  const auto bucket_of = [bucket_bits](uint64_t key) { return static_cast<size_t>(key >> (64 - bucket_bits)); };
  const ScratchArray<uint64_t> keys(output.sizes[0]);
  const ScratchArray<size_t> end_of((int64_t{1} << bucket_bits) + 1);
  const std::span<size_t> ends = end_of.items();  // at first, of the buckets before each one
  std::fill(ends.begin(), ends.end(), 0);
  for (size_t i = 0; i < count; ++i) {
    keys.items()[i] = wide_word(philox(context.seed, context.offset + i), 0);
    ++ends[bucket_of(keys.items()[i]) + 1];
  }
  for (size_t bucket = 1; bucket < ends.size(); ++bucket) ends[bucket] += ends[bucket - 1];
  const ScratchArray<Keyed<uint64_t>> ordered(output.sizes[0]);
  const std::span<Keyed<uint64_t>> line = ordered.items();
  for (size_t i = 0; i < count; ++i) {
    const uint64_t key = keys.items()[i];
    line[ends[bucket_of(key)]++] = {key, static_cast<int64_t>(i)};
  }

  const Writer writer(output, OF_INT64);
  const auto groups = static_cast<int64_t>((count + kChunk - 1) / kChunk);
  size_t begin = 0;
  for (const size_t end : ends) {
    std::sort(line.begin() + static_cast<int64_t>(begin), line.begin() + static_cast<int64_t>(end),
              Ascending<uint64_t>());
    begin = end;
  }
  parallel_for(groups, [&](int64_t group) {
    ChunkBuffer buffer;
    const int64_t first = group * kChunk, piece = std::min(kChunk, output.sizes[0] - first);
    for (int64_t j = 0; j < piece; ++j) {
      reinterpret_cast<int64_t*>(buffer.bytes)[j] = line[static_cast<size_t>(first + j)].position;
    }
    writer.write(first, piece, buffer.bytes);
  });
  return OF_OK;
}

}  // namespace oneflow::cpu
