// Streams, the queues of work of a device, and events, the points in them.
#ifndef ONEFLOW_DEVICE_STREAM_H_
#define ONEFLOW_DEVICE_STREAM_H_

#include <oneflow/device_plugin.h>
#include <oneflow/oneflow.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/fork_safe.h"

namespace oneflow {

class Device;
class Event;
class Pool;

// A stream of a device. Thread-safe. Streams are never destroyed: a closed one is opened again for the next
// of_stream_create().
class Stream {
 public:
  // Creates a closed stream, or a default stream, which is always open.
  Stream(Device& device, bool is_default);
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  Device& device() const { return device_; }
  // Returns the pool of the memory that its work may use; null for that of default streams.
  Pool* pool() const { return pool_; }
  bool is_default() const { return is_default_; }
  // Returns the number of the of_stream; 0 while the stream is closed.
  uint64_t id() const { return id_.load(std::memory_order_acquire); }
  // Returns the plugin's stream, which the first call creates for a default stream. Null if the plugin has no streams;
  // all work is then done when its hook returns. Throws the device's error, or that the stream is closed.
  of_device_stream handle() {
    if (!has_handle_.load(std::memory_order_acquire)) [[unlikely]]
      make_handle();
    return handle_;
  }

  // Waits for all work submitted to this stream, and to those that it depends on (see depend_on()). Throws the first
  // error of that work.
  void synchronize();
  // Like synchronize(), for code that cannot report an error: the next synchronize() throws it.
  void wait_and_keep_failure() noexcept;
  // Keeps an error of work for the next synchronize().
  void keep_failure(const Error& error) noexcept;
  // Returns whether all work submitted to this stream is done.
  bool is_done();
  // Calls deleter(context) once the work submitted so far is done, which may read foreign memory: at once if the device
  // has no streams, otherwise within the next synchronize(), on the thread that calls it.
  void release_after_work(of_deleter deleter, void* context) noexcept;
  // Orders later work of this stream after the work submitted to `other`, a stream of a device of the same type. Blocks
  // the host only if the plugin has no events.
  void wait_for(Stream& other);
  // Like wait_for(), for later work that reads results of `other`: the next synchronize() of this stream also reports
  // the errors of `other`.
  void depend_on(Stream& other);
  // Likewise, for later work that reads results of `other` which are there at an event of it.
  void depend_on(Stream& other, const Event& ready);

  // Returns whether the plugin has a stream for this one.
  bool is_open() const { return has_handle_.load(std::memory_order_acquire); }
  // Opens a closed stream over a stream of the plugin.
  void open(of_device_stream handle);
  // Makes id() 0, so that no code finds the stream any more. Returns false if it is closed already.
  bool hide() { return id_.exchange(0) != 0; }
  // Closes a hidden stream whose work is done. Returns the plugin's stream, for the caller to destroy.
  of_device_stream close();

 private:
  // Foreign memory to release.
  struct Release {
    of_deleter deleter;
    void* context;
  };
  void make_handle();
  // Waits for all work submitted to this stream, calls the deleters that wait for it, and throws its first error.
  void wait();
  // Removes and returns the error that was kept; null if there is none.
  std::unique_ptr<const Error> take_failure();
  // Removes and returns all of releases_.
  std::vector<Release> take_releases();
  // Adds a stream to sources_.
  void add_source(Stream& other);
  // Removes and returns one of sources_; null if there is none.
  Stream* take_source();

  Device& device_;
  Pool* const pool_;
  const bool is_default_;
  std::atomic<uint64_t> id_;
  ForkSafe<std::mutex> mutex_{LockLevel::kStream};  // guards the creation of handle_, and the members after it
  std::atomic<bool> has_handle_;
  of_device_stream handle_ = nullptr;
  std::vector<Release> releases_;         // for the next wait()
  std::unique_ptr<const Error> failure_;  // of work, for the next synchronize()
  std::vector<Stream*> sources_;          // the streams that later work depends on, which synchronize() includes
};

// A point in a stream of a device with events. It can be moved, and empty.
class Event {
 public:
  Event() = default;
  Event(Event&& other) noexcept : device_(std::exchange(other.device_, nullptr)), event_(other.event_) {}
  Event& operator=(Event&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(event_, other.event_);
    return *this;
  }
  ~Event();

  // Makes an event that marks the current end of a stream.
  static Event mark(Stream& stream);
  // Makes an event of a device that marks no point yet, so that a later record() cannot fail for lack of memory.
  explicit Event(Device& device);
  void record(Stream& stream);

  // Makes later work of `stream`, a stream of a device of the same type, wait for the point.
  void hold(Stream& stream) const;
  // Returns whether the work before the point is done; true if the device was lost, false if it does not answer.
  bool is_done() const noexcept;
  // Waits on the host for the work before the point, without its errors.
  void synchronize() const;
  // Like synchronize(), without an error if the device cannot wait.
  void wait() const noexcept;

 private:
  Device* device_ = nullptr;  // null for an empty event
  of_device_event event_ = nullptr;
};

// The streams that a thread has chosen as its current ones, at most one per device: all others are default streams.
// They travel with work that is handed to another thread: `ChosenStreams::current()` here, `apply()` there.
struct ChosenStreams {
  // Returns those of the calling thread.
  static const ChosenStreams& current();
  // Makes these the calling thread's.
  void apply() const;

  // Returns the chosen stream of a device; its default stream if none is chosen. Throws if the stream was closed since.
  Stream& of(Device& device) const;
  // Chooses a stream. Throws Unsupported for too many devices.
  void choose(Stream& stream);
  // Converts these to the handles of an of_thread_state, and back. Throws InvalidArgument if a stream was closed.
  void write(of_stream (&handles)[OF_MAX_CHOSEN_STREAMS]) const;
  static ChosenStreams read(const of_stream (&handles)[OF_MAX_CHOSEN_STREAMS]);

  // A stream, with the number that it had when it was chosen.
  struct Choice {
    Stream* stream;
    uint64_t id;
  };
  int count = 0;
  Choice choices[OF_MAX_CHOSEN_STREAMS] = {};
};

// The calling thread's. The static TLS block makes it one load.
extern thread_local constinit ChosenStreams chosen_streams __attribute__((tls_model("initial-exec")));

}  // namespace oneflow

#endif  // ONEFLOW_DEVICE_STREAM_H_
