#include "buffer.h"

#include <cstdint>
#include <string>

#include "errors.h"

namespace py = pybind11;

namespace commnet_python {

namespace {

// The start of what a DLPack capsule points to.
struct DlTensor {
  void* data;
  int32_t device_type, device_id;
  int32_t rank;
  uint8_t code, bits;
  uint16_t lanes;
  const int64_t* shape;
  const int64_t* strides;  // in elements; NULL: contiguous
  uint64_t byte_offset;
};

// What a capsule of DLPack 1.0 and later points to.
struct VersionedDlTensor {
  uint32_t major, minor;
  void* context;
  void (*deleter)(VersionedDlTensor*);
  uint64_t flags;
  DlTensor tensor;
};

constexpr int kCpu = 1, kPinned = 3;
constexpr const char *kName = "dltensor", *kVersionedName = "dltensor_versioned";
constexpr uint32_t kMajor = 1;
constexpr uint64_t kReadOnly = 1, kCopied = 2;

bool is_contiguous(const DlTensor& tensor) {
  if (tensor.strides == nullptr) return true;
  int64_t expected = 1;
  for (int32_t i = tensor.rank - 1; i >= 0; --i) {
    if (tensor.shape[i] == 0) return true;
    if (tensor.shape[i] != 1 && tensor.strides[i] != expected) return false;
    expected *= tensor.shape[i];
  }
  return true;
}

// Takes the text of the Python error that is set.
std::string take_python_error() {
  py::error_already_set error;
  return py::str(error.value());
}

// Returns what __dlpack__() does. Older libraries do not know its arguments.
py::object capsule_of(py::handle object) {
  try {
    return object.attr("__dlpack__")(py::arg("max_version") = py::make_tuple(kMajor, 0));
  } catch (const py::error_already_set& error) {
    if (!error.matches(PyExc_TypeError)) throw;
  }
  return object.attr("__dlpack__")();
}

std::string type_name(py::handle object) { return Py_TYPE(object.ptr())->tp_name; }

}  // namespace

void Buffer::release() {
  if (has_view_) PyBuffer_Release(&view_);
  has_view_ = false;
  capsule_ = {};
}

void Buffer::take(py::handle object, Access access, const char* name) {
  release();
  if (!PyObject_CheckBuffer(object.ptr())) return take_dlpack(object, access, name);
  const bool is_writable = access == Access::kWrite;
  if (PyObject_GetBuffer(object.ptr(), &view_, is_writable ? PyBUF_WRITABLE : PyBUF_SIMPLE) != 0) {
    const std::string why = take_python_error();
    // DLPack also has types that Python does not, such as bfloat16.
    if (py::hasattr(object, "__dlpack__")) return take_dlpack(object, access, name);
    raise(CN_INVALID_ARGUMENT,
          std::string(name) + " must be a contiguous" + (is_writable ? ", writable" : "") + " buffer: " + why);
  }
  has_view_ = true;
  data_ = view_.buf;
  size_ = static_cast<size_t>(view_.len);
  is_writable_ = view_.readonly == 0;
}

void Buffer::take_dlpack(py::handle object, Access access, const char* name) {
  if (!py::hasattr(object, "__dlpack__") || !py::hasattr(object, "__dlpack_device__"))
    throw py::type_error(std::string(name) + " must have the buffer protocol or DLPack, got " + type_name(object));
  const auto refuse = [&](const std::string& why) {
    raise(CN_INVALID_ARGUMENT, std::string(name) + ": the " + type_name(object) + " " + why);
  };
  py::object capsule;
  try {
    const int device = py::tuple(object.attr("__dlpack_device__")())[0].cast<int>();
    if (device == kCpu || device == kPinned) capsule = capsule_of(object);
  } catch (const py::error_already_set& error) {
    refuse("does not give its memory: " + std::string(py::str(error.value())));
  } catch (const py::cast_error&) {
    refuse("does not say on which device it is");
  }
  if (!capsule) refuse("must be in the memory of the CPU");
  const DlTensor* tensor = nullptr;
  uint64_t flags = 0;
  if (PyCapsule_IsValid(capsule.ptr(), kVersionedName)) {
    const auto* const versioned =
        static_cast<const VersionedDlTensor*>(PyCapsule_GetPointer(capsule.ptr(), kVersionedName));
    if (versioned->major != kMajor) refuse("has DLPack " + std::to_string(versioned->major) + ", which is unknown");
    tensor = &versioned->tensor;
    flags = versioned->flags;
  } else if (PyCapsule_IsValid(capsule.ptr(), kName)) {
    tensor = static_cast<const DlTensor*>(PyCapsule_GetPointer(capsule.ptr(), kName));
  } else {
    refuse("does not give its memory: __dlpack__() returned no capsule of DLPack");
  }
  if (access == Access::kWrite && (flags & kReadOnly) != 0) refuse("must be writable");
  if (access == Access::kWrite && (flags & kCopied) != 0) refuse("must give its own memory, got a copy");
  if (!is_contiguous(*tensor)) refuse("must be contiguous");
  uint64_t bits = uint64_t{tensor->bits} * tensor->lanes;
  for (int32_t i = 0; i < tensor->rank; ++i) bits *= static_cast<uint64_t>(tensor->shape[i]);
  data_ = static_cast<char*>(tensor->data) + tensor->byte_offset;
  size_ = (bits + 7) / 8;
  is_writable_ = access == Access::kWrite;
  // A capsule that nobody consumes keeps the tensor, and releases it by itself.
  capsule_ = std::move(capsule);
}

}  // namespace commnet_python
