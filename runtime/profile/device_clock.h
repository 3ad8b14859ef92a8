// The clock of an asynchronous device: marks in its stream, and the times between them.
#ifndef ONEFLOW_PROFILE_DEVICE_CLOCK_H_
#define ONEFLOW_PROFILE_DEVICE_CLOCK_H_

#include "device/device.h"

namespace oneflow::profile {

// Thread-safe. It takes no time of devices without the hook `elapsed_time`.
class DeviceClock {
 public:
  // Starts the clock at the current end of the device's stream.
  explicit DeviceClock(Device& device);
  DeviceClock(const DeviceClock&) = delete;
  DeviceClock& operator=(const DeviceClock&) = delete;
  ~DeviceClock() { discard(start_); }

  of_device device() const { return device_.id(); }
  // Marks the current end of the device's stream. Returns null if that fails; the error is left to the calls that use
  // the device.
  of_device_event mark() noexcept;
  // Waits until the device has passed all marks. Throws the first error of its work.
  void synchronize() { device_.synchronize(); }
  // Returns the nanoseconds from the start of the clock to a mark that the device has passed; -1 if they are unknown.
  int64_t at(of_device_event mark) const noexcept { return between(start_, mark); }
  int64_t between(of_device_event from, of_device_event to) const noexcept;
  // Returns when the clock started, on the host's clock.
  int64_t start_on_host() const { return start_on_host_; }
  void discard(of_device_event mark) noexcept;

 private:
  Device& device_;
  const int64_t start_on_host_;
  const of_device_event start_;
};

// Returns whether there are clocks of this device's type.
inline bool has_clock(const Device& device) {
  return device.table().create_stream && device.table().create_event && device.table().elapsed_time;
}

}  // namespace oneflow::profile

#endif  // ONEFLOW_PROFILE_DEVICE_CLOCK_H_
