// The device table of the CPU backend, which of_cpu_device_plugin() returns to the runtime.
#include <oneflow/device_plugin.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "contract/contract.h"
#include "contract/kernels.h"
#include "plugin/control_group.h"
#include "plugin/environment.h"
#include "plugin/host.h"
#include "plugin/kernel_table.h"
#include "plugin/memory.h"
#include "simd/cache_sizes.h"
#include "threads/thread_pool.h"

namespace oneflow::cpu {
namespace {

// Returns the number of devices: 1, or the value of ONEFLOW_CPU_DEVICES, so that programs for several devices run on
// any machine. The devices share the cores; the runtime gives each its own allocator. They have no streams: work is
// done when a function of the table returns.
int32_t count() {
  static const int32_t devices = environment_number("ONEFLOW_CPU_DEVICES", 64, 1);
  return devices;
}

// Writes the processor's model name from /proc/cpuinfo, or "CPU" without one.
void read_name(char (&name)[128]) {
  std::snprintf(name, sizeof name, "CPU");
  std::FILE* file = std::fopen("/proc/cpuinfo", "r");
  if (file == nullptr) return;
  char line[256];
  while (std::fgets(line, sizeof line, file) != nullptr) {
    const char* colon = std::strchr(line, ':');
    if (colon == nullptr || std::strncmp(line, "model name", 10) != 0) continue;
    std::snprintf(name, sizeof name, "%.*s", static_cast<int>(std::strcspn(colon + 1, "\n")) - 1, colon + 2);
    break;
  }
  std::fclose(file);
}

of_status get_info(of_device, of_device_info* info) {
  read_name(info->name);
  const uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  info->total_memory = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * page;
  info->free_memory = static_cast<uint64_t>(sysconf(_SC_AVPHYS_PAGES)) * page;
  info->compute_units = static_cast<uint32_t>(sysconf(_SC_NPROCESSORS_ONLN));
  const GroupLimits limits = group_limits();
  if (limits.memory < info->total_memory) {
    info->total_memory = limits.memory;
    info->limited_by = "the control group";
  }
  info->free_memory = std::min(info->free_memory, limits.unused_memory);
  return OF_OK;
}

// Returns true: all CPU devices share the host's memory.
bool can_access(of_device, of_device) { return true; }

of_status set_option(const char* name, int64_t value) {
  if (std::strcmp(name, "num_threads") != 0) return fail(OF_UNSUPPORTED, "unknown option %s", name);
  if (value < 1 || value > kMaxThreads) {
    return fail(OF_INVALID_ARGUMENT, "num_threads must be between 1 and %d, got %lld", kMaxThreads,
                static_cast<long long>(value));
  }
  set_thread_count(static_cast<int>(value));
  return OF_OK;
}

of_status get_option(const char* name, int64_t* value) {
  if (std::strcmp(name, "num_threads") != 0) return fail(OF_UNSUPPORTED, "unknown option %s", name);
  *value = thread_count();
  return OF_OK;
}

of_status run_graph_tasks(int64_t count, void (*task)(void* context, int64_t index), void* context) {
  try {
    run_tasks(count, task, context);
    return OF_OK;
  } catch (...) {
    return fail_with_exception();
  }
}

constexpr of_graph_hooks kGraphHooks{sizeof(of_graph_hooks), kL2Bytes / 4, run_graph_tasks};

constexpr of_device_table make_table() {
  of_device_table table{};
  table.struct_size = sizeof(of_device_table);
  table.api_version = OF_DEVICE_API_VERSION;
  table.name = "cpu";
  table.count = count;
  table.get_info = get_info;
  table.host_accessible = true;
  table.allocate = allocate;
  table.deallocate = deallocate;
  table.copy_from_host = copy_bytes;
  table.copy_to_host = copy_bytes;
  table.copy_within = copy_bytes;
  table.fill = fill_bytes;
  table.copy_peer = copy_between;
  table.can_access = can_access;
  table.find_kernel = find_kernel;
  table.contract = contract;
  table.discard_contraction = discard_contraction;
  table.set_option = set_option;
  table.get_option = get_option;
  table.graph = &kGraphHooks;
  return table;
}

constexpr of_device_table kTable = make_table();

// Initializes the static variables of functions. No thread forks while the runtime asks for the plugin; later, a child
// would wait for a variable that another thread was initializing.
void initialize() {
  thread_count();
  last_level_bytes();
  of_kernel_entry none{};
  find_kernel({}, "", 0, OF_DTYPE_NONE, &none);
  for (const of_dtype dtype : {OF_FLOAT32, OF_BFLOAT16, OF_FLOAT64, OF_INT32, OF_INT64}) contract_kernels(dtype);
}

}  // namespace
}  // namespace oneflow::cpu

extern "C" const of_device_table* of_cpu_device_plugin(const of_host_table* host) {
  oneflow::cpu::set_host(host);
  oneflow::cpu::initialize();
  return &oneflow::cpu::kTable;
}
