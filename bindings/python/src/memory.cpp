// Devices and their memory.

#include <cstring>

#include "arguments.h"
#include "device.h"
#include "errors.h"
#include "tensor_parts.h"

namespace oneflow::python {
namespace {

const ArgumentRecord kDevice[] = {optional_argument("device", "device", ArgumentKind::kDevice)};
const Parameters kStatisticsParameters("memory_stats", kDevice);
const Parameters kResetPeakParameters("reset_peak_memory_stats", kDevice);
const Parameters kEmptyCacheParameters("empty_cache", kDevice);
const Parameters kSynchronizeParameters("synchronize", kDevice);

// Parses the arguments of a function whose only parameter is an optional device.
bool parse_device(const Parameters& parameters, PyObject* const* args, Py_ssize_t count, PyObject* keywords,
                  of_device* device) {
  HandCall<1> call;
  if (!call.parse(parameters, args, count, keywords)) return false;
  *device = call.values[0].kind == OF_VALUE_DEVICE ? call.values[0].as.device : of_default_device();
  return true;
}

PyObject* done(of_status status) {
  if (!check(status)) return nullptr;
  Py_RETURN_NONE;
}

PyObject* memory_stats(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  of_device device{};
  of_memory_statistics statistics{};
  statistics.struct_size = sizeof(statistics);
  if (!parse_device(kStatisticsParameters, args, count, keywords, &device) ||
      !check(of_get_memory_statistics(device, &statistics))) {
    return nullptr;
  }
  return Py_BuildValue("{sKsKsKsKsK}", "in_use", static_cast<unsigned long long>(statistics.in_use), "peak_in_use",
                       static_cast<unsigned long long>(statistics.peak_in_use), "cached",
                       static_cast<unsigned long long>(statistics.cached), "limit",
                       static_cast<unsigned long long>(statistics.limit), "tensors",
                       static_cast<unsigned long long>(statistics.tensors));
}

PyObject* reset_peak_memory_stats(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  of_device device{};
  return parse_device(kResetPeakParameters, args, count, keywords, &device) ? done(of_reset_peak_memory(device))
                                                                            : nullptr;
}

PyObject* empty_cache(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  of_device device{};
  if (!parse_device(kEmptyCacheParameters, args, count, keywords, &device)) return nullptr;
  return done(run_unlocked([=] { return of_empty_cache(device); }));
}

PyObject* synchronize(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  of_device device{};
  if (!parse_device(kSynchronizeParameters, args, count, keywords, &device)) return nullptr;
  return done(run_unlocked([=] { return of_synchronize(device); }));
}

const ArgumentRecord kLimitArguments[] = {{"bytes", "int", ArgumentKind::kInt}, kDevice[0]};
const Parameters kLimitParameters("set_memory_limit", kLimitArguments);

PyObject* set_memory_limit(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  HandCall<2> call;
  if (!call.parse(kLimitParameters, args, count, keywords)) return nullptr;
  const int64_t bytes = call.values[0].as.integer;
  if (bytes < 0) {
    return raise(OF_INVALID_ARGUMENT, "set_memory_limit: bytes must not be negative, got " + std::to_string(bytes));
  }
  const bool given = call.values[1].kind == OF_VALUE_DEVICE;
  return done(
      of_set_memory_limit(given ? call.values[1].as.device : of_default_device(), static_cast<uint64_t>(bytes)));
}

PyObject* devices(PyObject*, PyObject*) {
  const size_t count = of_device_count();
  Ref result(PyList_New(static_cast<Py_ssize_t>(count)));
  for (size_t i = 0; result && i < count; ++i) {
    PyObject* device = device_object(of_device_at(i));
    if (device == nullptr) return nullptr;
    PyList_SET_ITEM(result.get(), static_cast<Py_ssize_t>(i), device);
  }
  return result.release();
}

PyObject* rejected_plugins(PyObject*, PyObject*) {
  Ref result(PyDict_New());
  for (size_t i = 0; result && i < of_rejected_plugin_count(); ++i) {
    const char *path = nullptr, *reason = nullptr;
    if (!check(of_rejected_plugin_at(i, &path, &reason))) return nullptr;
    Ref file(PyUnicode_DecodeFSDefault(path));
    Ref text(PyUnicode_DecodeUTF8(reason, static_cast<Py_ssize_t>(strlen(reason)), "replace"));
    if (!file || !text || PyDict_SetItem(result.get(), file.get(), text.get()) != 0) return nullptr;
  }
  return result.release();
}

PyObject* get_default_device(PyObject*, PyObject*) { return device_object(of_default_device()); }

const ArgumentRecord kRequiredDevice[] = {{"device", "device", ArgumentKind::kDevice}};
const Parameters kDefaultDeviceParameters("set_default_device", kRequiredDevice);

PyObject* set_default_device(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  HandCall<1> call;
  if (!call.parse(kDefaultDeviceParameters, args, count, keywords)) return nullptr;
  return done(of_set_default_device(call.values[0].as.device));
}

const ArgumentRecord kPath[] = {{"path", "str or path", ArgumentKind::kObject}};
const Parameters kLoadParameters("load_device", kPath);

PyObject* load_device(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  HandCall<1> call;
  if (!call.parse(kLoadParameters, args, count, keywords)) return nullptr;
  PyObject* path = nullptr;
  if (PyUnicode_FSConverter(call.objects[0], &path) == 0) {
    if (PyErr_ExceptionMatches(PyExc_ValueError) && !PyErr_ExceptionMatches(PyExc_UnicodeError)) {
      PyErr_Clear();
      return raise(OF_INVALID_ARGUMENT, "load_device: path must not have a null byte");
    }
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) return nullptr;
    PyErr_Clear();
    return raise(OF_TYPE_MISMATCH, "load_device: path must be str or path, got " + type_name(call.objects[0]));
  }
  Ref owned(path);
  return done(run_unlocked([=] { return of_load_device(PyBytes_AS_STRING(path)); }));
}

}  // namespace

