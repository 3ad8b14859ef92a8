// The clock by which the library measures times.
#ifndef COMMNET_CORE_CLOCK_H_
#define COMMNET_CORE_CLOCK_H_

#include <chrono>
#include <ctime>

namespace commnet {

using Clock = std::chrono::steady_clock;

// Returns a time that may be some milliseconds old, for a tenth of what the exact one costs.
inline Clock::time_point coarse_now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  return Clock::time_point(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
}

}  // namespace commnet

#endif  // COMMNET_CORE_CLOCK_H_
