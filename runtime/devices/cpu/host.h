// What the runtime gave this backend when it was loaded.
#ifndef ONEFLOW_DEVICES_CPU_HOST_H_
#define ONEFLOW_DEVICES_CPU_HOST_H_

#include <oneflow/device_plugin.h>

namespace oneflow::cpu {

void set_host(const of_host_table* host);

// Records a failure of the calling thread, printf-style, and returns `status`.
__attribute__((format(printf, 2, 3))) of_status fail(of_status status, const char* format, ...);

// For kernels that could not get working memory, the only reason for an exception in them.
of_status fail_without_memory();

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_HOST_H_
