// The runtime that the backend sees in tests: it keeps the text of the last error.
#ifndef ONEFLOW_DEVICES_CPU_PLUGIN_TEST_HOST_H_
#define ONEFLOW_DEVICES_CPU_PLUGIN_TEST_HOST_H_

#include <oneflow/device_plugin.h>

#include <cstdlib>
#include <string>

#include "plugin/host.h"

namespace oneflow::cpu {

inline std::string last_text;

// Makes a table the host of the backend whose fail() sets `last_text`, and whose memory is that of the C library.
inline void set_test_host() {
  static of_host_table host{};
  host.struct_size = sizeof host;
  host.api_version = OF_DEVICE_API_VERSION;
  host.fail = [](of_status status, const char* text) {
    last_text = text;
    return status;
  };
  host.allocate = [](of_device, uint64_t bytes, void** memory) {
    *memory = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
    return *memory != nullptr ? OF_OK : OF_OUT_OF_MEMORY;
  };
  host.interrupted = [] { return false; };
  host.release = [](of_device, void* memory, uint64_t) { std::free(memory); };
  set_host(&host);
}

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_PLUGIN_TEST_HOST_H_
