// The functions that the runtime provides to device plugins.
#ifndef ONEFLOW_DEVICE_HOST_TABLE_H_
#define ONEFLOW_DEVICE_HOST_TABLE_H_

#include <oneflow/device_plugin.h>

namespace oneflow {

// Returns the table that is passed to every plugin function, kernel and contraction. It lives as long as the process.
const of_host_table& host_table();

}  // namespace oneflow

#endif  // ONEFLOW_DEVICE_HOST_TABLE_H_
