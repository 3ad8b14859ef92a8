// Sees the work that a thread submits to devices, for recording it: see graph/trace.h.
#ifndef ONEFLOW_DEVICE_WORK_OBSERVER_H_
#define ONEFLOW_DEVICE_WORK_OBSERVER_H_

#include <oneflow/device_plugin.h>

#include <cstdint>

namespace oneflow {

// The functions are called on the observed thread, in the order of the work, once each piece of it has succeeded.
class WorkObserver {
 public:
  virtual void see_kernel(of_kernel kernel, const of_kernel_context& context, bool is_pointwise) = 0;
  virtual void see_contraction(const of_contraction& contraction) = 0;
  // Sees a copy within the memory of a device.
  virtual void see_copy(of_device device, void* destination, const void* source, uint64_t bytes) = 0;
  virtual void see_upload(of_device device, void* destination, const void* source, uint64_t bytes) = 0;
  virtual void see_fill(of_device device, void* destination, uint8_t value, uint64_t bytes) = 0;
  virtual void see_allocation(of_device device, const void* memory, uint64_t bytes) = 0;
  virtual void see_release(const void* memory) noexcept = 0;
  // Sees that something was done which depends on more than the sizes of operands, or which no other function sees: the
  // host has read or written elements, random numbers were drawn, or other threads work.
  virtual void see_other() noexcept = 0;

 protected:
  ~WorkObserver() = default;
};

// The observer of the calling thread; null for most threads.
extern thread_local constinit WorkObserver* work_observer __attribute__((tls_model("initial-exec")));

// See WorkObserver::see_other().
inline void note_other_work() noexcept {
  if (work_observer) [[unlikely]]
    work_observer->see_other();
}

}  // namespace oneflow

#endif  // ONEFLOW_DEVICE_WORK_OBSERVER_H_
