#include "profile/device_clock.h"

#include "profile/host_clock.h"

namespace oneflow::profile {

DeviceClock::DeviceClock(Device& device) : device_(device), start_on_host_(now()), start_(mark()) {}

of_event DeviceClock::mark() noexcept {
  if (device_.lost()) return nullptr;
  const of_device id = device_.id();
  const of_device_table& table = device_.table();
  of_event event = nullptr;
  try {
    check(table.create_event(id, &event));
    check(table.record_event(id, event, device_.stream()));
    return event;
  } catch (...) {
    discard(event);
    return nullptr;
  }
}

int64_t DeviceClock::between(of_event from, of_event to) const noexcept {
  double nanoseconds = -1;
  if (!from || !to || device_.lost()) return -1;
  if (device_.table().elapsed(device_.id(), from, to, &nanoseconds) == OF_OK) return static_cast<int64_t>(nanoseconds);
  clear_device_error();
  return -1;
}

void DeviceClock::discard(of_event mark) noexcept {
  if (mark && !device_.lost()) device_.table().destroy_event(device_.id(), mark);
}

}  // namespace oneflow::profile
