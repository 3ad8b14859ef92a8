#include "tensor/storage.h"

#include <memory>

#include "base/free_list.h"
#include "device/copy.h"
#include "device/device.h"
#include "device/work_observer.h"

namespace oneflow {

namespace {
thread_local constinit uint64_t allocated __attribute__((tls_model("initial-exec"))) = 0;
}  // namespace

uint64_t allocated_by_thread() noexcept { return allocated; }

void* Buffer::operator new(size_t) { return FreeList<Buffer>::allocate(); }
void Buffer::operator delete(void* memory) noexcept { FreeList<Buffer>::free(memory); }
void* Storage::operator new(size_t) { return FreeList<Storage>::allocate(); }
void Storage::operator delete(void* memory) noexcept { FreeList<Storage>::free(memory); }

Ref<Buffer> Buffer::allocate(of_device device, Allocator& allocator, Stream* stream, uint64_t bytes) {
  Ref<Buffer> buffer = Ref<Buffer>::adopt(new Buffer);
  buffer->device_ = device;
  buffer->data_ = allocator.allocate(bytes, stream ? stream->pool() : nullptr);
  buffer->bytes_ = bytes;
  buffer->allocator_ = &allocator;
  buffer->stream_ = stream;
  allocated += bytes;
  if (work_observer) [[unlikely]]
    work_observer->see_allocation(device, buffer->data_, bytes);
  return buffer;
}

Ref<Buffer> Buffer::allocate(of_device device, uint64_t bytes) {
  Device& found = get_device(device);
  return allocate(device, found.allocator(), &found.current(), bytes);
}

Ref<Buffer> Buffer::allocate(of_device device, Allocator& allocator, uint64_t bytes) {
  return allocate(device, allocator, nullptr, bytes);
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
  copy_bytes(device_, copy->data(), device_, data(), bytes_);
  return copy;
}

Uses& Buffer::uses() const {
  Uses* known = uses_.load(std::memory_order_acquire);
  if (known) return *known;
  auto created = std::make_unique<Uses>();
  if (uses_.compare_exchange_strong(known, created.get(), std::memory_order_acq_rel)) return *created.release();
  return *known;
}

void Buffer::note_use() const {
  if (is_page_locked()) {
    if (Uses* copies = uses_.load(std::memory_order_acquire)) copies->wait_for_copies();
    return;
  }
  Device* device = stream_ ? &stream_->device() : device_or_null(device_);
  if (!device || !device->table().create_stream) return;
  Stream& current = device->current();
  if (&current != (stream_ ? stream_ : &device->default_stream())) uses().add(current);
}

bool Buffer::is_copied_behind_host() const {
  if (!uses_are_noted.load(std::memory_order_relaxed) || !is_page_locked()) return false;
  const Uses* copies = uses_.load(std::memory_order_acquire);
  return copies && !copies->are_empty();
}

void* Buffer::data_for_copy(Stream& stream) const {
  if (Uses* copies = uses_.load(std::memory_order_acquire)) copies->order_copies_before(stream);
  return data_;
}

void Buffer::note_copy(Stream& stream, Event end, bool writes) const {
  uses_are_noted.store(true);
  uses().add_copy(stream, std::move(end), writes);
}

void Buffer::destroy() noexcept {
  if (work_observer) [[unlikely]]
    work_observer->see_release(data_);
  const std::unique_ptr<Uses> uses(uses_.load(std::memory_order_acquire));
  if (allocator_) {
    Pool* pool = stream_ ? stream_->pool() : nullptr;
    if (uses) [[unlikely]]
      allocator_->deallocate_after(uses->finish(), data_, bytes_, pool);
    else
      allocator_->deallocate(data_, bytes_, pool);
  } else if (deleter_) {
    Stream& last = known_device(device_).default_stream();
    if (uses) uses->finish_before(last);
    last.release_after_work(deleter_, context_);
  }
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
  Buffer* used = &buffer();
  if (!used->is_unique() || used->is_read_only()) used = &unshare(*used);
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
  if (shared.is_foreign() && !shared.is_constant()) return {};
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
