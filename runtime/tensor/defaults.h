// Defaults for new tensors, of the process and of each thread. Thread-safe.
#ifndef ONEFLOW_TENSOR_DEFAULTS_H_
#define ONEFLOW_TENSOR_DEFAULTS_H_

#include <oneflow/types.h>

#include <optional>

#include "tensor/generator.h"

namespace oneflow {

// The defaults that a thread has of its own: none at first.
struct ThreadDefaults {
  std::optional<of_device> device;
  Ref<Generator> generator;
};
// Returns those of the calling thread.
ThreadDefaults& thread_defaults();

// Returns the default dtype, which is float32 at first.
of_dtype default_dtype();
// Sets the default dtype. Throws DTypeError unless it is a floating-point type.
void set_default_dtype(of_dtype dtype);

// Returns the default device of the thread, or else of the process, which is the first device at first.
of_device default_device();
// Sets the default device of the process. Throws DeviceError if it does not exist or is lost.
void set_default_device(of_device device);

// Returns the generator of the thread, or else of the process.
Generator& default_generator();

}  // namespace oneflow

#endif  // ONEFLOW_TENSOR_DEFAULTS_H_
