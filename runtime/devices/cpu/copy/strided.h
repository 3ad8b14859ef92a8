// Copies between strided tensors and contiguous buffers.
//
// A Layout gives the sizes and strides of a tensor. Example: the transposed view of a contiguous 2 x 3 matrix has sizes
// {3, 2} and strides {1, 3}; gather() of its first 4 elements copies those at the offsets 0, 3, 1 and 4.
#ifndef ONEFLOW_DEVICES_CPU_COPY_STRIDED_H_
#define ONEFLOW_DEVICES_CPU_COPY_STRIDED_H_

#include <cstdint>

namespace oneflow::cpu {

// Addresses that differ by a multiple of this many bytes map to the same set of the first-level cache.
constexpr int64_t kL1AliasBytes = 4096;

// The layout of a strided tensor. Strides count elements; sizes are positive.
struct Layout {
  int32_t rank;
  const int64_t* sizes;
  const int64_t* strides;
};

int64_t element_count(const Layout& layout);
// Returns the number of elements in memory: dimensions with stride 0 repeat the same elements.
int64_t distinct_count(const Layout& layout);
// Returns whether the elements are contiguous in row-major order.
bool is_contiguous(const Layout& layout);
// Returns the number of elements after which the tensor repeats, in row-major order, because its outermost dimensions
// have stride 0: the size of a row for a vector that is broadcast to a matrix; 1 if all elements are the same one.
int64_t period(const Layout& layout);

// Copies the elements [begin, begin + count), in row-major order, into a contiguous buffer.
void gather(const void* source, const Layout& layout, int64_t item_size, int64_t begin, int64_t count, void* buffer);
// Copies a contiguous buffer to the elements [begin, begin + count), in row-major order.
void scatter(const void* buffer, void* destination, const Layout& layout, int64_t item_size, int64_t begin,
             int64_t count);
// Copies `count` elements: destination[i * destination_stride] = source[i * source_stride].
void copy_strided(const void* source, int64_t source_stride, void* destination, int64_t destination_stride,
                  int64_t item_size, int64_t count);
// The largest size of an item that copy_indexed() copies; smaller ones are powers of two.
constexpr int64_t kMaxIndexedItem = 16;
// Copies `count` items, which need not be aligned: destination[j * destination_stride] =
// source[indices[j] * index_stride + j * element_stride].
void copy_indexed(const void* source, const int64_t* indices, int64_t index_stride, int64_t element_stride,
                  void* destination, int64_t destination_stride, int64_t item_size, int64_t count);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_COPY_STRIDED_H_
