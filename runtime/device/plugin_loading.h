// Plugins as they come in: finding them, opening them, checking the tables that they give.
#ifndef ONEFLOW_DEVICE_PLUGIN_LOADING_H_
#define ONEFLOW_DEVICE_PLUGIN_LOADING_H_

#include <oneflow/device_plugin.h>

#include <string>
#include <vector>

namespace oneflow {

// What plugins get from the runtime.
const of_host_table& host_table();

// The plugins that are linked in.
std::vector<of_device_plugin_function> builtin_plugins();

// The shared libraries in the folders and files that ONEFLOW_DEVICE_PATH lists (separated by colons), and in the folder
// oneflow_devices beside this library.
std::vector<std::string> discover_plugins();

// Where that is, in words.
std::string plugin_places();

// Opens a shared library and gives its plugin function. DeviceError with the path and the reason.
of_device_plugin_function open_plugin(const std::string& path);

// Whether the plugin can be opened and asked for its devices, tried in a child process; otherwise `reason` says what
// happened.
bool probe_plugin(const std::string& path, std::string* reason);

// Calls the plugin's function and checks its table; `origin` names the plugin in the text of a DeviceError. The result
// is a copy in which the hooks that an older plugin does not know are NULL.
of_device_table accept_table(of_device_plugin_function plugin, const std::string& origin);

// How many devices there are; DeviceError for a number that cannot be. Where there are none, `reason` says why.
int32_t count_devices(const of_device_table& table, const std::string& origin, std::string* reason);

}  // namespace oneflow

#endif  // ONEFLOW_DEVICE_PLUGIN_LOADING_H_
