// Owned handles of the C API.
#ifndef ONEFLOW_OBJECTS_HANDLE_H_
#define ONEFLOW_OBJECTS_HANDLE_H_

#include <memory>
#include <type_traits>

namespace oneflow::objects {

template <auto release>
struct Release {
  template <class Handle>
  void operator()(Handle handle) const {
    release(handle);
  }
};
// Owns a handle, which a function of the C API releases.
template <class Handle, auto release>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, Release<release>>;

// Returns a struct of the C API with its size set, and all else zero.
template <class Struct>
Struct sized() {
  Struct result{};
  result.struct_size = sizeof result;
  return result;
}

}  // namespace oneflow::objects

#endif  // ONEFLOW_OBJECTS_HANDLE_H_
