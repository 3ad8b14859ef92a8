// The work of endpoints, and waiting for it.
#include <sched.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "core/endpoint.h"
#include "core/status.h"

namespace commnet {

namespace {

// When work goes on for which there was no memory.
constexpr Clock::duration kRest = std::chrono::milliseconds(1);
// For how long the thread that works makes room for others that want the lock.
constexpr Clock::duration kRoom = std::chrono::microseconds(100);
// Frames of calls that follow each other faster than this are sent together.
constexpr Clock::duration kBurst = std::chrono::microseconds(5);
// No struct of a later version has more bytes than this.
constexpr uint32_t kLargestStruct = 4096;

}  // namespace

void Endpoint::wake() {
  // The thread that works looks for what there is before it sleeps; an event loop sleeps outside of this library.
  if (is_sleeping_ || settings_.is_manual) wake_from_outside();
}

void Endpoint::wake_from_outside() {
  if (!is_awake_.exchange(true)) wake_signal_.raise();
}

void Endpoint::lower_wake_signal() {
  // In this order: a signal that is raised in between would be lost, with is_awake_ set for ever.
  wake_signal_.lower();
  is_awake_ = false;
}

bool Endpoint::leaves_flushes() {
  const Clock::time_point now = Clock::now();
  return now - std::exchange(last_flush_, now) < kBurst;
}

bool Endpoint::run_transports(bool* lacks_memory) noexcept {
  bool did = false;
  for (const Transport& transport : transports_) {
    try {
      did |= transport.table->progress(transport.handle);
    } catch (...) {
      *lacks_memory = did = true;  // it is called again
    }
  }
  while (!working_.empty()) {
    turn_.swap(working_);
    ++turns_;
    for (Peer* const peer : turn_) peer->begin_turn(turns_);
    for (Peer* const peer : turn_) {
      peer->fill();
      peer->flush();
    }
    turn_.clear();
    did = true;
    // A peer from whose memory is copied goes on after others have had their turn.
    if (std::ranges::all_of(working_, [&](const Peer* peer) { return peer->turn() == turns_; })) break;
  }
  return did;
}

Clock::time_point Endpoint::run_timers() noexcept {
  const Clock::time_point now = Clock::now();
  while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
    const OperationPointer operation = deadlines_.begin()->second.lock();
    deadlines_.erase(deadlines_.begin());
    if (operation && !operation->has_result)
      end_early(operation, CN_TIMED_OUT, "the operation took longer than its timeout");
  }
  take_lookups(now);
  const auto is_due = [&](const Awaiting& each) { return each.again_at <= now; };
  for (auto due = std::ranges::find_if(awaiting_, is_due); due != awaiting_.end();
       due = std::ranges::find_if(awaiting_, is_due)) {
    const OperationPointer operation = due->operation;
    awaiting_.erase(due);
    try_address_or_end(operation);
  }
  const auto next = [&] {
    Clock::time_point first = peers_at_;
    if (!deadlines_.empty()) first = std::min(first, deadlines_.begin()->first);
    for (const Awaiting& each : awaiting_) first = std::min(first, each.again_at);
    for (const LookingUp& each : lookups_) first = std::min(first, each.lookup ? each.gives_up : now + kAgain);
    return first;
  };
  if (now < peers_at_) return next();
  peers_at_ = now + settings_.peer_timeout / 4;
  spare_memory_.tick();
  for (auto& [name, peer] : peers_) peers_at_ = std::min(peers_at_, peer->check_life(now));
  for (auto each = connections_.begin(); each != connections_.end();) {
    Connection& connection = **each++;  // which may leave the list
    if (!connection.is_open() && connection.handshake_end() <= now && !is_awaited_stream(connection))
      connection.close(CN_UNREACHABLE, "nobody answers in time");
  }
  return next();
}

void Endpoint::run_ready(Lock& lock) noexcept {
  while (!ready_.empty()) {
    Notices claimed = claim(), done;
    const uint64_t version = handlers_version_;
    begin_callbacks();
    lock.unlock();
    while (!claimed.empty()) {
      Notice& next = claimed.front();
      if (next.operation) {
        const OperationPointer operation = std::move(next.operation);
        operation->ended.store(true, std::memory_order_release);
        Operation::running = operation.get();
        try {
          operation->done(operation->user, operation->status,
                          operation->status == CN_OK ? nullptr : operation->text.c_str());
        } catch (...) {
          disconnect_for_exception(operation->peer);
        }
        Operation::running = nullptr;
        operation->is_over.store(true, std::memory_order_release);
      } else if (!run_handler(next, version)) {
        break;
      }
      done.splice(done.end(), claimed, claimed.begin());
    }
    lock.lock();
    end_callbacks();
    ready_.splice(ready_.begin(), claimed);
    spare_notices_.put(done);
    changed_.notify_all();
  }
}

void Endpoint::sleep(Lock& lock, Clock::duration longest) {
  is_sleeping_ = true;
  lock.unlock();
  poller_.wait(longest);
  lock.lock();
  is_sleeping_ = false;
}

