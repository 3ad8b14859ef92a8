#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <time.h>

#define HIDDEN __attribute__((visibility("hidden")))

/* Since 2.32 libstdc++ counts references without atomic instructions while this is set. */
HIDDEN char __libc_single_threaded = 0;

/* Since 2.30. Waits on the clock that the condition variable has, CLOCK_REALTIME, for as long as is left on `clock`. */
HIDDEN int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                                  const struct timespec* until) {
  const int64_t second = 1000000000;
  struct timespec now, real;
  if (clock_gettime(clock, &now) != 0 || clock_gettime(CLOCK_REALTIME, &real) != 0) return EINVAL;
  int64_t nanoseconds = (int64_t)real.tv_nsec + until->tv_nsec - now.tv_nsec;
  int64_t seconds = (int64_t)real.tv_sec + until->tv_sec - now.tv_sec;
  seconds += nanoseconds / second;
  nanoseconds %= second;
  if (nanoseconds < 0) {
    nanoseconds += second;
    seconds--;
  }
  if (seconds < 0) seconds = 0;
  const struct timespec end = {.tv_sec = seconds, .tv_nsec = nanoseconds};
  return pthread_cond_timedwait(condition, mutex, &end);
}
