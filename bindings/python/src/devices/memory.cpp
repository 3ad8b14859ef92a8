// Devices and their memory.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <cstring>

#include "bind.h"

namespace oneflow::python {
namespace {

using OptionalDevice = std::optional<of_device>;

of_device or_default(OptionalDevice device) { return device ? *device : of_default_device(); }

constexpr of_parameter kDevice[] = {optional("device", kDeviceOrNone)};
const Function kStatisticsFunction("memory_stats", kDevice);

nb::dict memory_stats(OptionalDevice device) {
  of_memory_statistics statistics{};
  statistics.struct_size = sizeof(statistics);
  require(of_get_memory_statistics(or_default(device), &statistics));
  nb::dict result;
  result["in_use"] = statistics.in_use;
  result["peak_in_use"] = statistics.peak_in_use;
  result["cached"] = statistics.cached;
  result["limit"] = statistics.limit;
  result["tensors"] = statistics.tensors;
  return result;
}

std::vector<of_device> devices() {
  std::vector<of_device> result(of_device_count());
  for (size_t i = 0; i < result.size(); ++i) result[i] = of_device_at(i);
  return result;
}

nb::dict rejected_plugins() {
  nb::dict result;
  for (size_t i = 0; i < of_rejected_plugin_count(); ++i) {
    const char *path = nullptr, *reason = nullptr;
    require(of_rejected_plugin_at(i, &path, &reason));
    const nb::object file = take(PyUnicode_DecodeFSDefault(path));
    result[file] = take(PyUnicode_DecodeUTF8(reason, static_cast<Py_ssize_t>(strlen(reason)), "replace"));
  }
  return result;
}

constexpr of_parameter kRequiredDevice[] = {required("device", kDeviceType)};
const Function kDefaultDeviceFunction("set_default_device", kRequiredDevice);

constexpr of_parameter kPath[] = {required("path", kAnyType)};
const Function kLoadFunction("load_device", kPath);

of_status load_device(nb::handle given) {
  const nb::object path = path_bytes("load_device", given);
  return run_unlocked([text = PyBytes_AS_STRING(path.ptr())] { return of_load_device(text); });
}

}  // namespace

std::vector<PyMethodDef> memory_functions() {
  return {
      bound<memory_stats, kStatisticsFunction>(
          "memory_stats",
          "memory_stats(device=None)\n--\n\n"
          "Returns a dictionary of memory statistics: the bytes in_use by live tensors, their maximum\n"
          "peak_in_use, the bytes cached for reuse, the limit in bytes (0: none), and the number of live\n"
          "tensors on all devices."),
      plain<devices>("devices", "devices()\n--\n\nReturns a list of all devices."),
      plain<rejected_plugins>(
          "rejected_plugins",
          "rejected_plugins()\n--\n\n"
          "Returns the device plugins that were found but provide no devices: a dictionary from path to reason."),
      plain<of_default_device>(
          "get_default_device",
          "get_default_device()\n--\n\nReturns the device of tensors that are created without one."),
      bound<of_set_default_device, kDefaultDeviceFunction>(
          "set_default_device",
          "set_default_device(device)\n--\n\nSets the device of tensors that are created without one."),
      bound<load_device, kLoadFunction>(
          "load_device",
          "load_device(path)\n--\n\n"
          "Loads a device plugin from a shared library; devices() then includes its devices.\n\n"
          "Raises DeviceError if the library is not a usable plugin."),
  };
}

}  // namespace oneflow::python
