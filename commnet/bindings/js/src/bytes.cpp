#include "bytes.h"

#include <dlfcn.h>

#include "environment.h"

namespace commnet::node {

namespace {

// Returns what owns the memory of an ArrayBuffer. A reference to the ArrayBuffer alone does not keep its memory: the
// memory belongs to another one after a transfer. Node-API has no function for this, so it is asked of V8, if the
// running version still has it in this form.
std::shared_ptr<void> store_of(const Napi::ArrayBuffer& buffer) {
  using GetBackingStore = std::shared_ptr<void> (*)(void* self);
  static const auto get =
      reinterpret_cast<GetBackingStore>(dlsym(RTLD_DEFAULT, "_ZN2v811ArrayBuffer15GetBackingStoreEv"));
  return get ? get(static_cast<napi_value>(buffer)) : nullptr;
}

}  // namespace

Bytes::Bytes(const Napi::Value& array) {
  if (!array.IsTypedArray() || array.As<Napi::TypedArray>().TypedArrayType() != napi_uint8_array)
    throw Environment::of(array.Env()).make_error(array.Env(), CN_INVALID_ARGUMENT, "expected a Uint8Array");
  array_ = array.As<Napi::Uint8Array>();
  data_ = array_.Data();
  size_ = array_.ByteLength();
}

void Bytes::pin() {
  allocation_ = Allocation::at(data_);
  reference_ = Napi::Persistent(array_);
  const Napi::ArrayBuffer buffer = array_.ArrayBuffer();
  if (buffer.IsArrayBuffer()) store_ = store_of(buffer);  // a SharedArrayBuffer cannot be transferred
}

}  // namespace commnet::node
