// Converting arrays of elements from one type to another.
#ifndef ONEFLOW_DEVICES_CPU_CONVERT_H_
#define ONEFLOW_DEVICES_CPU_CONVERT_H_

#include <oneflow/types.h>

namespace oneflow::cpu {

// Converts `count` contiguous elements; source and destination do not overlap.
using Convert = void (*)(const void* source, void* destination, int64_t count);

// The conversion between any two types.
Convert find_conversion(of_dtype from, of_dtype to);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_CONVERT_H_
