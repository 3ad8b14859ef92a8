// Settings of the backend that environment variables make.
#ifndef ONEFLOW_DEVICES_CPU_PLUGIN_ENVIRONMENT_H_
#define ONEFLOW_DEVICES_CPU_PLUGIN_ENVIRONMENT_H_

#include <string_view>

namespace oneflow::cpu {

// Returns the integer that a variable is set to; `otherwise` if it is not set, or is empty. Another value than an
// integer from 1 to `most` counts as not set, which is reported on standard error.
int environment_number(const char* name, int most, int otherwise);

// Reports on standard error that a variable, which must be `expected`, has another value and is ignored.
void report_ignored(const char* name, const char* expected, std::string_view value);

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_PLUGIN_ENVIRONMENT_H_
