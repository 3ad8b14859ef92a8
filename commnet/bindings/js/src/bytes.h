// The bytes of a typed array that the library uses while JavaScript goes on.
#pragma once

#include <napi.h>

#include <memory>

#include "allocation.h"

namespace commnet::node {

class Bytes {
 public:
  Bytes() = default;
  // Takes a Uint8Array.
  explicit Bytes(const Napi::Value& array);

  void* data() const { return data_; }
  size_t size() const { return size_; }
  // Keeps the bytes where they are until this object is destroyed.
  void pin();

 private:
  Napi::Uint8Array array_;  // valid in the call that made this object
  void* data_ = nullptr;
  size_t size_ = 0;
  Napi::Reference<Napi::Uint8Array> reference_;
  std::shared_ptr<void> store_;
  std::shared_ptr<Allocation> allocation_;
};

}  // namespace commnet::node
