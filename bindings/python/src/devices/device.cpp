#include "devices/device.h"

#include <nanobind/stl/string.h>

#include <cstring>
#include <map>

#include "bind.h"

namespace oneflow::python {

PyTypeObject* device_type = nullptr;

namespace {

struct Device {
  of_device value;

  std::string name() const {
    char name[64];  // the size of buffer that of_device_name() requires
    return of_device_name(value, name);
  }
  std::string type() const { return name().substr(0, name().find(':')); }
  int index() const { return value.index; }
  std::string represent() const { return "device('" + name() + "')"; }
  nb::tuple reduce() const {
    return nb::make_tuple(nb::handle(reinterpret_cast<PyObject*>(device_type)), nb::make_tuple(name()));
  }

  of_device_properties properties() const {
    of_device_properties properties{};
    properties.struct_size = sizeof(properties);
    require(run_unlocked([&] { return of_device_get_properties(value, &properties); }));
    return properties;
  }
  nb::object hardware() const {
    const of_device_properties found = properties();
    return take(PyUnicode_DecodeUTF8(found.name, static_cast<Py_ssize_t>(strlen(found.name)), "replace"));
  }
  uint64_t total_memory() const { return properties().total_memory; }
  uint64_t free_memory() const { return properties().free_memory; }
  uint32_t compute_units() const { return properties().compute_units; }
  nb::tuple capabilities() const { return nb::tuple(nb::cast(properties().capabilities).attr("split")()); }
  const char* notes() const { return properties().notes; }
};

// Returns the hash of the name, because the object compares equal to it.
Py_hash_t hash(PyObject* self) {
  Ref name(PyObject_Str(self));
  return name ? PyObject_Hash(name.get()) : -1;
}

PyObject* compare(PyObject* self, PyObject* other, int operation) {
  if (operation != Py_EQ && operation != Py_NE) Py_RETURN_NOTIMPLEMENTED;
  if (PyUnicode_Check(other)) {
    Ref name(PyObject_Str(self));
    return name ? PyObject_RichCompare(name.get(), other, operation) : nullptr;
  }
  if (!is_device(other)) Py_RETURN_NOTIMPLEMENTED;
  return PyBool_FromLong(is_same_device(device_of(self), device_of(other)) == (operation == Py_EQ));
}

constexpr of_parameter kArguments[] = {required("name", kDeviceType)};
const Function kFunction("device", kArguments);

of_device create(of_device device) { return device; }

PyGetSetDef attributes[] = {
    attribute<&Device::name>("name", "The full name: type, colon and index."),
    attribute<&Device::type>("type", "The type of device: the part of the name before the colon."),
    attribute<&Device::index>("index", "The index among the devices of this type, from 0."),
    attribute<&Device::hardware>("hardware", "The name of the hardware, as its manufacturer gives it."),
    attribute<&Device::total_memory>("total_memory", "The size of the memory in bytes; 0 if unknown."),
    attribute<&Device::free_memory>("free_memory", "The size of the unused memory in bytes; 0 if unknown."),
    attribute<&Device::compute_units>("compute_units",
                                      "The number of cores, multiprocessors or similar units; 0 if unknown."),
    attribute<&Device::capabilities>(
        "capabilities",
        "The features that the device implements, as a tuple of strings: kernels, contractions, asynchronous (work\n"
        "continues after the call), peer_copies, streams, pinned_memory, host_accessible."),
    attribute<&Device::notes>(
        "notes",
        "What is to be known about the device's plugin, such as that it could not be probed; empty for most devices."),
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyMethodDef methods[] = {
    plain<&Device::reduce>("__reduce__", nullptr),
    {nullptr, nullptr, 0, nullptr},
};

const char kDocumentation[] =
    "device(name)\n--\n\n"
    "A device that holds tensors. Its name is a type of device, or a type, a colon and an index.\n\n"
    "It compares equal to its full name, and arguments take either. Raises DeviceError if no device has the name.";

const PyType_Slot slots[] = {
    {Py_tp_doc, const_cast<char*>(kDocumentation)},
    {Py_tp_new, new_slot<create, kFunction>()},
    {Py_tp_repr, unary_slot<&Device::represent>()},
    {Py_tp_str, unary_slot<&Device::name>()},
    {Py_tp_hash, reinterpret_cast<void*>(hash)},
    {Py_tp_richcompare, reinterpret_cast<void*>(compare)},
    {Py_tp_getset, attributes},
    {Py_tp_methods, methods},
    {0, nullptr},
};

}  // namespace

of_device device_of(PyObject* device) { return nb::inst_ptr<Device>(device)->value; }

PyObject* device_object(of_device device) {
  static std::map<std::pair<int, int>, PyObject*> objects;  // they live as long as the process
  return guarded([device] {
    PyObject*& object = objects[{device.type, device.index}];
    if (object == nullptr) object = nb::cast(Device{device}).release().ptr();
    return nb::handle(object);
  });
}

bool add_device_type(PyObject* module) {
  device_type = add_class<Device>(module, "device", slots);
  return true;
}

}  // namespace oneflow::python
