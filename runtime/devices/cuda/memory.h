// The hooks of the device table for memory and copies.
#ifndef ONEFLOW_DEVICES_CUDA_MEMORY_H_
#define ONEFLOW_DEVICES_CUDA_MEMORY_H_

#include <oneflow/device_plugin.h>

namespace oneflow::cuda {

of_status allocate(of_device device, uint64_t bytes, void** memory);
void deallocate(of_device device, void* memory, uint64_t bytes);
// Copies from the host, to the host or within a device; the addresses determine the direction.
of_status copy(of_device device, void* destination, const void* source, uint64_t bytes, of_device_stream stream);
of_status fill(of_device device, void* destination, uint8_t value, uint64_t bytes, of_device_stream stream);
of_status copy_peer(of_device destination_device, void* destination, of_device source_device, const void* source,
                    uint64_t bytes, of_device_stream stream);
bool can_access(of_device device, of_device peer);
of_status allocate_host(of_device device, uint64_t bytes, void** memory);
void free_host(of_device device, void* memory, uint64_t bytes);

}  // namespace oneflow::cuda

#endif  // ONEFLOW_DEVICES_CUDA_MEMORY_H_
