// The functions that the runtime gives this backend when it loads it, and the reporting of errors through them.
#ifndef ONEFLOW_DEVICES_CPU_PLUGIN_HOST_H_
#define ONEFLOW_DEVICES_CPU_PLUGIN_HOST_H_

#include <oneflow/device_plugin.h>

namespace oneflow::cpu {

// Keeps the table of the runtime's functions, which outlives the backend.
void set_host(const of_host_table* host);

// Allocate memory from the runtime's cache, so that it counts and its limit holds; NULL if there is none.
void* allocate_counted(int64_t bytes);
void release_counted(void* memory, int64_t bytes);

// Records a printf-style error text for the calling thread and returns `status`.
__attribute__((format(printf, 2, 3))) of_status fail(of_status status, const char* format, ...);

// Returns whether the work of this thread should end early.
bool is_interrupted();
// The exception that ends the work of a kernel early.
struct Interrupted {};

// Reports that a kernel could not allocate working memory.
of_status fail_without_memory();
// Reports the current exception of a kernel: that it was interrupted, or could not allocate working memory.
of_status fail_with_exception();

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_PLUGIN_HOST_H_
