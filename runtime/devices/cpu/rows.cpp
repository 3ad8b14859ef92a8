#include "rows.h"

#include <algorithm>
#include <cstdlib>

#include "element.h"
#include "moves.h"

namespace oneflow::cpu {
namespace {

// So many elements on cache lines of their own are fetched ahead: a third of a first-level cache.
constexpr int64_t kFetchedAhead = 256;

// Fetches elements that lie on cache lines of their own.
void fetch_row(const char* source, int64_t step, int64_t lanes) {
  if (std::abs(step) < 64) return;
#pragma GCC unroll 8
  for (int64_t lane = 0; lane < lanes; ++lane) __builtin_prefetch(source + lane * step, 0, 3);
}

// Whether to walk rows whose memory is far apart lane by lane rather than row by row.
bool is_along_lanes(const RowLayout& layout) {
  if (layout.rows == 1 || layout.lanes == 1) return layout.rows == 1;
  return layout.rows <= 4 || std::abs(layout.lane_stride) <= std::abs(layout.row_stride);
}

}  // namespace

void copy_rows(const void* source, const RowLayout& from, void* destination, const RowLayout& to, int64_t item_size) {
  const auto* first = static_cast<const char*>(source);
  auto* target = static_cast<char*>(destination);
  const Moves& moves = moves_of(item_size);
  if (from.is_one_line() && to.is_one_line())
    return copy_strided(first, 1, target, 1, item_size, from.rows * from.lanes);
  const bool have_strides = from.has_strides() && to.has_strides();
  if (have_strides && from.lane_stride == 0 && to.is_one_line())
    return moves.repeat(first, from.row_stride, target, from.rows, from.lanes);
  const Steps from_rows = from.row_steps(), from_lanes = from.lane_steps(), to_rows = to.row_steps(),
              to_lanes = to.lane_steps();
  if (from_rows.are_neighbours() && !from_lanes.are_neighbours() && to_lanes.are_neighbours() && from.rows > 1)
    return moves.turn(first, from_lanes, target, to_rows, from.rows, from.lanes);
  if (from_lanes.are_neighbours() && !to_lanes.are_neighbours() && to_rows.are_neighbours() && from.lanes > 1)
    return moves.turn(first, from_rows, target, to_lanes, from.lanes, from.rows);
  if (!have_strides) return moves.move(first, from_rows, from_lanes, target, to_rows, to_lanes, from.rows, from.lanes);
  if (!is_along_lanes(from.lane_stride == 1 ? to : from))
    return moves.copy(first, from.lane_stride, from.row_stride, target, to.lane_stride, to.row_stride, from.lanes,
                      from.rows);
  const int64_t ahead = kFetchedAhead / from.lanes;
  for (int64_t row = 0; row < from.rows; ++row) {
    const char* line = first + row * from.row_stride * item_size;
    if (ahead > 0 && row + ahead < from.rows + from.following)
      fetch_row(line + ahead * from.row_stride * item_size, from.lane_stride * item_size, from.lanes);
    copy_strided(line, from.lane_stride, target + row * to.row_stride * item_size, to.lane_stride, item_size,
                 from.lanes);
  }
}

RowReader::RowReader(const of_kernel_tensor& tensor, of_dtype wanted)
    : data_(static_cast<const char*>(tensor.data)),
      stored_size_(item_size(tensor.dtype)),
      wanted_size_(item_size(wanted)),
      convert_(tensor.dtype == wanted ? nullptr : find_conversion(tensor.dtype, wanted)) {}

int64_t RowReader::batch(const RowLayout& layout) const {
  return is_direct(layout) ? layout.rows : std::min(layout.rows, std::max<int64_t>(1, kChunk / layout.lanes));
}

const void* RowReader::read(int64_t offset, const RowLayout& layout, ChunkBuffer& buffer, int64_t& stride) const {
  stride = layout.row_stride;
  if (is_direct(layout)) return address(offset);
  stride = layout.lanes;
  pack(offset, layout, buffer);
  return buffer.bytes;
}

void RowReader::pack(int64_t offset, const RowLayout& layout, ChunkBuffer& buffer) const {
  const char* source = data_ + offset * stored_size_;
  const int64_t rows = layout.rows, lanes = layout.lanes;
  const RowLayout packed{rows, lanes, lanes, 1};
  if (convert_ == nullptr) return copy_rows(source, layout, buffer.bytes, packed, stored_size_);
  if (layout.is_one_line()) return convert_(source, buffer.bytes, rows * lanes);
  if (layout.lane_steps().are_neighbours()) {
    const Steps steps = layout.row_steps();
    for (int64_t row = 0; row < rows; ++row)
      convert_(source + steps.at(row) * stored_size_, buffer.bytes + row * lanes * wanted_size_, lanes);
    return;
  }
  ChunkBuffer stored;
  copy_rows(source, layout, stored.bytes, packed, stored_size_);
  convert_(stored.bytes, buffer.bytes, rows * lanes);
}

RowWriter::RowWriter(const of_kernel_tensor& tensor, of_dtype given)
    : data_(static_cast<char*>(tensor.data)),
      stored_size_(item_size(tensor.dtype)),
      convert_(tensor.dtype == given ? nullptr : find_conversion(given, tensor.dtype)) {}

void RowWriter::write(int64_t offset, const RowLayout& layout, const void* buffer) const {
  ChunkBuffer stored;
  if (convert_ != nullptr) {
    convert_(buffer, stored.bytes, layout.rows * layout.lanes);
    buffer = stored.bytes;
  }
  copy_rows(buffer, {layout.rows, layout.lanes, layout.lanes, 1}, data_ + offset * stored_size_, layout, stored_size_);
}

}  // namespace oneflow::cpu
