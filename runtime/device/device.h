// Devices and the registry of device types. A type has an interned number, a plugin's table, and its devices.
#ifndef ONEFLOW_DEVICE_DEVICE_H_
#define ONEFLOW_DEVICE_DEVICE_H_

#include <oneflow/device_plugin.h>

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "device/allocator.h"
#include "device/stream.h"

namespace oneflow {

// The first device of the built-in type, which is registered first. It runs the operators that other devices lack.
inline constexpr of_device kHost{0, 0};

inline bool operator==(of_device a, of_device b) { return a.type == b.type && a.index == b.index; }

// A device: its plugin's table, its allocator, and its streams. Thread-safe. Devices are never destroyed.
class Device {
 public:
  // `notes` are those of of_device_properties.
  Device(of_device id, const of_device_table& table, std::string notes = "");
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  of_device id() const { return id_; }
  const of_device_table& table() const { return table_; }
  bool host_accessible() const { return table_.host_accessible; }
  // Returns the capabilities that the plugin's table has; see of_device_properties.
  const char* capabilities() const { return capabilities_.c_str(); }
  const char* notes() const { return notes_.c_str(); }
  // Returns whether access to elements by the host may block: the device is asynchronous, or its memory must be copied.
  bool waits() const { return table_.create_stream != nullptr || !table_.host_accessible; }
  Allocator& allocator() { return allocator_; }
  // Returns the allocator of page-locked host memory; null if the plugin has none.
  Allocator* host_allocator();
  // Returns unused memory of both allocators to the device.
  void empty_cache() noexcept;

  // Returns the stream of the threads that choose no other one.
  Stream& default_stream() { return default_; }
  // Returns the calling thread's current stream. Throws if that was closed.
  Stream& current() {
    if (chosen_streams.count == 0) [[likely]]
      return default_;
    return chosen_streams.of(*this);
  }
  // Returns the plugin's stream of current().
  of_device_stream stream() { return current().handle(); }
  // Returns an open stream by its number; null if there is none.
  Stream* find_stream(uint64_t id);
  // Opens another stream. Throws Unsupported if the plugin has only one.
  Stream& open_stream();
  // Closes such a stream once its work is done. Throws the error of that work after the stream was closed. Throws
  // InvalidArgument if another thread has closed it.
  void close_stream(Stream& stream);
  // Waits for all work submitted to all streams of this device, and to the streams that they depend on. Throws the
  // first error of that work.
  void synchronize();

  // Returns an unused event, from events_ or a new one. For Event.
  of_device_event take_event();
  // Keeps an event for reuse, or destroys it.
  void return_event(of_device_event event) noexcept;

  // Returns whether work of this device may read and write the memory of `other`.
  bool can_access(const Device& other) const;

  // Marks the device as permanently lost: find_device() fails with this text, and the runtime calls no more hooks for
  // it. Threads that already hold the device may still call one hook.
  void lose(const char* text);
  // Returns the reason why the device is lost; null for a usable device.
  const char* lost() const { return lost_.load(std::memory_order_acquire); }
  // Throws DeviceError if the device is lost.
  void require_usable() const;

 private:
  std::vector<Stream*> streams();

  of_device id_;
  const of_device_table& table_;
  Allocator& allocator_;
  const std::string capabilities_, notes_;
  Stream default_;
  ForkSafe<std::mutex> mutex_{LockLevel::kDevice};  // guards the next four members
  std::atomic<Allocator*> host_allocator_{nullptr};
  std::deque<Stream> streams_;  // without the default one
  of_device_event events_[16];  // unused events without times
  int event_count_ = 0;
  std::atomic<const char*> lost_{nullptr};
};

// Returns a device, lost or not; null if no such device is registered so far. Does not start the registry, so that
// plugins may call it while they are being discovered.
Device* device_or_null(of_device id);

// Returns a device, lost or not. Throws DeviceError if it does not exist.
Device& known_device(of_device id);

// Returns a device. Throws DeviceError if it does not exist or is lost.
Device& find_device(of_device id);

// A table of the first devices of the first types, for lookups without a function call. It does not hold lost devices.
inline constexpr int kQuickTypes = 8, kQuickIndices = 8;
extern std::atomic<Device*> quick_devices[kQuickTypes][kQuickIndices];
// Returns a device from the table; null if the table does not hold it.
inline Device* quick_device(of_device id) {
  if (static_cast<unsigned>(id.type) < kQuickTypes && static_cast<unsigned>(id.index) < kQuickIndices) [[likely]]
    return quick_devices[id.type][id.index].load(std::memory_order_acquire);
  return nullptr;
}
// Returns a device, like find_device(), but faster.
inline Device& get_device(of_device id) {
  Device* device = quick_device(id);
  return device ? *device : find_device(id);
}

// Parses "cpu" or "cpu:1". Discovers plugins if no registered device has the name. Throws DeviceError, with a list of
// the devices, if there is none.
of_device parse_device(std::string_view name);
// Returns the name of a device, "cpu:0", or "device(3:1)" if its type does not exist.
std::string device_name(of_device id);
// Discovers plugins, and returns all devices of all types in the order of registration.
std::vector<of_device> all_devices();
// Returns the devices that are registered without discovering plugins.
std::vector<of_device> devices_in_use();
// Returns the number of devices of a registered type.
size_t device_count(int type);
// Returns an open stream of any device by the number of its of_stream; null if there is none.
Stream* find_stream(uint64_t id);

// A plugin that was discovered and provides no devices.
struct RejectedPlugin {
  std::string path;
  std::string reason;
};
// Discovers plugins, and returns those without devices. The list lives as long as the process.
const std::vector<RejectedPlugin>& rejected_plugins();

// Loads a plugin from a shared library, and registers its devices. Throws DeviceError with the path and the reason.
void load_device_plugin(const std::string& path);

// Adds a file or folder to those in which plugins are searched for. Throws DeviceError if the search is over.
void add_device_path(const char* path);

}  // namespace oneflow

#endif  // ONEFLOW_DEVICE_DEVICE_H_
