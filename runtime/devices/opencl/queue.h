// The hooks of the device table for memory, copies and streams.
#ifndef ONEFLOW_DEVICES_OPENCL_QUEUE_H_
#define ONEFLOW_DEVICES_OPENCL_QUEUE_H_

#include <oneflow/device_plugin.h>

namespace oneflow::opencl {

of_status allocate(of_device device, uint64_t bytes, void** memory);
void deallocate(of_device device, void* memory, uint64_t bytes);

of_status copy(of_device device, void* destination, const void* source, uint64_t bytes, of_device_stream stream);
of_status fill(of_device device, void* destination, uint8_t value, uint64_t bytes, of_device_stream stream);

of_status create_stream(of_device device, of_device_stream* stream);
of_status synchronize(of_device device, of_device_stream stream);

of_status create_event(of_device device, bool is_timed, of_device_event* event);
void destroy_event(of_device device, of_device_event event);
of_status record_event(of_device device, of_device_event event, of_device_stream stream);
of_status wait_event(of_device device, of_device_event event, of_device_stream stream);
of_status query_event(of_device device, of_device_event event, bool* is_done);
of_status synchronize_event(of_device device, of_device_event event);
of_status elapsed_time(of_device device, of_device_event start, of_device_event end, double* milliseconds);

}  // namespace oneflow::opencl

#endif  // ONEFLOW_DEVICES_OPENCL_QUEUE_H_
