// Rows of neighbouring elements (lanes) of a strided tensor, as reductions and scans work on them.
#ifndef ONEFLOW_DEVICES_CPU_ROWS_H_
#define ONEFLOW_DEVICES_CPU_ROWS_H_

#include <oneflow/device_plugin.h>

#include "moves.h"
#include "operand.h"

namespace oneflow::cpu {

// Elements of a line that are so near are copied next to each other quickly: the parts of complex numbers are.
constexpr int64_t kNearStep = 2;

// Where some rows lie, from an address on; strides in elements.
struct RowLayout {
  int64_t rows, lanes;
  int64_t row_stride, lane_stride;
  int64_t following = 0;  // how many more rows are wanted next
  // Where rows, and lanes, are of several dimensions, they lie there rather than a stride apart.
  const int64_t *row_offsets = nullptr, *lane_offsets = nullptr;

  bool has_strides() const { return row_offsets == nullptr && lane_offsets == nullptr; }
  bool is_one_line() const { return has_strides() && lane_stride == 1 && row_stride == lanes; }
  Steps row_steps() const { return {row_stride, row_offsets}; }
  Steps lane_steps() const { return {lane_stride, lane_offsets}; }
};

// Copies elements of one type from rows to rows, of the same number and as many lanes, that lie differently.
void copy_rows(const void* source, const RowLayout& from, void* destination, const RowLayout& to, int64_t item_size);

// Brings rows into the form that inner loops want: lanes without gaps, of one type.
class RowReader {
 public:
  RowReader() = default;
  RowReader(const of_kernel_tensor& tensor, of_dtype wanted);

  // How many rows of so many lanes one call may read.
  int64_t batch(const RowLayout& layout) const;
  // Whether rows are as wanted where they lie.
  bool is_direct(const RowLayout& layout) const { return !converts() && layout.lane_steps().are_neighbours(); }
  bool converts() const { return convert_ != nullptr; }
  const void* address(int64_t offset) const { return data_ + offset * stored_size_; }
  // The address of the rows as wanted, which are a stride apart, and in `stride` the elements between them: the rows
  // themselves where they are right already, otherwise copies in `buffer`.
  const void* read(int64_t offset, const RowLayout& layout, ChunkBuffer& buffer, int64_t& stride) const;
  // Fills the buffer with rows as wanted, without gaps.
  void pack(int64_t offset, const RowLayout& layout, ChunkBuffer& buffer) const;

 private:
  const char* data_ = nullptr;
  int64_t stored_size_ = 0, wanted_size_ = 0;
  Convert convert_ = nullptr;
};

// The other way: from rows without gaps to a strided tensor.
class RowWriter {
 public:
  RowWriter() = default;
  RowWriter(const of_kernel_tensor& tensor, of_dtype given);

  // Whether rows may be written where they belong.
  bool is_direct(const RowLayout& layout) const { return convert_ == nullptr && layout.lane_steps().are_neighbours(); }
  char* address(int64_t offset) const { return data_ + offset * stored_size_; }
  // Stores rows of at most kChunk elements.
  void write(int64_t offset, const RowLayout& layout, const void* buffer) const;

 private:
  char* data_ = nullptr;
  int64_t stored_size_ = 0;
  Convert convert_ = nullptr;
};

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_ROWS_H_
