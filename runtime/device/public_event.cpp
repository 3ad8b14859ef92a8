#include "device/public_event.h"

#include <unordered_map>

#include "base/error.h"

namespace oneflow {

namespace {

struct Table {
  ForkSafe<std::mutex> mutex{LockLevel::kUses};
  std::unordered_map<uint64_t, std::shared_ptr<PublicEvent>> events;
  uint64_t last_id = 0;
};

// The events of the process, which are never destroyed, because devices may be gone by then.
Table& table = *new Table;

std::string name_of(const Device& device) { return device_name(device.id()); }

}  // namespace

uint64_t PublicEvent::create(Device& device, bool is_timed) {
  const of_device_table& hooks = device.table();
  device.require_usable();
  if (!hooks.create_event) fail(OF_UNSUPPORTED, "%s has no events", name_of(device).c_str());
  if (is_timed && !hooks.elapsed_time)
    fail(OF_UNSUPPORTED, "%s does not measure the time between events", name_of(device).c_str());
  of_device_event event = nullptr;
  check(hooks.create_event(device.id(), is_timed, &event));
  const auto created = std::make_shared<PublicEvent>(device, event, is_timed);
  const std::lock_guard lock(table.mutex);
  table.events.emplace(table.last_id + 1, created);
  return ++table.last_id;
}

std::shared_ptr<PublicEvent> PublicEvent::find(uint64_t id) {
  const std::lock_guard lock(table.mutex);
  const auto found = table.events.find(id);
  return found == table.events.end() ? nullptr : found->second;
}

bool PublicEvent::remove(uint64_t id) {
  const std::shared_ptr<PublicEvent> removed = find(id);  // destroyed without the mutex
  const std::lock_guard lock(table.mutex);
  return table.events.erase(id) != 0;
}

PublicEvent::~PublicEvent() {
  if (!device_.lost()) device_.table().destroy_event(device_.id(), event_);
}

void PublicEvent::record(Stream& stream) {
  device_.require_usable();
  if (&stream.device() != &device_)
    fail(OF_INVALID_ARGUMENT, "stream must be of %s, as the event is, got one of %s", name_of(device_).c_str(),
         name_of(stream.device()).c_str());
  check(device_.table().record_event(device_.id(), event_, stream.handle()));
  is_recorded_.store(true);
}

void PublicEvent::hold(Stream& stream) const {
  Device& device = stream.device();
  device.require_usable();
  device_.require_usable();
  if (device.id().type != device_.id().type)
    fail(OF_INVALID_ARGUMENT, "event must be of a device of the type of %s, as the stream is, got one of %s",
         name_of(device).c_str(), name_of(device_).c_str());
  if (is_recorded_.load()) check(device.table().wait_event(device.id(), event_, stream.handle()));
}

bool PublicEvent::is_done() const {
  device_.require_usable();
  bool is_done = true;
  if (is_recorded_.load()) check(device_.table().query_event(device_.id(), event_, &is_done));
  return is_done;
}

void PublicEvent::synchronize() const {
  device_.require_usable();
  if (is_recorded_.load()) check(device_.table().synchronize_event(device_.id(), event_));
}

double PublicEvent::until(const PublicEvent& end) const {
  device_.require_usable();
  if (&end.device_ != &device_)
    fail(OF_INVALID_ARGUMENT, "end must be an event of %s, as start is, got one of %s", name_of(device_).c_str(),
         name_of(end.device_).c_str());
  const auto require = [](const PublicEvent& event, const char* name) {
    if (!event.is_timed_) fail(OF_INVALID_ARGUMENT, "%s must be an event that is timed", name);
    if (!event.is_recorded_.load()) fail(OF_INVALID_ARGUMENT, "%s must be recorded first", name);
    if (!event.is_done()) fail(OF_INVALID_ARGUMENT, "%s must be done: synchronize with it first", name);
  };
  require(*this, "start");
  require(end, "end");
  double milliseconds = 0;
  check(device_.table().elapsed_time(device_.id(), event_, end.event_, &milliseconds));
  return milliseconds;
}

}  // namespace oneflow
