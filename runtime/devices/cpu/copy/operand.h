// Reading and writing the operands of kernels whose inner loops run over contiguous elements of one dtype.
//
// A driver splits the elements of a tensor, in row-major order, into chunks. For each chunk, Reader gives the inner
// loop contiguous elements of the compute type, in place where the tensor has them and copied to a buffer otherwise;
// Writer stores results the same way. Example: Reader(x, OF_FLOAT32) of a transposed float16 matrix x gathers and
// converts each chunk; of a contiguous float32 tensor it returns addresses in x.
#ifndef ONEFLOW_DEVICES_CPU_COPY_OPERAND_H_
#define ONEFLOW_DEVICES_CPU_COPY_OPERAND_H_

#include <oneflow/device_plugin.h>

#include <cstddef>

#include "copy/strided.h"
#include "simd/convert.h"

namespace oneflow::cpu {

// The maximum number of elements of a chunk, so that the buffers of a few operands stay in the first-level cache.
constexpr int64_t kChunk = 1024;

// Returns the largest multiple of `period` that a chunk can hold: chunks of that size of an operand that repeats after
// `period` elements are all equal.
inline int64_t whole_periods(int64_t period) { return kChunk / period * period; }

// A buffer for one chunk of any dtype.
struct alignas(64) ChunkBuffer {
  std::byte bytes[kChunk * 16];
};

// Extends `count` elements to `padded_count` by repeating the last one.
void pad(ChunkBuffer& buffer, int64_t count, int64_t padded_count, int64_t item_size);

// Reads the elements of a tensor, or of a number operand, as values of dtype `wanted`.
class Reader {
 public:
  Reader() {}  // uninitialised, for arrays of which a kernel uses the first few
  Reader(const of_kernel_tensor& tensor, of_dtype wanted);

  // Returns whether the tensor is contiguous and of the wanted dtype: direct(begin) then is the address of the elements
  // from `begin` on.
  bool is_direct() const { return convert_ == nullptr && contiguous_; }
  // Returns the number of elements after which the tensor repeats, see period() of copy/strided.h; 1 for numbers.
  int64_t period() const { return period_; }
  // Returns whether each row along the last dimension repeats one element, which differs between rows.
  bool repeats_in_rows() const { return period_ > 1 && layout_.rank > 0 && layout_.strides[layout_.rank - 1] == 0; }
  const void* direct(int64_t begin) const { return data_ + begin * stored_size_; }
  // Returns the address of the elements [begin, begin + count) if they are contiguous and of the wanted dtype, and NULL
  // otherwise.
  const void* find(int64_t begin, int64_t count) const;
  // Copies the elements [begin, begin + count) to the buffer, and repeats the last one up to `padded_count`.
  void read(int64_t begin, int64_t count, int64_t padded_count, ChunkBuffer& buffer) const;

 private:
  // Returns the address of the elements [begin, begin + count) if they are contiguous, and NULL otherwise.
  const void* find_stored(int64_t begin, int64_t count) const;

  const char* data_;
  Layout layout_;
  int64_t stored_size_, wanted_size_;
  Convert convert_;  // NULL if the tensor has the wanted dtype
  bool contiguous_;
  int64_t period_;
  const of_kernel_tensor* number_;  // NULL unless the operand is a number
  of_dtype wanted_;
};

// Writes values of dtype `given` to a tensor.
class Writer {
 public:
  Writer() = default;
  Writer(const of_kernel_tensor& tensor, of_dtype given);

  bool is_contiguous() const { return contiguous_; }
  bool is_direct() const { return convert_ == nullptr && contiguous_; }
  void* direct(int64_t begin) const { return data_ + begin * stored_size_; }
  // Stores buffer[0, count) to the elements [begin, begin + count): at most kChunk of them unless the tensor is
  // contiguous or has the given dtype.
  void write(int64_t begin, int64_t count, const void* buffer) const;

 private:
  char* data_ = nullptr;
  Layout layout_{};
  int64_t stored_size_ = 0;
  Convert convert_ = nullptr;
  bool contiguous_ = false;
};

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_COPY_OPERAND_H_
