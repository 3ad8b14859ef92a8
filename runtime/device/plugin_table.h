// Opens plugins and checks their tables, in the runtime and in the program that probes plugins.
#ifndef ONEFLOW_DEVICE_PLUGIN_TABLE_H_
#define ONEFLOW_DEVICE_PLUGIN_TABLE_H_

#include <oneflow/device_plugin.h>

#include <string>

namespace oneflow {

// Opens a shared library and returns its plugin function. Throws DeviceError with the path and the reason.
of_device_plugin_function open_plugin(const std::string& path);

// Calls the plugin's function and returns a copy of its table. Hooks that the table of an older plugin does not have
// are null. Throws DeviceError, with `origin` as the name of the plugin, if the table is invalid.
of_device_table accept_table(of_device_plugin_function plugin, const of_host_table& host, const std::string& origin);

// Returns the number of devices. If there are none, sets `reason`. Throws DeviceError, with `origin` as the name of the
// plugin, for a number that is negative or too large.
int32_t count_devices(const of_device_table& table, const std::string& origin, std::string* reason);

}  // namespace oneflow

#endif  // ONEFLOW_DEVICE_PLUGIN_TABLE_H_
