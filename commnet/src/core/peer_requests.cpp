// What this endpoint reads and writes of the memory of a peer.
#include "core/endpoint.h"
#include "core/peer.h"
#include "core/status.h"

namespace commnet {

namespace {

// The most requests to a peer that are under way; more wait here. It may see more for a while, as it does not hear at
// once of those that have ended here.
constexpr size_t kMostAsked = 4096;

}  // namespace

void Peer::finish(const OperationPointer& operation, cn_status status, std::string_view text) noexcept {
  if (operation->id != 0 && operations_.erase(operation->id) != 0 && operation->is_asked) {
    --asked_;
    ask_more();
  }
  endpoint_.finish(operation, status, text);
}

void Peer::request(const OperationPointer& operation) {
  require_usable();
  unasked_.push_back(last_id_ + 1);
  try {
    operations_.emplace(last_id_ + 1, operation);
  } catch (...) {
    unasked_.pop_back();
    throw;
  }
  operation->id = ++last_id_;
  if (!is_connected_) return connect();
  ask_more();
  pump();
}

void Peer::ask_more() noexcept {
  guard([&] {
    while (asked_ < kMostAsked && !unasked_.empty()) {
      const auto found = operations_.find(unasked_.front());
      unasked_.pop_front();
      if (found != operations_.end()) ask(*found->second);
    }
  });
}

void Peer::ask(Operation& operation) {
  ++asked_;
  operation.is_asked = true;
  const bool reaches = operation.size >= kPulled && main().reaches_memory();
  Request request{operation.token, operation.offset, operation.size, 0, 0};
  const bool is_read = operation.kind == Operation::Kind::kRead;
  operation.may_copy = reaches;
  if (reaches) request.address = is_read ? 1 : reinterpret_cast<uintptr_t>(operation.data);
  if (reaches && !is_read) request.grant = main().grant();
  std::string payload(reinterpret_cast<const char*>(&request), sizeof request);
  if (!is_read && operation.size <= kEager && operation.size > 0) payload.append(operation.data, operation.size);
  control({.type = is_read ? FrameType::kRead : FrameType::kWrite, .id = operation.id}, std::move(payload));
}

void Peer::ask_again(const OperationPointer& operation) {
  Operation& rest = *operation;
  rest.data += rest.moved;
  rest.offset += rest.moved;
  rest.size -= rest.moved;
  rest.moved = rest.remote = rest.grant = 0;
  operations_.emplace(last_id_ + 1, operation);
  operations_.erase(rest.id);
  rest.id = ++last_id_;
  --asked_;  // ask() counts it
  ask(rest);
}

void Peer::drop(const OperationPointer& operation) noexcept {
  if (operation->kind == Operation::Kind::kSend) {
    const auto found = channels_.find(operation->channel);
    if (found == channels_.end()) return detach(*operation);
    const auto place = std::find(found->second.begin(), found->second.end(), operation);
    if (place == found->second.end()) return detach(*operation);
    // The rest of a message that has begun follows: its channel would end otherwise.
    if (operation->sent > 0) return guard([&] { keep_copy(*operation); });
    waiting_ -= operation->size + kMessageCost;
    found->second.erase(place);
    if (found->second.empty()) channels_.erase(found);
    return;
  }
  if (operation->id == 0 || operations_.erase(operation->id) == 0 || !operation->is_asked) return;
  detach(*operation);
  if (operation->may_copy && operation->kind == Operation::Kind::kWrite && is_connected_) main().revoke();
  guard([&] { control({.type = FrameType::kCancel, .id = operation->id}); });
  if (!is_connected_) return;
  --asked_;
  ask_more();
  pump();
}

void Peer::take_result(const Frame& frame, const std::string& text) {
  const auto found = operations_.find(frame.id);
  if (found == operations_.end()) return;
  const OperationPointer operation = found->second;
  const bool is_read = operation->kind == Operation::Kind::kRead;
  if ((frame.flags & kAgain) != 0) {
    if (is_read || !operation->may_copy || operation->has_begun || frame.offset > operation->size)
      fail_protocol("a revocation of what was not granted");
    operation->moved = frame.offset;
    return ask_again(operation);
  }
  if ((frame.flags & kGoOn) == 0) {
    // A read ends well with its last piece, or once the copied bytes are known to be right.
    if (frame.status == CN_OK && is_read && operation->moved < operation->size)
      fail_protocol("a result before the bytes");
    if (frame.status > CN_INTERNAL_ERROR) fail_protocol("a status that there is not");
    // Pieces may be under way over other connections.
    detach(*operation);
    return finish(operation, static_cast<cn_status>(frame.status), text);
  }
  if (!is_read) {
    if (operation->has_begun) fail_protocol("a result twice");
    operation->has_begun = true;
    operation->may_copy = false;
    return writing_turns_.push_back(frame.id);
  }
  if (!operation->may_copy || operation->remote != 0 || operation->begun != 0 || frame.offset == 0)
    fail_protocol("an address that is no use");
  operation->remote = frame.offset;
  operation->grant = frame.total;
  copying_.push_back(frame.id);
}

}  // namespace commnet
