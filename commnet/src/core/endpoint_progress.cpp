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
// For how long work is looked for before a sleep, if the option does not say it. When that was in vain, it is not done
// for a while, which becomes longer each time.
constexpr Clock::duration kSpin = std::chrono::microseconds(40);
constexpr Clock::duration kShortestPenalty = std::chrono::milliseconds(1), kLongestPenalty = std::chrono::seconds(1);
// How many callbacks run before others get the lock, and senders hear that their messages were handled.
constexpr size_t kBatch = 16;
// How many descriptors are looked at together.
constexpr size_t kEvents = 16;
// How often the clock is read while this endpoint looks for work all the time, and descriptors are looked at while
// work comes without them.
constexpr unsigned kLooks = 64;
// No struct of a later version has more bytes than this.
constexpr uint32_t kLargestStruct = 4096;

}  // namespace

void Endpoint::wake() {
  // Who works looks for what there is before it sleeps; an event loop sleeps outside of this library.
  const bool may_sleep_outside = settings_.is_manual && !is_working_ && !is_kept_awake_;
  if (is_sleeping_ || may_sleep_outside) wake_from_outside();
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
  // Who works flushes all before it sleeps, but callbacks may take long.
  const bool is_in_callbacks = callbacks_begin_ != Clock::time_point::max();
  if (is_working_ && !is_sleeping_ && !is_in_callbacks) return true;
  const Clock::time_point now = Clock::now();
  return now - std::exchange(last_flush_, now) < kBurst;
}

