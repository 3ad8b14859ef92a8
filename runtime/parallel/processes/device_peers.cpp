#include "parallel/processes/device_peers.h"

#include <memory>

#include "device/device.h"
#include "parallel/processes/engine.h"

namespace oneflow::processes {

namespace {

// The operations that ask. No other rank has this lane, as questions and answers are of none.
constexpr uint64_t kLane = 0;

}  // namespace

std::string DevicePeers::own_version(const std::string& type) const {
  // What a device does is watched while no thread waits, too.
  if (!engine_.works_alone()) return "";
  try {
    const of_communicator_hooks* const hooks = find_device(parse_device(type)).table().communicator;
    const char* const version = hooks ? hooks->version() : nullptr;
    clear_device_error();
    return version ? version : "";
  } catch (const Error&) {  // there is no such device
    return "";
  }
}

bool DevicePeers::have_same(const Group& group, of_device device) {
  const Device& own = get_device(device);
  if (!own.table().communicator) return false;
  const auto key = std::make_pair(&group, int32_t{device.type});
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = found_.find(key); known != found_.end()) return known->second;
  }
  const std::string type = own.table().name, version = own_version(type);
  bool same = !version.empty();
  if (same) {
    const auto answer = std::make_shared<bool>(true);
    const auto run = [this, answer, type, version, ranks = group.ranks()](Operation& operation) -> Task {
      return compare(operation, ranks, type, version, *answer);
    };
    const auto operation =
        Ref<Operation>::adopt(new Operation(engine_, Group::of({engine_.rank()}), kLane, Described("comm.ask"), run));
    engine_.submit(operation);
    engine_.wait(*operation);
    same = *answer;
  }
  const std::lock_guard lock(mutex_);
  return found_[key] = same;
}

Task DevicePeers::compare(Operation& operation, std::vector<uint32_t> ranks, std::string type, std::string version,
                          bool& same) {
  for (const uint32_t rank : ranks)
    if (rank != engine_.rank() && !versions_.contains({rank, type})) ask(rank, type);
  for (const uint32_t rank : ranks) {
    if (rank == engine_.rank()) continue;
    const std::vector<uint32_t> awaited(1, rank);
    const Operation::Condition is_known = [this, rank, &type] { return versions_.contains({rank, type}); };
    co_await operation.until(awaited, is_known);
    same = same && versions_[{rank, type}] == version;
  }
}

void DevicePeers::ask(uint32_t rank, const std::string& type) {
  engine_.post(rank, {0, 0, 0, MessageKind::kAsk, 0, type.size()}, type.data(), type.size());
}

void DevicePeers::take(const Message& message) {
  const std::string text(message.text());
  if (message.envelope.kind == MessageKind::kAsk) return asked_.emplace_back(message.rank, text), void();
  const size_t end = text.find(' ');
  versions_[{message.rank, text.substr(0, end)}] = end == std::string::npos ? "" : text.substr(end + 1);
}

bool DevicePeers::answer() {
  if (asked_.empty()) return false;
  for (const auto& [rank, type] : std::exchange(asked_, {})) {
    const std::string text = type + ' ' + own_version(type);
    engine_.try_post(rank, {0, 0, 0, MessageKind::kAnswer, 0, text.size()}, text.data(), text.size());
  }
  return true;
}

}  // namespace oneflow::processes
