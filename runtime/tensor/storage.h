// The memory of tensors, which may be computed when it is first needed. All views of a tensor share its Storage. Lazy
// clones have separate Storages, which share a Buffer until either is written.
#ifndef ONEFLOW_TENSOR_STORAGE_H_
#define ONEFLOW_TENSOR_STORAGE_H_

#include <oneflow/oneflow.h>

#include <atomic>
#include <memory>

#include "base/ref.h"
#include "device/uses.h"
#include "tensor/deferred.h"

namespace oneflow {

class Allocator;

// Returns the bytes of memory that the calling thread has allocated for tensors since it started.
uint64_t allocated_by_thread() noexcept;

// A block of memory on a device: memory of an allocator, or foreign memory with a deleter.
class Buffer final : public RefCounted<Buffer> {
 public:
  // Allocates uninitialized memory of a device. Throws OutOfMemory, or the device's error.
  static Ref<Buffer> allocate(of_device device, uint64_t bytes);
  // Allocates uninitialized memory of another allocator that `device` can use as its own, such as page-locked memory.
  static Ref<Buffer> allocate(of_device device, Allocator& allocator, uint64_t bytes);
  // Creates a buffer over foreign memory, which it does not own before set_deleter().
  static Ref<Buffer> adopt(of_device device, void* data, uint64_t bytes, bool read_only);
  // Takes ownership of the foreign memory: deleter(context) is called once, when the buffer is destroyed.
  void set_deleter(of_deleter deleter, void* context) {
    deleter_ = deleter;
    context_ = context;
  }

  // Returns the address, for work that the calling thread submits to its current stream, or for the host, which waits
  // for copies of page-locked memory. Throws the errors of work before such a copy.
  void* data() const {
    if (uses_are_noted.load(std::memory_order_relaxed)) [[unlikely]]
      note_use();
    return data_;
  }
  uint64_t bytes() const { return bytes_; }
  of_device device() const { return device_; }
  bool is_foreign() const { return allocator_ == nullptr; }
  bool is_read_only() const { return is_read_only_; }
  // Promises that nobody writes the foreign memory, such as that of a mapped file, so that lazy clones may share it.
  void set_constant() { is_constant_ = true; }
  bool is_constant() const { return is_constant_; }
  bool is_page_locked() const;
  // Returns whether a device with events may copy from and to this memory while the host continues: it is page-locked,
  // and the host only accesses it by data().
  bool may_copy_behind_host() const { return is_page_locked() && !is_exposed() && !is_handed_out(); }
  // Returns whether such copies may be running, for which data() waits.
  bool is_copied_behind_host() const;
  // Makes later work of a stream wait for such copies, and returns the address.
  void* data_for_copy(Stream& stream) const;
  // Notes such a copy in a stream, of which `end` marks the end. `writes` says whether it writes this memory.
  void note_copy(Stream& stream, Event end, bool writes) const;
  // Returns a copy in page-locked memory if this buffer is in page-locked memory, else in the device's own memory.
  Ref<Buffer> copy() const;
  // Returns whether code outside the runtime has the address and may write at any time, so that lazy clones must not
  // share the memory.
  bool is_exposed() const { return is_exposed_.load(std::memory_order_relaxed); }
  // Marks the memory as exposed, for good.
  void expose() { is_exposed_.store(true); }
  // Notes that code outside the runtime has the address for reading, so that the memory must outlive copies on write.
  void hand_out() { is_handed_out_.store(true, std::memory_order_relaxed); }
  bool is_handed_out() const { return is_handed_out_.load(std::memory_order_relaxed); }
  // Keeps the buffer that this one replaces alive.
  void keep(Ref<Buffer> replaced) { replaced_ = std::move(replaced); }

  void destroy() noexcept;
  static void* operator new(size_t);
  static void operator delete(void*) noexcept;

 private:
  Buffer() = default;
  // Allocates memory in the pool of a stream, or outside of pools.
  static Ref<Buffer> allocate(of_device device, Allocator& allocator, Stream* stream, uint64_t bytes);
  void note_use() const;
  Uses& uses() const;

