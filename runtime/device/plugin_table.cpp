#include "device/plugin_table.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/shared_library.h"

namespace oneflow {
namespace {

constexpr const char* kSymbol = "oneflow_device_plugin";
// The required hooks come before this offset in the table.
constexpr size_t kSmallestTable = offsetof(of_device_table, create_stream);

constexpr int32_t kMaxDevices = 1024;  // per type

// Returns the accepted versions: "2", or "2 to 4".
std::string accepted_versions() {
  if (OF_DEVICE_API_OLDEST == OF_DEVICE_API_VERSION) return std::to_string(OF_DEVICE_API_VERSION);
  return format_text("%d to %d", OF_DEVICE_API_OLDEST, OF_DEVICE_API_VERSION);
}

bool is_device_name(const char* name) {
  if (!name || !(*name >= 'a' && *name <= 'z') || std::strlen(name) > 32) return false;
  return std::all_of(name, name + std::strlen(name),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
}

// Describes the first defect of a table; returns an empty string for a valid table.
std::string find_defect(const of_device_table& table) {
  if (table.api_version < OF_DEVICE_API_OLDEST || table.api_version > OF_DEVICE_API_VERSION)
    return format_text("it has plugin API version %u, this runtime accepts %s; install both in the same version",
                       table.api_version, accepted_versions().c_str());
  if (table.struct_size < kSmallestTable)
    return format_text("its table has %u bytes, at least %zu are needed", table.struct_size, kSmallestTable);
  if (table.runtime_version && std::strcmp(table.runtime_version, ONEFLOW_VERSION) != 0)
    return format_text(
        "it belongs to version %s of the runtime, and this is version %s; install both in the same version",
        table.runtime_version, ONEFLOW_VERSION);
  if (!is_device_name(table.name)) return "its name must be a word of lower-case letters, digits and underscores";
  const struct {
    const char* name;
    bool is_there;
  } required[] = {
      {"count", table.count != nullptr},
      {"get_info", table.get_info != nullptr},
      {"allocate", table.allocate != nullptr},
      {"deallocate", table.deallocate != nullptr},
      {"copy_from_host", table.copy_from_host != nullptr},
      {"copy_to_host", table.copy_to_host != nullptr},
      {"copy_within", table.copy_within != nullptr},
      {"fill", table.fill != nullptr},
      {"synchronize", !table.create_stream || table.synchronize},
      {"create_stream", table.create_stream || !(table.create_event || table.destroy_stream)},
      {"query_stream", !table.destroy_stream || table.query_stream},
      {"create_event", !table.destroy_stream || table.create_event},
      {"destroy_event", !table.create_event || table.destroy_event},
      {"record_event", !table.create_event || table.record_event},
      {"wait_event", !table.create_event || table.wait_event},
      {"query_event", !table.create_event || table.query_event},
      {"synchronize_event", !table.create_event || table.synchronize_event},
      {"free_host", !table.allocate_host || table.free_host},
      {"destroy_stream", !table.communicator || table.destroy_stream},
  };
  for (const auto& hook : required)
    if (!hook.is_there) return format_text("its table lacks the hook %s", hook.name);
  if (table.communicator && table.communicator->struct_size < sizeof(of_communicator_hooks))
    return format_text("its communicator hooks have %u bytes, at least %zu are needed", table.communicator->struct_size,
                       sizeof(of_communicator_hooks));
  return "";
}

}  // namespace

of_device_plugin_function open_plugin(const std::string& path) {
  // dlopen() searches the library path for a name without a slash, and opens the main program for an empty name.
  const std::string file = path.find('/') == std::string::npos ? "./" + path : path;
  std::string reason;
  void* library = load_shared_library(file, &reason);
  if (!library) fail(OF_DEVICE_ERROR, "cannot load the device plugin %s: %s", path.c_str(), reason.c_str());
  void* symbol = dlsym(library, kSymbol);
  if (!symbol) {
    dlclose(library);
    fail(OF_DEVICE_ERROR, "cannot load the device plugin %s: it does not export %s", path.c_str(), kSymbol);
  }
  return reinterpret_cast<of_device_plugin_function>(symbol);
}

of_device_table accept_table(of_device_plugin_function plugin, const of_host_table& host, const std::string& origin) {
  clear_device_error();
  const of_device_table* given = plugin(&host);
  if (!given)
    fail(OF_DEVICE_ERROR, "the device plugin %s refused: %s", origin.c_str(),
         *device_error() ? device_error() : "it gave no reason");
  of_device_table table{};
  std::memcpy(&table, given, std::min<size_t>(given->struct_size, sizeof(table)));
  const std::string defect = find_defect(table);
  if (!defect.empty()) fail(OF_DEVICE_ERROR, "cannot use the device plugin %s: %s", origin.c_str(), defect.c_str());
  return table;
}

int32_t count_devices(const of_device_table& table, const std::string& origin, std::string* reason) {
  clear_device_error();
  const int32_t count = table.count();
  if (count < 0 || count > kMaxDevices)
    fail(OF_DEVICE_ERROR, "cannot use the device plugin %s: it says that it has %d devices", origin.c_str(), count);
  if (count == 0)
    *reason = format_text("the device plugin %s has no devices: %s", origin.c_str(),
                          *device_error() ? device_error() : "it gave no reason");
  clear_device_error();
  return count;
}

}  // namespace oneflow
