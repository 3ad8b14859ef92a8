// oneflow-probe: opens a device plugin, checks its table and queries its devices, so that a plugin that crashes or
// hangs does so here. See device/plugin_probe.h.
#include <unistd.h>

#include <exception>
#include <string>

#include "base/error.h"
#include "device/plugin_probe.h"
#include "device/plugin_table.h"

namespace oneflow {
namespace {

// The functions that a plugin can call while it is probed: there is no memory, and the loss of a device is ignored.
const of_host_table kHost = {
    sizeof(of_host_table),
    OF_DEVICE_API_VERSION,
    [](of_status status, const char* text) { return set_device_error(status, text ? text : ""); },
    [](of_device, uint64_t, void**) { return set_device_error(OF_OUT_OF_MEMORY, "the plugin is being probed"); },
    [](of_device, void*, uint64_t) {},
    [](of_device, const char*) {},
    [] { return false; },
};

std::string try_plugin(const std::string& path) {
  try {
    const of_device_table table = accept_table(open_plugin(path), kHost, path);
    std::string reason;
    const int32_t count = count_devices(table, path, &reason);
    for (int32_t i = 0; i < count; ++i) {
      of_device_info info{};
      info.struct_size = sizeof(info);
      table.get_info({-1, static_cast<int16_t>(i)}, &info);  // -1: the type has no number yet
    }
    return std::string(1, kUsable);
  } catch (const std::exception& error) {
    return kRejected + std::string(error.what());
  }
}

}  // namespace
}  // namespace oneflow

int main(int count, char** arguments) {
  if (count != 2) return 2;
  // What the plugin prints must not be taken for the answer.
  const int output = dup(STDOUT_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  const std::string answer = oneflow::try_plugin(arguments[1]);
  const ssize_t written = write(output, answer.c_str(), answer.size() + 1);
  // Without the destructors of the plugin.
  _exit(written < 0 || answer.front() != oneflow::kUsable);
}
