// Process-wide defaults for new tensors.
#ifndef ONEFLOW_TENSOR_DEFAULTS_H_
#define ONEFLOW_TENSOR_DEFAULTS_H_

#include <oneflow/types.h>

namespace oneflow {

// float32 at first; set_default_dtype() takes floating types only (DTypeError).
of_dtype default_dtype();
void set_default_dtype(of_dtype dtype);

// The first device at first; DeviceError for one that does not exist.
of_device default_device();
void set_default_device(of_device device);

}  // namespace oneflow

#endif  // ONEFLOW_TENSOR_DEFAULTS_H_
