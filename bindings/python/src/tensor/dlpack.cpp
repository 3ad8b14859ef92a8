// Import and export of tensors through DLPack, which shares their memory with other libraries.

#include "tensor/dlpack.h"

#include <oneflow/autograd.h>

#include <algorithm>
#include <cstdint>

#include "calls/binding.h"
#include "errors.h"
#include "tensor/tensor.h"
#include "tensor/tensor_parts.h"

// The structs in DLPack capsules, as https://dmlc.github.io/dlpack defines them: the one until version 1.0 and the
// versioned one since then.
struct DLManagedTensor {
  struct {
    void* data;
    struct {
      int32_t type;
      int32_t index;
    } device;
    int32_t rank;
    struct {
      uint8_t code;
      uint8_t bits;
      uint16_t lanes;
    } dtype;
    int64_t* sizes;
    int64_t* strides;
    uint64_t byte_offset;
  } tensor;
  void* context;
  void (*deleter)(DLManagedTensor* self);
};

struct DLManagedTensorVersioned {
  struct {
    uint32_t major, minor;
  } version;
  void* context;
  void (*deleter)(DLManagedTensorVersioned* self);
  uint64_t flags;
  decltype(DLManagedTensor::tensor) tensor;
};

namespace oneflow::python {
namespace {

// A form of DLPack capsules: their name, their name after a consumer took ownership of the content, and the runtime's
// functions that export and import the content.
template <typename Managed>
struct Form;

template <>
struct Form<DLManagedTensor> {
  static constexpr char name[] = "dltensor";
  static constexpr char used_name[] = "used_dltensor";
  static constexpr auto export_tensor = of_tensor_to_dlpack;
  static constexpr auto import_tensor = of_tensor_from_dlpack;
};

template <>
struct Form<DLManagedTensorVersioned> {
  static constexpr char name[] = "dltensor_versioned";
  static constexpr char used_name[] = "used_dltensor_versioned";
  static constexpr auto export_tensor = of_tensor_to_dlpack_versioned;
  static constexpr auto import_tensor = of_tensor_from_dlpack_versioned;
};

template <typename Managed>
void release(Managed* managed) {
  if (managed->deleter != nullptr) managed->deleter(managed);
}

// Releases the content of a capsule that was not consumed. The consumer owns the content of other capsules.
template <typename Managed>
void destroy_capsule(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, Form<Managed>::name)) {
    release(static_cast<Managed*>(PyCapsule_GetPointer(capsule, Form<Managed>::name)));
  }
}

template <typename Managed>
PyObject* new_capsule(Managed* managed) {
  PyObject* capsule = PyCapsule_New(managed, Form<Managed>::name, destroy_capsule<Managed>);
  if (capsule == nullptr) release(managed);
  return capsule;
}

template <typename Managed>
Ref take_content(PyObject* capsule) {
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, Form<Managed>::name));
  if (PyCapsule_SetName(capsule, Form<Managed>::used_name) != 0) return Ref();
  of_tensor result = nullptr;
  return Ref(check(Form<Managed>::import_tensor(managed, &result)) ? wrap(result) : nullptr);
}

struct DLPackDevice {
  int32_t type;
  int32_t index;
};

bool device_number(PyObject* self, DLPackDevice* device) {
  DLManagedTensor* managed = nullptr;
  if (!check(of_tensor_to_dlpack(handle_of(self), &managed))) return false;
  *device = {managed->tensor.device.type, managed->tensor.device.index};
  release(managed);
  return true;
}

PyObject* dlpack_device(PyObject* self, PyObject*) {
  DLPackDevice device{};
  return device_number(self, &device) ? Py_BuildValue("(ii)", device.type, device.index) : nullptr;
}

constexpr of_parameter kExportArguments[] = {
    optional_keyword("stream", kAnyType),
    optional_keyword("max_version", kAnyType),
    optional_keyword("dl_device", kAnyType),
    optional_keyword("copy", kBoolOrNone),
};
const Function kExportFunction("__dlpack__", kExportArguments);

// Returns whether the consumer accepts the device that holds the data; raises BufferError for another device.
bool is_own_device(PyObject* self, PyObject* wanted) {
  if (wanted == nullptr || wanted == Py_None) return true;
  Ref own(dlpack_device(self, nullptr));
  const int equal = own ? PyObject_RichCompareBool(own.get(), wanted, Py_EQ) : -1;
  if (equal == 0) PyErr_SetString(PyExc_BufferError, "__dlpack__: dl_device must be the tensor's own device");
  return equal == 1;
}

// Sets `wanted` to whether the consumer reads versioned capsules. Raises and returns false for an invalid
// `max_version`.
bool wants_version(PyObject* max_version, bool* wanted) {
  *wanted = false;
  if (max_version == nullptr || max_version == Py_None) return true;
  if (!PyTuple_Check(max_version) || PyTuple_GET_SIZE(max_version) != 2 ||
      !PyLong_Check(PyTuple_GET_ITEM(max_version, 0))) {
    raise(OF_TYPE_MISMATCH, "__dlpack__: max_version must be tuple of two ints, got " + type_name(max_version));
    return false;
  }
  Ref one(PyLong_FromLong(1));
  const int at_least = one ? PyObject_RichCompareBool(PyTuple_GET_ITEM(max_version, 0), one.get(), Py_GE) : -1;
  *wanted = at_least == 1;
  return at_least >= 0;
}

