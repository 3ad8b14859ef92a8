#include "device.h"

#include <cstring>

#include "arguments.h"
#include "errors.h"

namespace oneflow::python {

PyTypeObject* device_type = nullptr;

namespace {

constexpr size_t kNameSize = 64;  // the size of buffer that of_device_name() requires

PyObject* text(PyObject* self) {
  char name[kNameSize];
  return PyUnicode_FromString(of_device_name(device_of(self), name));
}

PyObject* represent(PyObject* self) {
  char name[kNameSize];
  return PyUnicode_FromFormat("device('%s')", of_device_name(device_of(self), name));
}

// Returns the hash of the name, because the object compares equal to it.
Py_hash_t hash(PyObject* self) {
  Ref name(text(self));
  return name ? PyObject_Hash(name.get()) : -1;
}

PyObject* compare(PyObject* self, PyObject* other, int operation) {
  if (operation != Py_EQ && operation != Py_NE) Py_RETURN_NOTIMPLEMENTED;
  if (PyUnicode_Check(other)) {
    Ref name(text(self));
    return name ? PyObject_RichCompare(name.get(), other, operation) : nullptr;
  }
  if (!is_device(other)) Py_RETURN_NOTIMPLEMENTED;
  const of_device a = device_of(self);
  const of_device b = device_of(other);
  return PyBool_FromLong(is_same_device(a, b) == (operation == Py_EQ));
}

PyObject* reduce(PyObject* self, PyObject*) {
  return Py_BuildValue("O(N)", reinterpret_cast<PyObject*>(device_type), text(self));
}

PyObject* get_type(PyObject* self, void*) {
  char name[kNameSize];
  of_device_name(device_of(self), name);
  const char* colon = std::strchr(name, ':');
  return PyUnicode_FromStringAndSize(name, colon != nullptr ? colon - name : static_cast<Py_ssize_t>(strlen(name)));
}

PyObject* get_index(PyObject* self, void*) { return PyLong_FromLong(device_of(self).index); }

PyObject* get_name(PyObject* self, void*) { return text(self); }

bool get_properties(PyObject* self, of_device_properties* properties) {
  properties->struct_size = sizeof(*properties);
  const of_device device = device_of(self);
  return check(run_unlocked([=] { return of_device_get_properties(device, properties); }));
}

PyObject* get_hardware(PyObject* self, void*) {
  of_device_properties properties{};
  if (!get_properties(self, &properties)) return nullptr;
  return PyUnicode_DecodeUTF8(properties.name, static_cast<Py_ssize_t>(strlen(properties.name)), "replace");
}

template <uint64_t of_device_properties::*bytes>
PyObject* get_bytes(PyObject* self, void*) {
  of_device_properties properties{};
  return get_properties(self, &properties) ? PyLong_FromUnsignedLongLong(properties.*bytes) : nullptr;
}

PyObject* get_compute_units(PyObject* self, void*) {
  of_device_properties properties{};
  return get_properties(self, &properties) ? PyLong_FromUnsignedLong(properties.compute_units) : nullptr;
}

PyObject* get_capabilities(PyObject* self, void*) {
  of_device_properties properties{};
  if (!get_properties(self, &properties)) return nullptr;
  Ref words(PyUnicode_FromString(properties.capabilities));
  Ref list(words ? PyUnicode_Split(words.get(), nullptr, -1) : nullptr);
  return list ? PyList_AsTuple(list.get()) : nullptr;
}

PyObject* get_notes(PyObject* self, void*) {
  of_device_properties properties{};
  return get_properties(self, &properties) ? PyUnicode_FromString(properties.notes) : nullptr;
}

const ArgumentRecord kArguments[] = {{"name", "device", ArgumentKind::kDevice}};
const Parameters kParameters("device", kArguments);

PyObject* create(PyTypeObject*, PyObject* arguments, PyObject* keywords) {
  HandCall<1> call;
  return call.parse_tuple(kParameters, arguments, keywords) ? device_object(call.values[0].as.device) : nullptr;
}

PyGetSetDef attributes[] = {
    {"name", get_name, nullptr, "The full name: type, colon and index.", nullptr},
    {"type", get_type, nullptr, "The type of device: the part of the name before the colon.", nullptr},
    {"index", get_index, nullptr, "The index among the devices of this type, from 0.", nullptr},
    {"hardware", get_hardware, nullptr, "The name of the hardware, as its manufacturer gives it.", nullptr},
    {"total_memory", get_bytes<&of_device_properties::total_memory>, nullptr,
     "The size of the memory in bytes; 0 if unknown.", nullptr},
    {"free_memory", get_bytes<&of_device_properties::free_memory>, nullptr,
     "The size of the unused memory in bytes; 0 if unknown.", nullptr},
    {"compute_units", get_compute_units, nullptr,
     "The number of cores, multiprocessors or similar units; 0 if unknown.", nullptr},
    {"capabilities", get_capabilities, nullptr,
     "The features that the device implements, as a tuple of strings: kernels, contractions, asynchronous (work\n"
     "continues after the call), peer_copies, streams, pinned_memory, host_accessible.",
     nullptr},
    {"notes", get_notes, nullptr,
     "What is to be known about the device's plugin, such as that it could not be probed; empty for most devices.",
     nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyMethodDef methods[] = {
    {"__reduce__", reduce, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

const char kDocumentation[] =
    "device(name)\n--\n\n"
    "A device that holds tensors. Its name is a type of device, or a type, a colon and an index.\n\n"
    "It compares equal to its full name, and arguments take either. Raises DeviceError if no device has the name.";

PyType_Slot slots[] = {
    {Py_tp_doc, const_cast<char*>(kDocumentation)},
    {Py_tp_new, reinterpret_cast<void*>(create)},
    {Py_tp_repr, reinterpret_cast<void*>(represent)},
    {Py_tp_str, reinterpret_cast<void*>(text)},
    {Py_tp_hash, reinterpret_cast<void*>(hash)},
    {Py_tp_richcompare, reinterpret_cast<void*>(compare)},
    {Py_tp_getset, attributes},
    {Py_tp_methods, methods},
    {0, nullptr},
};

PyType_Spec spec = {"oneflow_py.device", sizeof(DeviceObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE, slots};

}  // namespace

PyObject* device_object(of_device device) {
  DeviceObject* object = PyObject_New(DeviceObject, device_type);
  if (object != nullptr) object->value = device;
  return reinterpret_cast<PyObject*>(object);
}

bool add_device_type(PyObject* module) {
  device_type = reinterpret_cast<PyTypeObject*>(PyType_FromModuleAndSpec(module, &spec, nullptr));
  return device_type != nullptr && PyModule_AddType(module, device_type) == 0;
}

}  // namespace oneflow::python
