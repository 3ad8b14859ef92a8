#include "rows.h"

#include <algorithm>
#include <cstdlib>

#include "element.h"

namespace oneflow::cpu {
namespace {

// Fetches elements that lie on cache lines of their own.
void fetch_row(const char* source, int64_t step, int64_t lanes) {
  if (std::abs(step) < 64) return;
  for (int64_t lane = 0; lane < lanes; ++lane) __builtin_prefetch(source + lane * step, 0, 2);
}

// Copies rows between two layouts, along the dimension that is nearer in the strided one's memory.
void copy_rows(const char* source, int64_t source_row, int64_t source_lane, char* destination, int64_t destination_row,
               int64_t destination_lane, int64_t rows, int64_t lanes, int64_t item_size, bool along_lanes) {
  if (along_lanes) {
    constexpr int64_t kAhead = 2;
    for (int64_t row = 0; row < rows; ++row) {
      if (row + kAhead < rows)
        fetch_row(source + (row + kAhead) * source_row * item_size, source_lane * item_size, lanes);
      copy_strided(source + row * source_row * item_size, source_lane, destination + row * destination_row * item_size,
                   destination_lane, item_size, lanes);
    }
  } else {
    for (int64_t lane = 0; lane < lanes; ++lane) {
      copy_strided(source + lane * source_lane * item_size, source_row,
                   destination + lane * destination_lane * item_size, destination_row, item_size, rows);
    }
  }
}

bool is_along_lanes(const RowLayout& layout) {
  if (layout.rows == 1 || layout.lanes == 1) return layout.rows == 1;
  return layout.rows <= 4 || std::abs(layout.lane_stride) <= std::abs(layout.row_stride);
}

}  // namespace

RowReader::RowReader(const of_kernel_tensor& tensor, of_dtype wanted)
    : data_(static_cast<const char*>(tensor.data)),
      stored_size_(item_size(tensor.dtype)),
      wanted_size_(item_size(wanted)),
      convert_(tensor.dtype == wanted ? nullptr : find_conversion(tensor.dtype, wanted)) {}

int64_t RowReader::batch(const RowLayout& layout) const {
  return is_direct(layout) ? layout.rows : std::min(layout.rows, std::max<int64_t>(1, kChunk / layout.lanes));
}

const void* RowReader::read(int64_t offset, const RowLayout& layout, ChunkBuffer& buffer, int64_t& stride) const {
  const char* source = data_ + offset * stored_size_;
  stride = layout.row_stride;
  if (is_direct(layout)) return source;
  stride = layout.lanes;
  if (layout.lane_stride == 1) {
    if (layout.row_stride == layout.lanes) {
      convert_(source, buffer.bytes, layout.rows * layout.lanes);
      return buffer.bytes;
    }
    for (int64_t row = 0; row < layout.rows; ++row) {
      convert_(source + row * layout.row_stride * stored_size_, buffer.bytes + row * layout.lanes * wanted_size_,
               layout.lanes);
    }
    return buffer.bytes;
  }
  ChunkBuffer stored;
  char* copies = reinterpret_cast<char*>(convert_ == nullptr ? buffer.bytes : stored.bytes);
  copy_rows(source, layout.row_stride, layout.lane_stride, copies, layout.lanes, 1, layout.rows, layout.lanes,
            stored_size_, is_along_lanes(layout));
  if (convert_ != nullptr) convert_(copies, buffer.bytes, layout.rows * layout.lanes);
  return buffer.bytes;
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
  copy_rows(static_cast<const char*>(buffer), layout.lanes, 1, data_ + offset * stored_size_, layout.row_stride,
            layout.lane_stride, layout.rows, layout.lanes, stored_size_, is_along_lanes(layout));
}

}  // namespace oneflow::cpu
