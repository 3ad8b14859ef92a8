#include "plugin/processors.h"

#include <sched.h>

#include <algorithm>
#include <thread>

#include "plugin/control_group.h"

namespace oneflow::cpu {

namespace {

// Returns the number of processors that this process may run on.
int allowed_processors() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return std::max(1, CPU_COUNT(&allowed));
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

}  // namespace

int usable_processors() { return std::min(allowed_processors(), group_limits().processors); }

}  // namespace oneflow::cpu
