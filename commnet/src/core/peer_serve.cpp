// What a peer reads and writes of the memory of this endpoint.
#include <cstring>

#include "core/endpoint.h"
#include "core/peer.h"
#include "core/status.h"

namespace commnet {

namespace {

// The most requests of a peer. It may have fewer under way, but does not hear at once of those that have ended here.
constexpr size_t kMostServed = 1 << 16;

}  // namespace

void Peer::serve(const Frame& frame, const std::vector<uint8_t>& payload) {
  const bool is_read = frame.type == FrameType::kRead;
  if (payload.size() < sizeof(Request)) fail_protocol("a request that is too short");
  Request request;
  std::memcpy(&request, payload.data(), sizeof request);
  const uint64_t eager = payload.size() - sizeof request;
  if (frame.id == 0 || served_.contains(frame.id)) fail_protocol("a request whose number is in use");
  if (eager > 0 && (is_read || eager != request.size)) fail_protocol("a request with more bytes than it says");
  if (served_.size() >= kMostServed) fail_protocol("too many requests at a time");
  std::shared_ptr<const Memory> memory;
  try {
    const auto [found, rights] = endpoint_.memories().find(request.token);
    check_access(rights, found->size, is_read ? CN_READ : CN_WRITE, request.offset, request.size);
    memory = found;
  } catch (const Error& error) {
    return result(frame.id, error.status(), error.text());
  }
  if (!is_read && request.size <= kEager) {
    if (eager != request.size) fail_protocol("a request without its bytes");
    if (eager > 0) std::memcpy(memory->data + request.offset, payload.data() + sizeof request, eager);
    return result(frame.id, CN_OK);
  }
  served_[frame.id] = {frame.type, std::move(memory), request.offset, request.size, 0, 0};
  if (is_read)
    served_turns_.push_back(frame.id);
  else
    control({.type = FrameType::kResult, .flags = kGoOn, .id = frame.id});
}

void Peer::forget_memory(const Memory& memory) noexcept {
  if (granted_.erase(memory.id) != 0) {
    main().revoke(memory.id);
    guard([&] { control({.type = FrameType::kForgotten, .id = memory.id}); });
  }
  guard([&] { forget_served(memory); });
  for (Connection* const connection : connections_) connection->detach(memory.data, memory.size);
  for (auto& [cookie, flight] : flights_)
    if (flight.memory.get() == &memory) flight.memory = nullptr;
  pump();
}

void Peer::forget_served(const Memory& memory) {
  for (auto each = served_.begin(); each != served_.end();) {
    Served& served = each->second;
    if (served.memory.get() != &memory) {
      ++each;
      continue;
    }
    served.memory = nullptr;
    if (served.type == FrameType::kRead) {
      result(each->first, CN_DENIED, "the memory is no longer registered");
      each = served_.erase(each);
    } else {
      ++each;  // its pieces are still to come
    }
  }
}

}  // namespace commnet
