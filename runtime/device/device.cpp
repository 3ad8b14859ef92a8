#include "device/device.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <utility>

#include "base/characters.h"
#include "base/error.h"
#include "base/first_failure.h"
#include "device/host_table.h"
#include "device/plugin_loading.h"
#include "device/plugin_probe.h"
#include "device/plugin_table.h"
#include "device/uses.h"

namespace oneflow {
namespace {

constexpr int kMaxTypes = 64;

// A device type: a plugin's table and its devices.
struct DeviceType {
  of_device_table table;
  std::string reason;  // why there are no devices; empty if there are any
  std::vector<std::unique_ptr<Device>> devices;
};

// The registry of device types. Types are never removed, and complete before they become visible, so that readers need
// no lock.
class Registry {
 public:
  // Returns the registry after the discovery of plugins. Drivers take long to load, so functions that do not need all
  // devices use builtin().
  static Registry& get() {
    Registry& registry = builtin();
    registry.once(registry.is_discovered_, [&] { registry.discover(); });
    return registry;
  }

  // Returns the registry with at least the built-in types.
  static Registry& builtin() {
    Registry& registry = instance();
    registry.once(registry.is_started_, [&] { registry.start(); });
    return registry;
  }

  // Returns the registry in its current state, also during discovery. Never destroyed: tensors may outlive the
  // process's static objects.
  static Registry& instance() { return registry_; }

  // Returns a type; null if there is none with this number.
  const DeviceType* type(int number) const {
    return static_cast<unsigned>(number) < kMaxTypes ? types_[number].load(std::memory_order_acquire) : nullptr;
  }

  // Returns a device; null if it does not exist.
  Device* device(of_device id) const {
    const DeviceType* of_type = type(id.type);
    const auto index = static_cast<size_t>(static_cast<uint16_t>(id.index));
    return of_type && index < of_type->devices.size() ? of_type->devices[index].get() : nullptr;
  }

  // Registers a plugin; `origin` names it in error texts. Throws DeviceError if it cannot be used.
  const DeviceType& add(of_device_plugin_function plugin, const std::string& origin, const std::string& notes = "") {
    auto type = std::make_unique<DeviceType>();
    type->table = accept_table(plugin, host_table(), origin);
    const std::lock_guard lock(mutex_);
    for (int i = 0; i < count_; ++i)
      if (std::string_view(types_[i].load()->table.name) == type->table.name)
        fail(OF_DEVICE_ERROR, "cannot use the device plugin %s: there already is a device type '%s'", origin.c_str(),
             type->table.name);
    if (count_ == kMaxTypes) fail(OF_DEVICE_ERROR, "there cannot be more than %d device types", kMaxTypes);
    const int devices = count_devices(type->table, origin, &type->reason);
    for (int i = 0; i < devices; ++i)
      type->devices.push_back(std::make_unique<Device>(of_device{static_cast<int16_t>(count_), static_cast<int16_t>(i)},
                                                       type->table, notes));
    if (count_ < kQuickTypes)
      for (int i = 0; i < std::min(devices, kQuickIndices); ++i)
        quick_devices[count_][i].store(type->devices[i].get(), std::memory_order_release);
    const DeviceType& added = *type;
    types_[count_++].store(type.release(), std::memory_order_release);
    return added;
  }

  // Finds a registered device by its name.
  std::optional<of_device> find(std::string_view type_name, int index) const {
    for (int number = 0; const DeviceType* of_type = type(number); ++number) {
      if (of_type->table.name != type_name) continue;
      if (index < 0 || static_cast<size_t>(index) >= of_type->devices.size()) break;
      return of_device{static_cast<int16_t>(number), static_cast<int16_t>(index)};
    }
    return std::nullopt;
  }

  std::vector<of_device> devices() const {
    std::vector<of_device> ids;
    for (int number = 0; const DeviceType* of_type = type(number); ++number)
      for (const auto& device : of_type->devices) ids.push_back(device->id());
    return ids;
  }

  // Adds a file or folder to those in which plugins are searched for, once. Throws if the search is over.
  void add_path(const char* path) {
    const std::lock_guard lock(steps_mutex_);
    if (std::find(added_paths_.begin(), added_paths_.end(), path) != added_paths_.end()) return;
    if (is_discovered_.load())
      fail(OF_DEVICE_ERROR,
           "cannot search for devices in %s: the search is over; name the path earlier, or in ONEFLOW_DEVICE_PATH",
           path);
    added_paths_.emplace_back(path);
  }

  const std::vector<RejectedPlugin>& rejected() const { return rejected_; }
  // Describes where plugins were searched for.
  const std::string& search_path() const { return search_path_; }

