// Process-wide options by name: the runtime's own, and those of device plugins. Thread-safe.
#ifndef ONEFLOW_DEVICE_OPTIONS_H_
#define ONEFLOW_DEVICE_OPTIONS_H_

#include <cstdint>

namespace oneflow {

// Sets an option. Throws InvalidArgument if neither the runtime nor any device has the option, or if the value is
// outside its range.
void set_option(const char* name, int64_t value);
// Returns the value of an option. Throws InvalidArgument for an unknown name.
int64_t get_option(const char* name);

// Return the runtime's options "fallback_is_error" and "detect_anomaly", without a lookup by name.
bool fallback_is_error();
bool detects_anomalies();

}  // namespace oneflow

#endif  // ONEFLOW_DEVICE_OPTIONS_H_
