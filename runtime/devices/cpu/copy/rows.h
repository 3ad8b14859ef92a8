// Reading and writing matrices within strided tensors, for drivers that work row by row: reductions, scans, tiles.
//
// A RowLayout describes such a matrix. RowReader gives it to an inner loop as rows with contiguous columns of one
// dtype, in place or packed into a buffer; RowWriter writes packed rows back. Example: the transposed view of a
// contiguous 2 x 3 float16 matrix is the RowLayout {3, 2, 1, 3}; RowReader(tensor, OF_FLOAT32).pack() makes it 3 x 2
// floats.
#ifndef ONEFLOW_DEVICES_CPU_COPY_ROWS_H_
#define ONEFLOW_DEVICES_CPU_COPY_ROWS_H_

#include <oneflow/device_plugin.h>

#include "copy/operand.h"
#include "simd/permute.h"

namespace oneflow::cpu {

// Lines with a stride of at most this are fast to pack: the real parts of complex numbers have a stride of 2.
constexpr int64_t kMaxPackedStride = 2;

// The layout of a matrix relative to the address of its first element. Strides and offsets count elements.
struct RowLayout {
  int64_t rows, columns;
  int64_t row_stride, column_stride;
  int64_t following = 0;  // number of rows after these that the caller reads next, for prefetching
  // The offsets of the rows or columns if they span several dimensions, so that one stride does not describe them.
  const int64_t *row_offsets = nullptr, *column_offsets = nullptr;

  bool has_strides() const { return row_offsets == nullptr && column_offsets == nullptr; }
  bool is_one_line() const { return has_strides() && column_stride == 1 && row_stride == columns; }
  Steps row_steps() const { return {row_stride, row_offsets}; }
  Steps column_steps() const { return {column_stride, column_offsets}; }
};

// Copies a matrix between two layouts of the same shape and dtype, transposing it if its unit strides differ.
void copy_rows(const void* source, const RowLayout& from, void* destination, const RowLayout& to, int64_t item_size);

// Reads rows of a strided tensor as contiguous elements of dtype `wanted`.
class RowReader {
 public:
  RowReader() = default;
  RowReader(const of_kernel_tensor& tensor, of_dtype wanted);

  // Returns the number of rows of `layout` that one call of read() may read.
  int64_t batch(const RowLayout& layout) const;
  // Returns whether read() returns the rows in place, because they have the wanted dtype and contiguous columns.
  bool is_direct(const RowLayout& layout) const { return !converts() && layout.column_steps().are_contiguous(); }
  bool converts() const { return convert_ != nullptr; }
  const void* address(int64_t offset) const { return data_ + offset * stored_size_; }
  // Returns the address of rows with contiguous columns of the wanted dtype, and sets `stride` to the distance of the
  // rows in elements. These are the rows of the tensor itself if is_direct(), otherwise copies in `buffer`.
  const void* read(int64_t offset, const RowLayout& layout, ChunkBuffer& buffer, int64_t& stride) const;
  // Copies the rows to the buffer, packed and converted.
  void pack(int64_t offset, const RowLayout& layout, ChunkBuffer& buffer) const;

 private:
  const char* data_ = nullptr;
  int64_t stored_size_ = 0, wanted_size_ = 0;
  Convert convert_ = nullptr;
};

// Writes packed rows of dtype `given` to a strided tensor.
class RowWriter {
 public:
  RowWriter() = default;
  RowWriter(const of_kernel_tensor& tensor, of_dtype given);

  // Returns whether results may be written to the tensor directly, because it has the given dtype and contiguous
  // columns.
  bool is_direct(const RowLayout& layout) const {
    return convert_ == nullptr && layout.column_steps().are_contiguous();
  }
  char* address(int64_t offset) const { return data_ + offset * stored_size_; }
  // Stores packed rows, of at most kChunk elements altogether if they are converted.
  void write(int64_t offset, const RowLayout& layout, const void* buffer) const;

 private:
  char* data_ = nullptr;
  int64_t stored_size_ = 0;
  Convert convert_ = nullptr;
};

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_COPY_ROWS_H_
