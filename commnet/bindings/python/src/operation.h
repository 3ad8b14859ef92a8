// Operations, with the buffers that they use.
#ifndef COMMNET_PYTHON_OPERATION_H_
#define COMMNET_PYTHON_OPERATION_H_

#include <commnet/commnet.h>
#include <pybind11/pybind11.h>

#include <memory>
#include <optional>
#include <vector>

#include "buffer.h"

namespace commnet_python {

class Endpoint;

// Guarded by the GIL.
class Operation {
 public:
  Operation(std::shared_ptr<Endpoint> endpoint, bool has_event)
      : endpoint_(std::move(endpoint)), has_event_(has_event) {}
  ~Operation() { cn_operation_release(handle_); }

  cn_operation** handle() { return &handle_; }
  Buffer& buffer() { return buffer_; }
  // Gives back the buffer once the end has come.
  bool is_done();
  // Waits until the end, for at most `timeout_ms`. Raises what it has failed with.
  void wait(std::optional<uint32_t> timeout_ms);
  void cancel();
  // Returns the address of the peer of a connection.
  uintptr_t peer() const { return reinterpret_cast<uintptr_t>(cn_operation_peer(handle_)); }
  // Has a function called at the end. Returns whether it will be: not if the end has come, or is no event.
  bool add_callback(pybind11::object callback);
  // The end has come: gives back the buffer and the functions to call.
  std::vector<pybind11::object> settle();

 private:
  const std::shared_ptr<Endpoint> endpoint_;
  const bool has_event_;
  bool is_settled_ = false;
  cn_operation* handle_ = nullptr;
  Buffer buffer_;
  std::vector<pybind11::object> callbacks_;
};

}  // namespace commnet_python

#endif  // COMMNET_PYTHON_OPERATION_H_
