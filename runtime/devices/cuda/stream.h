// The hooks of the device table for streams and events.
#ifndef ONEFLOW_DEVICES_CUDA_STREAM_H_
#define ONEFLOW_DEVICES_CUDA_STREAM_H_

#include <oneflow/device_plugin.h>

namespace oneflow::cuda {

of_status create_stream(of_device device, of_stream* stream);
of_status synchronize(of_device device, of_stream stream);
of_status create_event(of_device device, of_event* event);
void destroy_event(of_device device, of_event event);
of_status record_event(of_device device, of_event event, of_stream stream);
of_status wait_event(of_device device, of_event event, of_stream stream);
of_status elapsed(of_device device, of_event start, of_event end, double* nanoseconds);

}  // namespace oneflow::cuda

#endif  // ONEFLOW_DEVICES_CUDA_STREAM_H_
