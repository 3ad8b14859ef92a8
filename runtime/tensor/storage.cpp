#include "tensor/storage.h"

#include "base/free_list.h"
#include "device/copy.h"
#include "device/device.h"

namespace oneflow {

namespace {
thread_local constinit uint64_t allocated __attribute__((tls_model("initial-exec"))) = 0;
}  // namespace

uint64_t allocated_by_thread() noexcept { return allocated; }

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
  allocated += bytes;
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
  storage->buffer_ = std::move(buffer);
  return storage;
}

void Storage::destroy() noexcept { delete this; }

void* Storage::expose() {
  mutable_data();
  buffer_->expose();
  // A lazy clone on another thread may have seen the buffer before it was exposed; it then shares it by now.
  if (!buffer_->is_unique()) {
    unshare();
    buffer_->expose();
  }
  return buffer_->data();
}

Ref<Storage> Storage::lazy_clone() const {
  if (buffer_->is_foreign()) return {};
  Ref<Storage> clone = create(buffer_);
  return buffer_->is_exposed() ? Ref<Storage>() : std::move(clone);  // read after the clone has taken its reference
}

void Storage::unshare() {
  Ref<Buffer> copy = buffer_->copy();
  if (buffer_->is_handed_out()) copy->keep(std::move(buffer_));
  buffer_ = std::move(copy);
}

}  // namespace oneflow
