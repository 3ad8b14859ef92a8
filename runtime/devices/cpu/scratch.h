// Working memory of kernels, kept by each thread for its next kernel.
#ifndef ONEFLOW_DEVICES_CPU_SCRATCH_H_
#define ONEFLOW_DEVICES_CPU_SCRATCH_H_

#include <cstdint>

namespace oneflow::cpu {

// Uninitialised memory, 64-byte aligned, for the life of the object.
class Scratch {
 public:
  explicit Scratch(int64_t bytes);
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch();

  // NULL when there is no memory.
  void* data() const { return data_; }

 private:
  void* data_;
  int64_t bytes_;
};

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_SCRATCH_H_
