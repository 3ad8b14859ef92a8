#include "profile/host_clock.h"

#include <cstdio>
#include <cstring>
#include <ctime>

namespace oneflow::profile {

const bool counter_is_clock = [] {
  char name[8] = {};
  std::FILE* file = std::fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
  if (!file) return false;
  const bool is_read = std::fgets(name, sizeof(name), file) != nullptr;
  std::fclose(file);
  return is_read && std::strcmp(name, "tsc\n") == 0;
}();

int64_t now() noexcept {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

int64_t nanoseconds_at(int64_t tick, const Moment& begin, const Moment& end) noexcept {
  const auto ticks = static_cast<double>(end.tick - begin.tick);
  const auto nanoseconds = static_cast<double>(end.nanoseconds - begin.nanoseconds);
  return ticks <= 0 ? 0 : static_cast<int64_t>(static_cast<double>(tick - begin.tick) * (nanoseconds / ticks));
}

}  // namespace oneflow::profile
