#include "device/plugin_loading.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <oneflow/oneflow.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "base/error.h"
#include "device/host_table.h"

#define BUILTIN_DEVICE(function) extern "C" const of_device_table* function(const of_host_table* host);
#include "builtin_devices.inc"
#undef BUILTIN_DEVICE

namespace oneflow {
namespace {

constexpr const char* kSymbol = "oneflow_device_plugin";
// The required hooks come before this offset in the table.
constexpr size_t kSmallestTable = offsetof(of_device_table, create_stream);

constexpr int32_t kMaxDevices = 1024;  // per type
constexpr int kProbeSeconds = 30;      // a child process that takes longer is killed

bool is_device_name(const char* name) {
  if (!name || !(*name >= 'a' && *name <= 'z') || std::strlen(name) > 32) return false;
  return std::all_of(name, name + std::strlen(name),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
}

// Describes the first defect of a table; returns an empty string for a valid table.
std::string find_defect(const of_device_table& table) {
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
      {"synchronize", !table.create_stream || table.synchronize},
      {"create_stream", !table.create_event || table.create_stream},
      {"destroy_event", !table.create_event || table.destroy_event},
      {"record_event", !table.create_event || table.record_event},
      {"wait_event", !table.create_event || table.wait_event},
      {"free_host", !table.allocate_host || table.free_host},
  };
  for (const auto& hook : required)
    if (!hook.is_there) return format_text("its table lacks the hook %s", hook.name);
  return "";
}

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

// Returns the folder oneflow_devices next to this library; an empty path if the library's own path is unknown.
std::filesystem::path own_folder() {
  Dl_info own;
  if (!dladdr(reinterpret_cast<void*>(&of_version), &own) || !own.dli_fname) return {};
  return (std::filesystem::path(own.dli_fname).parent_path() / "oneflow_devices").lexically_normal();
}

}  // namespace

std::vector<std::string> discover_plugins() {
  std::vector<std::string> found;
  if (const char* paths = std::getenv(kPathVariable)) {
    std::stringstream list(paths);
    for (std::string path; std::getline(list, path, ':');)
      if (!path.empty()) add_plugins(path, &found);
  }
  std::error_code error;
  if (std::filesystem::is_directory(own_folder(), error)) add_plugins(own_folder(), &found);
  // Each file only once: its device type would be rejected the second time.
  std::vector<std::string> plugins;
  for (const std::string& path : found)
    if (std::none_of(plugins.begin(), plugins.end(),
                     [&](const std::string& known) { return std::filesystem::equivalent(path, known, error); }))
      plugins.push_back(path);
  return plugins;
}

std::string describe_search_path() {
  const char* paths = std::getenv(kPathVariable);
  std::error_code error;
  const bool has_folder = std::filesystem::is_directory(own_folder(), error);
  return format_text("%s (%s%s) and in %s%s", kPathVariable, paths ? "set to " : "not set", paths ? paths : "",
                     own_folder().c_str(), has_folder ? "" : ", which does not exist");
}

of_device_plugin_function open_plugin(const std::string& path) {
  // dlopen() searches the library path for a name without a slash, and opens the main program for an empty name.
  const std::string file = path.find('/') == std::string::npos ? "./" + path : path;
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) fail(OF_DEVICE_ERROR, "cannot load the device plugin %s: %s", path.c_str(), dlerror());
  void* symbol = dlsym(library, kSymbol);
  if (!symbol) {
    dlclose(library);
    fail(OF_DEVICE_ERROR, "cannot load the device plugin %s: it does not export %s", path.c_str(), kSymbol);
  }
  return reinterpret_cast<of_device_plugin_function>(symbol);
}

namespace {

// Opens the plugin and queries its devices. Returns "+" on success, and "-" followed by the reason otherwise.
std::string try_plugin(const std::string& path) {
  try {
    const of_device_table table = accept_table(open_plugin(path), path);
    std::string reason;
    const int32_t count = count_devices(table, path, &reason);
    for (int32_t i = 0; i < count; ++i) {
      of_device_info info;
      table.get_info({-1, static_cast<int16_t>(i)}, &info);  // -1: the type has no number yet
    }
    return "+";
  } catch (const std::exception& error) {
    return std::string("-") + error.what();
  }
}

// Runs try_plugin() in the child process, and writes its result to the pipe. An alarm ends a plugin that hangs.
[[noreturn]] void run_probe(int pipe, const std::string& path) {
  std::signal(SIGALRM, SIG_DFL);
  sigset_t alarms;
  sigemptyset(&alarms);
  sigaddset(&alarms, SIGALRM);
  sigprocmask(SIG_UNBLOCK, &alarms, nullptr);
  alarm(kProbeSeconds);
  const std::string text = try_plugin(path);
  _exit(write(pipe, text.data(), text.size()) < 0);
}

}  // namespace

bool probe_plugin(const std::string& path, std::string* reason) {
  int pipe[2] = {-1, -1};
  const bool has_pipe = pipe2(pipe, O_CLOEXEC | O_NONBLOCK) == 0;
  const pid_t child = has_pipe ? fork() : -1;
  if (child == 0) run_probe(pipe[1], path);
  if (has_pipe) close(pipe[1]);
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  char text[4096];
  const ssize_t length = has_pipe ? read(pipe[0], text, sizeof(text)) : 0;
  if (has_pipe) close(pipe[0]);

  if (child < 0) return true;  // no process can be started now: the plugin is loaded without a trial
  // The exit status does not matter: a plugin may end its process with any status.
  if (length > 0 && text[0] == '+') return true;
  if (length > 1)
    reason->assign(text + 1, static_cast<size_t>(length - 1));
  else
    *reason = format_text("the device plugin %s ended its process", path.c_str());
  if (length <= 0 && WIFSIGNALED(status)) *reason += format_text(" with signal %d", WTERMSIG(status));
  return false;
}

of_device_table accept_table(of_device_plugin_function plugin, const std::string& origin) {
  clear_device_error();
  const of_device_table* given = plugin(&host_table());
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
