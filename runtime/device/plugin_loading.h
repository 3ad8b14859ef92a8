// Finds device plugins: those that are built in, and the files of others.
#ifndef ONEFLOW_DEVICE_PLUGIN_LOADING_H_
#define ONEFLOW_DEVICE_PLUGIN_LOADING_H_

#include <oneflow/device_plugin.h>

#include <filesystem>
#include <string>
#include <vector>

namespace oneflow {

// Returns the plugin functions of the devices that are linked into the library.
std::vector<of_device_plugin_function> builtin_plugins();

// Returns the paths of the plugins in the files and folders that ONEFLOW_DEVICE_PATH lists, separated by colons, in the
// folder oneflow_devices next to this library, and in `added` files and folders. An existing file is listed only once.
std::vector<std::string> discover_plugins(const std::vector<std::string>& added = {});

// Describes for an error text where discover_plugins() searches.
std::string describe_search_path(const std::vector<std::string>& added = {});

// Returns the path of this library; an empty path if it is unknown.
std::filesystem::path own_path();

// Returns the folder of this library; an empty path if it is unknown.
std::filesystem::path own_folder();

}  // namespace oneflow

#endif  // ONEFLOW_DEVICE_PLUGIN_LOADING_H_