std::vector<PyMethodDef> memory_functions() {
  return {
      fast_method("memory_stats", memory_stats,
                  "memory_stats(device=None)\n--\n\n"
                  "Returns a dictionary of memory statistics: the bytes in_use by live tensors, their maximum\n"
                  "peak_in_use, the bytes cached for reuse, the limit in bytes (0: none), and the number of live\n"
                  "tensors on all devices."),
      fast_method("reset_peak_memory_stats", reset_peak_memory_stats,
                  "reset_peak_memory_stats(device=None)\n--\n\nResets peak_in_use to the memory in use."),
      fast_method("empty_cache", empty_cache,
                  "empty_cache(device=None)\n--\n\nFrees the memory that is cached for reuse."),
      fast_method(
          "set_memory_limit", set_memory_limit,
          "set_memory_limit(bytes, device=None)\n--\n\n"
          "Sets the most bytes that may be in use: allocations beyond it raise OutOfMemory. 0 removes the limit."),
      fast_method("synchronize", synchronize,
                  "synchronize(device=None)\n--\n\n"
                  "Waits until all work of the device is done. Raises the first error of that work."),
      {"devices", devices, METH_NOARGS, "devices()\n--\n\nReturns a list of all devices."},
      {"rejected_plugins", rejected_plugins, METH_NOARGS,
       "rejected_plugins()\n--\n\n"
       "Returns the device plugins that were found but provide no devices: a dictionary from path to reason."},
      {"get_default_device", get_default_device, METH_NOARGS,
       "get_default_device()\n--\n\nReturns the device of tensors that are created without one."},
      fast_method("set_default_device", set_default_device,
                  "set_default_device(device)\n--\n\nSets the device of tensors that are created without one."),
      fast_method("load_device", load_device,
                  "load_device(path)\n--\n\n"
                  "Loads a device plugin from a shared library; devices() then includes its devices.\n\n"
                  "Raises DeviceError if the library is not a usable plugin."),
  };
}

}  // namespace oneflow::python
