#include "profile/device_clock.h"

#include "profile/host_clock.h"

namespace oneflow::profile {

DeviceClock::DeviceClock(Device& device) : device_(device), start_on_host_(now()), start_(mark()) {}

of_device_event DeviceClock::mark() noexcept {
  if (device_.lost()) return nullptr;
  const of_device id = device_.id();
  const of_device_table& table = device_.table();
  of_device_event event = nullptr;
  try {
    check(table.create_event(id, true, &event));
    check(table.record_event(id, event, device_.stream()));
    return event;
  } catch (...) {
    discard(event);
    return nullptr;
  }
}

int64_t DeviceClock::between(of_device_event from, of_device_event to) const noexcept {
  double milliseconds = -1;
  if (!from || !to || device_.lost()) return -1;
  if (device_.table().elapsed_time(device_.id(), from, to, &milliseconds) == OF_OK)
    return static_cast<int64_t>(1e6 * milliseconds);
  clear_device_error();
  return -1;
}

void DeviceClock::discard(of_device_event mark) noexcept {
  if (mark && !device_.lost()) device_.table().destroy_event(device_.id(), mark);
}

}  // namespace oneflow::profile
