// Copies of raw bytes between any two devices, in the calling thread's current streams. All functions throw the
// device's error, and do nothing for 0 bytes.
#ifndef ONEFLOW_DEVICE_COPY_H_
#define ONEFLOW_DEVICE_COPY_H_

#include <oneflow/types.h>

#include <cstdint>

namespace oneflow {

// Copies `bytes` bytes between two devices, after all work that was submitted to the current stream of either. The
// memory must not overlap. On a device with streams, the copy may still be running when this returns, and later work is
// ordered after it.
void copy_bytes(of_device destination_device, void* destination, of_device source_device, const void* source,
                uint64_t bytes);
// Copies `bytes` bytes to host memory. Returns when the copy is done.
void copy_to_host(void* destination, of_device device, const void* source, uint64_t bytes);
// Copies `bytes` bytes from host memory. Returns when the copy is done.
void copy_from_host(of_device device, void* destination, const void* source, uint64_t bytes);
// Sets `bytes` bytes to `value`. On a device with streams, the work may still be running when this returns.
void fill_bytes(of_device device, void* destination, uint8_t value, uint64_t bytes);

}  // namespace oneflow

#endif  // ONEFLOW_DEVICE_COPY_H_
