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

constexpr int kCpu = 1, kPinned = 3;

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

std::string type_name(py::handle object) { return Py_TYPE(object.ptr())->tp_name; }

}  // namespace

void Buffer::release() {
  if (has_view_) PyBuffer_Release(&view_);
  has_view_ = false;
  capsule_ = {};
}

void Buffer::take(py::handle object, Access access, const char* name) {
  release();
  if (!PyObject_CheckBuffer(object.ptr())) return take_dlpack(object, name);
  const bool is_writable = access == Access::kWrite;
  if (PyObject_GetBuffer(object.ptr(), &view_, is_writable ? PyBUF_WRITABLE : PyBUF_SIMPLE) != 0)
    raise(CN_INVALID_ARGUMENT, std::string(name) + " must be a contiguous" + (is_writable ? ", writable" : "") +
                                   " buffer: " + take_python_error());
  has_view_ = true;
  data_ = view_.buf;
  size_ = static_cast<size_t>(view_.len);
}

void Buffer::take_dlpack(py::handle object, const char* name) {
  if (!py::hasattr(object, "__dlpack__") || !py::hasattr(object, "__dlpack_device__"))
    throw py::type_error(std::string(name) + " must have the buffer protocol or DLPack, got " + type_name(object));
  const auto refuse = [&](const std::string& why) {
    raise(CN_INVALID_ARGUMENT, std::string(name) + ": the " + type_name(object) + " " + why);
  };
  py::object capsule;
  try {
    const int device = py::tuple(object.attr("__dlpack_device__")())[0].cast<int>();
    if (device == kCpu || device == kPinned) capsule = object.attr("__dlpack__")();
  } catch (const py::error_already_set& error) {
    refuse("does not give its memory: " + std::string(py::str(error.value())));
  }
  if (!capsule) refuse("must be in the memory of the CPU");
  const auto* const tensor = static_cast<const DlTensor*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"));
  if (tensor == nullptr) throw py::error_already_set();
  if (!is_contiguous(*tensor)) refuse("must be contiguous");
  uint64_t bits = uint64_t{tensor->bits} * tensor->lanes;
  for (int32_t i = 0; i < tensor->rank; ++i) bits *= static_cast<uint64_t>(tensor->shape[i]);
  data_ = static_cast<char*>(tensor->data) + tensor->byte_offset;
  size_ = bits / 8;
  // A capsule that nobody consumes keeps the tensor, and releases it by itself.
  capsule_ = std::move(capsule);
}

}  // namespace commnet_python
