// The loop in which everything happens: it waits until descriptors are ready, and calls what handles them.
#ifndef ONEFLOW_LAUNCH_LOOP_H_
#define ONEFLOW_LAUNCH_LOOP_H_

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>

namespace oneflow::launch {

using Clock = std::chrono::steady_clock;
using Deadline = std::optional<Clock::time_point>;

// Returns the earlier of two deadlines.
inline Deadline earlier(Deadline a, Deadline b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

class Loop {
 public:
  // Calls `ready` whenever the descriptor is ready for one of the events of poll() that `wanted` returns before each
  // wait; 0: it is left alone.
  void add(int descriptor, std::function<short()> wanted, std::function<void()> ready);
  void remove(int descriptor) { watches_.erase(descriptor); }

  // Waits until a descriptor is ready or the deadline has passed, and handles what is ready.
  void run_once(Deadline deadline);

 private:
  struct Watch {
    std::function<short()> wanted;
    std::function<void()> ready;
  };

  std::map<int, std::shared_ptr<Watch>> watches_;
};

}  // namespace oneflow::launch

#endif  // ONEFLOW_LAUNCH_LOOP_H_
