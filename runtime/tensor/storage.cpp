#include "tensor/storage.h"

#include "base/free_list.h"
#include "device/copy.h"
#include "device/device.h"

namespace oneflow {

void* Buffer::operator new(size_t) { return FreeList<Buffer>::allocate(); }
void Buffer::operator delete(void* memory) noexcept { FreeList<Buffer>::free(memory); }
void* Storage::operator new(size_t) { return FreeList<Storage>::allocate(); }
void Storage::operator delete(void* memory) noexcept { FreeList<Storage>::free(memory); }

Ref<Buffer> Buffer::allocate(of_device device, uint64_t bytes) {
  return allocate(device, get_device(device).allocator(), bytes);
}

Ref<Buffer> Buffer::allocate(of_device device, Allocator& allocator, uint64_t bytes) {
  Ref<Buffer> buffer = Ref<Buffer>::adopt(new Buffer);
  buffer->device_ = device;
  buffer->data_ = allocator.allocate(bytes);
  buffer->bytes_ = bytes;
  buffer->allocator_ = &allocator;
  return buffer;
}

Ref<Buffer> Buffer::adopt(of_device device, void* data, uint64_t bytes, bool read_only) {
  Ref<Buffer> buffer = Ref<Buffer>::adopt(new Buffer);
  buffer->device_ = device;
  buffer->data_ = data;
  buffer->bytes_ = bytes;
  buffer->is_read_only_ = read_only;
  return buffer;
}

bool Buffer::is_page_locked() const { return allocator_ && allocator_->is_page_locked(); }

Ref<Buffer> Buffer::copy() const {
  Ref<Buffer> copy = is_page_locked() ? allocate(device_, *allocator_, bytes_) : allocate(device_, bytes_);
  copy_bytes(device_, copy->data(), device_, data_, bytes_);
  return copy;
}

void Buffer::destroy() noexcept {
  if (allocator_)
    allocator_->deallocate(data_, bytes_);
  else if (deleter_)
    known_device(device_).release_after_work(deleter_, context_);
  delete this;
}

Ref<Storage> Storage::create(Ref<Buffer> buffer) {
  Ref<Storage> storage = Ref<Storage>::adopt(new Storage);
  storage->buffer_.store(buffer.detach(), std::memory_order_relaxed);
  return storage;
}

Ref<Storage> Storage::defer(const Recipe& recipe) {
  Ref<Storage> storage = Ref<Storage>::adopt(new Storage);
  storage->deferred_ = std::make_unique<Deferred>(recipe);
  return storage;
}

Storage::~Storage() {
  if (const Buffer* buffer = present_buffer()) buffer->release();
}

Buffer& Storage::make_buffer() const {
  deferred_->make_into(buffer_);
  return *buffer_.load(std::memory_order_acquire);
}

void Storage::destroy() noexcept { delete this; }

void* Storage::expose() {
  mutable_data();
  Buffer* used = &buffer();
  used->expose();
  // A lazy clone on another thread may have seen the buffer before it was exposed; it then shares it by now.
  if (!used->is_unique()) {
    used = &unshare(*used);
    used->expose();
  }
  return used->data();
}

Ref<Storage> Storage::lazy_clone() const {
  Buffer& shared = buffer();
  if (shared.is_foreign()) return {};
  Ref<Storage> clone = create(Ref<Buffer>::share(&shared));
  return shared.is_exposed() ? Ref<Storage>() : std::move(clone);  // read after the clone has taken its reference
}

Buffer& Storage::unshare(Buffer& shared) {
  Ref<Buffer> copy = shared.copy();
  if (shared.is_handed_out()) copy->keep(Ref<Buffer>::share(&shared));
  Buffer* expected = &shared;
  if (!buffer_.compare_exchange_strong(expected, copy.get())) return *expected;
  shared.release();
  return *copy.detach();
}

}  // namespace oneflow
