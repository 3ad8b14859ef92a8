// Temporary buffers of kernels. Each thread caches the small buffers that it frees, so that the next kernel reuses
// pages that are already mapped. Large buffers come from the runtime's cache, and count as memory in use.
#ifndef ONEFLOW_DEVICES_CPU_THREADS_SCRATCH_H_
#define ONEFLOW_DEVICES_CPU_THREADS_SCRATCH_H_

#include <cstdint>
#include <new>
#include <span>

namespace oneflow::cpu {

// An uninitialised, 64-byte aligned buffer that lives as long as the object.
class Scratch {
 public:
  explicit Scratch(int64_t bytes);
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch();

  // Returns the buffer, or NULL if the allocation failed.
  void* data() const { return data_; }

 private:
  void* data_;
  int64_t bytes_;
};

// A buffer of `count` uninitialised items. Throws std::bad_alloc.
template <class T>
class ScratchArray {
 public:
  explicit ScratchArray(int64_t count) : memory_(count * static_cast<int64_t>(sizeof(T))), count_(count) {
    if (memory_.data() == nullptr) throw std::bad_alloc();
  }
  T* data() const { return static_cast<T*>(memory_.data()); }
  T& operator[](int64_t i) const { return data()[i]; }
  std::span<T> items() const { return {data(), static_cast<size_t>(count_)}; }

 private:
  Scratch memory_;
  int64_t count_;
};

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_THREADS_SCRATCH_H_
