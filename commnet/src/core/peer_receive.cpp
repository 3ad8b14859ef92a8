// What arrives from a peer.
#include <algorithm>

#include "core/endpoint.h"
#include "core/peer.h"
#include "core/status.h"

namespace commnet {

namespace {

// What peers can ask for as the time between two pings, in milliseconds.
constexpr uint64_t kShortestInterval = 10, kLongestInterval = 3'600'000;

}  // namespace

void* Peer::begin_message(const Frame& frame) {
  if (frame.offset == 0) {
    if (!arriving_.empty() && arriving_.contains(frame.b)) fail_protocol("a message within another one of its channel");
    std::unique_ptr<cn_message> message = make_message(frame);
    char* const place = message->data();
    (frame.size == frame.total ? whole_ : arriving_[frame.b]) = std::move(message);
    return place;
  }
  const auto found = arriving_.find(frame.b);
  if (found == arriving_.end()) fail_protocol("a piece that does not continue its message");
  cn_message& message = *found->second;
  if (frame.offset != message.arrived || frame.total != message.size || frame.size > message.size - message.arrived ||
      frame.a != message.handler)
    fail_protocol("a piece that does not continue its message");
  return message.data() + frame.offset;
}

std::unique_ptr<cn_message> Peer::make_message(const Frame& frame) {
  const Settings& settings = endpoint_.settings();
  if (frame.total > settings.message_limit)
    fail(CN_DENIED, "the peer sent a message of %llu bytes; the limit is %llu",
         static_cast<unsigned long long>(frame.total), static_cast<unsigned long long>(settings.message_limit));
  if (frame.size > frame.total) fail_protocol("a piece that does not continue its message");
  const uint64_t window = settings.receive_window;
  if (held_ > 0 && frame.total + kMessageCost > window - std::min(window, held_))
    fail_protocol("more than its window allows");
  std::unique_ptr<cn_message> message = endpoint_.take_message();
  message->peer = this;
  message->session = session_;
  message->handler = frame.a;
  message->channel = frame.b;
  message->size = frame.total;
  if (frame.total > cn_message::kInside) message->memory = endpoint_.spare_memory().take(frame.total);
  held_ += message->cost();
  return message;
}

void Peer::end_message(const Frame& frame) {
  if (whole_) return endpoint_.deliver(std::move(whole_));
  const auto found = arriving_.find(frame.b);
  cn_message& message = *found->second;
  message.arrived += frame.size;
  if (message.arrived < message.size) {
    if (frame.size == 0) fail_protocol("a piece without bytes");
    return;
  }
  std::unique_ptr<cn_message> whole = std::move(found->second);
  arriving_.erase(found);
  endpoint_.deliver(std::move(whole));
}

void Peer::give_back(uint64_t cost) noexcept {
  held_ -= std::min(held_, cost);
  owed_ += cost;
  if (!is_asked_ && owed_ < endpoint_.settings().receive_window / 4) return;
  is_asked_ = false;
  guard([&] { control({.type = FrameType::kCredit, .total = std::exchange(owed_, 0)}); });
  endpoint_.note_work(*this);
}

void* Peer::begin_piece(const Frame& frame) {
  char* start = nullptr;
  uint64_t size = 0;
  uint64_t* begun = nullptr;
  if (frame.type == FrameType::kReadPiece) {
    const auto found = operations_.find(frame.id);
    if (found == operations_.end()) return nullptr;  // it was cancelled
    Operation& read = *found->second;
    if (read.kind != Operation::Kind::kRead || read.remote)
      fail_protocol("a piece for an operation that does not read it");
    start = read.data;
    size = read.size;
    begun = &read.begun;
  } else {
    const auto found = served_.find(frame.id);
    if (found == served_.end()) return nullptr;
    Served& write = found->second;
    if (write.type != FrameType::kWrite) fail_protocol("a piece for no write");
    if (write.is_alive()) start = write.memory->data + write.offset;
    size = write.size;
    begun = &write.begun;
  }
  if (frame.offset > size || frame.size > size - frame.offset) fail_protocol("a piece outside of its range");
  // The same bytes twice would end the operation while others still arrive.
  if (frame.size > size - *begun) fail_protocol("more bytes than its operation has");
  *begun += frame.size;
  return start ? start + frame.offset : nullptr;
}

void Peer::end_piece(const Frame& frame) {
  if (frame.type == FrameType::kReadPiece) {
    const auto found = operations_.find(frame.id);
    if (found == operations_.end()) return;
    const OperationPointer operation = found->second;
    operation->moved += frame.size;
    if (operation->moved >= operation->size) finish(operation, CN_OK);
    return;
  }
  const auto found = served_.find(frame.id);
  if (found == served_.end()) return;
  Served& write = found->second;
  write.next += frame.size;
  if (write.next < write.size) return;
  if (write.is_alive())
    result(frame.id, CN_OK);
  else
    result(frame.id, CN_DENIED, "the memory is no longer registered");
  served_.erase(found);
}

void Peer::lose_piece(const Frame& frame) {
  if (frame.type == FrameType::kReadPiece) {
    const auto found = operations_.find(frame.id);
    if (found == operations_.end()) return;
    const OperationPointer operation = found->second;
    drop(operation);
    endpoint_.finish(operation, CN_CANCELLED, "its memory overlaps with other memory that was released meanwhile");
  } else if (const auto found = served_.find(frame.id); found != served_.end()) {
    found->second.memory = nullptr;
  }
}

void Peer::take(const Frame& frame, std::vector<uint8_t>& payload) {
  take_control(frame, payload);
  if (is_connected_) limit_answers();
}

void Peer::take_control(const Frame& frame, std::vector<uint8_t>& payload) {
  switch (frame.type) {
    case FrameType::kCredit:
      if (frame.total == 0) {
        is_asked_ = true;
        if (owed_ > 0) give_back(0);
      } else {
        in_window_ -= std::min(in_window_, frame.total);
        has_asked_ = false;
      }
      return;
    case FrameType::kRead:
    case FrameType::kWrite:
      return serve(frame, payload);
    case FrameType::kResult:
      return take_result(frame, {payload.begin(), payload.end()});
    case FrameType::kOpen:
      return show_how(frame, payload);
    case FrameType::kOpened:
      return take_opened(frame, payload);
    case FrameType::kForgotten:
      return forget_remote(frame.id);
    case FrameType::kCancel:
      served_.erase(frame.id);
      return;
    case FrameType::kPing:
      if (frame.total > 0) {
        const uint64_t wanted = std::clamp<uint64_t>(frame.total, kShortestInterval, kLongestInterval);
        wanted_interval_ = std::chrono::milliseconds(wanted);
        endpoint_.check_lives_at(last_ping_ + ping_interval());
      }
      return control({.type = FrameType::kPong});
    case FrameType::kPong:
      return;
    case FrameType::kReady:
      if (frame.id != ready_job_) ready_count_ = 0;
      ready_job_ = frame.id;
      ++ready_count_;
      return endpoint_.notify();
    case FrameType::kGoodbye:
      return main().close(CN_PEER_LOST, "it has left");
    default:
      fail_protocol("a frame of an unknown type");
  }
}

}  // namespace commnet
