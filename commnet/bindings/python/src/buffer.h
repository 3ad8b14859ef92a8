// Memory of Python objects, which is kept for as long as a Buffer exists.
#ifndef COMMNET_PYTHON_BUFFER_H_
#define COMMNET_PYTHON_BUFFER_H_

#include <pybind11/pybind11.h>

#include <cstddef>

namespace commnet_python {

// Created and destroyed with the GIL.
class Buffer {
 public:
  enum class Access { kRead, kWrite };

  Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { release(); }

  // Takes the bytes of an object with the buffer protocol, or of a CPU tensor with DLPack. `name` is that of the
  // argument, for errors.
  void take(pybind11::handle object, Access access, const char* name);
  void release();
  void* data() const { return data_; }
  size_t size() const { return size_; }
  // Whether the bytes may be changed; not known of a tensor that was taken for reading.
  bool is_writable() const { return is_writable_; }

 private:
  void take_dlpack(pybind11::handle object, Access access, const char* name);

  bool has_view_ = false;
  Py_buffer view_{};
  pybind11::object capsule_;
  void* data_ = nullptr;
  size_t size_ = 0;
  bool is_writable_ = false;
};

}  // namespace commnet_python

#endif  // COMMNET_PYTHON_BUFFER_H_