 private:
  // Calls step() unless it is done. If it throws, the next call tries again. Unlike std::call_once(), this works in a
  // child that was forked while another thread was in step(), and returns at once if step() itself comes here again.
  template <class Step>
  void once(std::atomic<bool>& is_done, Step step) {
    if (is_done.load(std::memory_order_acquire)) [[likely]]
      return;
    const std::lock_guard lock(steps_mutex_);
    if (is_done.load(std::memory_order_relaxed) || current_step_ == &is_done) return;
    struct Current {
      const void*& current;
      const void* const before;
      ~Current() { current = before; }
    } const restore{current_step_, std::exchange(current_step_, &is_done)};
    step();
    is_done.store(true, std::memory_order_release);
  }

  // Registers the built-in types. If this throws for lack of memory, the next call continues.
  void start() {
    const auto builtin = builtin_plugins();
    while (static_cast<size_t>(count_) < builtin.size()) add(builtin[count_], "that is built in");
  }

  // Registers the plugins that are found, and records those without devices.
  void discover() {
    rejected_.clear();
    search_path_ = describe_search_path(added_paths_);  // the environment may change later
    for (const std::string& path : discover_plugins(added_paths_)) {
      std::string reason;
      try {
        const Probe probe = probe_plugin(path);
        reason = probe.is_usable ? add(open_plugin(path), path, probe.text).reason : probe.text;
      } catch (const Error& error) {
        reason = error.text();
      }
      if (!reason.empty()) rejected_.push_back({path, reason});
    }
  }

  ForkSafe<std::mutex> mutex_{LockLevel::kRegistry};
  // Held for as long as plugins are discovered.
  ForkSafe<RecursiveMutex> steps_mutex_{LockLevel::kDiscovery};
  const void* current_step_ = nullptr;
  std::atomic<bool> is_started_{false}, is_discovered_{false};
  int count_ = 0;
  std::array<std::atomic<DeviceType*>, kMaxTypes> types_{};
  std::vector<RejectedPlugin> rejected_;
  std::string search_path_;
  std::vector<std::string> added_paths_;

  static Registry& registry_;
};

Registry& Registry::registry_ = *new Registry;

// Throws DeviceError with a list of all devices. If no device has the type in `name`, the text also gives the reasons
// of the rejected plugins, and where plugins were searched for.
[[noreturn]] void fail_missing(const std::string& name) {
  std::string names;
  const std::string_view type_name = std::string_view(name).substr(0, name.find(':'));
  bool has_type = false;
  for (const of_device id : all_devices()) {
    names += (names.empty() ? "" : ", ") + device_name(id);
    has_type |= Registry::get().type(id.type)->table.name == type_name;
  }
  std::string text = "there is no device '" + printable(name) + "'; there " +
                     (all_devices().size() == 1 ? "is only " : "are ") + (names.empty() ? "none" : names);
  if (!has_type) {
    for (const RejectedPlugin& plugin : rejected_plugins()) text += "\n" + plugin.reason;
    text += "\nplugins are looked for in " + Registry::get().search_path();
  }
  fail(OF_DEVICE_ERROR, "%s", text.c_str());
}

std::string describe_capabilities(const of_device_table& table) {
  const struct {
    const char* word;
    bool is_there;
  } capabilities[] = {
      {"kernels", table.find_kernel != nullptr},        {"contractions", table.contract != nullptr},
      {"asynchronous", table.create_stream != nullptr}, {"peer_copies", table.copy_peer != nullptr},
      {"streams", table.destroy_stream != nullptr},     {"pinned_memory", table.allocate_host != nullptr},
      {"host_accessible", table.host_accessible},
  };
  std::string words;
  for (const auto& capability : capabilities)
    if (capability.is_there) words.append(words.empty() ? "" : " ").append(capability.word);
  return words;
}

}  // namespace

Device::Device(of_device id, const of_device_table& table, std::string notes)
    : id_(id),
      table_(table),
      allocator_(Allocator::create(device_memory(table, id))),
      capabilities_(describe_capabilities(table)),
      notes_(std::move(notes)),
      default_(*this, true) {
  allocator_.set_stream(default_);
}

void Device::require_usable() const {
  if (const char* reason = lost()) fail(OF_DEVICE_ERROR, "%s is lost: %s", device_name(id_).c_str(), reason);
}

Allocator* Device::host_allocator() {
  if (!table_.allocate_host) return nullptr;
  if (Allocator* known = host_allocator_.load(std::memory_order_acquire)) return known;
  const std::lock_guard lock(mutex_);
  if (Allocator* known = host_allocator_.load(std::memory_order_relaxed)) return known;
  Allocator& created = Allocator::create(page_locked_memory(table_, id_));
  host_allocator_.store(&created);
  // lose() may run at the same time: it sees the allocator, or this sees that the device is lost.
  if (lost_.load()) created.lose();
  return &created;
}

void Device::empty_cache() noexcept {
  allocator_.empty_cache();
  if (Allocator* of_host = host_allocator_.load(std::memory_order_acquire)) of_host->empty_cache();
}

std::vector<Stream*> Device::streams() {
  std::vector<Stream*> open{&default_};
  const std::lock_guard lock(mutex_);
  for (Stream& each : streams_)
    if (each.id() != 0) open.push_back(&each);
  return open;
}

Stream* Device::find_stream(uint64_t id) {
  for (Stream* each : streams())
    if (id != 0 && each->id() == id) return each;
  return nullptr;
}

Stream& Device::open_stream() {
  require_usable();
  if (!table_.create_stream)
    fail(OF_UNSUPPORTED, "%s has only its default stream, because it works synchronously", device_name(id_).c_str());
  if (!table_.destroy_stream)
    fail(OF_UNSUPPORTED, "%s has only its default stream, because its plugin has no others", device_name(id_).c_str());
  default_.handle();  // is the first one that the plugin creates
  of_device_stream handle = nullptr;
  check(table_.create_stream(id_, &handle));
  uses_are_noted.store(true);
  try {
    const std::lock_guard lock(mutex_);
    const auto closed =
        std::find_if(streams_.begin(), streams_.end(), [](const Stream& each) { return !each.is_open(); });
    Stream& opened = closed == streams_.end() ? streams_.emplace_back(*this, false) : *closed;
    opened.open(handle);
    return opened;
  } catch (const std::bad_alloc&) {
    table_.destroy_stream(id_, handle);
    throw;
  }
}

void Device::close_stream(Stream& stream) {
  if (!stream.hide()) fail(OF_INVALID_ARGUMENT, "the stream was destroyed by another thread");
  FirstFailure failure;
  failure.keep_failure_of([&] { stream.synchronize(); });
  const of_device_stream handle = stream.close();
  if (!lost()) table_.destroy_stream(id_, handle);
  failure.rethrow();
}

void Device::synchronize() {
  if (!table_.synchronize) return require_usable();  // then there are no streams, and nothing waits
  FirstFailure failure;
  for (Stream* each : streams()) failure.keep_failure_of([&] { each->synchronize(); });
  failure.rethrow();
}

of_device_event Device::take_event() {
  {
    const std::lock_guard lock(mutex_);
    if (event_count_ > 0) return events_[--event_count_];
  }
  of_device_event event = nullptr;
  check(table_.create_event(id_, false, &event));
  return event;
}

void Device::return_event(of_device_event event) noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (event_count_ < static_cast<int>(std::size(events_))) {
      events_[event_count_++] = event;
      return;
    }
  }
  if (!lost()) table_.destroy_event(id_, event);
}

