#include "host.h"

#include <pthread.h>

#include <cinttypes>
#include <cstdarg>
#include <cstdio>

namespace oneflow::grid {
namespace {

const of_host_table* host_table = nullptr;
bool is_forked = false;

}  // namespace

void set_host(const of_host_table* host) { host_table = host; }
const of_host_table& host() { return *host_table; }

of_status fail(of_status status, const char* format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return host().fail(status, text);
}

of_status fail_as_reported(const of_report& report) {
  const char* op = reinterpret_cast<const char*>(static_cast<uintptr_t>(report.op));
  if (report.code == OF_REPORT_DIVISION_BY_ZERO) return fail(OF_INVALID_ARGUMENT, "%s: division by zero", op);
  return fail(OF_INDEX_OUT_OF_RANGE, "%s: index %" PRId64 " is out of range for dimension %d of size %" PRId64, op,
              report.index, report.dim, report.size);
}

void watch_forks() {
  pthread_atfork(nullptr, nullptr, [] { is_forked = true; });
}

of_status check_process(const char* interface) {
  if (!is_forked) [[likely]]
    return OF_OK;
  return fail(OF_DEVICE_ERROR, "%s devices cannot be used in a process that was forked after their first use",
              interface);
}

}  // namespace oneflow::grid
