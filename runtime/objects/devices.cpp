// Devices and their memory.
#include "objects/results.h"

namespace oneflow::objects {

// set_memory_limit(bytes, device)
of_status set_memory_limit(void*, const of_data* given, Results& results) {
  const int64_t bytes = given[0].as.integer;
  if (bytes < 0) results.fail(OF_INVALID_ARGUMENT, "bytes must not be negative, got " + std::to_string(bytes));
  const of_device device = given[1].kind == OF_DATA_DEVICE ? given[1].as.device : of_default_device();
  return of_set_memory_limit(device, static_cast<uint64_t>(bytes));
}

of_status reset_fallbacks(void*, const of_data*, Results&) {
  of_reset_fallbacks();
  return OF_OK;
}

}  // namespace oneflow::objects
