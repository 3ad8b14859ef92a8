// What this endpoint reads and writes of the memory of a peer.
#include <utility>

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
  if (!is_connected_) fail(CN_PEER_LOST, "the peer '%s' is not connected", name().c_str());
  unasked_.push_back(last_id_ + 1);
  try {
    operations_.emplace(last_id_ + 1, operation);
  } catch (...) {
    unasked_.pop_back();
    throw;
  }
  operation->id = ++last_id_;
  ask_more();
  pump();
}

void Peer::ask_more() noexcept {
  guard([&] {
    while (asked_ < kMostAsked && !unasked_.empty()) {
      const auto found = operations_.find(unasked_.front());
      unasked_.pop_front();
      if (found != operations_.end()) ask(OperationPointer(found->second));
    }
  });
}

void Peer::ask(const OperationPointer& operation) {
  ++asked_;
  operation->is_asked = true;
  if (main().reaches_memory())
    access(operation);
  else
    ask_for_frames(*operation);
}

void Peer::ask_for_frames(Operation& operation) {
  operation.remote = nullptr;
  operation.data += operation.moved;
  operation.offset += operation.moved;
  operation.size -= std::exchange(operation.moved, 0);
  const Request request{operation.token, operation.offset, operation.size};
  const bool is_read = operation.kind == Operation::Kind::kRead;
  std::string payload(reinterpret_cast<const char*>(&request), sizeof request);
  if (!is_read && operation.size <= kEager && operation.size > 0) payload.append(operation.data, operation.size);
  control({.type = is_read ? FrameType::kRead : FrameType::kWrite, .id = operation.id}, std::move(payload));
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
  if (!operation->remote) guard([&] { control({.type = FrameType::kCancel, .id = operation->id}); });
  if (!is_connected_) return;
  --asked_;
  ask_more();
  pump();
}

void Peer::take_result(const Frame& frame, const std::string& text) {
  const auto question = questions_.extract(frame.id);
  if (!question.empty()) {
    if (frame.status == CN_OK || frame.status > CN_INTERNAL_ERROR) fail_protocol("a wrong answer to a question");
    return take_refusal(*question.mapped(), static_cast<cn_status>(frame.status), text);
  }
  const auto found = operations_.find(frame.id);
  if (found == operations_.end()) return;
  const OperationPointer operation = found->second;
  if (operation->remote) fail_protocol("the result of what it does not take part in");
  const bool is_read = operation->kind == Operation::Kind::kRead;
  if ((frame.flags & kGoOn) == 0) {
    // A read ends well with its last piece.
    if (frame.status == CN_OK && is_read && operation->moved < operation->size)
      fail_protocol("a result before the bytes");
    if (frame.status > CN_INTERNAL_ERROR) fail_protocol("a status that there is not");
    // Pieces may be under way over other connections.
    detach(*operation);
    return finish(operation, static_cast<cn_status>(frame.status), text);
  }
  if (is_read || operation->has_begun) fail_protocol("that an operation goes on which does not wait for that");
  operation->has_begun = true;
  writing_turns_.push_back(frame.id);
}

}  // namespace commnet
