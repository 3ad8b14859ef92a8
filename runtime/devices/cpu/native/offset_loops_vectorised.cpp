// The loops of native/offset_loops.h; compiled once per instruction set.
#include "native/offset_loops.h"

namespace oneflow::cpu::OF_ISA {
namespace {

bool add(const int64_t* indices, int64_t count, int64_t size, int64_t stride, int64_t* offsets) {
  int64_t missing = 0;
#pragma omp simd reduction(| : missing)
  for (int64_t i = 0; i < count; ++i) {
    const int64_t index = indices[i], from_start = index < 0 ? index + size : index;
    missing |= (index < -size) | (index >= size);
    offsets[i] += from_start * stride;
  }
  return missing == 0;
}

OffsetSpan span(const int64_t* offsets, int64_t count) {
  int64_t first = offsets[0], last = offsets[0];
#pragma omp simd reduction(min : first) reduction(max : last)
  for (int64_t i = 0; i < count; ++i) {
    first = offsets[i] < first ? offsets[i] : first;
    last = offsets[i] > last ? offsets[i] : last;
  }
  return {first, last};
}

}  // namespace

extern const OffsetLoops kOffsetLoops = {add, span};

}  // namespace oneflow::cpu::OF_ISA
