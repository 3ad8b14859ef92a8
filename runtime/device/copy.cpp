#include "device/copy.h"

#include <algorithm>

#include "base/error.h"
#include "base/first_failure.h"
#include "device/device.h"
#include "device/work_observer.h"

namespace oneflow {

void copy_to_host(void* destination, of_device device, const void* source, uint64_t bytes) {
  if (bytes == 0) return;
  Device& from = get_device(device);
  Stream& stream = from.current();
  check(from.table().copy_to_host(device, destination, source, bytes, stream.handle()));
  stream.synchronize();
  note_other_work();
}

void copy_from_host(of_device device, void* destination, const void* source, uint64_t bytes) {
  if (bytes == 0) return;
  Device& to = get_device(device);
  Stream& stream = to.current();
  check(to.table().copy_from_host(device, destination, source, bytes, stream.handle()));
  stream.synchronize();  // the source may be reused when this returns
  if (work_observer) [[unlikely]]
    work_observer->see_upload(device, destination, source, bytes);
}

namespace {

// The bytes per chunk of a copy between two devices through host memory.
constexpr uint64_t kChunk = 4ull << 20;

// Temporary host memory for a copy between two devices: page-locked if one of them offers it and has enough.
class Staging {
 public:
  Staging(Device& to, Device& from, uint64_t bytes) : bytes_(bytes) {
    if (take(to.host_allocator()) || take(from.host_allocator())) return;
    allocator_ = &get_device(kHost).allocator();
    memory_ = allocator_->allocate(bytes);
  }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;
  ~Staging() { allocator_->deallocate(memory_, bytes_); }

  char* data() const { return static_cast<char*>(memory_); }

 private:
  bool take(Allocator* locked) {
    if (!locked) return false;
    try {
      memory_ = locked->allocate(bytes_);
    } catch (const Error& error) {
      if (error.status() != OF_OUT_OF_MEMORY) throw;
      return false;
    }
    allocator_ = locked;
    return true;
  }

  uint64_t bytes_;
  Allocator* allocator_ = nullptr;
  void* memory_ = nullptr;
};

// Copies through host memory in chunks. While one chunk is copied to the destination, the next one is copied to the
// other half of the host buffer.
void copy_staged(Device& to, char* destination, Device& from, const char* source, uint64_t bytes) {
  const uint64_t chunk = std::min(bytes, kChunk);
  const Staging staging(to, from, bytes > chunk ? 2 * chunk : chunk);
  Stream &to_stream = to.current(), &from_stream = from.current();
  FirstFailure failure;
  failure.keep_failure_of([&] {
    for (uint64_t done = 0, half = 0; done < bytes; done += chunk, half = chunk - half) {
      const uint64_t part = std::min(chunk, bytes - done);
      char* buffer = staging.data() + half;
      check(from.table().copy_to_host(from.id(), buffer, source + done, part, from_stream.handle()));
      from_stream.synchronize();
      to_stream.synchronize();  // the chunk before
      check(to.table().copy_from_host(to.id(), destination + done, buffer, part, to_stream.handle()));
    }
  });
  // The buffer must not be reused while a copy is running.
  failure.keep_failure_of([&] { from_stream.synchronize(); });
  failure.keep_failure_of([&] { to_stream.synchronize(); });
  failure.rethrow();
}

// Copies between two devices of one type without blocking the host: their streams wait for each other.
void copy_between_peers(Device& to, void* destination, Device& from, const void* source, uint64_t bytes) {
  const of_device_table& table = to.table();
  Stream &to_stream = to.current(), &from_stream = from.current();
  to_stream.depend_on(from_stream);
  check(table.copy_peer ? table.copy_peer(to.id(), destination, from.id(), source, bytes, to_stream.handle())
                        : table.copy_within(to.id(), destination, source, bytes, to_stream.handle()));
  from_stream.wait_for(to_stream);  // later work may overwrite the source
}

}  // namespace

void copy_bytes(of_device destination_device, void* destination, of_device source_device, const void* source,
                uint64_t bytes) {
  if (bytes == 0) return;
  Device& from = get_device(source_device);
  Device& to = get_device(destination_device);
  if (source_device == destination_device) {
    check(to.table().copy_within(destination_device, destination, source, bytes, to.stream()));
    if (work_observer) [[unlikely]]
      work_observer->see_copy(to.id(), destination, source, bytes);
  } else if (source_device.type == destination_device.type && (to.table().copy_peer || to.can_access(from))) {
    copy_between_peers(to, destination, from, source, bytes);
    note_other_work();
  } else if (from.host_accessible()) {
    from.current().synchronize();
    copy_from_host(destination_device, destination, source, bytes);
    note_other_work();
  } else if (to.host_accessible()) {
    to.current().synchronize();
    copy_to_host(destination, source_device, source, bytes);
  } else {
    copy_staged(to, static_cast<char*>(destination), from, static_cast<const char*>(source), bytes);
    note_other_work();
  }
}

void fill_bytes(of_device device, void* destination, uint8_t value, uint64_t bytes) {
  if (bytes == 0) return;
  Device& to = get_device(device);
  check(to.table().fill(device, destination, value, bytes, to.stream()));
  if (work_observer) [[unlikely]]
    work_observer->see_fill(device, destination, value, bytes);
}

}  // namespace oneflow
