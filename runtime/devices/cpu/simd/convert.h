// Conversion of arrays from one dtype to another, such as float16 to float32. The rules for one value are convert() of
// simd/element.h.
#ifndef ONEFLOW_DEVICES_CPU_SIMD_CONVERT_H_
#define ONEFLOW_DEVICES_CPU_SIMD_CONVERT_H_

#include <oneflow/types.h>

namespace oneflow::cpu {

// Converts `count` contiguous elements; source and destination do not overlap.
using Convert = void (*)(const void* source, void* destination, int64_t count);

// Returns the conversion between two real dtypes, for this machine's instruction set.
Convert find_conversion(of_dtype from, of_dtype to);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_SIMD_CONVERT_H_
