#include "device/device.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <mutex>

#include "base/error.h"
#include "device/plugin_loading.h"

namespace oneflow {
namespace {

constexpr int kMostTypes = 64;

// All devices of one plugin.
struct DeviceType {
  of_device_table table;
  std::vector<std::unique_ptr<Device>> devices;
};

// Types are only ever added, so that readers need no lock: a type is complete before it becomes visible.
class Registry {
 public:
  // Never destroyed: tensors may outlive the process's static objects.
  static Registry& get() {
    static Registry& registry = *new Registry;
    return registry;
  }

  const DeviceType* type(int number) const {
    return static_cast<unsigned>(number) < kMostTypes ? types_[number].load(std::memory_order_acquire) : nullptr;
  }

  void add(of_device_plugin_function plugin, const std::string& origin) {
    auto type = std::make_unique<DeviceType>();
    type->table = accept_table(plugin, origin);
    const std::lock_guard lock(mutex_);
    for (int i = 0; i < count_; ++i)
      if (std::string_view(types_[i].load()->table.name) == type->table.name)
        fail(OF_DEVICE_ERROR, "cannot use the device plugin %s: there already is a device type '%s'", origin.c_str(),
             type->table.name);
    if (count_ == kMostTypes) fail(OF_DEVICE_ERROR, "there cannot be more than %d device types", kMostTypes);
    const int devices = count_devices(type->table, origin);
    for (int i = 0; i < devices; ++i)
      type->devices.push_back(
          std::make_unique<Device>(of_device{static_cast<int16_t>(count_), static_cast<int16_t>(i)}, type->table));
    if (count_ < kQuickTypes)
      for (int i = 0; i < std::min(devices, kQuickIndices); ++i)
        quick_devices[count_][i].store(type->devices[i].get(), std::memory_order_release);
    types_[count_++].store(type.release(), std::memory_order_release);
  }

  // Why discovered plugins are not there, one reason a line.
  const std::string& failures() const { return failures_; }

 private:
  Registry() {
    for (const of_device_plugin_function plugin : builtin_plugins()) add(plugin, "that is built in");
    for (const std::string& path : discover_plugins()) {
      std::string reason;
      try {
        if (probe_plugin(path, &reason)) add(open_plugin(path), path);
      } catch (const Error& error) {
        reason = error.text();
      }
      if (!reason.empty()) failures_ += "\n" + reason;
    }
  }

  std::mutex mutex_;
  int count_ = 0;
  std::array<std::atomic<DeviceType*>, kMostTypes> types_{};
  std::string failures_;
};

[[noreturn]] void fail_missing(const std::string& name) {
  std::string names;
  for (const of_device id : all_devices()) names += (names.empty() ? "" : ", ") + device_name(id);
  fail(OF_DEVICE_ERROR, "there is no device '%s'; there %s %s%s", name.c_str(),
       all_devices().size() == 1 ? "is only" : "are", names.empty() ? "none" : names.c_str(),
       Registry::get().failures().c_str());
}

}  // namespace

Device::Device(of_device id, const of_device_table& table)
    : id_(id), table_(table), allocator_(Allocator::create(table, id.index)) {}

of_stream Device::stream() {
  if (!table_.create_stream) return nullptr;
  std::call_once(stream_once_, [this] { check(table_.create_stream(index(), &stream_)); });
  return stream_;
}

void Device::synchronize() {
  if (table_.synchronize) check(table_.synchronize(index(), stream()));
}

constinit std::atomic<Device*> quick_devices[kQuickTypes][kQuickIndices] = {};

Device& find_device(of_device id) {
  const DeviceType* type = Registry::get().type(id.type);
  if (!type || static_cast<size_t>(static_cast<uint16_t>(id.index)) >= type->devices.size()) [[unlikely]]
    fail_missing(device_name(id));
  return *type->devices[id.index];
}

of_device parse_device(std::string_view name) {
  const size_t colon = name.find(':');
  const std::string_view type_name = name.substr(0, colon);
  int index = 0;
  if (colon != std::string_view::npos) {
    const char* end = name.data() + name.size();
    const auto [rest, error] = std::from_chars(name.data() + colon + 1, end, index);
    if (error != std::errc() || rest != end) fail_missing(std::string(name));
  }
  const Registry& registry = Registry::get();
  for (int number = 0; const DeviceType* type = registry.type(number); ++number) {
    if (type->table.name != type_name) continue;
    if (index < 0 || static_cast<size_t>(index) >= type->devices.size()) break;
    return {static_cast<int16_t>(number), static_cast<int16_t>(index)};
  }
  fail_missing(std::string(name));
}

std::string device_name(of_device id) {
  const DeviceType* type = Registry::get().type(id.type);
  if (!type) return format_text("device(%d:%d)", id.type, id.index);
  return format_text("%s:%d", type->table.name, id.index);
}

std::vector<of_device> all_devices() {
  std::vector<of_device> ids;
  const Registry& registry = Registry::get();
  for (int number = 0; const DeviceType* type = registry.type(number); ++number)
    for (const auto& device : type->devices) ids.push_back(device->id());
  return ids;
}

void load_device_plugin(const std::string& path) { Registry::get().add(open_plugin(path), path); }

}  // namespace oneflow