bool Device::can_access(const Device& other) const {
  if (id_ == other.id_) return true;
  return id_.type == other.id_.type && table_.can_access && table_.can_access(id_, other.id_);
}

void Device::lose(const char* text) {
  char* copy = strdup(text ? text : "the device gave no reason");
  const char* none = nullptr;
  if (!lost_.compare_exchange_strong(none, copy ? copy : "")) return std::free(copy);  // keeps the first reason
  allocator_.lose();
  if (Allocator* of_host = host_allocator_.load()) of_host->lose();
  if (id_.type < kQuickTypes && id_.index < kQuickIndices) quick_devices[id_.type][id_.index].store(nullptr);
}

constinit std::atomic<Device*> quick_devices[kQuickTypes][kQuickIndices] = {};

Device* device_or_null(of_device id) { return Registry::instance().device(id); }

Device& known_device(of_device id) {
  Device* device = Registry::builtin().device(id);
  if (!device) [[unlikely]]
    fail_missing(device_name(id));
  return *device;
}

Device& find_device(of_device id) {
  Device& device = known_device(id);
  device.require_usable();
  return device;
}

of_device parse_device(std::string_view name) {
  const size_t colon = name.find(':');
  const std::string_view type_name = name.substr(0, colon);
  int index = 0;
  if (colon != std::string_view::npos) {
    const std::string_view number = name.substr(colon + 1);
    std::from_chars(number.data(), number.data() + number.size(), index);
    // Rejects what is not printed the same way: strings that are not a number, "-0", "01".
    if (std::to_string(index) != number) fail_missing(std::string(name));
  }
  if (const auto found = Registry::builtin().find(type_name, index)) return *found;
  if (const auto found = Registry::get().find(type_name, index)) return *found;
  fail_missing(std::string(name));
}

std::string device_name(of_device id) {
  const DeviceType* type = Registry::builtin().type(id.type);
  if (!type) return format_text("device(%d:%d)", id.type, id.index);
  return format_text("%s:%d", type->table.name, id.index);
}

std::vector<of_device> all_devices() { return Registry::get().devices(); }
std::vector<of_device> devices_in_use() { return Registry::builtin().devices(); }

size_t device_count(int type) { return Registry::builtin().type(type)->devices.size(); }

Stream* find_stream(uint64_t id) {
  for (const of_device device : devices_in_use())
    if (Stream* found = known_device(device).find_stream(id)) return found;
  return nullptr;
}

const std::vector<RejectedPlugin>& rejected_plugins() { return Registry::get().rejected(); }

void load_device_plugin(const std::string& path) { Registry::get().add(open_plugin(path), path); }

void add_device_path(const char* path) { Registry::instance().add_path(path); }

}  // namespace oneflow
