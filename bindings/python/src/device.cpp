#include "device.h"

#include <cstring>

#include "arguments.h"
#include "errors.h"

namespace oneflow::python {

PyTypeObject* device_type = nullptr;

namespace {

constexpr size_t kNameSize = 64;  // what of_device_name() needs

PyObject* text(PyObject* self) {
  char name[kNameSize];
  return PyUnicode_FromString(of_device_name(device_of(self), name));
}

PyObject* represent(PyObject* self) {
  char name[kNameSize];
  return PyUnicode_FromFormat("device('%s')", of_device_name(device_of(self), name));
}

// The hash of the name, because the name is equal to the object.
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

const ArgumentRecord kArguments[] = {{"name", "device", ArgumentKind::kDevice}};
const Parameters kParameters("device", kArguments);

PyObject* create(PyTypeObject*, PyObject* arguments, PyObject* keywords) {
  HandCall<1> call;
  return call.parse_tuple(kParameters, arguments, keywords) ? device_object(call.values[0].as.device) : nullptr;
}

PyGetSetDef attributes[] = {
    {"type", get_type, nullptr, "The kind of device, such as 'cpu'.", nullptr},
    {"index", get_index, nullptr, "Which of the devices of this kind, from 0.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyMethodDef methods[] = {
    {"__reduce__", reduce, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

const char kDocumentation[] =
    "device(name)\n--\n\n"
    "Where a tensor's data is, from a name such as 'cpu' or 'cpu:0'.\n\n"
    "It is equal to its full name: x.device == 'cpu:0'. A name that stands for no device raises DeviceError.";

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
