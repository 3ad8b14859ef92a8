// Devices: the plugins behind them, by interned number.
#ifndef ONEFLOW_DEVICE_DEVICE_H_
#define ONEFLOW_DEVICE_DEVICE_H_

#include <oneflow/device_plugin.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "device/allocator.h"

namespace oneflow {

// The first device of the first type, which is the built-in one: it runs what others lack.
inline constexpr of_device kHost{0, 0};

inline bool operator==(of_device a, of_device b) { return a.type == b.type && a.index == b.index; }

// One device: its plugin's table, its allocator, and the stream that all work on it goes through.
class Device {
 public:
  Device(of_device id, const of_device_table& table);
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  of_device id() const { return id_; }
  const of_device_table& table() const { return table_; }
  bool host_accessible() const { return table_.host_accessible; }
  // Words for what the plugin's table offers, see of_device_properties.
  const char* capabilities() const { return capabilities_.c_str(); }
  // Whether work goes on after the call that began it, or lies where only copies reach.
  bool waits() const { return table_.create_stream != nullptr || !table_.host_accessible; }
  Allocator& allocator() { return allocator_; }
  // Of page-locked host memory; NULL where the plugin offers none.
  Allocator* host_allocator();
  // Gives unused memory of both kinds back.
  void empty_cache() noexcept;
  // NULL where the plugin has no streams: work is then done when its hook returns.
  of_stream stream() {
    if (!has_stream_.load(std::memory_order_acquire)) [[unlikely]]
      make_stream();
    return stream_;
  }
  // Waits for all submitted work, and for that of the devices whose results it took since; throws the first error.
  void synchronize();
  // Later work of this device waits for what was submitted to `other`, a device of the same type: without the host
  // where the plugin has events.
  void wait_for(Device& other);
  // The same, and later work takes results of `other`: an error there is one here as well.
  void depend_on(Device& other);
  // Whether work of this device may read and write the memory of `other`.
  bool can_access(const Device& other) const;

  // From now on find_device() fails with this text, and the plugin is not asked for the device any more. Whoever has
  // the device at hand may still use it once.
  void lose(const char* text);
  // The text; NULL for a device that is there.
  const char* lost() const { return lost_.load(std::memory_order_acquire); }
  // DeviceError for a lost device.
  void require_usable() const;

 private:
  void make_stream();
  Device* take_source();  // NULL when there is none left
  of_event take_event();
  void give_event(of_event event) noexcept;

  of_device id_;
  const of_device_table& table_;
  Allocator& allocator_;
  const std::string capabilities_;
  std::mutex mutex_;  // of what is made when it is first asked for
  std::atomic<bool> has_stream_;
  of_stream stream_ = nullptr;
  std::atomic<Allocator*> host_allocator_{nullptr};
  of_event events_[4];  // at hand for wait_for()
  int event_count_ = 0;
  std::vector<Device*> sources_;  // what synchronize() has to ask for errors as well
  std::atomic<const char*> lost_{nullptr};
};

// The device, lost or not; NULL when none with that number is known yet. For what plugins ask.
Device* device_or_null(of_device id);

// The device, lost or not; DeviceError when there is none with that number.
Device& known_device(of_device id);

// The device; DeviceError when there is none with that number, or it is lost.
Device& find_device(of_device id);

// For hot paths: the first devices of the first types lie in a table, which lost ones are taken from. NULL where the
// table does not have it.
inline constexpr int kQuickTypes = 8, kQuickIndices = 8;
extern std::atomic<Device*> quick_devices[kQuickTypes][kQuickIndices];
inline Device* quick_device(of_device id) {
  if (static_cast<unsigned>(id.type) < kQuickTypes && static_cast<unsigned>(id.index) < kQuickIndices) [[likely]]
    return quick_devices[id.type][id.index].load(std::memory_order_acquire);
  return nullptr;
}
// As find_device().
inline Device& get_device(of_device id) {
  Device* device = quick_device(id);
  return device ? *device : find_device(id);
}

// "cpu" or "cpu:1" to a device; DeviceError that lists the devices when there is none.
of_device parse_device(std::string_view name);
// "cpu:0"; "device(3:1)" for one that does not exist.
std::string device_name(of_device id);
// All devices, of all types, in the order of registration.
std::vector<of_device> all_devices();
// Those that are there without looking for plugins.
std::vector<of_device> devices_in_use();

// A plugin that was found and gives no devices.
struct RejectedPlugin {
  std::string path;
  std::string reason;
};
const std::vector<RejectedPlugin>& rejected_plugins();

// Loads a plugin from a shared library. DeviceError with the path and the reason.
void load_device_plugin(const std::string& path);

}  // namespace oneflow

#endif  // ONEFLOW_DEVICE_DEVICE_H_
