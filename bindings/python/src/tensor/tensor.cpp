#include "tensor/tensor.h"

#include <structmember.h>

#include <cstddef>
#include <iterator>

#include "errors.h"
#include "tensor/tensor_parts.h"

namespace oneflow::python {

PyTypeObject* tensor_type = nullptr;

namespace {

// The free list of Tensor objects, which wrap() reuses. The GIL protects it.
constexpr int kFreeListSize = 256;
TensorObject* free_list[kFreeListSize];
int free_count = 0;

void deallocate(PyObject* self) {
  TensorObject* object = reinterpret_cast<TensorObject*>(self);
  PyTypeObject* type = Py_TYPE(self);
  if (object->weak_references != nullptr) PyObject_ClearWeakRefs(self);
  of_tensor_release(object->handle);
  if (free_count < kFreeListSize) {
    free_list[free_count++] = object;
  } else {
    PyObject_Free(self);
  }
  Py_DECREF(type);
}

// Hashes by identity, because == is elementwise.
Py_hash_t hash(PyObject* self) {
  static const auto by_identity = reinterpret_cast<hashfunc>(PyType_GetSlot(&PyBaseObject_Type, Py_tp_hash));
  return by_identity(self);
}

PyMemberDef members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(TensorObject, weak_references), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

const char kDocumentation[] =
    "A multidimensional array of elements of one dtype.\n\n"
    "oneflow_py.tensor(), from_numpy(), from_dlpack() and all operators create tensors. Operators are functions of\n"
    "the module as well as methods of the tensor. A view shares memory with the tensor that it was created from.\n"
    "Comparison with == is elementwise; hashing is by identity.";

// Returns the methods of all parts in one array, which is never freed because the type refers to it.
std::vector<PyMethodDef>* all_methods() {
  auto* methods = new std::vector<PyMethodDef>;
  for (auto part : {attribute_methods, value_methods, exchange_methods, dlpack_methods, copying_methods,
                    conversion_methods, gradient_methods, methods_of_tensors}) {
    for (const PyMethodDef& method : part()) methods->push_back(method);
  }
  methods->push_back({nullptr, nullptr, 0, nullptr});
  return methods;
}

// Returns the attributes of all parts in one array, like all_methods().
std::vector<PyGetSetDef>* all_attributes() {
  auto* attributes = new std::vector<PyGetSetDef>;
  for (auto part : {tensor_attributes, gradient_attributes}) {
    for (const PyGetSetDef& attribute : part()) attributes->push_back(attribute);
  }
  attributes->push_back({nullptr, nullptr, nullptr, nullptr, nullptr});
  return attributes;
}

}  // namespace

of_device tensor_device(PyObject* tensor) {
  of_tensor_info info{};
  info.struct_size = sizeof(info);
  of_tensor_get_info(handle_of(tensor), &info);  // cannot fail for a live tensor
  return info.device;
}

Py_ssize_t byte_count(of_tensor tensor) {
  Py_ssize_t bytes = 0;
  const auto size = static_cast<Py_ssize_t>(of_dtype_size(of_tensor_dtype(tensor)));
  if (!__builtin_mul_overflow(of_tensor_count(tensor), size, &bytes)) return bytes;
  raise(OF_OUT_OF_MEMORY, "a tensor with " + std::to_string(of_tensor_count(tensor)) + " elements of " +
                              of_dtype_name(of_tensor_dtype(tensor)) + " takes more bytes than can be addressed");
  return -1;
}

Ref read_bytes(of_tensor tensor) {
  const Py_ssize_t size = byte_count(tensor);
  Ref bytes(size >= 0 ? PyBytes_FromStringAndSize(nullptr, size) : nullptr);
  if (!bytes) return Ref();
  char* memory = PyBytes_AS_STRING(bytes.get());
  const auto read = [=] { return of_tensor_read(tensor, memory, static_cast<uint64_t>(size)); };
  return check(run_native(tensor, read)) ? std::move(bytes) : Ref();
}

PyObject* wrap(of_tensor handle) {
  TensorObject* object;
  if (free_count > 0) [[likely]] {
    object = free_list[--free_count];
    PyObject_Init(reinterpret_cast<PyObject*>(object), tensor_type);
  } else {
    object = PyObject_New(TensorObject, tensor_type);
    if (object == nullptr) {
      of_tensor_release(handle);
      return nullptr;
    }
  }
  object->handle = handle;
  object->weak_references = nullptr;
  return reinterpret_cast<PyObject*>(object);
}

bool add_tensor_type(PyObject* module) {
  static std::vector<PyMethodDef>* methods = all_methods();
  static std::vector<PyGetSetDef>* attributes = all_attributes();
  std::vector<PyType_Slot> slots = {
      {Py_tp_doc, const_cast<char*>(kDocumentation)},
      {Py_tp_dealloc, reinterpret_cast<void*>(deallocate)},
      {Py_tp_hash, reinterpret_cast<void*>(hash)},
      {Py_tp_members, members},
      {Py_tp_getset, attributes->data()},
      {Py_tp_methods, methods->data()},
  };
  for (auto append :
       {append_number_slots, append_value_slots, append_sequence_slots, append_buffer_slots, append_printing_slots}) {
    append(&slots);
  }
  slots.push_back({0, nullptr});
  PyType_Spec spec = {"oneflow_py.Tensor", sizeof(TensorObject), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots.data()};
  tensor_type = reinterpret_cast<PyTypeObject*>(PyType_FromModuleAndSpec(module, &spec, nullptr));
  return tensor_type != nullptr && PyModule_AddType(module, tensor_type) == 0;
}

}  // namespace oneflow::python
