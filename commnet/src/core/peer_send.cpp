// What is sent to a peer: messages, and pieces of memory.
#include <algorithm>

#include "core/endpoint.h"
#include "core/peer.h"
#include "core/status.h"

namespace commnet {

namespace {

// Payloads up to this size are copied by the transport: their memory is free at once.
constexpr uint64_t kCopied = 16 << 10;

bool is_answer(FrameType type) {
  return type == FrameType::kResult || type == FrameType::kOpened || type == FrameType::kPong ||
         type == FrameType::kCredit;
}

}  // namespace

bool Peer::fits(uint64_t size) const {
  return in_window_ == 0 || size + kMessageCost <= window_ - std::min(window_, in_window_);
}

bool Peer::send_now(uint32_t handler, uint32_t channel, const void* data, uint64_t size) {
  if (!is_connected_ || !channels_.empty() || !controls_.empty() || size > std::min(kCopied, message_limit_) ||
      !fits(size) || !main().is_writable())
    return false;
  in_window_ += size + kMessageCost;
  main().send({.type = FrameType::kMessage, .a = handler, .b = channel, .total = size}, data, size);
  return true;
}

void Peer::send(const OperationPointer& operation) {
  if (!is_connected_) fail(CN_PEER_LOST, "the peer '%s' is not connected", name().c_str());
  if (operation->size > message_limit_)
    fail(CN_INVALID_ARGUMENT, "the peer '%s' takes messages of at most %llu bytes, got %llu", name().c_str(),
         static_cast<unsigned long long>(message_limit_), static_cast<unsigned long long>(operation->size));
  if (send_now(operation->handler, operation->channel, operation->data, operation->size)) {
    operation->sent = operation->size;
    finish(operation, CN_OK);
    return flush_soon();
  }
  const bool is_copied = (operation->flags & CN_COPY) != 0;
  const uint64_t cost = operation->size + kMessageCost;
  if (waiting_ > 0 && waiting_ + cost > endpoint_.settings().send_limit)
    fail(CN_FULL, "%llu bytes wait for the peer '%s' already", static_cast<unsigned long long>(waiting_),
         name().c_str());
  if (is_copied && main().table().keeps_payloads)
    operation->copy.assign(operation->data, operation->data + operation->size);
  try {
    channels_[operation->channel].push_back(operation);
  } catch (...) {
    if (const auto found = channels_.find(operation->channel); found != channels_.end() && found->second.empty())
      channels_.erase(found);
    throw;
  }
  waiting_ += cost;
  pump();
  if (is_copied && !operation->has_result) guard([&] { keep_copy(*operation); });
}

// Copies what is not sent yet, and what the transport still uses.
void Peer::keep_copy(Operation& operation) {
  if (!operation.copy.empty()) return;
  detach(operation);
  operation.copy.assign(operation.data + operation.sent, operation.data + operation.size);
  operation.copied_from = operation.sent;
}

// Stops the use of the memory of an operation.
void Peer::detach(const Operation& operation) {
  const bool is_used = operation.cookies > 0 || operation.begun > operation.moved;
  if (!is_used) return;
  for (Connection* const connection : connections_) connection->detach(operation.data, operation.size);
}

size_t Peer::count_unsent() const {
  size_t count = 0;
  for (const auto& [channel, waiting] : channels_) count += waiting.size();
  return is_connected_ ? count : 0;
}

void Peer::control(Frame frame, std::string payload) {
  controls_.push_back({frame, std::move(payload)});
  if (is_answer(frame.type)) ++answers_;
}

void Peer::result(uint64_t id, cn_status status, const std::string& text) {
  control({.type = FrameType::kResult, .status = static_cast<uint16_t>(status), .id = id}, text);
}

void Peer::pump() noexcept {
  fill();
  flush_soon();
}

void Peer::flush_soon() noexcept {
  if (!connections_.empty() && !main().table().is_flush_cheap && endpoint_.leaves_flushes())
    endpoint_.note_work(*this);
  else
    flush();
}

void Peer::flush() noexcept {
  for (Connection* const connection : connections_) connection->flush();
  close_failed();
}

// Ends the link if the transport has failed to take a frame.
void Peer::close_failed() noexcept {
  for (size_t i = 0; i < connections_.size(); ++i)
    if (connections_[i]->has_failed()) return connections_[i]->close_failed();
}

void Peer::fill() noexcept {
  guard([&] { fill_connections(); });
  close_failed();
}

// Gives the connections what they take.
void Peer::fill_connections() {
  if (!is_connected_) return;
  bool goes_on = true;
  while (goes_on) {
    goes_on = false;
    while (main().is_writable() && send_control()) goes_on = true;
    // Messages and transfers take turns.
    for (int i = 0; i < 2; ++i) {
      prefers_transfers_ = !prefers_transfers_;
      if (prefers_transfers_ ? send_transfer_piece() : main().is_writable() && send_message_piece()) {
        goes_on = true;
        break;
      }
    }
  }
  if (access_some()) endpoint_.note_work(*this);
  if (!is_connected_) return;  // the process of the peer has ended
  while (main().is_writable() && send_control()) {
  }
  go_on();
}

bool Peer::send_control() {
  if (controls_.empty()) return false;
  const Control control = std::move(controls_.front());
  controls_.pop_front();
  if (is_answer(control.frame.type)) --answers_;
  if (is_paused_) heard();  // it reads, if slowly
  main().send(control.frame, control.payload);
  return true;
}

uint64_t Peer::send_piece(Connection& connection, Frame frame, const char* from, uint64_t left, Flight flight) {
  const uint64_t size = std::min(left, kPiece);
  uint64_t cookie = 0;
  if (size > kCopied) {
    cookie = ++last_cookie_;
    const auto& [place, is_new] = flights_.emplace(cookie, std::move(flight));
    if (place->second.operation) ++place->second.operation->cookies;
  }
  connection.send(frame, from, size, cookie);
  return size;
}

bool Peer::send_message_piece() {
  if (channels_.empty()) return false;
  auto turn = channels_.lower_bound(next_channel_);
  for (size_t tried = 0; tried < channels_.size(); ++tried, ++turn) {
    if (turn == channels_.end()) turn = channels_.begin();
    const OperationPointer operation = turn->second.front();
    const bool begins = !operation->has_begun;
    if (begins && !fits(operation->size)) {
      if (!has_asked_) control({.type = FrameType::kCredit});
      has_asked_ = true;
      continue;
    }
    if (begins) in_window_ += operation->size + kMessageCost;
    operation->has_begun = true;
    const Frame frame{.type = FrameType::kMessage,
                      .a = operation->handler,
                      .b = operation->channel,
                      .offset = operation->sent,
                      .total = operation->size};
    operation->sent +=
        send_piece(main(), frame, operation->unsent(), operation->size - operation->sent, {operation, nullptr});
    next_channel_ = turn->first + 1;
    if (operation->sent == operation->size) {
      waiting_ -= operation->size + kMessageCost;
      turn->second.pop_front();
      if (turn->second.empty()) channels_.erase(turn);
      if (operation->cookies == 0) finish(operation, CN_OK);
    }
    return true;
  }
  return false;
}

bool Peer::send_transfer_piece() {
  if (served_turns_.empty() && writing_turns_.empty()) return false;
  Connection* connection = nullptr;
  for (size_t i = 0; i < connections_.size() && !connection; ++i) {
    Connection* const next = connections_[next_stream_++ % connections_.size()];
    if (next->is_writable()) connection = next;
  }
  if (!connection) return false;
  Fifo<uint64_t>& turns =
      writing_turns_.empty() || (!served_turns_.empty() && next_stream_ % 2 == 0) ? served_turns_ : writing_turns_;
  const uint64_t id = turns.front();
  turns.pop_front();
  if (&turns == &served_turns_) {
    const auto found = served_.find(id);
    // The peer may have taken its request back, and begun another one with its number.
    if (found == served_.end() || found->second.type != FrameType::kRead) return true;
    Served& read = found->second;
    const Frame frame{.type = FrameType::kReadPiece, .id = id, .offset = read.next};
    read.next += send_piece(*connection, frame, read.memory->data + read.offset + read.next, read.size - read.next,
                            {nullptr, read.memory});
    if (read.next < read.size)
      turns.push_back(id);
    else
      served_.erase(found);
    return true;
  }
  const auto found = operations_.find(id);
  if (found == operations_.end()) return true;
  Operation& write = *found->second;
  const Frame frame{.type = FrameType::kWritePiece, .id = id, .offset = write.sent};
  write.sent +=
      send_piece(*connection, frame, write.data + write.sent, write.size - write.sent, {found->second, nullptr});
  if (write.sent < write.size) turns.push_back(id);
  return true;
}

void Peer::sent(uint64_t cookie) noexcept {
  const auto found = flights_.find(cookie);
  if (found == flights_.end()) return;
  const OperationPointer operation = std::move(found->second.operation);
  flights_.erase(found);
  if (!operation || --operation->cookies > 0 || operation->kind != Operation::Kind::kSend) return;
  if (operation->sent == operation->size) finish(operation, CN_OK);
}

}  // namespace commnet
