// What the runtime gave the plugin, and errors in its words.
#ifndef ONEFLOW_DEVICES_GRID_HOST_H_
#define ONEFLOW_DEVICES_GRID_HOST_H_

#include <oneflow/device_plugin.h>

#include "kernels/layout.h"

namespace oneflow::grid {

void set_host(const of_host_table* host);
const of_host_table& host();

of_status fail(of_status status, const char* format, ...) __attribute__((format(printf, 2, 3)));
// The text of an error that a kernel reported, with the operator's name in front.
of_status fail_as_reported(const of_report& report);

// From here on, forked processes are told apart: the threads, queues and contexts of drivers do not pass on to them.
void watch_forks();
// DeviceError in a process that was forked after watch_forks(); the text calls the devices those of `interface`.
of_status check_process(const char* interface);

}  // namespace oneflow::grid

#endif  // ONEFLOW_DEVICES_GRID_HOST_H_
