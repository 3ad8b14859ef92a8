// Devices and their memory.
#include "objects/results.h"
#include "objects/values.h"

namespace oneflow::objects {

// set_memory_limit(bytes, device)
of_status set_memory_limit(void*, const of_data* given, Results& results) {
  const int64_t bytes = given[0].as.integer;
  if (bytes < 0) results.fail(OF_INVALID_ARGUMENT, "bytes must not be negative, got " + std::to_string(bytes));
  return of_set_memory_limit(device_or_default(given[1]), static_cast<uint64_t>(bytes));
}

of_status reset_fallbacks(void*, const of_data*, Results&) {
  of_reset_fallbacks();
  return OF_OK;
}

}  // namespace oneflow::objects
