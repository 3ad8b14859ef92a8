#include "strided.h"

#include <algorithm>
#include <cstring>

#include "moves.h"
#include "oneflow/types.h"

namespace oneflow::cpu {
namespace {

template <class Unit>
void pick_units(const void* source, const int64_t* places, int64_t source_stride, int64_t lane_stride,
                void* destination, int64_t destination_stride, int64_t count) {
  const auto* from = static_cast<const Unit*>(source);
  auto* to = static_cast<Unit*>(destination);
  if (source_stride == 1 && lane_stride == 0 && destination_stride == 1) {
    for (int64_t j = 0; j < count; ++j) to[j] = from[places[j]];
    return;
  }
  for (int64_t j = 0; j < count; ++j) to[j * destination_stride] = from[places[j] * source_stride + j * lane_stride];
}

// Calls run(offset, done, length) for each stretch of the last dimension in [begin, begin + count): `offset` is where
// it starts in the strided array, `done` how many elements came before it.
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

// Neighbours along the last dimension are lanes.
struct Block {
  int64_t rows, lanes;
  int64_t row_stride, lane_stride;
};

// Calls run(offset, done, block) for all of [begin, begin + count), as for_each_run() does.
template <class Run>
void for_each_block(const Layout& layout, int64_t begin, int64_t count, Run run) {
  const int32_t last = layout.rank - 1;
  const int64_t lane_stride = layout.rank == 0 ? 0 : layout.strides[last];
  const auto run_rows = [&](int64_t from, int64_t before, int64_t length) {
    for_each_run(layout, from, length, [&](int64_t offset, int64_t done, int64_t lanes) {
      run(offset, before + done, Block{1, lanes, 0, lane_stride});
    });
  };
  if (layout.rank < 2 || count < 2 * layout.sizes[last]) return run_rows(begin, 0, count);
  const int64_t lanes = layout.sizes[last];
  const int64_t head = (lanes - begin % lanes) % lanes, rows = (count - head) / lanes,
                tail = count - head - rows * lanes;
  run_rows(begin, 0, head);
  for_each_run({last, layout.sizes, layout.strides}, (begin + head) / lanes, rows,
               [&](int64_t offset, int64_t done, int64_t length) {
                 run(offset, head + done * lanes, Block{length, lanes, layout.strides[last - 1], lane_stride});
               });
  run_rows(begin + count - tail, count - tail, tail);
}

// Rows of fewer lanes than this are copied lane by lane, where there are more of them: that is less of a loop.
constexpr int64_t kNarrow = 8;

void copy_block(const char* source, int64_t source_row, int64_t source_lane, char* destination, int64_t destination_row,
                int64_t destination_lane, int64_t item_size, const Block& block) {
  if (block.rows == 1) return copy_strided(source, source_lane, destination, destination_lane, item_size, block.lanes);
  const Moves& moves = moves_of(item_size);
  if (source_lane == 0 && destination_lane == 1 && destination_row == block.lanes)
    moves.repeat(source, source_row, destination, block.rows, block.lanes);
  else if (block.lanes < kNarrow && block.rows > block.lanes)
    moves.copy(source, source_lane, source_row, destination, destination_lane, destination_row, block.lanes,
               block.rows);
  else
    moves.copy(source, source_row, source_lane, destination, destination_row, destination_lane, block.rows,
               block.lanes);
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
    moves_of(item_size).repeat(source, 0, destination, 1, count);
  } else {
    moves_of(item_size).copy(source, 0, source_stride, destination, 0, destination_stride, 1, count);
  }
}

void copy_picked(const void* source, const int64_t* places, int64_t source_stride, int64_t lane_stride,
                 void* destination, int64_t destination_stride, int64_t item_size, int64_t count) {
  switch (item_size) {
    case 1:
      return pick_units<uint8_t>(source, places, source_stride, lane_stride, destination, destination_stride, count);
    case 2:
      return pick_units<uint16_t>(source, places, source_stride, lane_stride, destination, destination_stride, count);
    case 4:
      return pick_units<uint32_t>(source, places, source_stride, lane_stride, destination, destination_stride, count);
    default:
      return pick_units<uint64_t>(source, places, source_stride, lane_stride, destination, destination_stride, count);
  }
}

void gather(const void* source, const Layout& layout, int64_t item_size, int64_t begin, int64_t count, void* buffer) {
  for_each_block(layout, begin, count, [&](int64_t offset, int64_t done, const Block& block) {
    copy_block(static_cast<const char*>(source) + offset * item_size, block.row_stride, block.lane_stride,
               static_cast<char*>(buffer) + done * item_size, block.lanes, 1, item_size, block);
  });
}

void scatter(const void* buffer, void* destination, const Layout& layout, int64_t item_size, int64_t begin,
             int64_t count) {
  for_each_block(layout, begin, count, [&](int64_t offset, int64_t done, const Block& block) {
    copy_block(static_cast<const char*>(buffer) + done * item_size, block.lanes, 1,
               static_cast<char*>(destination) + offset * item_size, block.row_stride, block.lane_stride, item_size,
               block);
  });
}

}  // namespace oneflow::cpu
