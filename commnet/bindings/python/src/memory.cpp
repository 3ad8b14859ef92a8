#include "memory.h"

#include <exception>
#include <utility>

#include "endpoint.h"
#include "errors.h"

namespace py = pybind11;

namespace commnet_python {

namespace {

char nothing = 0;  // where memory without bytes is

// Raises an error for an object whose __init__() was not called.
std::shared_ptr<Memory> memory_of(PyObject* object) { return py::handle(object).cast<std::shared_ptr<Memory>>(); }

}  // namespace

void Memory::set_up(PyHeapTypeObject* type) {
  type->as_buffer.bf_getbuffer = &get_view;
  type->as_buffer.bf_releasebuffer = &end_view;
  type->ht_type.tp_as_buffer = &type->as_buffer;
}

int Memory::get_view(PyObject* self, Py_buffer* view, int flags) {
  view->obj = nullptr;
  try {
    Memory& memory = *memory_of(self);
    if (memory.is_released_) raise(CN_CLOSED, "the memory was released");
    const auto size = static_cast<Py_ssize_t>(memory.size_);
    if (PyBuffer_FillInfo(view, self, size > 0 ? memory.data_ : &nothing, size, !memory.is_writable_, flags) != 0)
      return -1;
    ++memory.views_;
    return 0;
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_BufferError, error.what());
  }
  return -1;
}

void Memory::end_view(PyObject* self, Py_buffer*) {
  Memory& memory = *memory_of(self);
  if (--memory.views_ == 0 && memory.is_released_) memory.free();
}

void Memory::fill(std::shared_ptr<Endpoint> endpoint, cn_memory* handle, void* data, size_t size, bool is_writable) {
  endpoint_ = std::move(endpoint);
  handle_ = handle;
  data_ = data;
  size_ = size;
  is_writable_ = is_writable;
  is_released_ = false;
}

py::bytes Memory::token(uint32_t rights) const {
  if (is_released_) raise(CN_CLOSED, "the memory was released");
  cn_token token;
  check(cn_memory_token(handle_, rights, &token));
  return {reinterpret_cast<const char*>(token.bytes), sizeof token.bytes};
}

void Memory::release() {
  if (views_ > 0 && !is_released_)
    throw py::buffer_error("the memory cannot be released: a view, an operation or a registration uses its bytes");
  retire();
}

void Memory::retire() {
  is_released_ = true;
  if (views_ == 0) free();
}

void Memory::free() {
  cn_memory* const handle = std::exchange(handle_, nullptr);
  // A thread of the parent may hold a lock forever in a process that was forked, which keeps the bytes, too.
  if (handle != nullptr && !endpoint_->is_abandoned()) {
    const py::gil_scoped_release released;
    cn_memory_release(handle);
  }
  buffer_.release();
}

}  // namespace commnet_python
