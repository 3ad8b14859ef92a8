#include "plugin/host.h"

#include <cstdarg>
#include <cstdio>

namespace oneflow::cpu {

static const of_host_table* current_host = nullptr;

void set_host(const of_host_table* host) { current_host = host; }

void* allocate_counted(int64_t bytes) {
  void* memory = nullptr;
  const bool done = current_host->allocate(of_device{}, static_cast<uint64_t>(bytes), &memory) == OF_OK;
  return done ? memory : nullptr;
}

void release_counted(void* memory, int64_t bytes) {
  current_host->release(of_device{}, memory, static_cast<uint64_t>(bytes));
}

of_status fail(of_status status, const char* format, ...) {
  char text[512];
  va_list values;
  va_start(values, format);
  std::vsnprintf(text, sizeof text, format, values);
  va_end(values);
  return current_host->fail(status, text);
}

bool is_interrupted() { return current_host != nullptr && current_host->interrupted(); }

of_status fail_without_memory() { return fail(OF_OUT_OF_MEMORY, "not enough memory to work with"); }

of_status fail_with_exception() {
  try {
    throw;
  } catch (const Interrupted&) {
    return fail(OF_INTERRUPTED, "the work was interrupted");
  } catch (...) {
    return fail_without_memory();
  }
}

}  // namespace oneflow::cpu
