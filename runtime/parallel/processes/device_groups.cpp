#include "parallel/processes/device_groups.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "parallel/processes/engine.h"
#include "parallel/processes/job.h"

namespace oneflow::processes {

namespace {

// How many failures are remembered for communicators that are being opened.
constexpr size_t kMostFailures = 16;

// Returns a positive number that follows from an id.
int64_t number_of(const of_device_communicator_id& id) {
  uint64_t number = 14695981039346656037ull;
  for (const uint8_t each : id.bytes) number = (number ^ each) * 1099511628211ull;
  return static_cast<int64_t>(number >> 1 | 1);
}

}  // namespace

void check_communication(of_status status) {
  if (status == OF_OK) return;
  const std::string text = device_error();
  clear_device_error();
  throw Error(OF_COMMUNICATION_ERROR, text.empty() ? "the communicator of the device has failed" : text);
}

DeviceGroup::DeviceGroup(const Group& group, uint32_t position, Stream& stream, const of_device_communicator_id& id)
    : group_(group), stream_(stream), number_(number_of(id)) {
  check_communication(hooks().open(stream.device().id(), &id, position, group.size(), &communicator_));
}

DeviceGroup::~DeviceGroup() { abort(); }

void DeviceGroup::abort() {
  if (communicator_ && !stream_.device().lost()) hooks().abort(communicator_);
  communicator_ = nullptr;
}

bool DeviceGroup::is_ready() const {
  if (!failure_.empty()) throw Error(OF_COMMUNICATION_ERROR, failure_);
  stream_.device().require_usable();
  bool is_ready = false;
  check_communication(hooks().poll(communicator_, &is_ready));
  return is_ready;
}

void DeviceGroup::note_work(const char* caller, std::shared_ptr<const Event> operands,
                            std::shared_ptr<const Event> end) {
  work_.push_back({caller, std::move(operands), std::move(end)});
}

bool DeviceGroup::has_work() {
  while (!work_.empty() && work_.front().end->is_done()) work_.pop_front();
  return !work_.empty();
}

bool DeviceGroup::has_work_at_exit() {
  try {
    return has_work() && !stream_.is_done();
  } catch (const Error&) {
    return false;
  }
}

bool DeviceGroup::is_overdue(Clock::time_point now, Clock::duration timeout) {
  Work& first = work_.front();
  if (!first.begun && first.operands->is_done()) first.begun = now;
  return first.begun && now - *first.begun >= timeout;
}

void DeviceGroup::fail(const std::string& text) {
  if (has_work())
    stream_.keep_failure(Error(OF_COMMUNICATION_ERROR, std::string(work_.front().caller) + ": " + text, true));
  work_.clear();
  failure_ = text;
  abort();
}

void DeviceGroup::close() {
  if (!stream_.device().lost()) hooks().close(communicator_);
  communicator_ = nullptr;
}

std::shared_ptr<DeviceGroup> DeviceGroups::find(uint64_t lane, const Device& device) const {
  for (const Entry& each : entries_)
    if (each.lane == lane && &each.group->stream().device() == &device && !each.is_replaced) return each.group;
  return {};
}

Stream& DeviceGroups::stream(uint64_t lane, Device& device) {
  Stream*& found = streams_[{lane, &device}];
  if (!found) found = &device.open_stream();
  return *found;
}

void DeviceGroups::add(uint64_t lane, std::shared_ptr<DeviceGroup> opened) {
  for (const auto& [number, text] : failures_)
    if (number == opened->number()) throw Error(OF_COMMUNICATION_ERROR, text);
  for (Entry& each : entries_)
    if (each.lane == lane && &each.group->stream() == &opened->stream()) each.is_replaced = true;
  entries_.push_back({lane, std::move(opened)});
  // Handlers run in the reverse order: the job is left before the libraries of the device end.
  static const bool registered = std::atexit(Job::leave) == 0;
  (void)registered;
}

template <class FailureOf>
void DeviceGroups::remove_failed(bool tells, FailureOf&& failure_of) {
  // What sends messages may find that ranks are lost, so that it comes last.
  std::vector<std::pair<std::shared_ptr<DeviceGroup>, std::string>> failed;
  std::erase_if(entries_, [&](Entry& each) {
    const std::string text = failure_of(each);
    if (!text.empty()) {
      each.group->fail(text);
      failed.emplace_back(std::move(each.group), text);
      return true;
    }
    if (!each.is_replaced || each.group->has_work()) return false;
    each.group->close();
    return true;
  });
  for (const auto& [group, text] : failed)
    if (tells) tell(*group, MessageKind::kBroken, text);
}

void DeviceGroups::fail(const DeviceGroup& failed, const std::string& text) {
  remove_failed(true, [&](const Entry& each) { return each.group.get() == &failed ? text : std::string(); });
}

void DeviceGroups::fail(uint64_t lane, const std::string& text) {
  remove_failed(true, [&](const Entry& each) { return each.lane == lane ? text : std::string(); });
}

void DeviceGroups::tell(const DeviceGroup& group, MessageKind kind, const std::string& text) {
  const Envelope envelope{0, static_cast<uint64_t>(group.number()), 0, kind, 0, text.size()};
  for (const uint32_t rank : group.group().ranks()) {
    if (rank != engine_.rank()) engine_.try_post(rank, envelope, text.data(), text.size());
  }
}

void DeviceGroups::check(Clock::time_point now) {
  remove_failed(true, [&](const Entry& each) -> std::string {
    try {
      if (!each.group->has_work()) return "";
      each.group->is_ready();
    } catch (const Error& error) {
      return error.text();
    }
    if (!each.group->is_overdue(now, engine_.timeout())) return "";
    return format_text("the devices of the ranks have not done it within %g seconds",
                       std::chrono::duration<double>(engine_.timeout()).count());
  });
}

void DeviceGroups::note_lost(uint32_t rank, const std::string& text) {
  const std::string failure = format_text("rank %u is lost: %s", rank, text.c_str());
  remove_failed(true, [&](const Entry& each) {
    const bool is_needed = each.group->group().position_of(rank) && std::ranges::count(each.closed, rank) == 0;
    return is_needed ? failure : std::string();
  });
}

void DeviceGroups::take(const Message& message) {
  const auto number = static_cast<int64_t>(message.envelope.call);
  const auto is_meant = [&](const Entry& each) { return each.group->number() == number; };
  if (message.envelope.kind == MessageKind::kClosed) {
    for (Entry& each : entries_)
      if (is_meant(each)) each.closed.push_back(message.rank);
    return;
  }
  const std::string failure = format_text("rank %u has failed: %s", message.rank, std::string(message.text()).c_str());
  remove_failed(false, [&](const Entry& each) { return is_meant(each) ? failure : std::string(); });
  failures_.emplace_back(number, failure);
  if (failures_.size() > kMostFailures) failures_.pop_front();
}

bool DeviceGroups::have_work(Clock::time_point now) {
  check(now);
  return std::ranges::any_of(entries_, [](const Entry& each) { return each.group->has_work_at_exit(); });
}

void DeviceGroups::close() {
  for (const Entry& each : std::exchange(entries_, {})) {
    tell(*each.group, MessageKind::kClosed, "");
    each.group->close();
  }
  for (const auto& [key, stream] : streams_) {
    try {
      key.second->close_stream(*stream);
    } catch (const Error&) {  // nobody waits for its work any more
    }
  }
  streams_.clear();
}

}  // namespace oneflow::processes
