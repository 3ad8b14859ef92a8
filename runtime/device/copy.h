// Raw bytes between any two devices.
#ifndef ONEFLOW_DEVICE_COPY_H_
#define ONEFLOW_DEVICE_COPY_H_

#include <oneflow/types.h>

#include <cstdint>

namespace oneflow {

// Ordered after the work that was submitted to either device; the memory must not overlap. `source` and `destination`
// may be reused when this returns, except on a device with streams, whose later work is ordered behind the copy.
void copy_bytes(of_device destination_device, void* destination, of_device source_device, const void* source,
                uint64_t bytes);
// Host memory; done when this returns.
void copy_to_host(void* destination, of_device device, const void* source, uint64_t bytes);
void copy_from_host(of_device device, void* destination, const void* source, uint64_t bytes);
// Sets every byte.
void fill_bytes(of_device device, void* destination, uint8_t value, uint64_t bytes);

}  // namespace oneflow

#endif  // ONEFLOW_DEVICE_COPY_H_
