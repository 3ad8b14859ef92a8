#include "device/host_table.h"

#include "base/error.h"
#include "base/interrupt.h"
#include "device/device.h"

namespace oneflow {
namespace {

of_status fail_from_plugin(of_status status, const char* text) { return set_device_error(status, text ? text : ""); }

of_status allocate_for_plugin(of_device device, uint64_t bytes, void** memory) {
  Device* found = device_or_null(device);
  if (!found) return set_device_error(OF_DEVICE_ERROR, "the runtime has no such device");
  try {
    found->require_usable();
    *memory = found->allocator().allocate(bytes, found->current().pool());
    return OF_OK;
  } catch (const Error& error) {
    return set_device_error(error.status(), error.what());
  } catch (...) {
    return set_device_error(OF_OUT_OF_MEMORY, "out of host memory");
  }
}

void release_for_plugin(of_device device, void* memory, uint64_t bytes) {
  Device* found = device_or_null(device);
  if (!found || !memory) return;
  guard([&] { found->allocator().deallocate(memory, bytes, found->current().pool()); });
}

// Does nothing for a device that is not registered: a plugin may report a lost device while it is loaded.
void lose_for_plugin(of_device device, const char* text) {
  if (Device* found = device_or_null(device)) found->lose(text);
}

}  // namespace

const of_host_table& host_table() {
  static const of_host_table table = {
      sizeof(of_host_table), OF_DEVICE_API_VERSION, fail_from_plugin, allocate_for_plugin,
      release_for_plugin,    lose_for_plugin,       is_interrupted,
  };
  return table;
}

}  // namespace oneflow
