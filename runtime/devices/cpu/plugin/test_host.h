// The runtime that the backend sees in tests: it keeps the text of the last error.
#ifndef ONEFLOW_DEVICES_CPU_PLUGIN_TEST_HOST_H_
#define ONEFLOW_DEVICES_CPU_PLUGIN_TEST_HOST_H_

#include <oneflow/device_plugin.h>

#include <string>

#include "plugin/host.h"

namespace oneflow::cpu {

inline std::string last_text;

// Makes a table whose fail() sets `last_text` the host of the backend.
inline void set_test_host() {
  static of_host_table host{};
  host.struct_size = sizeof host;
  host.api_version = OF_DEVICE_API_VERSION;
  host.fail = [](of_status status, const char* text) {
    last_text = text;
    return status;
  };
  set_host(&host);
}

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_PLUGIN_TEST_HOST_H_
