#include "tensor/buffer.h"

#include <oneflow/autograd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "errors.h"
#include "tensor/dtype.h"
#include "tensor/tensor.h"
#include "tensor/tensor_parts.h"

namespace oneflow::python {
namespace {

// Returns the format of a dtype in the syntax of the struct module; NULL if it has none.
const char* format_of(of_dtype dtype) {
  switch (dtype) {
    case OF_BOOL:
      return "?";
    case OF_UINT8:
      return "B";
    case OF_INT8:
      return "b";
    case OF_INT16:
      return "h";
    case OF_INT32:
      return "i";
    case OF_INT64:
      return sizeof(long) == 8 ? "l" : "q";
    case OF_UINT16:
      return "H";
    case OF_UINT32:
      return "I";
    case OF_UINT64:
      return sizeof(long) == 8 ? "L" : "Q";
    case OF_FLOAT16:
      return "e";
    case OF_FLOAT32:
      return "f";
    case OF_FLOAT64:
      return "d";
    case OF_COMPLEX64:
      return "Zf";  // NumPy's extension of the syntax
    case OF_COMPLEX128:
      return "Zd";
    default:
      return nullptr;
  }
}

// Returns the dtype of a format and an element size in bytes; OF_DTYPE_NONE if there is none. A byte order prefix must
// be that of the machine.
of_dtype dtype_of(const char* format, Py_ssize_t size) {
  if (format == nullptr) return OF_UINT8;
  if (*format == '@' || *format == '=' || *format == (PY_LITTLE_ENDIAN ? '<' : '>')) ++format;
  for (of_dtype dtype : {OF_COMPLEX64, OF_COMPLEX128}) {
    if (strcmp(format, format_of(dtype)) == 0) return dtype;
  }
  if (strlen(format) != 1) return OF_DTYPE_NONE;
  const bool is_signed = strchr("bhilqn", *format) != nullptr;
  if (is_signed || strchr("BHILQN", *format) != nullptr) {
    const of_dtype signed_types[] = {OF_INT8, OF_INT16, OF_INT32, OF_INT64};
    const of_dtype unsigned_types[] = {OF_UINT8, OF_UINT16, OF_UINT32, OF_UINT64};
    for (int i = 0; i < 4; ++i) {
      if (size == 1 << i) return is_signed ? signed_types[i] : unsigned_types[i];
    }
    return OF_DTYPE_NONE;
  }
  for (of_dtype dtype : {OF_BOOL, OF_FLOAT16, OF_FLOAT32, OF_FLOAT64}) {
    if (*format == *format_of(dtype)) return dtype;
  }
  return OF_DTYPE_NONE;
}

// ---------------------------------------------------------------- import

// A buffer of another object, which must not move or free the memory until the buffer is released.
struct ForeignBuffer {
  Py_buffer view{};

