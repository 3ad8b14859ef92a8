// One connection over UCX, and the frames that are on their way.
#ifndef COMMNET_TRANSPORTS_UCX_CONNECTION_H_
#define COMMNET_TRANSPORTS_UCX_CONNECTION_H_

#include <commnet/transport.h>
#include <ucp/api/ucp.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/descriptor.h"
#include "transports/ucx/links.h"

namespace commnet::ucx {

using Clock = std::chrono::steady_clock;

class Transport;
struct Connection;

constexpr const char* kNoMemory = "no memory left";

// The active messages, by their numbers.
enum Message : unsigned {
  kFrame,
  kGoodbye,
  kHello,    // the link is connected at this side
  kSettle,   // it is at both
  kRevoke,   // grants with lower numbers than that of the message are revoked
  kRevoked,  // nothing is accessed by them any more
};

// The header of an active message. UCX may deliver large and small ones in another order than that in which they were
// sent.
struct Wire {
  uint64_t connection;  // the number that the receiver has given it
  uint64_t sequence;    // or the number of a grant
  char frame[CN_FRAME_HEADER];
};
static_assert(sizeof(Wire) == 16 + CN_FRAME_HEADER);

// A message that UCX sends.
struct Send {
  Connection* connection = nullptr;
  uint64_t size = 0, cookie = 0;
  Message message = kFrame;
  bool is_borrowed = false;  // whether UCX uses the payload of the host
  const char* payload = nullptr;
  Wire wire{};
  std::vector<char> copy;  // of a payload without a cookie

  // Copies the payload if it has no cookie. Returns false if there is no memory for that.
  bool set_payload(const void* given) noexcept;
};

// A message that has arrived, and waits for its turn.
struct Arrival {
  enum class Kind : uint8_t {
    kCopied,      // the payload is in `copy`
    kHeld,        // it is in memory of UCX, at `data`
    kRendezvous,  // it is on the other side, `data` says where
    kGoodbye,
  };
  Kind kind;
  uint64_t size;
  void* data;
  std::vector<char> copy;
  char frame[CN_FRAME_HEADER];
};

// The messages of all connections arrive at the worker of the endpoint. Each has the number of its connection, which
// nobody can guess, and which the two sides tell each other over a socket, with the addresses of their workers. The
// socket ends with the other process.
struct Connection {
  enum class State : uint8_t {
    kConnecting,  // the socket
    kGreeted,     // the other side's greeting is expected
    kOffered,     // the other side chooses the link
    kJoined,      // the link is made ready
    kOpen,        // frames can be sent
  };

  Transport& owner;
  const bool has_begun;
  const uint64_t number;
  cn_host_connection* host = nullptr;

  Descriptor socket;
  State state = State::kConnecting;
  std::string to_write;  // to the socket
  std::string heard;     // from it
  std::string address;   // of the other side's worker
  uint64_t other_number = 0;

  Link* link = nullptr;
  bool has_begun_to_settle = false, has_hello = false, has_answered = false, is_settled = false;
  bool is_broken = false;   // the host knows it, or has closed it
  bool is_told = false;     // the other side has said goodbye
  bool has_failed = false;  // for the reason `why`
  std::string why;

  uint64_t next_sent = 0, unsent = 0, in_flight = 0;
  uint64_t borrowed = 0;  // payloads of the host in flight
  bool is_full = false;

  uint64_t next_arrival = 0;
  std::deque<Arrival> arrivals;       // in their order
  std::map<uint64_t, Arrival> early;  // others are missing before them
  uint64_t waiting = 0;               // bytes of both
  bool is_receiving = false;          // the payload of the first frame, to `destination`
  bool has_received = false;
  const char* destination = nullptr;
  uint64_t receive_size = 0;

  // What the other side may access: the number of new grants, and up to which they are revoked.
  uint64_t grant = 1, revoked = 0;
  bool has_exposed = false;  // since the last revocation
  // What this side may access: grants with lower numbers are revoked.
  uint64_t other_grant = 0;
  uint64_t moving = 0;  // gets and puts in flight

  Clock::time_point goodbye_end{};  // until when the other side may answer a goodbye

  // Whether it is in these lists of the transport.
  bool in_writable = false, in_arrived = false, in_failed = false, in_revoking = false;

  bool is_settling() const { return state == State::kJoined && link && has_answered; }
  bool link_is_chosen() const { return state >= State::kJoined; }
  bool is_open() const { return state == State::kOpen; }
  bool is_in_use() const { return in_flight > 0 || moving > 0 || is_receiving_now(); }
  bool is_receiving_now() const { return is_receiving && !has_received; }
  bool uses_host_memory() const { return borrowed > 0 || moving > 0 || is_receiving_now(); }
};

}  // namespace commnet::ucx

#endif  // COMMNET_TRANSPORTS_UCX_CONNECTION_H_
