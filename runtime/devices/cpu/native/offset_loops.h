// Loops over the indices and offsets of native/indexing.cpp.
#ifndef ONEFLOW_DEVICES_CPU_NATIVE_OFFSET_LOOPS_H_
#define ONEFLOW_DEVICES_CPU_NATIVE_OFFSET_LOOPS_H_

#include <cstdint>

#include "simd/isa.h"

namespace oneflow::cpu {

// The least and the largest of some offsets.
struct OffsetSpan {
  int64_t first, last;
};

struct OffsetLoops {
  // Adds to each offset its index times `stride`. Indices count from the end, at `size`, if they are negative. Returns
  // whether all of them exist.
  bool (*add)(const int64_t* indices, int64_t count, int64_t size, int64_t stride, int64_t* offsets);
  // Returns the span of some offsets, at least one.
  OffsetSpan (*span)(const int64_t* offsets, int64_t count);
};
OF_EACH_ISA(extern const OffsetLoops kOffsetLoops)

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_NATIVE_OFFSET_LOOPS_H_