  ~ForeignBuffer() { PyBuffer_Release(&view); }
  ForeignBuffer() = default;
  ForeignBuffer(const ForeignBuffer&) = delete;
  ForeignBuffer& operator=(const ForeignBuffer&) = delete;
};

// Releases a ForeignBuffer from any thread. It does nothing once the interpreter is shutting down: its objects are
// destroyed anyway.
void release_buffer(void* context) {
  LockedScope locked;
  if (locked) delete static_cast<ForeignBuffer*>(context);
}

bool get_buffer(PyObject* object, Py_buffer* view) {
  if (PyObject_GetBuffer(object, view, PyBUF_FULL) == 0) return true;
  PyErr_Clear();  // the memory may be read-only
  return PyObject_GetBuffer(object, view, PyBUF_FULL_RO) == 0;
}

// The range of a buffer's memory and the offset of its first element, which is not 0 if strides are negative.
struct Extent {
  char* begin;
  uint64_t bytes;
  int64_t offset;  // in elements
};

Extent extent_of(const Py_buffer& view) {
  Py_ssize_t below = 0, above = view.itemsize;
  for (int i = 0; i < view.ndim; ++i) {
    if (view.shape[i] == 0) return {static_cast<char*>(view.buf), 0, 0};
    const Py_ssize_t reach = view.strides[i] * (view.shape[i] - 1);
    (reach < 0 ? below : above) += reach;
  }
  return {static_cast<char*>(view.buf) + below, static_cast<uint64_t>(above - below), -below / view.itemsize};
}

// Returns whether elements and strides are aligned to the element size; raises InvalidArgument otherwise.
bool can_share(const Py_buffer& view, const std::string& prefix) {
  bool aligned = reinterpret_cast<uintptr_t>(view.buf) % static_cast<uintptr_t>(view.itemsize) == 0;
  for (int i = 0; i < view.ndim; ++i) {
    aligned = aligned && view.strides[i] % view.itemsize == 0 && (view.suboffsets == nullptr || view.suboffsets[i] < 0);
  }
  if (!aligned) {
    raise(OF_INVALID_ARGUMENT,
          prefix + " must be aligned, with strides that are multiples of the element size; copy it first");
  }
  return aligned;
}

PyObject* create(const of_tensor_source& source) {
  of_tensor tensor = nullptr;
  return check(of_tensor_create(&source, &tensor)) ? wrap(tensor) : nullptr;
}

PyObject* share(std::unique_ptr<ForeignBuffer> buffer, of_tensor_source source, const std::string& prefix) {
  const Py_buffer& view = buffer->view;
  if (!can_share(view, prefix)) return nullptr;
  std::vector<int64_t> strides;
  for (int i = 0; i < view.ndim; ++i) strides.push_back(view.strides[i] / view.itemsize);
  const Extent extent = extent_of(view);
  source.strides = strides.data();
  source.data = extent.begin;
  source.bytes = extent.bytes;
  source.offset = extent.offset;
  source.read_only = view.readonly != 0;
  source.deleter = release_buffer;
  source.deleter_context = buffer.get();
  PyObject* tensor = create(source);
  if (tensor != nullptr) buffer.release();
  return tensor;
}

PyObject* copy(Py_buffer& view, of_tensor_source source) {
  if (PyBuffer_IsContiguous(&view, 'C')) {
    source.data = view.buf;
    source.bytes = static_cast<uint64_t>(view.len);
    return create(source);
  }
  Ref bytes(PyBytes_FromStringAndSize(nullptr, view.len));
  if (!bytes || PyBuffer_ToContiguous(PyBytes_AS_STRING(bytes.get()), &view, view.len, 'C') != 0) return nullptr;
  source.data = PyBytes_AS_STRING(bytes.get());
  source.bytes = static_cast<uint64_t>(view.len);
  return create(source);
}

}  // namespace

PyObject* tensor_from_buffer(PyObject* object, const char* function, const char* name, bool copied) {
  const std::string prefix = std::string(function) + ": " + name;
  auto buffer = std::make_unique<ForeignBuffer>();
  Py_buffer& view = buffer->view;
  if (!get_buffer(object, &view)) {
    if (PyErr_ExceptionMatches(PyExc_MemoryError)) return nullptr;
    // The exporter's message, such as NumPy's for dates, names neither the function nor the argument.
    return raise(OF_DTYPE_ERROR,
                 prefix + " must export a buffer of numbers, got " + type_name(object) + ": " + take_error_text());
  }
  const of_dtype dtype = dtype_of(view.format, view.itemsize);
  if (dtype == OF_DTYPE_NONE) {
    return raise(OF_DTYPE_ERROR, prefix + " must have elements of a supported dtype, got format '" + view.format +
                                     "' with " + std::to_string(view.itemsize) + " bytes per element");
  }
  if (view.ndim > OF_MAX_RANK) {
    return raise(OF_SHAPE_ERROR, prefix + " must have at most " + std::to_string(OF_MAX_RANK) + " dimensions, got " +
                                     std::to_string(view.ndim));
  }
  std::vector<int64_t> sizes(view.shape, view.shape + view.ndim);
  of_tensor_source source{};
  source.struct_size = sizeof(source);
  source.dtype = dtype;
  source.rank = view.ndim;
  source.sizes = sizes.data();
  return copied ? copy(view, source) : share(std::move(buffer), source, prefix);
}

// ---------------------------------------------------------------- export

namespace {

// Returns whether the elements are contiguous in column-major order.
bool is_column_major(const of_tensor_info& info) {
  int64_t expected = 1;
  for (int i = 0; i < info.rank; ++i) {
    if (info.sizes[i] > 1 && info.strides[i] != expected) return info.count == 0;
    expected *= info.sizes[i];
  }
  return true;
}

// Returns whether the layout satisfies a consumer's request; raises BufferError otherwise.
bool fits_request(const of_tensor_info& info, int flags) {
  const auto wants = [&](int flag) { return (flags & flag) == flag; };
  const bool fits_columns = is_column_major(info);
  const char* problem = nullptr;
  if (!wants(PyBUF_STRIDES) && !info.is_contiguous) {
    problem = "the tensor is not contiguous, and a buffer without strides was requested";
  } else if (wants(PyBUF_F_CONTIGUOUS) && !fits_columns) {
    problem = "the tensor is not Fortran-contiguous";
  } else if (!info.is_contiguous && (wants(PyBUF_C_CONTIGUOUS) || (wants(PyBUF_ANY_CONTIGUOUS) && !fits_columns))) {
    problem = "the tensor is not contiguous";
  }
  if (problem != nullptr) PyErr_SetString(PyExc_BufferError, problem);
  return problem == nullptr;
}

int get_tensor_buffer(PyObject* self, Py_buffer* view, int flags) {
  view->obj = nullptr;
  const of_tensor handle = handle_of(self);
  const of_dtype dtype = of_tensor_dtype(handle);
  const int rank = of_tensor_rank(handle);
  const int64_t size = static_cast<int64_t>(of_dtype_size(dtype));
  of_tensor_info info{};
  info.struct_size = sizeof(info);
  if (!check(of_tensor_get_info(handle, &info))) return -1;
  if (format_of(dtype) == nullptr) {
    PyErr_Format(PyExc_BufferError, "the buffer protocol has no format for %s; cast to float32 first",
                 of_dtype_name(dtype));
    return -1;
  }
  if (of_tensor_requires_grad(handle)) {
    PyErr_SetString(PyExc_BufferError, "the tensor requires a gradient, which buffers do not have; detach it first");
    return -1;
  }
  if (!fits_request(info, flags)) return -1;
  const Py_ssize_t bytes = byte_count(handle);
  void* data = nullptr;
  if (bytes < 0 || !check(of_tensor_mutable_data(handle, &data))) return -1;
  auto shape = std::make_unique<Py_ssize_t[]>(static_cast<size_t>(2 * rank));
  for (int i = 0; i < rank; ++i) {
    shape[i] = info.sizes[i];
    shape[rank + i] = info.strides[i] * size;
  }
  static char nothing[16];  // a valid address for tensors without elements
  view->buf = data != nullptr ? data : nothing;
  view->len = bytes;
  view->itemsize = size;
  view->readonly = 0;
  const bool has_shape = (flags & PyBUF_ND) != 0 && rank > 0;
  view->ndim = (flags & PyBUF_ND) != 0 ? rank : 1;  // a request without a shape gets a flat buffer
  view->format = (flags & PyBUF_FORMAT) != 0 ? const_cast<char*>(format_of(dtype)) : nullptr;
  view->shape = has_shape ? shape.get() : nullptr;
  view->strides = has_shape && (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? shape.get() + rank : nullptr;
  view->suboffsets = nullptr;
  view->internal = shape.release();
  view->obj = Py_NewRef(self);
  return 0;
}

void release_tensor_buffer(PyObject*, Py_buffer* view) { delete[] static_cast<Py_ssize_t*>(view->internal); }

}  // namespace

void append_buffer_slots(std::vector<PyType_Slot>* slots) {
  slots->push_back({Py_bf_getbuffer, reinterpret_cast<void*>(get_tensor_buffer)});
  slots->push_back({Py_bf_releasebuffer, reinterpret_cast<void*>(release_tensor_buffer)});
}

}  // namespace oneflow::python
