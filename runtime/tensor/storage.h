// The memory behind tensors. Views share one Storage; lazy clones have a Storage each over one Buffer until either side
// is written.
#ifndef ONEFLOW_TENSOR_STORAGE_H_
#define ONEFLOW_TENSOR_STORAGE_H_

#include <oneflow/oneflow.h>

#include <atomic>

#include "base/ref.h"

namespace oneflow {

class Allocator;

// A piece of memory on one device: from the caching allocator, or foreign with a deleter.
class Buffer final : public RefCounted<Buffer> {
 public:
  // Uninitialised memory. OutOfMemory, or the device's error.
  static Ref<Buffer> allocate(of_device device, uint64_t bytes);
  // The same from another allocator, whose memory the device takes for its own.
  static Ref<Buffer> allocate(of_device device, Allocator& allocator, uint64_t bytes);
  // Over foreign memory.
  static Ref<Buffer> adopt(of_device device, void* data, uint64_t bytes, bool read_only);
  // From now on the foreign memory belongs to the buffer: `deleter(context)` runs once, when the buffer goes.
  void set_deleter(of_deleter deleter, void* context) {
    deleter_ = deleter;
    context_ = context;
  }

  void* data() const { return data_; }
  uint64_t bytes() const { return bytes_; }
  of_device device() const { return device_; }
  bool is_foreign() const { return allocator_ == nullptr; }
  bool is_read_only() const { return is_read_only_; }
  bool is_page_locked() const;
  // The same bytes in memory of the same kind.
  Ref<Buffer> copy() const;
  // Whether somebody outside may write the memory at any time, so that it must not be shared lazily.
  bool is_exposed() const { return is_exposed_.load(std::memory_order_relaxed); }
  void expose() { is_exposed_.store(true, std::memory_order_relaxed); }

  void destroy() noexcept;
  static void* operator new(size_t);
  static void operator delete(void*) noexcept;

 private:
  Buffer() = default;

  void* data_ = nullptr;
  uint64_t bytes_ = 0;
  of_device device_{};
  bool is_read_only_ = false;
  std::atomic<bool> is_exposed_{false};
  Allocator* allocator_ = nullptr;  // where the memory came from; NULL for foreign memory
  of_deleter deleter_ = nullptr;
  void* context_ = nullptr;
};

// What all views of one memory share: the buffer, and a version that grows with each write.
class Storage final : public RefCounted<Storage> {
 public:
  static Ref<Storage> create(Ref<Buffer> buffer);

  const void* data() const { return buffer_->data(); }
  // For writing: gives the storage a buffer of its own first where the current one is shared or read-only, and counts
  // as a write.
  void* mutable_data() {
    count_write();
    if (!buffer_->is_unique() || buffer_->is_read_only()) [[unlikely]]
      unshare();
    return buffer_->data();
  }
  // A storage with the same content, sharing the buffer until a write; a copy where the memory is exposed or foreign.
  Ref<Storage> lazy_clone() const;

  uint64_t bytes() const { return buffer_->bytes(); }
  of_device device() const { return buffer_->device(); }
  uint64_t version() const { return version_.load(std::memory_order_relaxed); }
  Buffer& buffer() const { return *buffer_; }

  void destroy() noexcept;
  static void* operator new(size_t);
  static void operator delete(void*) noexcept;

 private:
  Storage() = default;
  void unshare();
  // Where one tensor alone has the storage nobody counts at the same time: an atomic addition would be a twentieth of
  // what a small contraction takes.
  void count_write() {
    if (is_unique()) return version_.store(version() + 1, std::memory_order_relaxed);
    version_.fetch_add(1, std::memory_order_relaxed);
  }

  Ref<Buffer> buffer_;
  std::atomic<uint64_t> version_{0};
};

}  // namespace oneflow

#endif  // ONEFLOW_TENSOR_STORAGE_H_
