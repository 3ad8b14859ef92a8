#include "parallel/processes/device_peers.h"

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "device/device.h"
#include "parallel/processes/assignment.h"
#include "parallel/processes/engine.h"

namespace oneflow::processes {

namespace {

// The operations that ask. No other rank has this lane, as questions and answers are of none.
constexpr uint64_t kLane = 0;

// Removes the first line of a text, and returns it.
std::string take_line(std::string_view* text) {
  const std::string line(text->substr(0, text->find('\n')));
  text->remove_prefix(std::min(text->size(), line.size() + 1));
  return line;
}

}  // namespace

DevicePeers::Links DevicePeers::own_links(const std::string& type) const {
  // What a device does is watched while no thread waits, too.
  if (!engine_.works_alone()) return {"", "another thread may not use MPI, which must watch it", {}};
  try {
    Links own;
    const of_device first = parse_device(type);
    const of_communicator_hooks* const hooks = find_device(first).table().communicator;
    const char* const version = hooks ? hooks->version() : nullptr;
    own.version = version ? version : "";
    if (!version) own.why_none = hooks ? device_error() : "its plugin has no communicator";
    for (int16_t i = 0; version && i < static_cast<int16_t>(device_count(first.type)); ++i) {
      uint64_t identity = 0;
      if (hooks->identify({first.type, i}, &identity) == OF_OK) own.devices.push_back(identity);
    }
    clear_device_error();
    return own;
  } catch (const Error& error) {  // there is no such device
    return {"", error.text(), {}};
  }
}

std::string DevicePeers::why_not(const Group& group, of_device device) {
  const auto key = std::make_pair(&group, int32_t{device.type});
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = found_.find(key); known != found_.end()) return known->second;
  }
  const std::string type = get_device(device).table().name;
  const Links own = own_links(type);
  std::string why = own.why_none;
  if (!own.version.empty()) {
    const auto links = std::make_shared<std::vector<Links>>();
    const auto run = [this, links, type, own, ranks = group.ranks()](Operation& operation) -> Task {
      return collect(operation, ranks, type, own, *links);
    };
    const auto operation =
        Ref<Operation>::adopt(new Operation(engine_, Group::of({engine_.rank()}), kLane, Described("comm.ask"), run));
    engine_.submit(operation);
    engine_.wait(*operation);
    std::vector<std::vector<uint64_t>> usable;
    for (size_t i = 0; i < links->size() && why.empty(); ++i) {
      const Links& each = (*links)[i];
      usable.push_back(each.devices);
      if (each.version != own.version)
        why = format_text("rank %u has %s, rank %u has %s", engine_.rank(), own.version.c_str(), group.ranks()[i],
                          each.version.empty() ? "none" : each.version.c_str());
    }
    if (why.empty() && !has_device_for_each(usable)) why = "there are fewer devices than ranks";
  }
  const std::lock_guard lock(mutex_);
  return found_[key] = why;
}

Task DevicePeers::collect(Operation& operation, std::vector<uint32_t> ranks, std::string type, Links own,
                          std::vector<Links>& links) {
  links_[{engine_.rank(), type}] = std::move(own);
  for (const uint32_t rank : ranks)
    if (!links_.contains({rank, type})) ask(rank, type);
  for (const uint32_t rank : ranks) {
    const std::vector<uint32_t> awaited(1, rank);
    const Operation::Condition is_known = [&] { return links_.contains({rank, type}); };
    co_await operation.until(awaited, is_known);
    links.push_back(links_[{rank, type}]);
  }
}

void DevicePeers::ask(uint32_t rank, const std::string& type) {
  engine_.post(rank, {0, 0, 0, MessageKind::kAsk, 0, type.size()}, type.data(), type.size());
}

void DevicePeers::take(const Message& message) {
  const std::string text(message.text());
  if (message.envelope.kind == MessageKind::kAsk) return asked_.emplace_back(message.rank, text), void();
  std::string_view rest = text;
  const std::string type = take_line(&rest);
  Links links{.version = take_line(&rest)};
  while (!rest.empty()) links.devices.push_back(std::strtoull(take_line(&rest).c_str(), nullptr, 10));
  links_[{message.rank, type}] = std::move(links);
}

bool DevicePeers::answer() {
  if (asked_.empty()) return false;
  for (const auto& [rank, type] : std::exchange(asked_, {})) {
    const Links own = own_links(type);
    std::string text = type + '\n' + own.version + '\n';
    for (const uint64_t each : own.devices) text += std::to_string(each) + '\n';
    engine_.try_post(rank, {0, 0, 0, MessageKind::kAnswer, 0, text.size()}, text.data(), text.size());
  }
  return true;
}

}  // namespace oneflow::processes
