// Process-wide settings by name: the runtime's own, and those that devices offer.
#ifndef ONEFLOW_DEVICE_OPTIONS_H_
#define ONEFLOW_DEVICE_OPTIONS_H_

#include <cstdint>

namespace oneflow {

// InvalidArgument for a name that neither the runtime nor any device knows, or a value outside of its range.
void set_option(const char* name, int64_t value);
int64_t get_option(const char* name);

// One of the runtime's own, for hot paths.
bool fallback_is_error();

}  // namespace oneflow

#endif  // ONEFLOW_DEVICE_OPTIONS_H_
