// Probes plugins in a process of their own, because a faulty one may crash or hang.
#ifndef ONEFLOW_DEVICE_PLUGIN_PROBE_H_
#define ONEFLOW_DEVICE_PLUGIN_PROBE_H_

#include <string>

namespace oneflow {

// The program that opens a plugin, checks its table and queries its devices: `oneflow-probe <path>`. Its answer on the
// standard output ends with a zero byte, and begins with kUsable or kRejected; the reason follows.
inline constexpr char kUsable = '+', kRejected = '-';

// The result of a probe.
struct Probe {
  bool is_usable;
  std::string text;  // why the plugin is rejected; for a usable one, why it was not probed, or empty
};

// Runs the program with a plugin, which is rejected if it takes longer than `seconds`. If the program cannot be run,
// the plugin counts as usable. The program is oneflow-probe next to this library, or what ONEFLOW_PROBE names.
Probe probe_plugin(const std::string& path, double seconds = 30);

}  // namespace oneflow

#endif  // ONEFLOW_DEVICE_PLUGIN_PROBE_H_
