// Temporary buffers of kernels. Each thread caches the buffers that it frees, so that the next kernel reuses pages that
// are already mapped.
#ifndef ONEFLOW_DEVICES_CPU_THREADS_SCRATCH_H_
#define ONEFLOW_DEVICES_CPU_THREADS_SCRATCH_H_

#include <cstdint>

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

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_THREADS_SCRATCH_H_
