// The link to a peer: its beginning, its signs of life, and its end.
#include "core/peer.h"

#include <algorithm>
#include <cstdio>
#include <deque>
#include <mutex>
#include <new>

#include "core/endpoint.h"
#include "core/status.h"

namespace commnet {

namespace {

// For how long the first connection is read after a further one has ended.
constexpr Clock::duration kLastWords = std::chrono::seconds(1);
// How many answers may wait for a peer before no more is received from it. Correct endpoints do not ask for that many
// at a time, unless they cancel what they ask for.
constexpr size_t kMostAnswers = 1 << 14;
constexpr const char* kDoesNotRead = "it does not read what it asks for";

// Handles of peers of closed endpoints, so that who uses one a little later hears of it.
constexpr size_t kMostRetired = 1 << 16;

void retire(std::unique_ptr<cn_peer> handle) {
  static auto& mutex = *new std::mutex;
  static auto& retired = *new std::deque<std::unique_ptr<cn_peer>>;
  const std::lock_guard lock(mutex);
  retired.push_back(std::move(handle));
  if (retired.size() > kMostRetired) retired.pop_front();
}

}  // namespace

Peer::Peer(Endpoint& endpoint, std::string name)
    : endpoint_(endpoint), handle_(new cn_peer{endpoint.weak_from_this(), this, std::move(name)}) {}

Peer::~Peer() {
  try {
    retire(std::move(handle_));
  } catch (const std::bad_alloc&) {
    // The handle is freed.
  }
}

void Peer::heard() noexcept { last_heard_ = endpoint_.now(); }

void Peer::join(Connection& connection, const Key& link, uint64_t window, uint64_t message_limit) {
  if (joined_notice_.empty()) joined_notice_ = endpoint_.take_notice();
  if (left_notice_.empty()) left_notice_ = endpoint_.take_notice();
  connections_ = {&connection};
  ping();  // before bytes that may take long
  // What follows does not fail.
  transport_ = connection.table().name;
  link_ = link;
  window_ = std::max<uint64_t>(window, 1);
  message_limit_ = message_limit;
  in_window_ = waiting_ = held_ = owed_ = 0;
  has_asked_ = is_asked_ = false;
  is_connected_ = true;
  ++session_;
  last_heard_ = Clock::now();
  ends_at_ = Clock::time_point::max();
  wanted_interval_ = Clock::duration::max();
  endpoint_.note_work(*this);
  endpoint_.check_lives_at(last_ping_ + ping_interval());
}

void Peer::add(Connection& connection) {
  connections_.push_back(&connection);
  if (is_paused_) connection.pause(true);
}

void Peer::lose(Connection& connection, cn_status status, const std::string& text) noexcept {
  const auto found = std::find(connections_.begin(), connections_.end(), &connection);
  if (found == connections_.end()) return;
  const bool is_main = found == connections_.begin();
  connections_.erase(found);
  // The other side may have given up a further connection before its handshake was complete there.
  if (!is_main && !connection.is_used()) return;
  // Pieces may have been lost with a further connection, too, so that the link ends. But a peer that leaves closes all
  // its connections, and what it has sent on the first one before may be read later than the end of this one.
  if (!is_main && is_connected_ && status == CN_PEER_LOST) {
    if (ends_at_ != Clock::time_point::max()) return;
    ends_at_ = Clock::now() + kLastWords;
    keep_text(ends_why_, text);
    return endpoint_.check_lives_at(ends_at_);
  }
  const std::vector<Connection*> others = std::exchange(connections_, {});
  if (is_connected_) end_session(status == CN_CANCELLED ? status : CN_PEER_LOST, text);
  for (Connection* const other : others) other->close(status, text.c_str());
}

void Peer::leave(cn_status status, const std::string& text) {
  if (!is_connected_) return;
  if (!connections_.empty()) {
    main().send({.type = FrameType::kGoodbye});
    main().flush();
    main().close(status, text.c_str());
  }
}

void Peer::end_session(cn_status status, const std::string& text) noexcept {
  is_connected_ = false;
  std::string why;
  try {
    why = "the peer '" + name() + "' is lost: " + text;
  } catch (...) {
    keep_text(why, text);
  }
  // Nothing of this needs memory, of which there may be none.
  const auto channels = std::exchange(channels_, {});
  const auto operations = std::exchange(operations_, {});
  const auto flights = std::exchange(flights_, {});
  controls_.clear();
  answers_ = 0;
  is_paused_ = false;
  unasked_.clear();
  asked_ = 0;
  served_.clear();
  served_turns_.clear();
  writing_turns_.clear();
  accessing_.clear();
  questions_.clear();
  remotes_.clear();
  granted_.clear();
  arriving_.clear();
  whole_ = nullptr;
  for (const auto& [channel, waiting] : channels)
    for (const OperationPointer& operation : waiting) endpoint_.finish(operation, status, why);
  for (const auto& [id, operation] : operations) endpoint_.finish(operation, status, why);
  for (const auto& [cookie, flight] : flights)
    if (flight.operation) endpoint_.finish(flight.operation, status, why);
  endpoint_.left(*this, status, why);
}

void Peer::ping() {
  last_ping_ = Clock::now();
  const auto limit = std::chrono::duration_cast<std::chrono::milliseconds>(endpoint_.settings().peer_timeout / 3);
  control({.type = FrameType::kPing, .total = std::max<uint64_t>(1, static_cast<uint64_t>(limit.count()))});
}

Clock::duration Peer::ping_interval() const {
  return std::min(endpoint_.settings().peer_timeout / 3, wanted_interval_);
}

Clock::time_point Peer::check_life(Clock::time_point now) noexcept {
  if (!is_connected_) return Clock::time_point::max();
  const Clock::duration limit = endpoint_.settings().peer_timeout;
  if (now >= ends_at_) {
    main().close(CN_PEER_LOST, ends_why_.c_str());
    return Clock::time_point::max();
  }
  if (now - last_heard_ >= limit) {
    const auto silent = std::chrono::duration_cast<std::chrono::milliseconds>(now - last_heard_).count();
    char text[80];
    std::snprintf(text, sizeof text, "nothing was heard of it for %lld ms", static_cast<long long>(silent));
    main().close(CN_PEER_LOST, is_paused_ ? kDoesNotRead : text);
    return Clock::time_point::max();
  }
  // Also to a peer that was heard: what it sends may take long, and hold up its own pings.
  if (now >= last_ping_ + ping_interval()) {
    guard([&] { ping(); });
    pump();
  }
  if (!is_connected_) return Clock::time_point::max();
  return std::min({ends_at_, last_heard_ + limit, last_ping_ + ping_interval()});
}

void Peer::limit_answers() {
  if (is_paused_ || answers_ + served_turns_.size() < kMostAnswers) return;
  if (!main().can_pause()) {
    if (answers_ + served_turns_.size() > 4 * kMostAnswers) fail(CN_DENIED, "%s", kDoesNotRead);
    return;
  }
  is_paused_ = true;
  for (Connection* const connection : connections_) connection->pause(true);
}

void Peer::go_on() noexcept {
  if (!is_paused_ || answers_ + served_turns_.size() > kMostAnswers / 2) return;
  is_paused_ = false;
  for (Connection* const connection : connections_) connection->pause(false);
}

void Peer::say_ready(uint64_t job) noexcept {
  guard([&] { control({.type = FrameType::kReady, .id = job}); });
  pump();
}

bool Peer::take_ready(uint64_t job) {
  if (job != ready_job_ || ready_count_ == 0) return false;
  --ready_count_;
  return true;
}

void fail_protocol(const char* what) { fail(CN_DENIED, "the peer sent %s", what); }

}  // namespace commnet
