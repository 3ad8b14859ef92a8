// Sums an array over all processes. Each sends parts to the next one in a ring: first sums, then results.
#include "processes.h"

namespace {

constexpr uint32_t kRanks = 4, kPart = 1;
constexpr size_t kPartSize = 100'000;

// Waits for the next message, which comes from the process before this one.
commnet::Message receive(const commnet::Endpoint& endpoint) {
  cn_event event{};
  event.struct_size = sizeof event;
  commnet::check(cn_next_event(endpoint.get(), &event, 20'000));
  return commnet::Message(event.message);
}

void all_reduce(const commnet::Endpoint& endpoint, const commnet::Peer& next, uint32_t rank, std::span<float> data) {
  const auto part = [&](uint32_t number) { return data.subspan(number % kRanks * kPartSize, kPartSize); };
  // Parts of one channel arrive in their order, so that they need no numbers.
  for (uint32_t step = 0; step < 2 * (kRanks - 1); ++step) {
    const uint32_t sent = rank + 2 * kRanks - step;
    std::future<void> done = next.send(kPart, std::as_bytes(part(sent)));
    const commnet::Message message = receive(endpoint);
    const auto* const arrived = reinterpret_cast<const float*>(message.bytes().data());
    const std::span<float> own = part(sent - 1);
    const bool sums = step < kRanks - 1;
    for (size_t i = 0; i < own.size(); ++i) own[i] = sums ? own[i] + arrived[i] : arrived[i];
    done.get();  // before the part may change
  }
}

bool run(uint32_t rank, const std::string& folder) {
  const commnet::Endpoint endpoint({.name = "rank" + std::to_string(rank), .secret = "ring"});
  commnet::check(cn_set_event_handler(endpoint.get(), kPart, nullptr));
  const std::vector<commnet::Peer> peers = join(endpoint, rank, kRanks, folder);

  std::vector<float> data(kRanks * kPartSize);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(rank + i % 1000);
  all_reduce(endpoint, peers[(rank + 1) % kRanks], rank, data);
  for (size_t i = 0; i < data.size(); ++i)
    if (data[i] != static_cast<float>(kRanks * (kRanks - 1) / 2 + kRanks * (i % 1000))) return false;
  std::printf("rank %u: the sums of %zu numbers are right\n", rank, data.size());
  return true;
}

}  // namespace

int main() { return run_processes(kRanks, run); }