bool Endpoint::run_transports(bool* lacks_memory) noexcept {
  bool did = false;
  for (Transport& transport : transports_) {
    // One that has to prepare for a sleep says nothing while there is none.
    if (!transport.is_ready && !transport.table->rest) continue;
    try {
      transport.is_ready = transport.table->progress(transport.handle);
      if (transport.is_ready) looks_rarely_ = transport.table->rest != nullptr;
    } catch (...) {
      *lacks_memory = transport.is_ready = true;  // it is called again
    }
    did |= transport.is_ready;
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

// Returns whether the poller tells when there is something to do.
bool Endpoint::rest_transports() noexcept {
  bool may_sleep = true;
  for (const Transport& transport : transports_)
    if (transport.table->rest) may_sleep &= transport.table->rest(transport.handle);
  return may_sleep;
}

Clock::time_point Endpoint::run_timers() noexcept {
  const Clock::time_point now = now_;
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
    Notices claimed = claim();
    const uint64_t version = handlers_version_;
    begin_callbacks();
    for (bool is_current = true; is_current && !claimed.empty();) {
      Notices done;
      lock.unlock();
      for (size_t i = 0; i < kBatch && !claimed.empty(); ++i) {
        is_current = run_callback(claimed.front(), version);
        if (!is_current) break;
        done.splice(done.end(), claimed, claimed.begin());
      }
      lock.lock();
      free_handled(done);
      spare_notices_.put(done);
      changed_.notify_all();
    }
    end_callbacks();
    ready_.splice(ready_.begin(), claimed);
  }
}

// Runs the callback of an operation or a message. Returns whether it has, see run_handler().
bool Endpoint::run_callback(Notice& notice, uint64_t version) noexcept {
  if (!notice.operation) return run_handler(notice, version);
  const OperationPointer operation = std::move(notice.operation);
  operation->ended.store(true, std::memory_order_release);
  Operation::running = operation.get();
  try {
    operation->done(operation->user, operation->status, operation->status == CN_OK ? nullptr : operation->text.c_str());
  } catch (...) {
    disconnect_for_exception(operation->peer);
  }
  Operation::running = nullptr;
  operation->is_over.store(true, std::memory_order_release);
  return true;
}

void Endpoint::note_ready(std::span<const epoll_event> events) {
  for (const epoll_event& event : events) {
    // It may have been raised by a thread that had set is_awake_ some time before.
    if (event.data.fd == wake_signal_.number()) is_awake_ = true;
    for (Transport& transport : transports_)
      transport.is_ready |= transport.descriptor == event.data.fd || transport.bell == event.data.fd;
  }
}

void Endpoint::note_all_ready() {
  for (Transport& transport : transports_) transport.is_ready = true;
}

// Returns whether this endpoint looks for work without a sleep. The clock is read now and then only, as it costs more
// than a look.
bool Endpoint::is_busy() {
  const bool adapts = settings_.busy_poll == Clock::duration::zero();
  if (adapts && !spins_) return false;
  if (idle_turns_ % kLooks != 0 || idle_turns_ == 0) return !is_past_busy_;
  now_ = Clock::now();
  if (idle_turns_ == kLooks) last_work_ = now_;
  is_past_busy_ = now_ - last_work_ >= (adapts ? kSpin : settings_.busy_poll);
  if (is_past_busy_ && adapts) {
    // Nothing has come, perhaps because the processor is wanted by who would send it.
    spins_ = false;
    spins_again_at_ = now_ + spin_penalty_;
    spin_penalty_ = std::min(spin_penalty_ * 2, kLongestPenalty);
  }
  return !is_past_busy_;
}

// Returns whether this endpoint, or an event loop outside, may sleep until the poller tells.
bool Endpoint::may_sleep() {
  const bool looks_on = is_busy() || !working_.empty() || !ready_.empty() || !rest_transports();
  if (settings_.is_manual && std::exchange(is_kept_awake_, looks_on) != looks_on) {
    if (looks_on)
      stays_awake_.raise();
    else
      stays_awake_.lower();
  }
  return !looks_on;
}

void Endpoint::idle(Lock& lock, Clock::time_point until) {
  ++idle_turns_;
  const bool sleeps = may_sleep();
  if (sleeps) {
    now_ = Clock::now();
    const Clock::duration longest = std::min(until, timers_at_) - now_;
    if (longest > Clock::duration::zero()) return sleep(lock, longest);
  }
  epoll_event events[kEvents];
  if (sleeps || !looks_rarely_ || idle_turns_ % kLooks == 0) note_ready(poller_.ready(events));
  // Others have their turn at the lock.
  lock.unlock();
  lock.lock();
}

void Endpoint::sleep(Lock& lock, Clock::duration longest) {
  epoll_event events[kEvents];
  is_sleeping_ = true;
  lock.unlock();
  const std::span<const epoll_event> ready = poller_.wait(events, longest);
  lock.lock();
  is_sleeping_ = false;
  const Clock::time_point woken = Clock::now();
  // What comes so soon is to be had without a sleep the next time.
  if (!ready.empty() && woken - now_ < kSpin && woken >= spins_again_at_) spins_ = true;
  now_ = woken;
  note_ready(ready);
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
  now_ = std::max(now_, coarse_now());
  if (is_awake_) {
    lower_wake_signal();
    note_all_ready();
    timers_at_ = now_;
  }
  // What peers have said is heard before they are found silent.
  bool lacks_memory = false;
  bool did = run_transports(&lacks_memory);
  if (timers_at_ <= now_) timers_at_ = run_timers();
  clear_graves();
  did |= !ready_.empty();
  run_ready(lock);
  if (lacks_memory) changed_.wait_for(lock, kRest);
  if (did) {
    if (spins_ && idle_turns_ > 0) spin_penalty_ = std::max(spin_penalty_ / 2, kShortestPenalty);
    idle_turns_ = 0;
    is_past_busy_ = false;
  } else if (working_.empty() && ready_.empty()) {
    idle(lock, until);
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
  const Clock::time_point before = std::exchange(now_, Clock::now());
  // Who calls again and again looks for work without a sleep.
  if (timeout_ms == 0 && now_ - before < kSpin && now_ >= spins_again_at_) spins_ = true;
  const Clock::time_point until = time_after(timeout_ms, now_);
  do {
    if (!work(lock, until)) continue;
    may_sleep();
    return;
  } while (!is_closing_ && now_ < until);
}

void Endpoint::refuse_callbacks() const {
  if (worker_ == std::this_thread::get_id()) fail(CN_INVALID_ARGUMENT, "a callback must not wait");
}

Clock::time_point Endpoint::time_after(int64_t timeout_ms, Clock::time_point now) {
  constexpr int64_t kLongest = int64_t{1} << 40;
  return timeout_ms < 0 || timeout_ms > kLongest ? Clock::time_point::max()
                                                 : now + std::chrono::milliseconds(timeout_ms);
}

template <class Condition>
bool Endpoint::wait_for(Lock& lock, int64_t timeout_ms, Condition&& holds) {
  const Clock::time_point until = time_after(timeout_ms, Clock::now());
  while (!holds()) {
    if (is_closed_) return false;
    if ((settings_.is_manual ? now_ : Clock::now()) >= until) return false;
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
