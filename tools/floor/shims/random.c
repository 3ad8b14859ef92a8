#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

#define HIDDEN __attribute__((visibility("hidden")))

/* Since 2.36; std::random_device of a newer libstdc++ uses it. */
HIDDEN uint32_t arc4random(void) {
  uint32_t value;
  if (getrandom(&value, sizeof(value), 0) != sizeof(value)) abort();
  return value;
}
