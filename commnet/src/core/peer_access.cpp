// Reads and writes of a peer's memory that this process reaches by itself.
#include <algorithm>
#include <cstring>

#include "core/endpoint.h"
#include "core/peer.h"
#include "core/status.h"

namespace commnet {

namespace {

// How much is copied before others have their turn.
constexpr uint64_t kTurn = 256 << 10;
// What a copy costs besides its bytes, as a number of bytes.
constexpr uint64_t kCopyCost = 4096;
// How many memories of a peer are kept open.
constexpr size_t kMostRemotes = 4096;

}  // namespace

void Peer::access(const OperationPointer& operation) {
  const auto found = remotes_.find(operation->token);
  if (found != remotes_.end()) {
    operation->remote = found->second;
  } else {
    // Those that are in use are opened anew by the operations that come later.
    if (remotes_.size() >= kMostRemotes) remotes_.clear();
    operation->remote = std::make_shared<Remote>(main(), operation->token);
    remotes_.emplace(operation->token, operation->remote);
    ask_how(operation->remote);
  }
  accessing_.push_back(operation->id);
}

// Asks the peer how its memory is reached.
void Peer::ask_how(const std::shared_ptr<Remote>& remote) {
  remote->close();
  remote->state = Remote::State::kAsked;
  questions_.emplace(++last_id_, remote);
  const auto* const bytes = reinterpret_cast<const char*>(remote->token.bytes);
  control({.type = FrameType::kOpen, .id = last_id_}, std::string(bytes, CN_TOKEN_SIZE));
}

void Peer::take_opened(const Frame& frame, const std::vector<uint8_t>& payload) {
  const auto question = questions_.extract(frame.id);
  if (question.empty()) fail_protocol("an answer to no question");
  Remote& remote = *question.mapped();
  remote.state = Remote::State::kInFrames;
  if ((frame.flags & kInFrames) == 0) {
    Opened opened{};
    if (payload.size() < kOpenedHead || payload.size() > kOpenedHead + CN_LARGEST_KEY)
      fail_protocol("an answer of a wrong size");
    std::memcpy(&opened, payload.data(), payload.size());
    if (opened.grant.size != payload.size() - kOpenedHead) fail_protocol("a key that is cut off");
    remote.size = opened.size;
    remote.rights = static_cast<uint32_t>(opened.rights);
    if (main().open_remote(opened.grant, opened.size, &remote.handle) == CN_OK) remote.state = Remote::State::kOpen;
  }
  go_on_accessing(remote);
}

// The peer has released a memory.
void Peer::forget_remote(uint64_t memory) {
  std::erase_if(remotes_, [&](const auto& each) {
    return id_of(each.first) == memory && each.second->state != Remote::State::kAsked;
  });
}

// The answer to a question is that the memory may not be accessed.
void Peer::take_refusal(Remote& remote, cn_status status, const std::string& text) {
  remote.state = Remote::State::kRefused;
  remote.status = status;
  remote.text = text;
  if (const auto found = remotes_.find(remote.token); found != remotes_.end() && found->second.get() == &remote)
    remotes_.erase(found);
  go_on_accessing(remote);
}

void Peer::go_on_accessing(Remote& remote) {
  for (const uint64_t id : remote.waiting) accessing_.push_back(id);
  remote.waiting.clear();
}

// Copies for a while. Returns whether there is more to copy.
bool Peer::access_some() {
  for (uint64_t copied = 0; copied < kTurn && !accessing_.empty() && is_connected_;) {
    const auto found = operations_.find(accessing_.front());
    accessing_.pop_front();
    if (found != operations_.end()) copied += kCopyCost + access_piece(OperationPointer(found->second));
  }
  return !accessing_.empty();
}

// Returns how many bytes it has copied.
uint64_t Peer::access_piece(const OperationPointer& operation) {
  Remote& remote = *operation->remote;
  switch (remote.state) {
    case Remote::State::kAsked:
      remote.waiting.push_back(operation->id);
      return 0;
    case Remote::State::kInFrames:
      ask_for_frames(*operation);
      return 0;
    case Remote::State::kRefused:
      finish(operation, remote.status, std::string(remote.text));
      return 0;
    case Remote::State::kOpen:
      break;
  }
  try {
    const uint32_t right = operation->kind == Operation::Kind::kRead ? CN_READ : CN_WRITE;
    check_access(remote.rights, remote.size, right, operation->offset, operation->size);
  } catch (const Error& error) {
    finish(operation, error.status(), error.text());
    return 0;
  }
  return move_piece(operation, remote);
}

uint64_t Peer::move_piece(const OperationPointer& operation, Remote& remote) {
  Operation& moving = *operation;
  uint64_t size = moving.size - moving.moved;
  bool goes_on = false;
  const uint64_t cookie = last_cookie_ + 1, offset = moving.offset + moving.moved;
  char* const data = moving.data + moving.moved;
  cn_status status = CN_OK;
  if (size > 0)
    status = moving.kind == Operation::Kind::kRead ? main().get(remote.handle, offset, data, &size, cookie, &goes_on)
                                                   : main().put(remote.handle, offset, data, &size, cookie, &goes_on);
  if (status == CN_OK && goes_on) {
    last_cookie_ = cookie;
    ++moving.cookies;
    flights_.emplace(cookie, Flight{operation, nullptr, size});
    return 0;
  }
  end_move(operation, status, size, cn_error());
  return status == CN_OK ? size : 0;
}

// A copy has ended, of a number of bytes if it has succeeded.
void Peer::end_move(const OperationPointer& operation, cn_status status, uint64_t size, const char* text) {
  Remote& remote = *operation->remote;
  switch (status) {
    case CN_OK:
      operation->moved += size;
      if (operation->moved >= operation->size) return finish(operation, CN_OK);
      break;
    case CN_CANCELLED:
      // Other memory may have been released there.
      if (remote.state == Remote::State::kOpen) ask_how(operation->remote);
      break;
    case CN_UNSUPPORTED:
      remote.close();
      remote.state = Remote::State::kInFrames;
      break;
    case CN_PEER_LOST:
      return main().close(status, std::string(text).c_str());
    default:
      return finish(operation, status, std::string(text));
  }
  accessing_.push_back(operation->id);
}

void Peer::moved(uint64_t cookie, cn_status status, const char* text) noexcept {
  const auto flight = flights_.extract(cookie);
  if (flight.empty()) return;
  const OperationPointer operation = flight.mapped().operation;
  --operation->cookies;
  if (operation->has_result || !is_connected_) return;
  guard([&] { end_move(operation, status, flight.mapped().size, text); });
  endpoint_.note_work(*this);
}

// Says how the peer reaches a memory of this endpoint.
void Peer::show_how(const Frame& frame, const std::vector<uint8_t>& payload) {
  cn_token token;
  if (payload.size() != sizeof token.bytes) fail_protocol("a question of a wrong size");
  std::memcpy(token.bytes, payload.data(), sizeof token.bytes);
  MemoryTable::Found found;
  try {
    found = endpoint_.memories().find(token);
  } catch (const Error& error) {
    return result(frame.id, error.status(), error.text());
  }
  Opened opened{found.memory->size, found.rights, {}};
  const Memory& memory = *found.memory;
  const cn_region region{memory.id, found.rights, memory.data, memory.size, memory.allocated.file()};
  if (!main().reaches_memory() || main().expose(region, &opened.grant) != CN_OK)
    return control({.type = FrameType::kOpened, .flags = kInFrames, .id = frame.id});
  granted_.insert(found.memory->id);
  const size_t size = kOpenedHead + std::min<size_t>(opened.grant.size, CN_LARGEST_KEY);
  control({.type = FrameType::kOpened, .id = frame.id}, std::string(reinterpret_cast<const char*>(&opened), size));
}

}  // namespace commnet
