// Memory that peers may access, whose bytes Python sees as a buffer.
#ifndef COMMNET_PYTHON_MEMORY_H_
#define COMMNET_PYTHON_MEMORY_H_

#include <commnet/commnet.h>
#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "buffer.h"

namespace commnet_python {

class Endpoint;

// Guarded by the GIL. Empty, as if it was released, until an endpoint has filled it.
class Memory {
 public:
  // Gives the type its functions for views.
  static void set_up(PyHeapTypeObject* type);

  Memory() = default;
  Memory(const Memory&) = delete;
  ~Memory() { retire(); }

  // The object that was registered; empty if the library has allocated the bytes.
  Buffer& buffer() { return buffer_; }
  void fill(std::shared_ptr<Endpoint> endpoint, cn_memory* handle, void* data, size_t size, bool is_writable);

  pybind11::bytes token(uint32_t rights) const;
  size_t size() const { return size_; }
  bool is_released() const { return is_released_; }
  // Ends the registration. Raises BufferError while something uses the bytes through a view.
  void release();
  // Does so for an endpoint that is closed: the bytes then live as long as their views.
  void retire();

 private:
  static int get_view(PyObject* self, Py_buffer* view, int flags);
  static void end_view(PyObject* self, Py_buffer* view);
  void free();

  std::shared_ptr<Endpoint> endpoint_;
  Buffer buffer_;
  cn_memory* handle_ = nullptr;
  void* data_ = nullptr;
  size_t size_ = 0, views_ = 0;
  bool is_writable_ = false, is_released_ = true;
};

}  // namespace commnet_python

#endif  // COMMNET_PYTHON_MEMORY_H_