bool Endpoint::work(Lock& lock, Clock::time_point until) noexcept {
  if (is_working_) {
    // Another thread does the work.
    changed_.wait_until(lock, std::min(until, Clock::now() + std::chrono::milliseconds(10)));
    return true;
  }
  if (is_closing_) return true;
  is_working_ = true;
  worker_ = std::this_thread::get_id();
  if (is_awake_) lower_wake_signal();
  // What peers have said is heard before they are found silent.
  bool lacks_memory = false;
  bool did = run_transports(&lacks_memory);
  timers_at_ = run_timers();
  clear_graves();
  did |= !ready_.empty();
  run_ready(lock);
  if (lacks_memory) changed_.wait_for(lock, kRest);
  const Clock::time_point now = Clock::now();
  if (did) last_work_ = now;
  if (!did && working_.empty() && ready_.empty()) {
    const Clock::duration pause = std::min(until, timers_at_) - now;
    if (now - last_work_ < settings_.busy_poll || pause <= Clock::duration::zero()) {
      // Others have their turn at the lock.
      lock.unlock();
      lock.lock();
    } else {
      sleep(lock, pause);
    }
  }
  is_working_ = false;
  worker_ = {};
  if (settings_.is_manual) changed_.notify_all();  // another thread may wait for its turn to work
  return did;
}

void Endpoint::run_thread() {
  Lock lock(mutex_);
  while (!is_closing_) {
    work(lock, Clock::time_point::max());
    let_others(lock);
  }
}

// A mutex is not fair: a thread that gives it back and takes it again at once leaves nothing to those that wait.
void Endpoint::let_others(Lock& lock) {
  if (callers_ == 0) return;
  lock.unlock();
  for (const Clock::time_point end = Clock::now() + kRoom; callers_ > 0 && Clock::now() < end;) sched_yield();
  lock.lock();
}

void Endpoint::progress(int64_t timeout_ms) {
  if (!settings_.is_manual) fail(CN_INVALID_ARGUMENT, "the endpoint has a thread for its progress");
  Lock lock = take_lock();
  require_open();
  refuse_callbacks();
  const Clock::time_point until = time_after(timeout_ms);
  do {
    if (work(lock, until)) return;
  } while (!is_closing_ && Clock::now() < until);
}

void Endpoint::refuse_callbacks() const {
  if (worker_ == std::this_thread::get_id()) fail(CN_INVALID_ARGUMENT, "a callback must not wait");
}

Clock::time_point Endpoint::time_after(int64_t timeout_ms) {
  constexpr int64_t kLongest = int64_t{1} << 40;
  return timeout_ms < 0 || timeout_ms > kLongest ? Clock::time_point::max()
                                                 : Clock::now() + std::chrono::milliseconds(timeout_ms);
}

template <class Condition>
bool Endpoint::wait_for(Lock& lock, int64_t timeout_ms, Condition&& holds) {
  const Clock::time_point until = time_after(timeout_ms);
  while (!holds()) {
    if (is_closed_) return false;
    if (Clock::now() >= until) return false;
    if (settings_.is_manual && !is_closing_)
      work(lock, until);
    else if (until == Clock::time_point::max())
      changed_.wait(lock);
    else
      changed_.wait_until(lock, until);
  }
  return true;
}

cn_status Endpoint::wait(Operation& operation, int64_t timeout_ms) {
  if (!operation.has_ended()) {
    Lock lock = take_lock();
    refuse_callbacks();
    const auto has_ended = [&] { return operation.has_ended(); };
    if (!wait_for(lock, timeout_ms, has_ended)) return set_error(CN_TIMED_OUT, "the operation goes on");
  }
  return operation.status == CN_OK ? CN_OK : set_error(operation.status, operation.text.c_str());
}

cn_status Endpoint::next_event(cn_event& given, int64_t timeout_ms) {
  // A program may know fewer fields than this library, or more.
  const uint32_t size = given.struct_size;
  if (size < offsetof(cn_event, user) || size > kLargestStruct || size % alignof(cn_event) != 0)
    fail(CN_INVALID_ARGUMENT, "event: struct_size is %u, expected %zu", size, sizeof given);
  Lock lock = take_lock();
  require_open();
  if (timeout_ms != 0) refuse_callbacks();
  if (settings_.is_manual && events_.empty() && worker_ != std::this_thread::get_id()) work(lock, Clock::now());
  const bool has_event = wait_for(lock, timeout_ms, [&] { return !events_.empty() || is_closing_; });
  require_open();
  if (!has_event) {
    return set_error(CN_TIMED_OUT, "there is no event");
  }
  if (!last_event_.empty()) spare_notices_.put(last_event_);
  last_event_.splice(last_event_.end(), events_, events_.begin());
  if (events_.empty()) event_signal_.lower();
  const Notice& event = last_event_.front();
  const char* const error =
      event.status == CN_OK ? nullptr : (event.operation ? event.operation->text : event.text).c_str();
  const cn_event known{
      size, event.kind, event.user, event.status, error, event.message, event.peer ? event.peer->handle() : nullptr};
  std::memcpy(&given, &known, std::min<size_t>(size, sizeof known));
  return CN_OK;
}

}  // namespace commnet
