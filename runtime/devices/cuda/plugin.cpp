// The CUDA backend's device table.
#include <oneflow/device_plugin.h>

#include <cstdio>

#include "../grid/find_kernel.h"
#include "../grid/prepared.h"
#include "communicator.h"
#include "contraction.h"
#include "device.h"
#include "memory.h"
#include "stream.h"

namespace oneflow::cuda {
namespace {

int32_t count() {
  if (device_count() == 0) grid::fail(OF_DEVICE_ERROR, "%s", why_none().c_str());
  return device_count();
}

of_status get_info(of_device device, of_device_info* info) {
  if (const of_status status = check_process(); status != OF_OK) return status;
  cudaDeviceProp properties{};
  const of_status status = check(device, cudaGetDeviceProperties(&properties, device.index), "query its properties");
  if (status != OF_OK) return status;
  std::snprintf(info->name, sizeof info->name, "%.127s", properties.name);
  info->total_memory = info->free_memory = properties.totalGlobalMem;
  info->compute_units = static_cast<uint32_t>(properties.multiProcessorCount);
  if (!is_in_use(device)) return OF_OK;  // the query below would create a context; listing devices must not
  const OnDevice on(device);
  if (on.status() != OF_OK) return on.status();
  size_t free = 0, total = 0;
  if (const of_status known = check(device, cudaMemGetInfo(&free, &total), "query its memory"); known != OF_OK)
    return known;
  info->free_memory = free;
  return OF_OK;
}

constexpr of_device_table make_table() {
  of_device_table table{};
  table.struct_size = sizeof(of_device_table);
  table.api_version = OF_DEVICE_API_VERSION;
  table.name = "cuda";
  table.count = count;
  table.get_info = get_info;
  table.allocate = allocate;
  table.deallocate = deallocate;
  table.copy_from_host = copy;
  table.copy_to_host = copy;
  table.copy_within = copy;
  table.fill = fill;
  table.create_stream = create_stream;
  table.destroy_stream = destroy_stream;
  table.synchronize = synchronize;
  table.query_stream = query_stream;
  table.create_event = create_event;
  table.destroy_event = destroy_event;
  table.record_event = record_event;
  table.wait_event = wait_event;
  table.query_event = query_event;
  table.synchronize_event = synchronize_event;
  table.elapsed_time = elapsed_time;
  table.copy_peer = copy_peer;
  table.can_access = can_access;
  table.allocate_host = allocate_host;
  table.free_host = free_host;
  table.find_kernel = grid::find_kernel;
  table.contract = contract;
  table.discard_contraction = grid::discard_contraction;
  table.set_option = set_option;
  table.get_option = get_option;
  table.communicator = &kCommunicator;
  table.runtime_version = ONEFLOW_VERSION;
  return table;
}

constexpr of_device_table kTable = make_table();

}  // namespace
}  // namespace oneflow::cuda

extern "C" __attribute__((visibility("default"))) const of_device_table* oneflow_device_plugin(
    const of_host_table* host) {
  oneflow::grid::set_host(host);
  return &oneflow::cuda::kTable;
}
