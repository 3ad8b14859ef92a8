#include "device/options.h"

#include <atomic>
#include <cstring>

#include "base/characters.h"
#include "base/error.h"
#include "device/device.h"

namespace oneflow {
namespace {

// The runtime's own options: switches.
struct Switch {
  const char* name;
  std::atomic<bool> value;
};
Switch switches[] = {{"deterministic", false}, {"fallback_is_error", false}};
const Switch& fallback_switch = switches[1];

Switch* find_switch(const char* name) {
  for (Switch& s : switches)
    if (std::strcmp(s.name, name) == 0) return &s;
  return nullptr;
}

// Asks one device of each type, for options belong to types. Whether one of them knew the option.
template <class Ask>
bool ask_some(const std::vector<of_device>& devices, Ask ask) {
  bool is_known = false;
  for (const of_device id : devices) {
    if (id.index != 0) continue;
    const of_status status = ask(known_device(id).table());
    if (status == OF_UNSUPPORTED) {
      forget_device_error();
      continue;
    }
    check(status);
    is_known = true;
  }
  return is_known;
}

// Plugins are looked for only when no device that is in use knows the option.
template <class Ask>
bool ask_devices(Ask ask) {
  return ask_some(devices_in_use(), ask) || ask_some(all_devices(), ask);
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
  const bool is_known = ask_devices(
      [&](const of_device_table& table) { return table.set_option ? table.set_option(name, value) : OF_UNSUPPORTED; });
  if (!is_known) fail_unknown(name);
}

int64_t get_option(const char* name) {
  if (const Switch* found = find_switch(name)) return found->value.load(std::memory_order_relaxed);
  int64_t value = 0;
  const bool is_known = ask_devices([&](const of_device_table& table) {
    int64_t answer = 0;  // which those that do not know the option may have touched
    const of_status status = table.get_option ? table.get_option(name, &answer) : OF_UNSUPPORTED;
    if (status == OF_OK) value = answer;
    return status;
  });
  if (!is_known) fail_unknown(name);
  return value;
}

bool fallback_is_error() { return fallback_switch.value.load(std::memory_order_relaxed); }

}  // namespace oneflow