template <typename Managed>
PyObject* export_capsule(PyObject* self, const of_value& copy) {
  Ref source = Ref::borrow(self);
  if (copy.kind == OF_VALUE_BOOL && copy.as.boolean) {
    of_tensor clone = nullptr;
    if (!check(of_tensor_lazy_clone(handle_of(self), &clone))) return nullptr;
    source = Ref(wrap(clone));
  }
  Managed* managed = nullptr;
  if (!source || !check(Form<Managed>::export_tensor(handle_of(source.get()), &managed))) return nullptr;
  return new_capsule(managed);
}

bool has_negative_stride(of_tensor tensor) {
  const int64_t* strides = of_tensor_strides(tensor);
  return std::any_of(strides, strides + of_tensor_rank(tensor), [](int64_t stride) { return stride < 0; });
}

PyObject* dlpack(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  BoundCall call;
  bool versioned = false;
  if (!call.bind(kExportFunction, {args, count, keywords}) || !wants_version(call.native(1), &versioned) ||
      !is_own_device(self, call.native(2))) {
    return nullptr;
  }
  if (of_tensor_requires_grad(handle_of(self))) {
    PyErr_SetString(PyExc_BufferError, "__dlpack__: the tensor requires a gradient; detach it first");
    return nullptr;
  }
  const of_value& copy = call.values()[3];
  if (copy.kind == OF_VALUE_BOOL && !copy.as.boolean && has_negative_stride(handle_of(self))) {
    PyErr_SetString(PyExc_BufferError, "__dlpack__: negative strides cannot be exported without a copy");
    return nullptr;
  }
  return versioned ? export_capsule<DLManagedTensorVersioned>(self, copy) : export_capsule<DLManagedTensor>(self, copy);
}

// Returns the capsule of an object's __dlpack__ method, which has no max_version in older libraries.
Ref capsule_of(PyObject* object) {
  Ref method(PyObject_GetAttrString(object, "__dlpack__"));
  Ref none(PyTuple_New(0));
  Ref versions(Py_BuildValue("{s(ii)}", "max_version", 1, 0));
  if (!method || !none || !versions) return Ref();
  Ref capsule(PyObject_Call(method.get(), none.get(), versions.get()));
  if (capsule || !PyErr_ExceptionMatches(PyExc_TypeError)) return capsule;
  PyErr_Clear();
  return Ref(PyObject_CallNoArgs(method.get()));
}

constexpr of_parameter kImportArguments[] = {required("object", kAnyType)};
const Function kImportFunction("from_dlpack", kImportArguments);

PyObject* from_dlpack(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  BoundCall call;
  if (!call.bind(kImportFunction, {args, count, keywords})) return nullptr;
  PyObject* object = call.native(0);
  if (PyCapsule_CheckExact(object) || has_dlpack(object)) return tensor_from_dlpack(object).release();
  return raise(OF_TYPE_MISMATCH, "from_dlpack: object must have a method __dlpack__, got " + type_name(object));
}

}  // namespace

bool has_dlpack(PyObject* object) { return PyObject_HasAttrString(object, "__dlpack__") != 0; }

Ref tensor_from_dlpack(PyObject* object) {
  Ref capsule = PyCapsule_CheckExact(object) ? Ref::borrow(object) : capsule_of(object);
  if (!capsule) return Ref();
  if (PyCapsule_IsValid(capsule.get(), Form<DLManagedTensorVersioned>::name)) {
    return take_content<DLManagedTensorVersioned>(capsule.get());
  }
  if (PyCapsule_IsValid(capsule.get(), Form<DLManagedTensor>::name))
    return take_content<DLManagedTensor>(capsule.get());
  raise(OF_INVALID_ARGUMENT,
        "from_dlpack: object must be or return an unused DLPack capsule, got " + type_name(capsule.get()));
  return Ref();
}

std::vector<PyMethodDef> dlpack_methods() {
  return {
      fast_method(
          "__dlpack__", dlpack,
          "__dlpack__($self, *, stream=None, max_version=None, dl_device=None, copy=None)\n--\n\n"
          "Returns a DLPack capsule over the memory of the tensor, or over a copy with copy=True. Tensors with\n"
          "negative strides are copied, because not every consumer supports them; copy=False raises BufferError\n"
          "for these. A tensor that requires a gradient raises BufferError: it must be detached first."),
      {"__dlpack_device__", dlpack_device, METH_NOARGS,
       "__dlpack_device__($self)\n--\n\nReturns the device as DLPack's device type and index."},
  };
}

std::vector<PyMethodDef> dlpack_functions() {
  return {
      fast_method(
          "from_dlpack", from_dlpack,
          "from_dlpack(object)\n--\n\n"
          "Returns a tensor over the memory of another library's tensor, which must have a __dlpack__ method.\n\n"
          "Nothing is copied: both see each other's writes, and the memory lives as long as either. Memory that is\n"
          "marked as read-only is copied by the first write to the tensor."),
  };
}

}  // namespace oneflow::python
