#include "copy/strided.h"

#include <algorithm>
#include <cstring>

#include "oneflow/types.h"
#include "simd/permute.h"

namespace oneflow::cpu {
namespace {

// An element of any type, or several of them, at any address.
template <int size>
struct Item {
  char bytes[size];
};

template <class T>
void copy_indexed_units(const void* source, const int64_t* indices, int64_t index_stride, int64_t element_stride,
                        void* destination, int64_t destination_stride, int64_t count) {
  const auto* from = static_cast<const T*>(source);
  auto* to = static_cast<T*>(destination);
  if (index_stride == 1 && element_stride == 0 && destination_stride == 1) {
    for (int64_t j = 0; j < count; ++j) to[j] = from[indices[j]];
    return;
  }
  for (int64_t j = 0; j < count; ++j) to[j * destination_stride] = from[indices[j] * index_stride + j * element_stride];
}

// Calls run(offset, done, length) for each row along the last dimension, or part of one, in [begin, begin + count).
// `offset` is the offset of its first element in the tensor, `done` the number of elements of the rows before it.
template <class Run>
void for_each_run(const Layout& layout, int64_t begin, int64_t count, Run run) {
  if (layout.rank == 0) {
    run(int64_t{0}, int64_t{0}, count);
    return;
  }
  int64_t position[OF_MAX_RANK];
  int64_t offset = 0;
  const int32_t last = layout.rank - 1;
  for (int32_t d = last; d >= 0; --d) {
    position[d] = d == 0 ? begin : begin % layout.sizes[d];
    begin /= layout.sizes[d];
    offset += position[d] * layout.strides[d];
  }
  for (int64_t done = 0; done < count;) {
    const int64_t length = std::min(layout.sizes[last] - position[last], count - done);
    run(offset, done, length);
    done += length;
    offset -= position[last] * layout.strides[last];
    position[last] = 0;
    for (int32_t d = last - 1; d >= 0; --d) {
      offset += layout.strides[d];
      if (++position[d] < layout.sizes[d]) break;
      offset -= layout.sizes[d] * layout.strides[d];
      position[d] = 0;
    }
  }
}

// Consecutive rows of a tensor along its last dimension.
struct Block {
  int64_t rows, columns;
  int64_t row_stride, column_stride;
};

// Calls run(offset, done, block) for blocks that cover [begin, begin + count), with `offset` and `done` as in
// for_each_run().
template <class Run>
void for_each_block(const Layout& layout, int64_t begin, int64_t count, Run run) {
  const int32_t last = layout.rank - 1;
  const int64_t column_stride = layout.rank == 0 ? 0 : layout.strides[last];
  const auto run_rows = [&](int64_t from, int64_t before, int64_t length) {
    for_each_run(layout, from, length, [&](int64_t offset, int64_t done, int64_t columns) {
      run(offset, before + done, Block{1, columns, 0, column_stride});
    });
  };
  if (layout.rank < 2 || count < 2 * layout.sizes[last]) return run_rows(begin, 0, count);
  const int64_t columns = layout.sizes[last];
  const int64_t head = (columns - begin % columns) % columns, rows = (count - head) / columns,
                tail = count - head - rows * columns;
  run_rows(begin, 0, head);
  for_each_run({last, layout.sizes, layout.strides}, (begin + head) / columns, rows,
               [&](int64_t offset, int64_t done, int64_t length) {
                 run(offset, head + done * columns, Block{length, columns, layout.strides[last - 1], column_stride});
               });
  run_rows(begin + count - tail, count - tail, tail);
}

// Blocks with fewer columns than this that are not contiguous, and more rows than columns, are copied column by column:
// the inner loop is then the longer one.
constexpr int64_t kNarrow = 8;

void copy_block(const char* source, int64_t source_row, int64_t source_column, char* destination,
                int64_t destination_row, int64_t destination_column, int64_t item_size, const Block& block) {
  if (block.rows == 1)
    return copy_strided(source, source_column, destination, destination_column, item_size, block.columns);
  const PermuteLoops& loops = permute_loops(item_size);
  if (source_column == 0 && destination_column == 1 && destination_row == block.columns)
    loops.repeat(source, source_row, destination, block.rows, block.columns);
  else if (block.columns < kNarrow && block.rows > block.columns && (source_column != 1 || destination_column != 1))
    loops.copy(source, source_column, source_row, destination, destination_column, destination_row, block.columns,
               block.rows);
  else
    loops.copy(source, source_row, source_column, destination, destination_row, destination_column, block.rows,
               block.columns);
}

}  // namespace

int64_t element_count(const Layout& layout) {
  int64_t count = 1;
  for (int32_t d = 0; d < layout.rank; ++d) count *= layout.sizes[d];
  return count;
}

int64_t distinct_count(const Layout& layout) {
  int64_t count = 1;
  for (int32_t d = 0; d < layout.rank; ++d)
    if (layout.strides[d] != 0) count *= layout.sizes[d];
  return count;
}

bool is_contiguous(const Layout& layout) {
  int64_t expected = 1;
  for (int32_t d = layout.rank - 1; d >= 0; --d) {
    if (layout.sizes[d] != 1 && layout.strides[d] != expected) return false;
    expected *= layout.sizes[d];
  }
  return true;
}

int64_t period(const Layout& layout) {
  int64_t count = element_count(layout);
  for (int32_t d = 0; d < layout.rank && (layout.sizes[d] == 1 || layout.strides[d] == 0); ++d)
    count /= layout.sizes[d];
  return count;
}

void copy_strided(const void* source, int64_t source_stride, void* destination, int64_t destination_stride,
                  int64_t item_size, int64_t count) {
  if (source_stride == 1 && destination_stride == 1) {
    std::memcpy(destination, source, static_cast<size_t>(count * item_size));
  } else if (source_stride == 0 && destination_stride == 1) {
    permute_loops(item_size).repeat(source, 0, destination, 1, count);
  } else {
    permute_loops(item_size).copy(source, 0, source_stride, destination, 0, destination_stride, 1, count);
  }
}

void copy_indexed(const void* source, const int64_t* indices, int64_t index_stride, int64_t element_stride,
                  void* destination, int64_t destination_stride, int64_t item_size, int64_t count) {
  const auto copy = [&](auto item) {
    copy_indexed_units<decltype(item)>(source, indices, index_stride, element_stride, destination, destination_stride,
                                       count);
  };
  switch (item_size) {
    case 1:
      return copy(Item<1>());
    case 2:
      return copy(Item<2>());
    case 4:
      return copy(Item<4>());
    case 8:
      return copy(Item<8>());
    default:
      return copy(Item<kMaxIndexedItem>());
  }
}

void gather(const void* source, const Layout& layout, int64_t item_size, int64_t begin, int64_t count, void* buffer) {
  for_each_block(layout, begin, count, [&](int64_t offset, int64_t done, const Block& block) {
    copy_block(static_cast<const char*>(source) + offset * item_size, block.row_stride, block.column_stride,
               static_cast<char*>(buffer) + done * item_size, block.columns, 1, item_size, block);
  });
}

void scatter(const void* buffer, void* destination, const Layout& layout, int64_t item_size, int64_t begin,
             int64_t count) {
  for_each_block(layout, begin, count, [&](int64_t offset, int64_t done, const Block& block) {
    copy_block(static_cast<const char*>(buffer) + done * item_size, block.columns, 1,
               static_cast<char*>(destination) + offset * item_size, block.row_stride, block.column_stride, item_size,
               block);
  });
}

}  // namespace oneflow::cpu
