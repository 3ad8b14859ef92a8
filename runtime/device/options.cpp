#include "device/options.h"

#include <atomic>
#include <cstring>

#include "base/characters.h"
#include "base/error.h"
#include "device/device.h"

namespace oneflow {
namespace {

// An option of the runtime itself, which is 0 or 1.
struct Switch {
  const char* name;
  std::atomic<bool> value;
};
Switch switches[] = {{"deterministic", false}, {"fallback_is_error", false}, {"detect_anomaly", false}};
const Switch &fallback_switch = switches[1], &anomaly_switch = switches[2];

Switch* find_switch(const char* name) {
  for (Switch& s : switches)
    if (std::strcmp(s.name, name) == 0) return &s;
  return nullptr;
}

// Calls `query` with the table of each device type among `devices`, because options belong to types. Returns whether
// any type has the option.
template <class Query>
bool query_types(const std::vector<of_device>& devices, Query query) {
  bool is_known = false;
  for (const of_device id : devices) {
    if (id.index != 0) continue;
    const of_status status = query(known_device(id).table());
    if (status == OF_UNSUPPORTED) {
      clear_device_error();
      continue;
    }
    check(status);
    is_known = true;
  }
  return is_known;
}

// Queries the registered device types first, so that plugins are discovered only if none of these has the option.
template <class Query>
bool query_devices(Query query) {
  return query_types(devices_in_use(), query) || query_types(all_devices(), query);
}

[[noreturn]] void fail_unknown(const char* name) {
  fail(OF_INVALID_ARGUMENT, "there is no option '%s'", printable(name).c_str());
}

}  // namespace

void set_option(const char* name, int64_t value) {
  if (Switch* found = find_switch(name)) {
    if (value != 0 && value != 1) fail(OF_INVALID_ARGUMENT, "option %s must be 0 or 1, got %ld", name, value);
    found->value.store(value != 0, std::memory_order_relaxed);
    return;
  }
  const bool is_known = query_devices(
      [&](const of_device_table& table) { return table.set_option ? table.set_option(name, value) : OF_UNSUPPORTED; });
  if (!is_known) fail_unknown(name);
}

int64_t get_option(const char* name) {
  if (const Switch* found = find_switch(name)) return found->value.load(std::memory_order_relaxed);
  int64_t value = 0;
  const bool is_known = query_devices([&](const of_device_table& table) {
    int64_t answer = 0;  // not `value`: a hook that returns OF_UNSUPPORTED may have written it
    const of_status status = table.get_option ? table.get_option(name, &answer) : OF_UNSUPPORTED;
    if (status == OF_OK) value = answer;
    return status;
  });
  if (!is_known) fail_unknown(name);
  return value;
}

bool fallback_is_error() { return fallback_switch.value.load(std::memory_order_relaxed); }
bool detects_anomalies() { return anomaly_switch.value.load(std::memory_order_relaxed); }

}  // namespace oneflow
