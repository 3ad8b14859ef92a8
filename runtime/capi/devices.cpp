// The C API: devices and their memory.
#include <cstdio>

#include "capi/boundary.h"
#include "device/device.h"
#include "tensor/defaults.h"

using namespace oneflow;

namespace {

constexpr size_t kNameBytes = 64;  // the size of the buffer of of_device_name()

}  // namespace

size_t of_device_count(void) {
  size_t count = 0;
  guard([&] { count = all_devices().size(); });
  return count;
}

of_device of_device_at(size_t position) {
  of_device device{-1, -1};
  guard([&] {
    const auto devices = all_devices();
    if (position < devices.size()) device = devices[position];
  });
  return device;
}

of_status of_device_parse(const char* name, of_device* device) {
  return guard([&, function = __func__] {
    require(name, function, "name");
    require(device, function, "device");
    *device = parse_device(name);
  });
}

const char* of_device_name(of_device device, char* buffer) {
  if (!buffer) return "";
  buffer[0] = '\0';
  guard([&] { std::snprintf(buffer, kNameBytes, "%s", device_name(device).c_str()); });
  return buffer;
}

of_status of_device_get_properties(of_device device, of_device_properties* properties) {
  return guard([&, function = __func__] {
    const Device& found = get_device(device);
    of_device_info info{};
    info.struct_size = sizeof(info);
    check(found.table().get_info(device, &info));
    of_device_properties result{};
    // The last byte stays 0, in case the device has not terminated the name.
    std::memcpy(result.name, info.name, sizeof(result.name) - 1);
    result.compute_units = info.compute_units;
    result.total_memory = info.total_memory;
    result.free_memory = info.free_memory;
    result.capabilities = found.capabilities();
    result.notes = found.notes();
    write_struct(properties, result, function, "properties");
  });
}

size_t of_rejected_plugin_count(void) {
  size_t count = 0;
  guard([&] { count = rejected_plugins().size(); });
  return count;
}

of_status of_rejected_plugin_at(size_t position, const char** path, const char** reason) {
  return guard([&, function = __func__] {
    require(path, function, "path");
    require(reason, function, "reason");
    const auto& plugins = rejected_plugins();
    if (position >= plugins.size())
      fail(OF_INDEX_OUT_OF_RANGE, "%s: position must be below %zu, got %zu", function, plugins.size(), position);
    *path = plugins[position].path.c_str();
    *reason = plugins[position].reason.c_str();
  });
}

of_device of_default_device(void) { return default_device(); }

of_status of_set_default_device(of_device device) {
  return guard([&] { set_default_device(device); });
}

of_status of_load_device(const char* path) {
  return guard([&, function = __func__] {
    require(path, function, "path");
    named("load_device", [&] {
      require_file_name(path);
      load_device_plugin(path);
    });
  });
}

of_status of_add_device_path(const char* path) {
  return guard([&, function = __func__] {
    require(path, function, "path");
    add_device_path(path);
  });
}

bool of_device_waits(of_device device) {
  bool waits = false;
  guard([&] { waits = known_device(device).waits(); });
  return waits;
}

of_status of_synchronize(of_device device) {
  return guard([&] { get_device(device).synchronize(); });
}

of_status of_get_memory_statistics(of_device device, of_memory_statistics* statistics) {
  return guard([&, function = __func__] {
    const MemoryStatistics now = known_device(device).allocator().statistics();
    of_memory_statistics result{};
    result.in_use = now.in_use;
    result.peak_in_use = now.peak_in_use;
    result.cached = now.cached;
    result.limit = now.limit;
    result.tensors = Tensor::live_count();
    write_struct(statistics, result, function, "statistics");
  });
}

of_status of_reset_peak_memory(of_device device) {
  return guard([&] { known_device(device).allocator().reset_peak(); });
}

of_status of_empty_cache(of_device device) {
  return guard([&] { known_device(device).empty_cache(); });
}

of_status of_set_memory_limit(of_device device, uint64_t bytes) {
  return guard([&] { known_device(device).allocator().set_limit(bytes); });
}

void of_set_memory_pressure_callback(of_memory_pressure_callback callback, void* context) {
  set_memory_pressure_callback(callback, context);
}
