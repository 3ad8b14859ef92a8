// DLPack in and out: the memory of a tensor, shared with another library.

#include <cstdint>

#include "arguments.h"
#include "errors.h"
#include "tensor.h"
#include "tensor_parts.h"

// The layout of a capsule's content, as https://dmlc.github.io/dlpack fixes it (before version 1.0).
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

namespace oneflow::python {
namespace {

constexpr char kCapsuleName[] = "dltensor";
constexpr char kUsedCapsuleName[] = "used_dltensor";  // after which the consumer owns the content

void release(DLManagedTensor* managed) {
  if (managed->deleter != nullptr) managed->deleter(managed);
}

// Only a capsule that nobody consumed still owns its content.
void destroy_capsule(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, kCapsuleName)) {
    release(static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule, kCapsuleName)));
  }
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

const ArgumentRecord kExportArguments[] = {
    {.name = "stream", .word = "int", .kind = ArgumentKind::kObject, .keyword_only = true, .required = false},
    {.name = "max_version",
     .word = "tuple of ints",
     .kind = ArgumentKind::kObject,
     .keyword_only = true,
     .required = false},
    {.name = "dl_device",
     .word = "tuple of ints",
     .kind = ArgumentKind::kObject,
     .keyword_only = true,
     .required = false},
    {.name = "copy",
     .word = "bool",
     .kind = ArgumentKind::kBool,
     .optional = true,
     .keyword_only = true,
     .required = false},
};
const Parameters kExportParameters("__dlpack__", kExportArguments);

// Whether the consumer asked for the device that the data is on; other ones are not served.
bool is_own_device(PyObject* self, PyObject* wanted) {
  if (wanted == nullptr || wanted == Py_None) return true;
  Ref own(dlpack_device(self, nullptr));
  const int equal = own ? PyObject_RichCompareBool(own.get(), wanted, Py_EQ) : -1;
  if (equal == 0) PyErr_SetString(PyExc_BufferError, "__dlpack__: dl_device must be the tensor's own device");
  return equal == 1;
}

PyObject* dlpack(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  HandCall<4> call;
  if (!call.parse(kExportParameters, args, count, keywords) || !is_own_device(self, call.objects[2])) return nullptr;
  Ref source = Ref::borrow(self);
  if (call.values[3].kind == OF_VALUE_BOOL && call.values[3].as.boolean) {
    of_tensor copy = nullptr;
    if (!check(of_tensor_lazy_clone(handle_of(self), &copy))) return nullptr;
    source = Ref(wrap(copy));
  }
  DLManagedTensor* managed = nullptr;
  if (!source || !check(of_tensor_to_dlpack(handle_of(source.get()), &managed))) return nullptr;
  PyObject* capsule = PyCapsule_New(managed, kCapsuleName, destroy_capsule);
  if (capsule == nullptr) release(managed);
  return capsule;
}

const ArgumentRecord kImportArguments[] = {{"object", "an object with __dlpack__", ArgumentKind::kObject}};
const Parameters kImportParameters("from_dlpack", kImportArguments);

PyObject* from_dlpack(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  HandCall<1> call;
  if (!call.parse(kImportParameters, args, count, keywords)) return nullptr;
  PyObject* object = call.objects[0];
  Ref capsule = Ref::borrow(object);
  if (!PyCapsule_CheckExact(object)) {
    if (!PyObject_HasAttrString(object, "__dlpack__")) {
      return raise(OF_TYPE_MISMATCH, "from_dlpack: object must have a method __dlpack__, got " + type_name(object));
    }
    capsule = Ref(PyObject_CallMethod(object, "__dlpack__", nullptr));
    if (!capsule) return nullptr;
  }
  if (!PyCapsule_IsValid(capsule.get(), kCapsuleName)) {
    return raise(OF_INVALID_ARGUMENT,
                 "from_dlpack: object must give an unused capsule named dltensor, got " + type_name(capsule.get()));
  }
  auto* managed = static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule.get(), kCapsuleName));
  if (PyCapsule_SetName(capsule.get(), kUsedCapsuleName) != 0) return nullptr;
  of_tensor result = nullptr;
  return check(of_tensor_from_dlpack(managed, &result)) ? wrap(result) : nullptr;
}

}  // namespace

std::vector<PyMethodDef> dlpack_methods() {
  return {
      fast_method("__dlpack__", dlpack,
                  "__dlpack__($self, *, stream=None, max_version=None, dl_device=None, copy=None)\n--\n\n"
                  "A DLPack capsule over the same memory. Tensors with negative strides are copied, because not every\n"
                  "consumer can read them."),
      {"__dlpack_device__", dlpack_device, METH_NOARGS,
       "__dlpack_device__($self)\n--\n\nWhere the data is, in DLPack's numbers."},
  };
}

std::vector<PyMethodDef> dlpack_functions() {
  return {
      fast_method(
          "from_dlpack", from_dlpack,
          "from_dlpack(object)\n--\n\n"
          "A tensor over the memory of another library's tensor, which must have a method __dlpack__. Nothing is\n"
          "copied: both see each other's writes, and the memory lives as long as either."),
  };
}

}  // namespace oneflow::python