  void* data_ = nullptr;
  uint64_t bytes_ = 0;
  of_device device_{};
  // The stream that was current when memory of a device was allocated. Null for other memory: the default stream.
  Stream* stream_ = nullptr;
  mutable std::atomic<Uses*> uses_{nullptr};
  bool is_read_only_ = false, is_constant_ = false;
  std::atomic<bool> is_exposed_{false}, is_handed_out_{false};
  Ref<Buffer> replaced_;
  Allocator* allocator_ = nullptr;  // the owner of the memory; null for foreign memory
  of_deleter deleter_ = nullptr;
  void* context_ = nullptr;
};

// The state that all views of the same memory share: the buffer, and a version that increases with each write.
class Storage final : public RefCounted<Storage> {
 public:
  static Ref<Storage> create(Ref<Buffer> buffer);
  // Creates a storage whose buffer is computed when it is first needed. Takes ownership of the context of the recipe
  // unless this throws.
  static Ref<Storage> defer(const Recipe& recipe);

  // Returns the address of the memory for reading. Throws the error of a deferred buffer that cannot be computed, as
  // all functions do that need the buffer.
  const void* data() const { return buffer().data(); }
  // Returns the address of the memory for writing, and counts a write. If the buffer is shared or read-only, replaces
  // it by a copy first, which changes data().
  void* mutable_data() { return prepare_write().data(); }
  // Counts a write, and returns the buffer once it is writable, without noting a use of it.
  Buffer& prepare_write() {
    Buffer& writable = make_writable();
    count_write();
    return writable;
  }
  // Replaces the buffer by a copy if it is shared or read-only, so that a later write needs no memory. Returns the
  // buffer.
  Buffer& make_writable() {
    Buffer& used = buffer();
    if (used.is_unique() && !used.is_read_only()) [[likely]]
      return used;
    return unshare(used);
  }
  // Like mutable_data(), for code outside the runtime, which may write at any time from now on. Such writes are not
  // counted: most of this code only reads.
  void* expose();
  // Returns a storage with the same content, which shares the buffer until either is written. Null for exposed and for
  // foreign memory, which code outside the runtime may write at any time, unless that is constant.
  Ref<Storage> lazy_clone() const;

  uint64_t bytes() const { return deferred_ ? deferred_->bytes() : buffer().bytes(); }
  of_device device() const { return deferred_ ? deferred_->device() : buffer().device(); }
  uint64_t version() const { return version_.load(std::memory_order_relaxed); }
  // Notes the operator that writes to the memory of a tensor of the caller, whose name is a string constant.
  void set_last_writer(const char* name) { last_writer_.store(name, std::memory_order_relaxed); }
  // Returns the last one; null if there is none.
  const char* last_writer() const { return last_writer_.load(std::memory_order_relaxed); }
  Buffer& buffer() const {
    Buffer* buffer = buffer_.load(std::memory_order_acquire);
    if (!buffer) [[unlikely]]
      buffer = &make_buffer();
    return *buffer;
  }
  // Returns the buffer, or null if it is not computed yet.
  const Buffer* present_buffer() const { return buffer_.load(std::memory_order_acquire); }

  void destroy() noexcept;
  static void* operator new(size_t);
  static void operator delete(void*) noexcept;

 private:
  Storage() = default;
  ~Storage();
  Buffer& make_buffer() const;
  // Replaces the buffer `shared` by a copy, unless another thread has done so, and returns the buffer.
  Buffer& unshare(Buffer& shared);
  // Increments the version. If only one tensor refers to the storage, no other thread counts at the same time, and the
  // atomic addition, which costs noticeable time in small contractions, is not necessary.
  void count_write() {
    if (is_unique()) return version_.store(version() + 1, std::memory_order_relaxed);
    version_.fetch_add(1, std::memory_order_relaxed);
  }

  mutable std::atomic<Buffer*> buffer_{nullptr};  // owns a reference; null until it is computed
  std::atomic<uint64_t> version_{0};
  std::unique_ptr<Deferred> deferred_;  // lives as long as the storage, for threads that have waited
  std::atomic<const char*> last_writer_{nullptr};
};

}  // namespace oneflow

#endif  // ONEFLOW_TENSOR_STORAGE_H_
