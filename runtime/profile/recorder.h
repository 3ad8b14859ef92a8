// Records the calls of all threads, as the layer OF_LAYER_PROFILE.
#ifndef ONEFLOW_PROFILE_RECORDER_H_
#define ONEFLOW_PROFILE_RECORDER_H_

#include <atomic>
#include <deque>
#include <memory>

#include "dispatch/layers.h"
#include "profile/device_clock.h"
#include "profile/host_clock.h"
#include "profile/log.h"

namespace oneflow::profile {

class Recorder {
 public:
  // Begins to record. Throws InvalidArgument if another one is recording.
  Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  ~Recorder();

  bool is_running() const { return is_running_.load(std::memory_order_relaxed); }
  // Ends the recording, and waits for calls within it on other threads. Throws InvalidArgument if it is not running, or
  // within such a call.
  void end();
  // Waits for the devices. Throws the first error of their work.
  void synchronize();

  // Returns the nanoseconds from the beginning to a tick of the host's clock, after the end.
  int64_t at(int64_t tick) const { return nanoseconds_at(tick, start_, end_); }
  // Returns when the recording began, as now() does.
  int64_t start() const { return start_.nanoseconds; }
  // Returns the logs of all threads, after the end.
  const std::deque<Log>& logs() const { return logs_; }
  // Returns the clock of a device; null if it has none, or had no calls.
  DeviceClock* clock(of_device device) const;

 private:
  static of_status run(void* recorder, of_layer_call* state);
  // Returns the log of the calling thread; null without memory for it.
  Log* log() noexcept;
  Log* add_log() noexcept;
  // Marks the current end of the stream of a device; returns null for devices without a clock.
  of_device_event mark(of_device device) noexcept;
  DeviceClock* add_clock(of_device device) noexcept;

  const uint64_t number_;  // of this recording in the process; from 1
  const Moment start_;
  Moment end_;
  std::atomic<bool> is_running_{true};
  std::deque<Log> logs_;
  std::atomic<DeviceClock*> clocks_[kQuickTypes][kQuickIndices] = {};
};

}  // namespace oneflow::profile

#endif  // ONEFLOW_PROFILE_RECORDER_H_
