#include "device/uses.h"

#include <algorithm>

#include "device/device.h"

namespace oneflow {

std::atomic<bool> uses_are_noted{false};

namespace {

ForkSafe<std::mutex> mutex{LockLevel::kUses};  // guards the list of every object; held for moments only

}  // namespace

std::vector<Uses::Use>::iterator Uses::find(const Stream& stream) {
  return std::find_if(uses_.begin(), uses_.end(), [&](const Use& use) { return use.stream == &stream; });
}

std::vector<Uses::Use> Uses::snapshot() const {
  const std::lock_guard lock(mutex);
  return uses_;
}

void Uses::add(Stream& stream) {
  const uint64_t id = stream.id();
  const std::lock_guard lock(mutex);
  const auto known = find(stream);
  if (known == uses_.end())
    uses_.push_back({&stream, id, nullptr, false});
  else
    known->id = id;
}

void Uses::add_copy(Stream& stream, Event end, bool writes) {
  const Use added{&stream, stream.id(), std::make_shared<Event>(std::move(end)), writes};
  std::shared_ptr<Event> replaced;  // destroyed without the mutex
  const std::lock_guard lock(mutex);
  const auto known = find(stream);
  if (known == uses_.end()) return uses_.push_back(added);
  replaced = std::move(known->end);
  *known = {added.stream, added.id, added.end, writes || (known->writes && known->id == added.id)};
}

bool Uses::are_empty() const {
  const std::lock_guard lock(mutex);
  return uses_.empty();
}

void Uses::order_copies_before(Stream& stream) {
  for (const Use& use : snapshot()) {
    if (use.stream == &stream) continue;
    if (use.stream->device().id().type == stream.device().id().type)
      use.end->hold(stream);
    else
      use.end->synchronize();
  }
}

void Uses::wait_for_copies() {
  // The list stays complete until the copies are done, for other threads that wait for them.
  const std::vector<Use> waited = snapshot();
  for (const Use& use : waited) {
    if (use.writes && use.stream->id() == use.id)
      use.stream->synchronize();
    else
      use.end->synchronize();
  }
  const std::lock_guard lock(mutex);  // `waited` keeps the events, so that they are destroyed without the mutex
  std::erase_if(uses_, [&](const Use& use) {
    return std::any_of(waited.begin(), waited.end(), [&](const Use& each) { return each.end == use.end; });
  });
}

std::vector<Event> Uses::finish() noexcept {
  std::vector<Use> uses;
  {
    const std::lock_guard lock(mutex);
    uses.swap(uses_);
  }
  std::vector<Event> ends;
  for (Use& use : uses) {
    Device& device = use.stream->device();
    if (device.lost()) continue;
    try {
      ends.reserve(ends.size() + 1);
      if (use.end)
        ends.push_back(std::move(*use.end));
      else if (use.stream->id() == use.id)  // otherwise it was closed, when its work was done
        ends.push_back(Event::mark(*use.stream));
    } catch (...) {
      clear_device_error();
      use.stream->wait_and_keep_failure();
    }
  }
  return ends;
}

void Uses::finish_before(Stream& stream) noexcept {
  for (const Event& end : finish()) {
    try {
      end.hold(stream);
    } catch (...) {
      clear_device_error();
      end.wait();
    }
  }
}

}  // namespace oneflow
