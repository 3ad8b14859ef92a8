// The OpenCL backend's device table.
#include <oneflow/device_plugin.h>

#include <cstdio>

#include "../grid/find_kernel.h"
#include "../grid/prepared.h"
#include "contraction.h"
#include "device.h"
#include "queue.h"

namespace oneflow::opencl {
namespace {

int32_t count() {
  if (devices().empty()) grid::fail(OF_DEVICE_ERROR, "%s", rejected().c_str());
  return static_cast<int32_t>(devices().size());
}

of_status get_info(of_device device, of_device_info* info) {
  const cl_device_id id = device_of(device).id;
  cl_ulong memory = 0;
  cl_uint units = 0;
  const cl_int code = clGetDeviceInfo(id, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof memory, &memory, nullptr);
  if (const of_status status = check(device, code, "query its memory"); status != OF_OK) return status;
  clGetDeviceInfo(id, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, nullptr);
  clGetDeviceInfo(id, CL_DEVICE_NAME, sizeof info->name, info->name, nullptr);
  info->total_memory = info->free_memory = memory;  // OpenCL cannot query free memory
  info->compute_units = units;
  return OF_OK;
}

constexpr of_device_table make_table() {
  of_device_table table{};
  table.struct_size = sizeof(of_device_table);
  table.api_version = OF_DEVICE_API_VERSION;
  table.name = "opencl";
  table.count = count;
  table.get_info = get_info;
  table.allocate = allocate;
  table.deallocate = deallocate;
  table.copy_from_host = copy;
  table.copy_to_host = copy;
  table.copy_within = copy;
  table.fill = fill;
  table.create_stream = create_stream;
  table.synchronize = synchronize;
  table.create_event = create_event;
  table.destroy_event = destroy_event;
  table.record_event = record_event;
  table.wait_event = wait_event;
  table.query_event = query_event;
  table.synchronize_event = synchronize_event;
  table.elapsed_time = elapsed_time;
  table.find_kernel = grid::find_kernel;
  table.contract = contract;
  table.discard_contraction = grid::discard_contraction;
  table.runtime_version = ONEFLOW_VERSION;
  return table;
}

constexpr of_device_table kTable = make_table();

}  // namespace
}  // namespace oneflow::opencl

extern "C" __attribute__((visibility("default"))) const of_device_table* oneflow_device_plugin(
    const of_host_table* host) {
  oneflow::grid::set_host(host);
  return &oneflow::opencl::kTable;
}
