// An operand of an elementwise-like kernel, brought into the form that inner loops want: contiguous, in one type.
#ifndef ONEFLOW_DEVICES_CPU_OPERAND_H_
#define ONEFLOW_DEVICES_CPU_OPERAND_H_

#include <oneflow/device_plugin.h>

#include <cstddef>

#include "convert.h"
#include "strided.h"

namespace oneflow::cpu {

// Elements that are staged at a time: buffers of a few operands stay in the first-level cache.
constexpr int64_t kChunk = 1024;

// The most elements of a chunk that each begin where one that comes again after `period` elements does.
inline int64_t whole_periods(int64_t period) { return kChunk / period * period; }

// Room for one chunk of any type.
struct alignas(64) ChunkBuffer {
  std::byte bytes[kChunk * 16];
};

// Repeats the last of `count` elements until there are `padded_count`.
void pad(ChunkBuffer& buffer, int64_t count, int64_t padded_count, int64_t item_size);

// Reads a tensor, or a number in the place of one, as values of type `wanted`.
class Reader {
 public:
  Reader() {}  // uninitialised: kernels hold arrays of these, of which they use the first few
  Reader(const of_kernel_tensor& tensor, of_dtype wanted);

  // Whether memory is already as wanted: direct(begin) then points to the elements from `begin` on.
  bool is_direct() const { return convert_ == nullptr && contiguous_; }
  // After how many elements the same ones come again: 1 where all of them are one.
  int64_t period() const { return period_; }
  // Whether each row along the last dimension repeats an element of its own.
  bool repeats_in_rows() const { return period_ > 1 && layout_.rank > 0 && layout_.strides[layout_.rank - 1] == 0; }
  const void* direct(int64_t begin) const { return data_ + begin * stored_size_; }
  // The elements [begin, begin + count) themselves, where they are as wanted and next to each other; NULL otherwise.
  const void* find(int64_t begin, int64_t count) const;
  // Fills buffer[0, count) with the elements from `begin` on, and buffer[count, padded_count) with the last of them.
  void read(int64_t begin, int64_t count, int64_t padded_count, ChunkBuffer& buffer) const;

 private:
  // The elements [begin, begin + count) as they are stored, where they are next to each other; NULL otherwise.
  const void* find_stored(int64_t begin, int64_t count) const;

  const char* data_;
  Layout layout_;
  int64_t stored_size_, wanted_size_;
  Convert convert_;  // NULL: stored as wanted
  bool contiguous_;
  int64_t period_;
  const of_kernel_tensor* number_;  // NULL unless the operand is a number
  of_dtype wanted_;
};

// Writes values of type `given` to a tensor.
class Writer {
 public:
  Writer() = default;
  Writer(const of_kernel_tensor& tensor, of_dtype given);

  bool is_contiguous() const { return contiguous_; }
  bool is_direct() const { return convert_ == nullptr && contiguous_; }
  void* direct(int64_t begin) const { return data_ + begin * stored_size_; }
  // Stores buffer[0, count) to the elements from `begin` on: at most kChunk of them unless the tensor is contiguous.
  void write(int64_t begin, int64_t count, const void* buffer) const;

 private:
  char* data_ = nullptr;
  Layout layout_{};
  int64_t stored_size_ = 0;
  Convert convert_ = nullptr;
  bool contiguous_ = false;
};

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_OPERAND_H_
