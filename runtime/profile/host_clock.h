// The clock of the host. A call reads it twice, so that it must be quick.
#ifndef ONEFLOW_PROFILE_HOST_CLOCK_H_
#define ONEFLOW_PROFILE_HOST_CLOCK_H_

#include <cstdint>

namespace oneflow::profile {

// Returns the nanoseconds of the system's monotonic clock.
int64_t now() noexcept;

// Whether the system's clock is the processor's counter of cycles, which then is the same on all cores, and steady.
extern const bool counter_is_clock;

// Returns the processor's counter if it is steady, else now().
inline int64_t ticks() noexcept {
#ifdef __x86_64__
  if (counter_is_clock) [[likely]]
    return static_cast<int64_t>(__builtin_ia32_rdtsc());
#endif
  return now();
}

// A point in time on both scales.
struct Moment {
  int64_t nanoseconds = now();
  int64_t tick = ticks();
};

// Returns the nanoseconds from `begin` to a tick. `end` is a moment after it: its distance to `begin` gives the scale.
int64_t nanoseconds_at(int64_t tick, const Moment& begin, const Moment& end) noexcept;

}  // namespace oneflow::profile

#endif  // ONEFLOW_PROFILE_HOST_CLOCK_H_
