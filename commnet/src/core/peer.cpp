#include "core/peer.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "core/endpoint.h"
#include "core/status.h"

namespace commnet {

namespace {

// Payloads up to this size are copied by the transport: their memory is free at once.
constexpr uint64_t kCopied = 16 << 10;
// From this size on, bytes are copied from the memory of the other process, where that is possible.
constexpr uint64_t kPulled = 64 << 10;
// What peers can ask for as the time between two pings, in milliseconds.
constexpr uint64_t kShortestInterval = 10, kLongestInterval = 3'600'000;
// For how long the first connection is read after a further one has ended.
constexpr Clock::duration kLastWords = std::chrono::seconds(1);
// How much of that is copied at a time.
constexpr uint64_t kPull = 4 << 20;
// The most requests to a peer that are under way; more wait here. It may see more for a while, as it does not hear at
// once of those that have ended here.
constexpr size_t kMostAsked = 4096, kMostServed = 1 << 16;

// How many answers may wait for a peer before no more is received from it. Correct endpoints do not ask for that many
// at a time, unless they cancel what they ask for.
constexpr size_t kMostAnswers = 1 << 14;
constexpr const char* kDoesNotRead = "it does not read what it asks for";

[[noreturn]] void fail_protocol(const char* what) { fail(CN_DENIED, "the peer sent %s", what); }

}  // namespace

// ------------------------------------------------------------------------------------------------ the link

template <class Body>
void Peer::guard(Body&& body) noexcept {
  try {
    body();
  } catch (...) {
    if (is_connected_ && !connections_.empty()) main().close(set_error_of_exception(), cn_error());
  }
}

void Peer::join(Connection& connection, const Key& link, uint64_t window) {
  if (joined_notice_.empty()) joined_notice_ = endpoint_.take_notice();
  if (left_notice_.empty()) left_notice_ = endpoint_.take_notice();
  connections_ = {&connection};
  ping();  // before bytes that may take long
  // What follows does not fail.
  transport_ = connection.table().name;
  link_ = link;
  window_ = std::max<uint64_t>(window, 1);
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

void Peer::ping() {
  last_ping_ = Clock::now();
  const auto limit = std::chrono::duration_cast<std::chrono::milliseconds>(endpoint_.settings().peer_timeout / 3);
  control({.type = FrameType::kPing, .total = std::max<uint64_t>(1, static_cast<uint64_t>(limit.count()))});
}

Clock::duration Peer::ping_interval() const {
  return std::min(endpoint_.settings().peer_timeout / 3, wanted_interval_);
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
    why = "the peer '" + name_ + "' is lost: " + text;
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
  copying_.clear();
  copying_served_.clear();
  arriving_.clear();
  for (const auto& [channel, waiting] : channels)
    for (const OperationPointer& operation : waiting) endpoint_.finish(operation, status, why);
  for (const auto& [id, operation] : operations) endpoint_.finish(operation, status, why);
  for (const auto& [cookie, flight] : flights)
    if (flight.operation) endpoint_.finish(flight.operation, status, why);
  endpoint_.left(*this, status, why);
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

// ------------------------------------------------------------------------------------------------ own operations

void Peer::finish(const OperationPointer& operation, cn_status status, std::string_view text) noexcept {
  if (operation->id != 0 && operations_.erase(operation->id) != 0 && operation->is_asked) {
    --asked_;
    ask_more();
  }
  endpoint_.finish(operation, status, text);
}

bool Peer::fits(const Operation& operation) const {
  return in_window_ == 0 || operation.size + kMessageCost <= window_ - std::min(window_, in_window_);
}

void Peer::send(const OperationPointer& operation) {
  if (!is_connected_) fail(CN_PEER_LOST, "the peer '%s' is not connected", name_.c_str());
  const bool is_copied = (operation->flags & CN_COPY) != 0;
  const uint64_t cost = operation->size + kMessageCost;
  if (waiting_ > 0 && waiting_ + cost > endpoint_.settings().send_limit)
    fail(CN_FULL, "%llu bytes wait for the peer '%s' already", static_cast<unsigned long long>(waiting_),
         name_.c_str());
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

void Peer::request(const OperationPointer& operation) {
  if (!is_connected_) fail(CN_PEER_LOST, "the peer '%s' is not connected", name_.c_str());
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
      if (found != operations_.end()) ask(*found->second);
    }
  });
}

void Peer::ask(Operation& operation) {
  ++asked_;
  operation.is_asked = true;
  const bool reaches = operation.size >= kPulled && main().reaches_memory();
  Request request{operation.token, operation.offset, operation.size, 0};
  const bool is_read = operation.kind == Operation::Kind::kRead;
  if (reaches) request.address = is_read ? 1 : reinterpret_cast<uintptr_t>(operation.data);
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
  guard([&] { control({.type = FrameType::kCancel, .id = operation->id}); });
  if (!is_connected_) return;
  --asked_;
  ask_more();
  pump();
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

// ------------------------------------------------------------------------------------------------ sending

namespace {

bool is_answer(FrameType type) {
  return type == FrameType::kResult || type == FrameType::kPong || type == FrameType::kCredit;
}

}  // namespace

void Peer::control(Frame frame, std::string payload) {
  controls_.push_back({frame, std::move(payload)});
  if (is_answer(frame.type)) ++answers_;
}

void Peer::add(Connection& connection) {
  connections_.push_back(&connection);
  if (is_paused_) connection.pause(true);
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

void Peer::result(uint64_t id, cn_status status, const std::string& text, uint8_t flags, uint64_t address) {
  control({.type = FrameType::kResult,
           .flags = flags,
           .status = static_cast<uint16_t>(status),
           .id = id,
           .offset = address},
          text);
}

void Peer::pump() noexcept {
  fill();
  if (endpoint_.leaves_flushes())
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
  if (copy_piece()) endpoint_.note_work(*this);
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
    if (begins && !fits(*operation)) {
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
  std::deque<uint64_t>& turns =
      writing_turns_.empty() || (!served_turns_.empty() && next_stream_ % 2 == 0) ? served_turns_ : writing_turns_;
  const uint64_t id = turns.front();
  turns.pop_front();
  if (&turns == &served_turns_) {
    const auto found = served_.find(id);
    // The peer may have taken its request back, and begun another one with its number.
    if (found == served_.end() || !found->second.is_framed(FrameType::kRead)) return true;
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
  write.sent += send_piece(*connection, frame, write.data + write.sent, write.size - write.sent, {nullptr, nullptr});
  if (write.sent < write.size) turns.push_back(id);
  return true;
}

void Peer::sent(uint64_t cookie) noexcept {
  const auto found = flights_.find(cookie);
  if (found == flights_.end()) return;
  const OperationPointer operation = std::move(found->second.operation);
  flights_.erase(found);
  if (operation && --operation->cookies == 0 && operation->sent == operation->size) finish(operation, CN_OK);
}

// ------------------------------------------------------------------------------------------------ memory of others

// Copies a piece of memory of the peer's process. Returns whether there is more to copy.
bool Peer::copy_piece() {
  const auto pull = [&](char* to, uint64_t remote, uint64_t size) {
    return main().table().pull(main().handle(), to, remote, size);
  };
  if (!copying_.empty()) {
    const auto found = operations_.find(copying_.front());
    if (found == operations_.end()) {
      copying_.pop_front();
    } else {
      const OperationPointer operation = found->second;
      const uint64_t size = std::min(kPull, operation->size - operation->moved);
      const cn_status status = pull(operation->data + operation->moved, operation->remote + operation->moved, size);
      operation->moved += size;
      if (status != CN_OK) {
        copying_.pop_front();
        control({.type = FrameType::kCancel, .id = operation->id});
        finish(operation, status, cn_error());
      } else if (operation->moved == operation->size) {
        copying_.pop_front();
        control({.type = FrameType::kPulled, .id = operation->id});
      }
    }
  }
  if (!copying_served_.empty()) {
    const uint64_t id = copying_served_.front();
    const auto found = served_.find(id);
    const bool copies = found != served_.end() && found->second.type == FrameType::kWrite && found->second.remote != 0;
    if (!copies || !found->second.is_alive()) {
      copying_served_.pop_front();
      if (copies) {
        result(id, CN_DENIED, "the memory is no longer registered");
        served_.erase(found);
      }
    } else {
      Served& write = found->second;
      const uint64_t size = std::min(kPull, write.size - write.next);
      const cn_status status = pull(write.memory->data + write.offset + write.next, write.remote + write.next, size);
      write.next += size;
      if (status != CN_OK || write.next == write.size) {
        copying_served_.pop_front();
        result(id, status, status == CN_OK ? "" : cn_error());
        served_.erase(found);
      }
    }
  }
  return !copying_.empty() || !copying_served_.empty();
}

void Peer::forget_memory(const Memory& memory) noexcept {
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
    if (served.type == FrameType::kRead && served.remote == 0) {
      result(each->first, CN_DENIED, "the memory is no longer registered");
      each = served_.erase(each);
    } else {
      ++each;  // its pieces, or the word that it was copied, are still to come
    }
  }
}

// ------------------------------------------------------------------------------------------------ what arrives

void* Peer::begin_message(const Frame& frame) {
  std::unique_ptr<cn_message>& message = arriving_[frame.b];
  if (frame.offset == 0) {
    if (message) fail_protocol("a message within another one of its channel");
    if (frame.total > endpoint_.settings().message_limit)
      fail(CN_DENIED, "the peer sent a message of %llu bytes; the limit is %llu",
           static_cast<unsigned long long>(frame.total),
           static_cast<unsigned long long>(endpoint_.settings().message_limit));
    const uint64_t window = endpoint_.settings().receive_window;
    if (held_ > 0 && frame.total + kMessageCost > window - std::min(window, held_))
      fail_protocol("more than its window allows");
    message = std::make_unique<cn_message>();
    message->notice = endpoint_.take_notice();
    message->endpoint = endpoint_.shared_from_this();
    message->peer = this;
    message->session = session_;
    message->handler = frame.a;
    message->channel = frame.b;
    message->size = frame.total;
    message->memory = endpoint_.spare_memory().take(frame.total);
    held_ += message->cost();
  }
  if (!message || frame.offset != message->arrived || frame.total != message->size ||
      frame.size > message->size - message->arrived || frame.a != message->handler)
    fail_protocol("a piece that does not continue its message");
  return message->memory.data.get() + frame.offset;
}

void Peer::end_message(const Frame& frame) {
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
    if (read.kind != Operation::Kind::kRead || read.remote != 0)
      fail_protocol("a piece for an operation that does not read it");
    start = read.data;
    size = read.size;
    begun = &read.begun;
  } else {
    const auto found = served_.find(frame.id);
    if (found == served_.end()) return nullptr;
    Served& write = found->second;
    if (!write.is_framed(FrameType::kWrite)) fail_protocol("a piece for no write");
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
    case FrameType::kPulled: {
      const auto found = served_.find(frame.id);
      if (found == served_.end()) return;
      if (found->second.type != FrameType::kRead || found->second.remote == 0) fail_protocol("the end of no copy");
      if (found->second.is_alive())
        result(frame.id, CN_OK);
      else
        result(frame.id, CN_DENIED, "the memory is no longer registered");
      served_.erase(found);
      return;
    }
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
    memory = endpoint_.memories().find(request.token, is_read ? CN_READ : CN_WRITE, request.offset, request.size);
  } catch (const Error& error) {
    return result(frame.id, error.status(), error.text());
  }
  char* const start = memory->data + request.offset;
  if (!is_read && request.size <= kEager) {
    if (eager != request.size) fail_protocol("a request without its bytes");
    if (eager > 0) std::memcpy(start, payload.data() + sizeof request, eager);
    return result(frame.id, CN_OK);
  }
  Served& served = served_[frame.id] = {frame.type, std::move(memory), request.offset, request.size, 0, 0};
  const bool reaches = request.address != 0 && request.size >= kPulled && main().reaches_memory();
  if (reaches) served.remote = is_read ? 1 : request.address;
  if (is_read) {
    if (reaches)
      result(frame.id, CN_OK, {}, kGoOn, reinterpret_cast<uintptr_t>(start));
    else
      served_turns_.push_back(frame.id);
  } else if (reaches) {
    copying_served_.push_back(frame.id);
  } else {
    result(frame.id, CN_OK, {}, kGoOn);
  }
}

void Peer::take_result(const Frame& frame, const std::string& text) {
  const auto found = operations_.find(frame.id);
  if (found == operations_.end()) return;
  const OperationPointer operation = found->second;
  const bool is_read = operation->kind == Operation::Kind::kRead;
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
    return writing_turns_.push_back(frame.id);
  }
  if (!main().reaches_memory() || operation->remote != 0 || operation->begun != 0 || frame.offset == 0)
    fail_protocol("an address that is no use");
  operation->remote = frame.offset;
  copying_.push_back(frame.id);
}

}  // namespace commnet
