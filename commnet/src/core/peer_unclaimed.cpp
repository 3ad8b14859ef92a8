// Messages for numbers without a handler, which are to be in nobody's way: when the sender asks for room in the window,
// they no longer count for it, and the sender begins no further ones until there is a handler. It hears of that before
// it gets the room, so that they take at most one more window here.
#include <algorithm>

#include "core/endpoint.h"
#include "core/peer.h"
#include "core/status.h"

namespace commnet {

namespace {

// The most handlers of an endpoint that holds messages back, and of one that a peer may speak of.
constexpr size_t kMostHandlers = 1 << 16, kMostHandled = 1 << 20;

}  // namespace

void Peer::add_unclaimed(const cn_message& message) noexcept {
  ++unclaimed_;
  if (message.is_beyond_window) return;
  unclaimed_in_window_ += message.cost();
  if (is_asked_) make_room();
}

void Peer::remove_unclaimed(const cn_message& message) noexcept {
  --unclaimed_;
  if (!message.is_beyond_window) unclaimed_in_window_ -= message.cost();
}

void Peer::make_room() noexcept {
  if (unclaimed_in_window_ == 0) return;
  const uint64_t before = owed_;
  endpoint_.move_unclaimed(*this);
  if (owed_ > before) give_back(0);
}

bool Peer::move_beyond_window(cn_message& message) noexcept {
  const uint64_t cost = message.cost(), window = endpoint_.settings().receive_window;
  if (beyond_ > 0 && cost > window - std::min(window, beyond_)) return false;
  if (!holds_ && endpoint_.handlers().size() > kMostHandlers) return false;
  bool is_done = false;
  guard([&] {
    if (!holds_) control({.type = FrameType::kHold, .a = 1});
    for (const auto& [number, handler] : endpoint_.handlers())
      if (!holds_) control({.type = FrameType::kHandler, .a = number, .b = 1});
    ++beyond_of_[message.handler];
    is_done = holds_ = true;
  });
  if (!is_done) return false;
  message.is_beyond_window = true;
  unclaimed_in_window_ -= cost;
  beyond_ += cost;
  held_ -= std::min(held_, cost);
  owed_ += cost;
  return true;
}

void Peer::tell_handler(uint32_t number, bool has_handler) noexcept {
  // Messages of the number that are here are handled before the sender may send more of them: the handler could be
  // removed in between.
  if (!is_connected_ || !holds_ || (has_handler && beyond_of_.contains(number))) return;
  holds_ = unclaimed_ > 0 || !beyond_of_.empty();
  guard([&] {
    control(holds_ ? Frame{.type = FrameType::kHandler, .a = number, .b = has_handler}
                   : Frame{.type = FrameType::kHold, .a = 0});
  });
  endpoint_.note_work(*this);
}

void Peer::handed_out(const cn_message& message) noexcept {
  const auto found = beyond_of_.find(message.handler);
  if (--found->second > 0) return;
  beyond_of_.erase(found);
  tell_handler(message.handler, endpoint_.handlers().contains(message.handler));
}

void Peer::released(const cn_message& message) noexcept {
  if (!message.is_beyond_window) return give_back(message.cost());
  beyond_ -= message.cost();
  if (is_asked_) make_room();
}

void Peer::take_handler(const Frame& frame) {
  if (!handled_) return;
  if (frame.b == 0) {
    handled_->erase(frame.a);
    return;
  }
  if (handled_->size() >= kMostHandled) fail_protocol("more handlers than an endpoint has");
  handled_->insert(frame.a);
}

}  // namespace commnet
