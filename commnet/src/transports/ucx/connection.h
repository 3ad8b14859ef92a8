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
#include <unordered_set>
#include <vector>

namespace commnet::ucx {

using Clock = std::chrono::steady_clock;

class Transport;
struct Connection;

// The active messages, by their numbers.
enum Message : unsigned { kHello, kFrame, kGoodbye, kMessages };

// The header of kHello, by which each side says how its connection is called.
struct Hello {
  uint32_t magic, version;
  uint64_t id;
};

// The header of kFrame and kGoodbye. UCX does not say which connection a message belongs to, and may deliver large and
// small ones in another order than that in which they were sent.
struct Wire {
  uint64_t to;  // the id of the connection on the side that receives
  uint64_t sequence;
  char frame[CN_FRAME_HEADER];
};
static_assert(sizeof(Wire) == 16 + CN_FRAME_HEADER);

// A message that UCX sends.
struct Send {
  Connection* connection;
  uint64_t size, cookie;
  const char* payload;
  union {
    Hello hello;
    Wire wire;
  };
  std::vector<char> copy;  // of a payload without a cookie
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

struct Connection {
  Transport& owner;
  const uint64_t id;  // cannot be guessed, so that nobody sends in the name of others
  cn_host_connection* host = nullptr;
  ucp_ep_h endpoint = nullptr;
  const bool has_begun;

  uint64_t remote_id = 0;  // known once the other side has said hello
  bool is_broken = false;  // the host knows it, or has closed it
  bool is_told = false;    // the other side has said goodbye
  ucs_status_t failure = UCS_OK;

  uint64_t next_sent = 0, unsent = 0, in_flight = 0;
  bool is_full = false;
  std::unordered_set<Send*> borrowed;  // those whose payload is the host's

  uint64_t next_arrival = 0;
  std::deque<Arrival> arrivals;       // in their order
  std::map<uint64_t, Arrival> early;  // others are missing before them
  uint64_t waiting = 0;               // bytes of both
  bool is_receiving = false;          // the payload of the first frame, to `destination`
  bool has_received = false;
  const char* destination = nullptr;
  uint64_t receive_size = 0;

  bool is_closing = false;          // UCX closes it
  Clock::time_point goodbye_end{};  // until when the other side may answer a goodbye

  bool is_open() const { return remote_id != 0; }
  bool uses(const void* begin, uint64_t size) const;
  bool uses_host_memory() const { return !borrowed.empty() || (is_receiving && !has_received); }
};

}  // namespace commnet::ucx

#endif  // COMMNET_TRANSPORTS_UCX_CONNECTION_H_
