// The hooks of the device table for streams and events.
#ifndef ONEFLOW_DEVICES_CUDA_STREAM_H_
#define ONEFLOW_DEVICES_CUDA_STREAM_H_

#include <oneflow/device_plugin.h>

namespace oneflow::cuda {

of_status create_stream(of_device device, of_device_stream* stream);
void destroy_stream(of_device device, of_device_stream stream);
of_status synchronize(of_device device, of_device_stream stream);
of_status query_stream(of_device device, of_device_stream stream, bool* is_done);
of_status create_event(of_device device, bool is_timed, of_device_event* event);
void destroy_event(of_device device, of_device_event event);
of_status record_event(of_device device, of_device_event event, of_device_stream stream);
of_status wait_event(of_device device, of_device_event event, of_device_stream stream);
of_status query_event(of_device device, of_device_event event, bool* is_done);
of_status synchronize_event(of_device device, of_device_event event);
of_status elapsed_time(of_device device, of_device_event start, of_device_event end, double* milliseconds);

}  // namespace oneflow::cuda

#endif  // ONEFLOW_DEVICES_CUDA_STREAM_H_
