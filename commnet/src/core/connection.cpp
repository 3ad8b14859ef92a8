// The frames of connections, and their end.
#include "core/connection.h"

#include <cstring>

#include "core/endpoint.h"
#include "core/peer.h"
#include "core/status.h"

namespace commnet {

Connection::Connection(Endpoint& endpoint, const cn_transport_table& table, OperationPointer operation, uint32_t stream,
                       const Key& link)
    : endpoint_(endpoint),
      table_(table),
      has_begun_(true),
      operation_(std::move(operation)),
      stream_(stream),
      link_(link),
      handshake_end_(Clock::now() + endpoint.settings().peer_timeout) {}

Connection::Connection(Endpoint& endpoint, const cn_transport_table& table, cn_connection* handle)
    : endpoint_(endpoint),
      table_(table),
      handle_(handle),
      state_(State::kHello),
      has_begun_(false),
      handshake_end_(Clock::now() + endpoint.settings().peer_timeout) {}

// The exceptions are those of memory that is missing. Half a frame may have been taken.
void Connection::note_failure() noexcept {
  has_failed_ = true;
  failure_ = set_error_of_exception();
  keep_text(failure_text_, cn_error());
  if (peer_) endpoint_.note_work(*peer_);
  endpoint_.wake();
}

void Connection::send(Frame frame, const void* payload, uint64_t size, uint64_t cookie) noexcept {
  if (has_failed_) return;
  frame.size = size;
  is_used_ |= is_open();
  try {
    is_writable_ = table_.send(handle_, &frame, payload, size, cookie);
  } catch (...) {
    note_failure();
  }
  is_dirty_ = true;
}

void Connection::flush() noexcept {
  if (is_closed() || has_failed_ || !is_dirty_) return;
  is_dirty_ = false;
  try {
    table_.flush(handle_);
  } catch (...) {
    note_failure();
  }
}

void Connection::pause(bool pauses) noexcept {
  if (handle_ && !is_closed() && can_pause()) table_.pause(handle_, pauses);
}

void Connection::revoke(uint64_t region) noexcept {
  if (!has_granted_ || !handle_) return;
  if (region == 0) has_granted_ = false;
  if (table_.revoke(handle_, region) || is_closed()) return;
  has_failed_ = true;
  failure_ = CN_PEER_LOST;
  keep_text(failure_text_, "it does not stop to access memory that is no longer its to use");
  if (peer_) endpoint_.note_work(*peer_);
  endpoint_.wake();
}

void* Connection::control_buffer(uint64_t size) {
  const uint64_t longest = frame_.type == FrameType::kWrite ? sizeof(Request) + kEager : kLongestControl;
  if (size > longest) fail(CN_DENIED, "the peer sent a frame that is too long");
  control_.resize(size);
  return control_.data();
}

bool Connection::begin_frame(const void* header, uint64_t size, void** payload) noexcept {
  if (is_closed()) return false;
  try {
    std::memcpy(&frame_, header, sizeof frame_);
    if (frame_.size != size) fail(CN_DENIED, "the peer sent a frame whose size is not that of its header");
    *payload = payload_ = nullptr;
    is_lost_ = false;
    if (!is_open()) {
      *payload = control_buffer(size);
      return true;
    }
    is_used_ = true;
    peer_->heard();
    switch (frame_.type) {
      case FrameType::kMessage:
        *payload = peer_->begin_message(frame_);
        break;
      case FrameType::kReadPiece:
      case FrameType::kWritePiece:
        *payload = payload_ = peer_->begin_piece(frame_);
        break;
      default:
        *payload = control_buffer(size);
    }
    return true;
  } catch (...) {
    close(set_error_of_exception(), cn_error());
    return false;
  }
}

void Connection::detach(const void* begin, uint64_t size) noexcept {
  if (!handle_ || is_closed()) return;
  const auto first = reinterpret_cast<uintptr_t>(begin), place = reinterpret_cast<uintptr_t>(payload_);
  if (payload_ && place < first + size && first < place + frame_.size) is_lost_ = true;
  try {
    table_.detach(handle_, begin, size);
  } catch (...) {
    note_failure();
  }
}

bool Connection::end_frame() noexcept {
  try {
    if (!is_open()) {
      take_handshake();
    } else {
      endpoint_.note_work(*peer_);
      switch (frame_.type) {
        case FrameType::kMessage:
          peer_->end_message(frame_);
          break;
        case FrameType::kReadPiece:
        case FrameType::kWritePiece:
          payload_ = nullptr;
          if (is_lost_) peer_->lose_piece(frame_);
          peer_->end_piece(frame_);
          break;
        default:
          peer_->take(frame_, control_);
      }
    }
    if (has_failed()) close_failed();
    return !is_closed();
  } catch (...) {
    close(set_error_of_exception(), cn_error());
    return false;
  }
}

void Connection::heard() {
  if (is_open()) peer_->heard();
}

void Connection::writable() {
  is_writable_ = true;
  if (peer_) endpoint_.note_work(*peer_);
}

void Connection::sent(uint64_t cookie) noexcept {
  if (peer_ && !is_closed()) peer_->sent(cookie);
}

void Connection::moved(uint64_t cookie, cn_status status, const char* text) noexcept {
  if (peer_ && !is_closed()) peer_->moved(cookie, status, text);
}

void Connection::broken(cn_status status, const char* text) noexcept { close(status, text); }

void Connection::close(cn_status status, const char* text) noexcept {
  if (is_closed()) return;
  std::string kept;
  keep_text(kept, text);
  // Operations end before the transport frees the connection, and their memory is not used after that.
  detach(nullptr, UINT64_MAX);
  revoke(0);
  state_ = State::kClosed;
  if (const OperationPointer operation = std::exchange(operation_, nullptr))
    endpoint_.connect_failed(operation, status, kept);
  if (peer_) peer_->lose(*this, status, kept);
  endpoint_.bury(*this);
  if (has_begun_) endpoint_.decide_waiting();
}

}  // namespace commnet
