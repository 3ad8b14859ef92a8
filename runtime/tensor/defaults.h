// Process-wide defaults for new tensors. Thread-safe.
#ifndef ONEFLOW_TENSOR_DEFAULTS_H_
#define ONEFLOW_TENSOR_DEFAULTS_H_

#include <oneflow/types.h>

namespace oneflow {

// Returns the default dtype, which is float32 at first.
of_dtype default_dtype();
// Sets the default dtype. Throws DTypeError unless it is a floating-point type.
void set_default_dtype(of_dtype dtype);

// Returns the default device, which is the first device at first.
of_device default_device();
// Sets the default device. Throws DeviceError if it does not exist or is lost.
void set_default_device(of_device device);

}  // namespace oneflow

#endif  // ONEFLOW_TENSOR_DEFAULTS_H_
