#include "device/plugin_loading.h"

#include <dlfcn.h>
#include <oneflow/oneflow.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "base/error.h"

#define BUILTIN_DEVICE(function) extern "C" const of_device_table* function(const of_host_table* host);
#include "builtin_devices.inc"
#undef BUILTIN_DEVICE

namespace oneflow {
namespace {

// Adds the shared libraries of a folder, sorted by name, or `path` itself if it is not a folder.
void add_plugins(const std::filesystem::path& path, std::vector<std::string>* found) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) {
    found->push_back(path.string());
    return;
  }
  std::vector<std::string> names;
  std::filesystem::directory_iterator entry(path, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error))
    if (entry->path().extension() == ".so") names.push_back(entry->path().string());
  std::sort(names.begin(), names.end());
  found->insert(found->end(), names.begin(), names.end());
}

}  // namespace

std::vector<of_device_plugin_function> builtin_plugins() {
  return {
#define BUILTIN_DEVICE(function) function,
#include "builtin_devices.inc"
#undef BUILTIN_DEVICE
  };
}

namespace {

constexpr const char* kPathVariable = "ONEFLOW_DEVICE_PATH";

// Returns the folder for plugins next to this library.
std::filesystem::path plugin_folder() {
  const std::filesystem::path own = own_folder();
  return own.empty() ? own : own / "oneflow_devices";
}

}  // namespace

std::filesystem::path own_path() {
  Dl_info own;
  if (!dladdr(reinterpret_cast<void*>(&of_version), &own) || !own.dli_fname) return {};
  return std::filesystem::path(own.dli_fname).lexically_normal();
}

std::filesystem::path own_folder() { return own_path().parent_path(); }

std::vector<std::string> discover_plugins(const std::vector<std::string>& added) {
  std::vector<std::string> found;
  if (const char* paths = std::getenv(kPathVariable)) {
    for (std::string_view rest = paths; !rest.empty();) {
      const std::string_view path = rest.substr(0, rest.find(':'));
      if (!path.empty()) add_plugins(path, &found);
      rest.remove_prefix(std::min(rest.size(), path.size() + 1));
    }
  }
  std::error_code error;
  if (std::filesystem::is_directory(plugin_folder(), error)) add_plugins(plugin_folder(), &found);
  for (const std::string& path : added) add_plugins(path, &found);
  // Each file only once: its device type would be rejected the second time.
  std::vector<std::string> plugins;
  for (const std::string& path : found)
    if (std::none_of(plugins.begin(), plugins.end(),
                     [&](const std::string& known) { return std::filesystem::equivalent(path, known, error); }))
      plugins.push_back(path);
  return plugins;
}

std::string describe_search_path(const std::vector<std::string>& added) {
  const char* paths = std::getenv(kPathVariable);
  std::error_code error;
  const bool has_folder = std::filesystem::is_directory(plugin_folder(), error);
  std::string text =
      format_text("%s (%s%s) and in %s%s", kPathVariable, paths ? "set to " : "not set", paths ? paths : "",
                  plugin_folder().c_str(), has_folder ? "" : ", which does not exist");
  for (const std::string& path : added) text += ", and in " + path;
  return text;
}

}  // namespace oneflow
