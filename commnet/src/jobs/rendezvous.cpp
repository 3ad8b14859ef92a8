// A meeting by a rendezvous service: an endpoint that rank 0 opens at a known address. The others send it their
// addresses, and get those of all once all are there.
#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "core/endpoint.h"
#include "core/status.h"
#include "core/transports.h"
#include "jobs/meetings.h"

namespace commnet {

namespace {

using namespace std::chrono_literals;

constexpr uint32_t kRegister = 0, kAddresses = 1;
constexpr const char* kName = "commnet rendezvous";
constexpr size_t kLongestAddress = 4096;

struct Closer {
  void operator()(cn_endpoint* endpoint) const { cn_endpoint_close(endpoint); }
};
using Handle = std::unique_ptr<cn_endpoint, Closer>;

void check(cn_status status) {
  if (status != CN_OK) throw Error(status, cn_error());
}

// An endpoint with the secret of another one.
Handle open(const Endpoint& like, const std::string& name, const std::string& listen) {
  return Handle(new cn_endpoint(Endpoint::create_like(like, name, listen)));
}

// What the service has heard.
class Service {
 public:
  Service(const Endpoint& like, const Job& job) : size_(job.size), endpoint_(open(like, kName, job.meeting)) {
    check(cn_watch_peers(endpoint_.get(), true));
    check(cn_set_handler(
        endpoint_.get(), kRegister, [](void* user, cn_message* message) { static_cast<Service*>(user)->take(message); },
        this));
  }

  // Waits until all have their answers: visitors leave then.
  void wait(const Job& job) {
    cn_event event{};
    event.struct_size = sizeof event;
    while (!is_over()) cn_next_event(endpoint_.get(), &event, job.pause("not all have taken the addresses"));
  }

 private:
  static bool has_left(const std::pair<const uint32_t, std::pair<cn_peer*, std::string>>& member) {
    return !cn_peer_is_connected(member.second.first);
  }
  bool is_over() {
    const std::lock_guard lock(mutex_);
    return is_answered_ && std::ranges::all_of(members_, has_left);
  }
  void take(cn_message* message) {
    // The payload is a rank and an address.
    const size_t size = cn_message_size(message);
    uint32_t rank = 0;
    if (size < sizeof rank || size > kLongestAddress) return;
    const auto* const bytes = static_cast<const char*>(cn_message_data(message));
    std::memcpy(&rank, bytes, sizeof rank);
    const std::lock_guard lock(mutex_);
    if (rank >= size_ || is_answered_) return;
    members_[rank] = {cn_message_peer(message), std::string(bytes + sizeof rank, size - sizeof rank)};
    if (members_.size() < size_) return;
    // One that has died meanwhile may begin again.
    std::erase_if(members_, has_left);
    if (members_.size() < size_) return;
    std::string all;
    for (const auto& [number, member] : members_) all += member.second + "\n";
    cn_call call{};
    call.struct_size = sizeof call;
    call.flags = CN_COPY;
    for (const auto& [number, member] : members_)
      cn_send(member.first, kAddresses, 0, all.data(), all.size(), &call, nullptr);
    is_answered_ = true;
  }

  const uint32_t size_;
  std::mutex mutex_;
  std::map<uint32_t, std::pair<cn_peer*, std::string>> members_;
  bool is_answered_ = false;
  Handle endpoint_;  // closed first: its handler uses the rest
};

// The addresses, when they have come.
struct Answer {
  std::mutex mutex;
  std::condition_variable changed;
  std::string text;
};

// Goes to the service and returns what it answers.
std::string visit(const Job& job) {
  const Endpoint& own = *job.endpoint;
  Answer answer;
  const Handle visitor = open(own, own.settings().name + " at the rendezvous", "none");
  check(cn_set_handler(
      visitor.get(), kAddresses,
      [](void* user, cn_message* message) {
        Answer& given = *static_cast<Answer*>(user);
        const std::lock_guard lock(given.mutex);
        given.text.assign(static_cast<const char*>(cn_message_data(message)), cn_message_size(message));
        given.changed.notify_all();
      },
      &answer));
  cn_peer* peer = nullptr;
  // Rank 0 may open the service later.
  for (auto pause = 5ms; peer == nullptr; pause = std::min(2 * pause, 200ms)) {
    cn_operation* operation = nullptr;
    check(cn_connect(visitor.get(), job.meeting.c_str(), nullptr, &operation));
    const std::unique_ptr<cn_operation, void (*)(cn_operation*)> owned(operation, cn_operation_release);
    while (!cn_test(operation, nullptr)) cn_wait(operation, job.pause("nobody answers at the rendezvous"));
    const cn_status status = cn_wait(operation, 0);
    peer = cn_operation_peer(operation);
    if (peer) break;
    if (status != CN_UNREACHABLE && status != CN_TIMED_OUT) check(status);
    job.pause(("nobody answers at " + job.meeting).c_str());
    std::this_thread::sleep_for(pause);
  }
  std::string payload(reinterpret_cast<const char*>(&job.rank), sizeof job.rank);
  payload += own.address();
  cn_call call{};
  call.struct_size = sizeof call;
  call.flags = CN_COPY;
  check(cn_send(peer, kRegister, 0, payload.data(), payload.size(), &call, nullptr));
  const std::string what = "not all " + std::to_string(job.size) + " endpoints have come to " + job.meeting;
  std::unique_lock lock(answer.mutex);
  while (answer.text.empty()) answer.changed.wait_for(lock, std::chrono::milliseconds(job.pause(what.c_str())));
  return answer.text;
}

}  // namespace

std::vector<std::string> meet_by_rendezvous(const Job& job) {
  const auto service = job.rank == 0 ? std::make_unique<Service>(*job.endpoint, job) : nullptr;
  const std::string answer = visit(job);
  if (service) service->wait(job);
  std::vector<std::string> addresses;
  for (size_t begin = 0, end; (end = answer.find('\n', begin)) != std::string::npos; begin = end + 1)
    addresses.push_back(answer.substr(begin, end - begin));
  return addresses;
}

}  // namespace commnet
