// What the transport over UCX sends and receives.
#include <algorithm>
#include <cstring>
#include <new>

#include "core/status.h"
#include "transports/ucx/transport.h"

namespace commnet::ucx {

namespace {

// No more frames are taken while this many bytes are to be sent.
constexpr uint64_t kMostUnsent = 4 << 20;
// Payloads up to this size are sent at once. UCX would let the other side fetch some of them, which takes a round trip
// for each, as one frame is received at a time.
constexpr uint64_t kMostAtOnce = 256 << 10;
// Payloads from this size on stay in UCX's memory until their turn.
constexpr uint64_t kHeld = 4 << 10;
// What a connection may have of frames that wait for their turn. The windows of a correct endpoint allow less.
constexpr uint64_t kMostWaiting = uint64_t{1} << 30;
constexpr size_t kMostEarly = 1 << 16;

}  // namespace

void Transport::set_handlers() {
  const auto set = [&](unsigned id, ucp_am_recv_callback_t callback) {
    ucp_am_handler_param_t parameters{};
    parameters.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                            UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
    parameters.id = id;
    parameters.flags = UCP_AM_FLAG_WHOLE_MSG;
    parameters.cb = callback;
    parameters.arg = this;
    if (const ucs_status_t status = ucp_.ucp_worker_set_am_recv_handler(worker_.handle(), &parameters);
        status != UCS_OK)
      fail(CN_UNSUPPORTED, "UCX does not work here: active messages: %s", ucp_.ucs_status_string(status));
  };
  set(kFrame, take_message<kFrame>);
  set(kGoodbye, take_message<kGoodbye>);
  set(kHello, take_message<kHello>);
  set(kSettle, take_message<kSettle>);
  set(kRevoke, take_message<kRevoke>);
  set(kRevoked, take_message<kRevoked>);
}

// ------------------------------------------------------------------------------------------------ sending

bool Send::set_payload(const void* given) noexcept {
  payload = static_cast<const char*>(given);
  if (cookie != 0 || size == 0) return true;
  try {
    copy.assign(payload, payload + size);
  } catch (const std::bad_alloc&) {
    return false;
  }
  payload = copy.data();
  return true;
}

// Returns null if there is no memory.
Send* Transport::take_send(Connection& connection, uint64_t size, uint64_t cookie) noexcept {
  if (free_sends_.empty()) {
    try {
      for (auto* const list : {&free_sends_, &sent_, &reported_}) list->reserve(sends_.size() + 1);
      sends_.push_back(std::make_unique<Send>());
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
    free_sends_.push_back(sends_.back().get());
  }
  Send& send = *free_sends_.back();
  free_sends_.pop_back();
  send = {.connection = &connection, .size = size, .cookie = cookie, .copy = std::move(send.copy)};
  return &send;
}

void Transport::begin(Send& send, Message message) {
  Connection& connection = *send.connection;
  send.message = message;
  ++connection.in_flight;
  connection.unsent += send.size;
  send.is_borrowed = send.cookie != 0;
  connection.borrowed += send.is_borrowed;
  ucp_request_param_t parameters{};
  parameters.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  if (send.size <= kMostAtOnce) {
    parameters.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
    parameters.flags = message == kSettle ? UCP_AM_SEND_FLAG_RNDV : UCP_AM_SEND_FLAG_EAGER;
  }
  parameters.user_data = &send;
  parameters.cb.send = [](void* request, ucs_status_t status, void* own) {
    Send& ended = *static_cast<Send*>(own);
    Transport& transport = ended.connection->owner;
    transport.ucp_.ucp_request_free(request);
    transport.finish(ended, status);
  };
  void* const request = ucp_.ucp_am_send_nbx(connection.link->endpoint, message, &send.wire, sizeof send.wire,
                                             send.payload, send.size, &parameters);
  if (UCS_PTR_IS_PTR(request))
    needs_wake_ = true;  // a sleeping worker does not go on with it
  else
    finish(send, UCS_PTR_STATUS(request));
}

void Transport::finish(Send& send, ucs_status_t status) noexcept {
  Connection& connection = *send.connection;
  --connection.in_flight;
  connection.unsent -= send.size;
  connection.borrowed -= std::exchange(send.is_borrowed, false);
  if (connection.is_full && connection.unsent < kMostUnsent) writable_.add(connection);
  if (status != UCS_OK) note_failure(connection, ucp_.ucs_status_string(status));
  if (status == UCS_OK && send.message == kSettle) {
    connection.is_settled = true;
    arrived_.add(connection);
  }
  if (status == UCS_OK && send.cookie != 0 && connection.host)
    sent_.push_back(&send);
  else
    release(send);
}

void Transport::release(Send& send) noexcept {
  send.connection = nullptr;
  free_sends_.push_back(&send);
}

bool Transport::send(Connection& connection, const void* header, const void* payload, uint64_t size, uint64_t cookie) {
  if (!connection.is_open() || connection.has_failed) return false;  // broken() follows
  Send* const send = take_send(connection, size, cookie);
  if (!send || !send->set_payload(payload)) {
    if (send) release(*send);
    note_failure(connection, kNoMemory);
    return false;
  }
  send->wire.connection = connection.other_number;
  send->wire.sequence = connection.next_sent++;
  std::memcpy(send->wire.frame, header, CN_FRAME_HEADER);
  begin(*send, kFrame);
  connection.is_full = connection.unsent >= kMostUnsent;
  return !connection.is_full;
}

void Transport::flush() {
  report_sent();
  if (!std::exchange(needs_wake_, false) && failed_.empty() && arrived_.empty()) return;
  host_.wake(endpoint_);
}

bool Transport::report_sent() {
  const bool did = !sent_.empty() || !writable_.empty();
  if (reported_.empty()) {
    reported_.swap(sent_);
    for (Send* const send : reported_) {
      Connection* const connection = send->connection;
      if (connection && connection->host && !connection->is_broken) host_.sent(connection->host, send->cookie);
      release(*send);
    }
    reported_.clear();
  }
  writable_.take([&](Connection& connection) {
    if (!connection.host || connection.is_broken || connection.unsent >= kMostUnsent) return;
    connection.is_full = false;
    host_.writable(connection.host);
  });
  return did;
}

bool Transport::tell(Connection& connection, Message message, uint64_t sequence) noexcept {
  // UCX asks the other side only for payloads that there are.
  static constexpr char kPayload = 0;
  Send* const send = take_send(connection, message == kSettle, 0);
  if (!send) return false;
  send->payload = &kPayload;
  send->wire.connection = connection.other_number;
  send->wire.sequence = sequence;
  begin(*send, message);
  return true;
}

// ------------------------------------------------------------------------------------------------ receiving

template <Message kMessage>
ucs_status_t Transport::take_message(void* own, const void* header, size_t header_size, void* data, size_t size,
                                     const ucp_am_recv_param_t* parameters) {
  return static_cast<Transport*>(own)->take(kMessage, header, header_size, data, size, parameters->recv_attr);
}

ucs_status_t Transport::take(Message message, const void* header, size_t header_size, void* data, size_t size,
                             uint64_t flags) noexcept {
  Wire wire;
  if (header_size != sizeof wire) return UCS_OK;
  std::memcpy(&wire, header, sizeof wire);
  const auto found = connections_.find(wire.connection);
  if (found == connections_.end()) return UCS_OK;
  Connection& connection = *found->second;
  if (message == kHello || message == kSettle) {
    (message == kHello ? connection.has_hello : connection.is_settled) = true;
    arrived_.add(connection);
    return UCS_OK;
  }
  if (message == kRevoke || message == kRevoked) {
    uint64_t& number = message == kRevoke ? connection.other_grant : connection.revoked;
    number = std::max(number, wire.sequence);
    if (message == kRevoke) revoking_.add(connection);
    return UCS_OK;
  }
  // Both have said goodbye.
  if (!connection.host && message == kGoodbye) connection.goodbye_end = {};
  if (!connection.host || connection.is_broken || connection.has_failed) return UCS_OK;
  try {
    const bool is_next = wire.sequence == connection.next_arrival;
    if (wire.sequence < connection.next_arrival || connection.early.contains(wire.sequence) ||
        connection.waiting + size > kMostWaiting || connection.early.size() >= kMostEarly) {
      note_failure(connection, ucp_.ucs_status_string(UCS_ERR_REJECTED));
      return UCS_OK;
    }
    Arrival arrival{Arrival::Kind::kCopied, size, nullptr, {}, {}};
    std::memcpy(arrival.frame, wire.frame, sizeof arrival.frame);
    if (message == kGoodbye)
      arrival.kind = Arrival::Kind::kGoodbye;
    else if ((flags & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0)
      arrival.kind = Arrival::Kind::kRendezvous;
    else if ((flags & UCP_AM_RECV_ATTR_FLAG_DATA) != 0 && size >= kHeld)
      arrival.kind = Arrival::Kind::kHeld;
    else
      arrival.copy.assign(static_cast<const char*>(data), static_cast<const char*>(data) + size);
    const bool is_kept = arrival.kind == Arrival::Kind::kRendezvous || arrival.kind == Arrival::Kind::kHeld;
    if (is_kept) arrival.data = data;
    if (is_next) {
      connection.arrivals.push_back(std::move(arrival));
      ++connection.next_arrival;
    } else {
      connection.early.emplace(wire.sequence, std::move(arrival));
    }
    connection.waiting += size;
    arrived_.add(connection);
    return is_kept ? UCS_INPROGRESS : UCS_OK;
  } catch (const std::bad_alloc&) {
    note_failure(connection, kNoMemory);
    return UCS_OK;
  }
}

void Transport::deliver(Connection& connection) {
  settle(connection);
  auto& early = connection.early;
  for (auto next = early.find(connection.next_arrival); next != early.end();
       next = early.find(connection.next_arrival)) {
    connection.arrivals.push_back(std::move(next->second));
    early.erase(next);
    ++connection.next_arrival;
  }
  while (connection.host && connection.is_open() && !connection.is_broken && !connection.arrivals.empty()) {
    if (!connection.is_receiving) {
      if (!begin_frame(connection)) return;
    } else {
      if (!connection.has_received) return;
      connection.is_receiving = false;
      if (connection.has_failed) return;
    }
    if (!end_frame(connection)) return;
  }
}

// Returns whether the first frame is here.
bool Transport::begin_frame(Connection& connection) {
  Arrival& arrival = connection.arrivals.front();
  if (arrival.kind == Arrival::Kind::kGoodbye) {
    connection.is_told = connection.is_broken = true;
    host_.broken(connection.host, CN_PEER_LOST, "the connection was closed by the other side");
    return false;
  }
  if (arrival.kind == Arrival::Kind::kRendezvous && connection.has_failed) return false;
  void* payload = nullptr;
  if (!host_.begin_frame(connection.host, arrival.frame, arrival.size, &payload)) {
    connection.is_broken = true;
    return false;
  }
  if (arrival.kind != Arrival::Kind::kRendezvous) {
    const void* const from = arrival.data ? arrival.data : arrival.copy.data();
    if (payload && arrival.size > 0) std::memcpy(payload, from, arrival.size);
    return true;
  }
  if (!payload) return true;
  ucp_request_param_t parameters{};
  parameters.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  parameters.user_data = &connection;
  parameters.cb.recv_am = [](void* request, ucs_status_t status, size_t, void* own) {
    auto& received = *static_cast<Connection*>(own);
    received.has_received = true;
    received.owner.ucp_.ucp_request_free(request);
    if (status != UCS_OK) received.owner.note_failure(received, received.owner.ucp_.ucs_status_string(status));
    received.owner.arrived_.add(received);
  };
  connection.is_receiving = true;
  connection.has_received = false;
  connection.destination = static_cast<const char*>(payload);
  connection.receive_size = arrival.size;
  void* const request = ucp_.ucp_am_recv_data_nbx(worker_.handle(), std::exchange(arrival.data, nullptr), payload,
                                                  arrival.size, &parameters);
  if (UCS_PTR_IS_PTR(request)) return false;
  connection.is_receiving = false;
  if (UCS_PTR_STATUS(request) != UCS_OK) note_failure(connection, ucp_.ucs_status_string(UCS_PTR_STATUS(request)));
  return UCS_PTR_STATUS(request) == UCS_OK;
}

bool Transport::end_frame(Connection& connection) {
  drop(connection.arrivals.front());
  connection.waiting -= connection.arrivals.front().size;
  connection.arrivals.pop_front();
  if (host_.end_frame(connection.host)) return true;
  connection.is_broken = true;
  return false;
}

void Transport::drop(Arrival& arrival) {
  if (void* const data = std::exchange(arrival.data, nullptr)) ucp_.ucp_am_data_release(worker_.handle(), data);
}

void Transport::drop_arrivals(Connection& connection) {
  for (Arrival& arrival : connection.arrivals) drop(arrival);
  for (auto& [sequence, arrival] : connection.early) drop(arrival);
  connection.arrivals.clear();
  connection.early.clear();
}

}  // namespace commnet::ucx
