#include "device/copy.h"

#include <memory>

#include "base/error.h"
#include "device/device.h"

namespace oneflow {

void copy_to_host(void* destination, of_device device, const void* source, uint64_t bytes) {
  if (bytes == 0) return;
  Device& from = get_device(device);
  check(from.table().copy_to_host(device, destination, source, bytes, from.stream()));
  from.synchronize();
}

void copy_from_host(of_device device, void* destination, const void* source, uint64_t bytes) {
  if (bytes == 0) return;
  Device& to = get_device(device);
  check(to.table().copy_from_host(device, destination, source, bytes, to.stream()));
  to.synchronize();  // the source may be reused when this returns
}

void copy_bytes(of_device destination_device, void* destination, of_device source_device, const void* source,
                uint64_t bytes) {
  if (bytes == 0) return;
  Device& from = get_device(source_device);
  Device& to = get_device(destination_device);
  if (source_device == destination_device) {
    check(to.table().copy_within(destination_device, destination, source, bytes, to.stream()));
  } else if (source_device.type == destination_device.type && to.table().copy_peer) {
    from.synchronize();
    check(to.table().copy_peer(destination_device, destination, source_device, source, bytes, to.stream()));
    to.synchronize();
  } else if (from.host_accessible()) {
    from.synchronize();
    copy_from_host(destination_device, destination, source, bytes);
  } else if (to.host_accessible()) {
    to.synchronize();
    copy_to_host(destination, source_device, source, bytes);
  } else {
    const auto staging = std::make_unique_for_overwrite<char[]>(bytes);
    copy_to_host(staging.get(), source_device, source, bytes);
    copy_from_host(destination_device, destination, staging.get(), bytes);
  }
}

void fill_bytes(of_device device, void* destination, uint8_t value, uint64_t bytes) {
  if (bytes == 0) return;
  Device& to = get_device(device);
  check(to.table().fill(device, destination, value, bytes, to.stream()));
}

}  // namespace oneflow
