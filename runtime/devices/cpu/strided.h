// Moving elements between strided tensors and contiguous buffers.
#ifndef ONEFLOW_DEVICES_CPU_STRIDED_H_
#define ONEFLOW_DEVICES_CPU_STRIDED_H_

#include <cstdint>

namespace oneflow::cpu {

// Lines so many bytes apart fall on one set of a first-level cache.
constexpr int64_t kSameSet = 4096;

// A strided array; strides in elements, sizes above zero.
struct Layout {
  int32_t rank;
  const int64_t* sizes;
  const int64_t* strides;
};

int64_t element_count(const Layout& layout);
// Elements that are not repeated.
int64_t distinct_count(const Layout& layout);
// Whether row-major order is memory order, without gaps.
bool is_contiguous(const Layout& layout);
// After how many elements, in row-major order, the same ones come again; 1: all of them are one.
int64_t period(const Layout& layout);

// Copies the elements [begin, begin + count), in row-major order, into a buffer.
void gather(const void* source, const Layout& layout, int64_t item_size, int64_t begin, int64_t count, void* buffer);
// The other way.
void scatter(const void* buffer, void* destination, const Layout& layout, int64_t item_size, int64_t begin,
             int64_t count);
// Copies `count` elements between two strides.
void copy_strided(const void* source, int64_t source_stride, void* destination, int64_t destination_stride,
                  int64_t item_size, int64_t count);
// Copies `count` elements that lie apart: element j comes from places[j] * source_stride + j * lane_stride.
void copy_picked(const void* source, const int64_t* places, int64_t source_stride, int64_t lane_stride,
                 void* destination, int64_t destination_stride, int64_t item_size, int64_t count);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_STRIDED_H_
