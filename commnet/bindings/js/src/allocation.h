// Memory of the library, whose bytes JavaScript has as an ArrayBuffer.
#pragma once

#include <commnet/commnet.h>
#include <napi.h>

#include <cstddef>
#include <memory>

namespace commnet::node {

// Owned by what uses the bytes: the ArrayBuffer, the endpoint while they are registered, and operations.
class Allocation : public std::enable_shared_from_this<Allocation> {
 public:
  // Returns the one that an address is in; NULL: none.
  static std::shared_ptr<Allocation> at(const void* address);

  // Takes what cn_memory_alloc() has made.
  Allocation(cn_memory* handle, void* data, size_t size);
  Allocation(const Allocation&) = delete;
  Allocation& operator=(const Allocation&) = delete;
  ~Allocation();

  cn_memory* handle() const { return handle_; }
  // Makes the ArrayBuffer of the bytes, once.
  Napi::ArrayBuffer array_buffer(Napi::Env env);
  // Frees the bytes, which nobody may use any more, before the object is destroyed.
  void release();

 private:
  cn_memory* handle_;
  void* const data_;
  const size_t size_;
};

}  // namespace commnet::node
