#include "device/plugin_loading.h"

#include <dlfcn.h>
#include <oneflow/oneflow.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "base/error.h"

#define BUILTIN_DEVICE(function) extern "C" const of_device_table* function(const of_host_table* host);
#include "builtin_devices.inc"
#undef BUILTIN_DEVICE

namespace oneflow {
namespace {

constexpr const char* kSymbol = "oneflow_device_plugin";
// The hooks that every plugin has lie before this point of the table.
constexpr size_t kSmallestTable = offsetof(of_device_table, create_stream);

of_status fail_from_plugin(of_status status, const char* text) { return set_last_error(status, text ? text : ""); }

bool is_device_name(const char* name) {
  if (!name || !(*name >= 'a' && *name <= 'z') || std::strlen(name) > 32) return false;
  return std::all_of(name, name + std::strlen(name),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
}

// What is wrong with a table, or an empty text.
std::string complaint(const of_device_table& table) {
  if (table.api_version != OF_DEVICE_API_VERSION)
    return format_text("it has plugin API version %u, this runtime has %d", table.api_version, OF_DEVICE_API_VERSION);
  if (table.struct_size < kSmallestTable)
    return format_text("its table has %u bytes, at least %zu are needed", table.struct_size, kSmallestTable);
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
  };
  for (const auto& hook : required)
    if (!hook.is_there) return format_text("its table lacks the hook %s", hook.name);
  return "";
}

// The shared libraries of a folder, in the order of their names; the file itself when it is none.
void add_plugins(const std::filesystem::path& path, std::vector<std::string>* found) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) {
    found->push_back(path.string());
    return;
  }
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path, error))
    if (entry.path().extension() == ".so") names.push_back(entry.path().string());
  std::sort(names.begin(), names.end());
  found->insert(found->end(), names.begin(), names.end());
}

}  // namespace

const of_host_table& host_table() {
  static const of_host_table table = {sizeof(of_host_table), OF_DEVICE_API_VERSION, fail_from_plugin};
  return table;
}

std::vector<of_device_plugin_function> builtin_plugins() {
  return {
#define BUILTIN_DEVICE(function) function,
#include "builtin_devices.inc"
#undef BUILTIN_DEVICE
  };
}

std::vector<std::string> discover_plugins() {
  std::vector<std::string> found;
  if (const char* paths = std::getenv("ONEFLOW_DEVICE_PATH")) {
    std::stringstream list(paths);
    for (std::string path; std::getline(list, path, ':');)
      if (!path.empty()) add_plugins(path, &found);
  }
  Dl_info own;
  if (dladdr(reinterpret_cast<void*>(&of_version), &own) && own.dli_fname) {
    const auto folder = std::filesystem::path(own.dli_fname).parent_path() / "oneflow_devices";
    std::error_code error;
    if (std::filesystem::is_directory(folder, error)) add_plugins(folder, &found);
  }
  return found;
}

of_device_plugin_function open_plugin(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) fail(OF_DEVICE_ERROR, "cannot load the device plugin %s: %s", path.c_str(), dlerror());
  void* symbol = dlsym(library, kSymbol);
  if (!symbol) {
    dlclose(library);
    fail(OF_DEVICE_ERROR, "cannot load the device plugin %s: it does not export %s", path.c_str(), kSymbol);
  }
  return reinterpret_cast<of_device_plugin_function>(symbol);
}

bool probe_plugin(const std::string& path, std::string* reason) {
  enum { kFine = 0, kRefused = 1 };
  const pid_t child = fork();
  if (child < 0) {
    *reason = "no process could be started to try it in";
    return false;
  }
  if (child == 0) {
    alarm(30);  // a plugin that hangs is as bad as one that crashes
    try {
      accept_table(open_plugin(path), path).count();
      _exit(kFine);
    } catch (...) {
      _exit(kRefused);
    }
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) break;
  if (WIFSIGNALED(status)) {
    *reason = format_text("the device plugin %s ended its process with signal %d", path.c_str(), WTERMSIG(status));
    return false;
  }
  // A refusal without a crash is safe to repeat here, where its text is of use.
  return true;
}

of_device_table accept_table(of_device_plugin_function plugin, const std::string& origin) {
  set_last_error(OF_OK, "");
  const of_device_table* given = plugin(&host_table());
  if (!given)
    fail(OF_DEVICE_ERROR, "the device plugin %s refused: %s", origin.c_str(),
         *last_error() ? last_error() : "it gave no reason");
  of_device_table table{};
  std::memcpy(&table, given, std::min<size_t>(given->struct_size, sizeof(table)));
  const std::string text = complaint(table);
  if (!text.empty()) fail(OF_DEVICE_ERROR, "cannot use the device plugin %s: %s", origin.c_str(), text.c_str());
  return table;
}

}  // namespace oneflow
