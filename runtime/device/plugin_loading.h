// Discovers and opens device plugins, and checks their tables.
#ifndef ONEFLOW_DEVICE_PLUGIN_LOADING_H_
#define ONEFLOW_DEVICE_PLUGIN_LOADING_H_

#include <oneflow/device_plugin.h>

#include <string>
#include <vector>

namespace oneflow {

// Returns the plugin functions of the devices that are linked into the library.
std::vector<of_device_plugin_function> builtin_plugins();

// Returns the paths of the plugins in the files and folders that ONEFLOW_DEVICE_PATH lists, separated by colons, and in
// the folder oneflow_devices next to this library. An existing file is listed only once.
std::vector<std::string> discover_plugins();

// Describes for an error text where discover_plugins() searches.
std::string describe_search_path();

// Opens a shared library and returns its plugin function. Throws DeviceError with the path and the reason.
of_device_plugin_function open_plugin(const std::string& path);

// Tries in a child process to open the plugin and to query its devices, because a faulty plugin may crash or hang.
// Returns whether this succeeds; otherwise sets `reason`.
bool probe_plugin(const std::string& path, std::string* reason);

// Calls the plugin's function and returns a copy of its table. Hooks that the table of an older plugin does not have
// are null. Throws DeviceError, with `origin` as the name of the plugin, if the table is invalid.
of_device_table accept_table(of_device_plugin_function plugin, const std::string& origin);

// Returns the number of devices. If there are none, sets `reason`. Throws DeviceError, with `origin` as the name of the
// plugin, for a number that is negative or too large.
int32_t count_devices(const of_device_table& table, const std::string& origin, std::string* reason);

}  // namespace oneflow

#endif  // ONEFLOW_DEVICE_PLUGIN_LOADING_H_
