#include "launch/loop.h"

#include <poll.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace oneflow::launch {

namespace {

// Returns the milliseconds until a deadline, as poll() takes them.
int milliseconds_to(Deadline deadline) {
  if (!deadline) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<int64_t>(left, 0, 3'600'000));
}

}  // namespace

void Loop::add(int descriptor, std::function<short()> wanted, std::function<void()> ready) {
  watches_[descriptor] = std::make_shared<Watch>(Watch{std::move(wanted), std::move(ready)});
}

void Loop::run_once(Deadline deadline) {
  std::vector<pollfd> waited;
  std::vector<std::shared_ptr<Watch>> owners;
  for (const auto& [descriptor, watch] : watches_) {
    // poll() reports hang-ups that nobody asked for: one that nobody handles would be reported for ever.
    const short events = watch->wanted();
    if (events == 0) continue;
    waited.push_back({descriptor, events, 0});
    owners.push_back(watch);
  }
  if (poll(waited.data(), waited.size(), milliseconds_to(deadline)) <= 0) return;
  for (size_t i = 0; i < waited.size(); ++i) {
    if (waited[i].revents == 0) continue;
    // What handled an earlier one may have removed it, and another may have its number.
    const auto found = watches_.find(waited[i].fd);
    if (found != watches_.end() && found->second == owners[i]) owners[i]->ready();
  }
}

}  // namespace oneflow::launch
