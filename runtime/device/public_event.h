// The events of the C API.
#ifndef ONEFLOW_DEVICE_PUBLIC_EVENT_H_
#define ONEFLOW_DEVICE_PUBLIC_EVENT_H_

#include <memory>

#include "device/device.h"

namespace oneflow {

// An event that a program has created. Programs know it by its number, so that one that was destroyed is recognized.
class PublicEvent {
 public:
  // Creates an event, and returns its number. Throws Unsupported if the device has no events, or none with times.
  static uint64_t create(Device& device, bool is_timed);
  // Returns an event; null if there is none of this number.
  static std::shared_ptr<PublicEvent> find(uint64_t id);
  // Removes an event, which is destroyed once no thread uses it. Returns whether there was one.
  static bool remove(uint64_t id);

  PublicEvent(Device& device, of_device_event event, bool is_timed)
      : device_(device), event_(event), is_timed_(is_timed) {}
  PublicEvent(const PublicEvent&) = delete;
  PublicEvent& operator=(const PublicEvent&) = delete;
  ~PublicEvent();

  Device& device() const { return device_; }
  // Makes the event mark the current end of a stream of the same device.
  void record(Stream& stream);
  // Makes later work of a stream wait for the point.
  void hold(Stream& stream) const;
  bool is_done() const;
  // Waits on the host for the work before the point.
  void synchronize() const;
  // Returns the milliseconds from this point to another one.
  double until(const PublicEvent& end) const;

 private:
  Device& device_;
  const of_device_event event_;
  const bool is_timed_;
  std::atomic<bool> is_recorded_{false};
};

}  // namespace oneflow

#endif  // ONEFLOW_DEVICE_PUBLIC_EVENT_H_
