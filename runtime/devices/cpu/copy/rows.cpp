#include "copy/rows.h"

#include <algorithm>
#include <cstdlib>

#include "simd/element.h"
#include "simd/permute.h"

namespace oneflow::cpu {
namespace {

// The number of elements, each on its own cache line, that are prefetched ahead: their lines take a third of a
// first-level cache.
constexpr int64_t kPrefetchDistance = 256;

// Prefetches a row whose elements lie on different cache lines.
void prefetch_row(const char* source, int64_t step, int64_t columns) {
  if (std::abs(step) < 64) return;
#pragma GCC unroll 8
  for (int64_t column = 0; column < columns; ++column) __builtin_prefetch(source + column * step, 0, 3);
}

// Returns whether the inner loop of a copy between strided matrices runs along the columns rather than along the rows.
bool is_along_columns(const RowLayout& layout) {
  if (layout.rows == 1 || layout.columns == 1) return layout.rows == 1;
  return layout.rows <= 4 || std::abs(layout.column_stride) <= std::abs(layout.row_stride);
}

}  // namespace

void copy_rows(const void* source, const RowLayout& from, void* destination, const RowLayout& to, int64_t item_size) {
  const auto* first = static_cast<const char*>(source);
  auto* target = static_cast<char*>(destination);
  const PermuteLoops& loops = permute_loops(item_size);
  if (from.is_one_line() && to.is_one_line())
    return copy_strided(first, 1, target, 1, item_size, from.rows * from.columns);
  const bool have_strides = from.has_strides() && to.has_strides();
  if (have_strides && from.column_stride == 0 && to.is_one_line())
    return loops.repeat(first, from.row_stride, target, from.rows, from.columns);
  const Steps from_rows = from.row_steps(), from_columns = from.column_steps(), to_rows = to.row_steps(),
              to_columns = to.column_steps();
  if (from_rows.are_contiguous() && !from_columns.are_contiguous() && to_columns.are_contiguous() && from.rows > 1)
    return loops.transpose(first, from_columns, target, to_rows, from.rows, from.columns);
  if (from_columns.are_contiguous() && !to_columns.are_contiguous() && to_rows.are_contiguous() && from.columns > 1)
    return loops.transpose(first, from_rows, target, to_columns, from.columns, from.rows);
  if (!have_strides)
    return loops.permute(first, from_rows, from_columns, target, to_rows, to_columns, from.rows, from.columns);
  if (!is_along_columns(from.column_stride == 1 ? to : from))
    return loops.copy(first, from.column_stride, from.row_stride, target, to.column_stride, to.row_stride, from.columns,
                      from.rows);
  const int64_t ahead = kPrefetchDistance / from.columns;
  for (int64_t row = 0; row < from.rows; ++row) {
    const char* line = first + row * from.row_stride * item_size;
    if (ahead > 0 && row + ahead < from.rows + from.following)
      prefetch_row(line + ahead * from.row_stride * item_size, from.column_stride * item_size, from.columns);
    copy_strided(line, from.column_stride, target + row * to.row_stride * item_size, to.column_stride, item_size,
                 from.columns);
  }
}

RowReader::RowReader(const of_kernel_tensor& tensor, of_dtype wanted)
    : data_(static_cast<const char*>(tensor.data)),
      stored_size_(item_size(tensor.dtype)),
      wanted_size_(item_size(wanted)),
      convert_(tensor.dtype == wanted ? nullptr : find_conversion(tensor.dtype, wanted)) {}

int64_t RowReader::batch(const RowLayout& layout) const {
  return is_direct(layout) ? layout.rows : std::min(layout.rows, std::max<int64_t>(1, kChunk / layout.columns));
}

const void* RowReader::read(int64_t offset, const RowLayout& layout, ChunkBuffer& buffer, int64_t& stride) const {
  stride = layout.row_stride;
  if (is_direct(layout)) return address(offset);
  stride = layout.columns;
  pack(offset, layout, buffer);
  return buffer.bytes;
}

void RowReader::pack(int64_t offset, const RowLayout& layout, ChunkBuffer& buffer) const {
  const char* source = data_ + offset * stored_size_;
  const int64_t rows = layout.rows, columns = layout.columns;
  const RowLayout packed{rows, columns, columns, 1};
  if (convert_ == nullptr) return copy_rows(source, layout, buffer.bytes, packed, stored_size_);
  if (layout.is_one_line()) return convert_(source, buffer.bytes, rows * columns);
  if (layout.column_steps().are_contiguous()) {
    const Steps steps = layout.row_steps();
    for (int64_t row = 0; row < rows; ++row)
      convert_(source + steps.at(row) * stored_size_, buffer.bytes + row * columns * wanted_size_, columns);
    return;
  }
  ChunkBuffer stored;
  copy_rows(source, layout, stored.bytes, packed, stored_size_);
  convert_(stored.bytes, buffer.bytes, rows * columns);
}

RowWriter::RowWriter(const of_kernel_tensor& tensor, of_dtype given)
    : data_(static_cast<char*>(tensor.data)),
      stored_size_(item_size(tensor.dtype)),
      convert_(tensor.dtype == given ? nullptr : find_conversion(given, tensor.dtype)) {}

void RowWriter::write(int64_t offset, const RowLayout& layout, const void* buffer) const {
  ChunkBuffer stored;
  if (convert_ != nullptr) {
    convert_(buffer, stored.bytes, layout.rows * layout.columns);
    buffer = stored.bytes;
  }
  copy_rows(buffer, {layout.rows, layout.columns, layout.columns, 1}, data_ + offset * stored_size_, layout,
            stored_size_);
}

}  // namespace oneflow::cpu
