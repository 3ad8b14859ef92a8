// How messages get to their handlers.
#include "core/endpoint.h"
#include "core/status.h"

namespace commnet {

namespace {

// How many messages that were released are kept for the next ones.
constexpr size_t kMostSpare = 1024;

}  // namespace

void Endpoint::set_handler(uint32_t number, cn_handler function, void* user, bool as_event) {
  Lock lock = take_lock();
  require_open();
  if (!function && !as_event) {
    handlers_.erase(number);
  } else {
    handlers_[number] = {function, user, as_event};
    // They are older than all that are ready.
    for (auto next = unclaimed_.end(); next != unclaimed_.begin();) {
      const auto each = std::prev(next);
      if (each->message->handler == number)
        ready_.splice(ready_.begin(), unclaimed_, each);
      else
        next = each;
    }
  }
  ++handlers_version_;
  wait_for_handler(lock, number);
  after_call(lock);
}

void Endpoint::wait_for_handler(Lock& lock, uint32_t number) {
  const uint64_t running = running_;
  if (running == 0 || static_cast<uint32_t>(running) != number || worker_ == std::this_thread::get_id()) return;
  while (running_ == running) changed_.wait_for(lock, std::chrono::milliseconds(1));
}

void Endpoint::deliver(std::unique_ptr<cn_message> message) noexcept {
  Notices notice = std::move(message->notice);
  notice.front().message = message.release();
  ready_.splice(ready_.end(), notice);
}

Notices Endpoint::claim() noexcept {
  Notices claimed;
  while (!ready_.empty()) {
    const auto each = ready_.begin();
    if (each->operation) {
      claimed.splice(claimed.end(), ready_, each);
      continue;
    }
    cn_message& message = *each->message;
    const auto found = handlers_.find(message.handler);
    if (found == handlers_.end()) {
      unclaimed_.splice(unclaimed_.end(), ready_, each);
    } else if (found->second.as_event) {
      message.is_kept = true;
      each->kind = CN_EVENT_MESSAGE;
      each->user = found->second.user;
      each->peer = message.peer;
      Notices event;
      event.splice(event.end(), ready_, each);
      push(event);
    } else {
      each->handler = found->second;
      claimed.splice(claimed.end(), ready_, each);
    }
  }
  return claimed;
}

namespace {

// Returns whether the peer of a message has left since it arrived.
bool has_left(const cn_message& message) {
  return !message.peer->is_connected() || message.peer->session() != message.session;
}

}  // namespace

bool Endpoint::holds_too_much() const {
  uint64_t held = 0;
  for (const Notice& each : events_)
    if (each.message && has_left(*each.message)) held += each.message->cost();
  return held > settings_.receive_window;
}

size_t Endpoint::trim_unclaimed(const Peer* leaving) noexcept {
  // Those that are ready may belong there, too.
  Notices claimed = claim();
  ready_.splice(ready_.begin(), claimed);
  uint64_t held = 0;
  for (const Notice& each : unclaimed_)
    if (has_left(*each.message)) held += each.message->cost();
  size_t freed = 0;
  for (auto next = unclaimed_.end(); held > settings_.receive_window && next != unclaimed_.begin();) {
    const auto each = std::prev(next);
    if (!has_left(*each->message)) {
      next = each;
      continue;
    }
    held -= each->message->cost();
    if (each->message->peer == leaving) ++freed;
    delete each->message;
    unclaimed_.erase(each);
  }
  return freed;
}

void Endpoint::release(cn_message* message) {
  if (--message->owners > 0) return;
  std::unique_ptr<cn_message> owned(message);
  const std::shared_ptr<Endpoint> keeps = owned->endpoint;
  if (is_inherited()) return;
  Lock lock = take_lock();
  take_back(std::move(owned));
  after_call(lock);
}

// Gives what a message has taken to others.
void Endpoint::take_back(std::unique_ptr<cn_message> message) noexcept {
  if (is_closing_) return;
  Peer& peer = *message->peer;
  if (peer.is_connected() && peer.session() == message->session) peer.give_back(message->cost());
  spare_memory_.put(std::move(message->memory));
  if (spare_messages_.size() >= kMostSpare) return;
  message->memory = {};
  message->endpoint = nullptr;
  spare_messages_.push_back(std::move(message));
}

std::unique_ptr<cn_message> Endpoint::take_message() {
  if (spare_messages_.capacity() == 0) spare_messages_.reserve(kMostSpare);
  std::unique_ptr<cn_message> message;
  if (spare_messages_.empty()) {
    message = std::make_unique<cn_message>();
  } else {
    message = std::move(spare_messages_.back());
    spare_messages_.pop_back();
    message->arrived = 0;
    message->owners = 1;
    message->is_kept = false;
  }
  message->notice = take_notice();
  message->endpoint = shared_from_this();
  return message;
}

// Frees the messages whose handlers have returned, but for those that are kept.
void Endpoint::free_handled(Notices& handled) noexcept {
  for (Notice& each : handled) {
    if (!each.message || --each.message->owners > 0) continue;
    take_back(std::unique_ptr<cn_message>(each.message));
  }
}

bool Endpoint::run_handler(const Notice& notice, uint64_t version) noexcept {
  cn_message* const message = notice.message;
  if (++calls_ == 0) ++calls_;
  // Either this thread sees that handlers have changed, or the one that has changed them sees that this one runs.
  running_ = uint64_t{calls_} << 32 | message->handler;
  const bool runs = handlers_version_ == version;
  if (runs) {
    Peer& peer = *message->peer;
    try {
      notice.handler.function(notice.handler.user, message);
    } catch (...) {
      disconnect_for_exception(&peer);
    }
  }
  running_ = 0;
  return runs;
}

void Endpoint::disconnect_for_exception(Peer* peer) noexcept {
  const cn_status status = set_error_of_exception();
  if (!peer) return;
  char text[256];
  std::snprintf(text, sizeof text, "a callback of this endpoint has thrown: %s", cn_error());
  const Lock lock(mutex_);
  if (!is_closing_) peer->leave(status, text);
}

}  // namespace commnet
