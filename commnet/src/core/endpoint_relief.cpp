// Work that goes on while a callback takes long: peers hear that this endpoint lives, and read and write its memory.
#include <pthread.h>
#include <signal.h>

#include <algorithm>

#include "core/endpoint.h"

namespace commnet {

namespace {

// How long callbacks take before another thread works.
constexpr Clock::duration kLong = std::chrono::milliseconds(20);
// For how long that thread waits for events: a callback that has ended meanwhile may wait for the lock.
constexpr Clock::duration kPause = std::chrono::milliseconds(10);
// After how many times without callbacks it ends.
constexpr int kMostIdle = 50;

}  // namespace

std::thread start_without_signals(std::function<void()> body) {
  // Signals are the business of the threads of the program.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread;
  try {
    thread = std::thread(std::move(body));
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

void Endpoint::begin_callbacks() noexcept {
  callbacks_begin_ = now_;
  ++callback_count_;
  // Who makes progress by hand has said when it is made.
  if (has_relief_ || settings_.is_manual || is_closing_) return;
  try {
    if (relief_.joinable()) relief_.join();  // it has ended for want of callbacks
    relief_ = start_without_signals([this] { run_relief(); });
    has_relief_ = true;
  } catch (...) {
    // There is no thread to be had: the next callbacks try again.
  }
}

void Endpoint::run_relief() {
  Lock lock(mutex_);
  uint64_t seen = 0;
  for (int idle = 0; !is_closing_ && idle < kMostIdle;) {
    const Clock::duration running =
        callbacks_begin_ == Clock::time_point::max() ? Clock::duration::zero() : Clock::now() - callbacks_begin_;
    if (running < kLong) {
      idle = std::exchange(seen, callback_count_) == callback_count_ ? idle + 1 : 0;
      relief_wakes_.wait_for(lock, kLong - running);
      continue;
    }
    bool lacks_memory = false;
    now_ = Clock::now();
    note_all_ready();
    run_transports(&lacks_memory);
    timers_at_ = run_timers();
    clear_graves();
    if (!rest_transports()) continue;
    lock.unlock();
    epoll_event event;
    poller_.wait({&event, 1}, kPause);
    lock.lock();
  }
  has_relief_ = false;
}

void Endpoint::end_relief() {
  relief_wakes_.notify_all();
  if (relief_.joinable()) relief_.join();
}

}  // namespace commnet
