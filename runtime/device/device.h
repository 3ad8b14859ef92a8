// Devices and the registry of device types. A type has an interned number, a plugin's table, and its devices.
#ifndef ONEFLOW_DEVICE_DEVICE_H_
#define ONEFLOW_DEVICE_DEVICE_H_

#include <oneflow/device_plugin.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "device/allocator.h"

namespace oneflow {

// The first device of the built-in type, which is registered first. It runs the operators that other devices lack.
inline constexpr of_device kHost{0, 0};

inline bool operator==(of_device a, of_device b) { return a.type == b.type && a.index == b.index; }

// A device: its plugin's table, its allocator, and the one stream of all its work. Thread-safe. Devices are never
// destroyed.
class Device {
 public:
  Device(of_device id, const of_device_table& table);
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  of_device id() const { return id_; }
  const of_device_table& table() const { return table_; }
  bool host_accessible() const { return table_.host_accessible; }
  // Returns the capabilities that the plugin's table has; see of_device_properties.
  const char* capabilities() const { return capabilities_.c_str(); }
  // Returns whether access to elements by the host may block: the device is asynchronous, or its memory must be copied.
  bool waits() const { return table_.create_stream != nullptr || !table_.host_accessible; }
  Allocator& allocator() { return allocator_; }
  // Returns the allocator of page-locked host memory; null if the plugin has none.
  Allocator* host_allocator();
  // Returns unused memory of both allocators to the device.
  void empty_cache() noexcept;
  // Returns the device's stream, which the first call creates. Null if the plugin has no streams; all work is then done
  // when its hook returns. Throws the device's error.
  of_stream stream() {
    if (!has_stream_.load(std::memory_order_acquire)) [[unlikely]]
      make_stream();
    return stream_;
  }
  // Waits for all work submitted to this device, and to the devices that it depends on (see depend_on()). Throws the
  // first error of that work.
  void synchronize();
  // Calls deleter(context) once the work submitted so far is done, which may read foreign memory: at once if the device
  // has no streams, otherwise within the next synchronize(), on the thread that calls it.
  void release_after_work(of_deleter deleter, void* context) noexcept;
  // Orders later work of this device after the work submitted to `other`, a device of the same type. Blocks the host
  // only if the plugin has no events.
  void wait_for(Device& other);
  // Like wait_for(), for later work that reads results of `other`: the next synchronize() of this device also reports
  // the errors of `other`.
  void depend_on(Device& other);
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
  // Foreign memory to release.
  struct Release {
    of_deleter deleter;
    void* context;
  };
  void make_stream();
  // Waits for all work submitted to this device, calls the deleters that wait for it, and throws its first error.
  void wait();
  // Keeps an error of work for the next synchronize().
  void keep_failure(const Error& error) noexcept;
  // Removes and returns the error that was kept; null if there is none.
  std::unique_ptr<const Error> take_failure();
  // Removes and returns all of releases_.
  std::vector<Release> take_releases();
  // Removes and returns one of sources_; null if there is none.
  Device* take_source();
  // Returns an unused event, from events_ or a new one.
  of_event take_event();
  // Keeps an event for reuse, or destroys it.
  void return_event(of_event event) noexcept;

  of_device id_;
  const of_device_table& table_;
  Allocator& allocator_;
  const std::string capabilities_;
  // Guards the creation of stream_ and host_allocator_, and events_, releases_, failure_ and sources_.
  ForkSafe<std::mutex> mutex_{LockLevel::kDevice};
  std::atomic<bool> has_stream_;
  of_stream stream_ = nullptr;
  std::atomic<Allocator*> host_allocator_{nullptr};
  of_event events_[4];  // unused events, for wait_for()
  int event_count_ = 0;
  std::vector<Release> releases_;         // for the next wait()
  std::unique_ptr<const Error> failure_;  // of work, for the next synchronize()
  std::vector<Device*> sources_;  // the devices that later work depends on, which synchronize() also synchronizes
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

// A plugin that was discovered and provides no devices.
struct RejectedPlugin {
  std::string path;
  std::string reason;
};
// Discovers plugins, and returns those without devices. The list lives as long as the process.
const std::vector<RejectedPlugin>& rejected_plugins();

// Loads a plugin from a shared library, and registers its devices. Throws DeviceError with the path and the reason.
void load_device_plugin(const std::string& path);

}  // namespace oneflow

#endif  // ONEFLOW_DEVICE_DEVICE_H_
