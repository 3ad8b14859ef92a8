// The functions that the runtime gives the plugin, and the error texts that drivers share.
#ifndef ONEFLOW_DEVICES_GRID_HOST_H_
#define ONEFLOW_DEVICES_GRID_HOST_H_

#include <oneflow/device_plugin.h>

#include "kernels/layout.h"

namespace oneflow::grid {

void set_host(const of_host_table* host);
const of_host_table& host();

// Sets the calling thread's error text; returns `status`.
of_status fail(of_status status, const char* format, ...) __attribute__((format(printf, 2, 3)));
// Sets the text of an error that a kernel reported, which begins with the operator's name; returns its status.
of_status fail_as_reported(const of_report& report);

// Starts to detect forks. Child processes inherit neither the threads nor the queues and contexts of drivers.
void watch_forks();
// Returns DeviceError in a process that was forked after watch_forks(); the error text names `interface` ("CUDA").
of_status check_process(const char* interface);

}  // namespace oneflow::grid

#endif  // ONEFLOW_DEVICES_GRID_HOST_H_
