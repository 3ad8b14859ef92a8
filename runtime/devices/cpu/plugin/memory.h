// Allocation, byte copies and fills: the functions of the device table that every backend must implement. All return
// when the work is done; devices share the host's memory, so that copies between them are plain copies.
#ifndef ONEFLOW_DEVICES_CPU_PLUGIN_MEMORY_H_
#define ONEFLOW_DEVICES_CPU_PLUGIN_MEMORY_H_

#include <oneflow/device_plugin.h>

namespace oneflow::cpu {

// Allocates `bytes` bytes, 64-byte aligned. Fails with OF_OUT_OF_MEMORY, also if all that is allocated would be more
// than the control groups of the process allow.
of_status allocate(of_device device, uint64_t bytes, void** memory);
void deallocate(of_device device, void* memory, uint64_t bytes);
of_status copy_bytes(of_device device, void* destination, const void* source, uint64_t bytes, of_device_stream stream);
of_status copy_between(of_device destination_device, void* destination, of_device source_device, const void* source,
                       uint64_t bytes, of_device_stream stream);
of_status fill_bytes(of_device device, void* destination, uint8_t value, uint64_t bytes, of_device_stream stream);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_PLUGIN_MEMORY_H_
