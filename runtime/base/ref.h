// Intrusive reference counting.
#ifndef ONEFLOW_BASE_REF_H_
#define ONEFLOW_BASE_REF_H_

#include <atomic>
#include <cstdint>
#include <utility>

namespace oneflow {

// The base class of reference-counted objects. A new object has one reference, which its creator owns. T is the final
// class; its member `void destroy()` is called when the last reference is released. The reference count is thread-safe.
template <class T>
class RefCounted {
 public:
  RefCounted() = default;
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;

  void retain() const noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  void release() const noexcept {
    // The only owner needs no atomic read-modify-write operation: no other thread can add a reference.
    if (is_unique() || references_.fetch_sub(1, std::memory_order_acq_rel) == 1)
      const_cast<T*>(static_cast<const T*>(this))->destroy();
  }
  // Returns whether the caller's reference is the only one.
  bool is_unique() const noexcept { return references_.load(std::memory_order_acquire) == 1; }

 private:
  mutable std::atomic<int64_t> references_{1};
};

// A smart pointer that owns one reference to a T, or is null.
template <class T>
class Ref {
 public:
  Ref() noexcept = default;
  Ref(std::nullptr_t) noexcept {}  // NOLINT: implicit on purpose
  Ref(const Ref& other) noexcept : object_(other.object_) {
    if (object_) object_->retain();
  }
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_) object_->release();
  }

  // Takes ownership of the caller's reference.
  static Ref adopt(T* object) noexcept {
    Ref result;
    result.object_ = object;
    return result;
  }
  // Adds a reference; the caller keeps its own.
  static Ref share(T* object) noexcept {
    if (object) object->retain();
    return adopt(object);
  }
  // Transfers the reference to the caller and becomes null.
  [[nodiscard]] T* detach() noexcept { return std::exchange(object_, nullptr); }

  T* get() const noexcept { return object_; }
  T* operator->() const noexcept { return object_; }
  T& operator*() const noexcept { return *object_; }
  explicit operator bool() const noexcept { return object_ != nullptr; }

 private:
  T* object_ = nullptr;
};

}  // namespace oneflow

#endif  // ONEFLOW_BASE_REF_H_
