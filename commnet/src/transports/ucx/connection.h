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

namespace commnet::ucx {

using Clock = std::chrono::steady_clock;

class Transport;
struct Connection;

constexpr const char* kNoMemory = "no memory left";

// The active messages, by their numbers.
enum Message : unsigned { kFrame, kGoodbye, kMessages };

// The header of an active message. UCX may deliver large and small ones in another order than that in which they were
// sent.
struct Wire {
  uint64_t sequence;
  char frame[CN_FRAME_HEADER];
};
static_assert(sizeof(Wire) == 8 + CN_FRAME_HEADER);

// A message that UCX sends.
struct Send {
  Connection* connection = nullptr;
  uint64_t size = 0, cookie = 0;
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

// Each connection has a worker of its own. UCX joins endpoints of the same two workers, so that to close one connection
// would end others, and connections by UCX's own listeners are not safe with several workers in a process. A socket
// carries the addresses of the workers, and ends with the other process.
struct Connection {
  Transport& owner;
  const bool has_begun;
  cn_host_connection* host = nullptr;

  Descriptor socket;
  bool is_connected = false;  // the socket
  std::string to_write;       // to it
  std::string heard;          // from it: the address of the other side's worker

  ucp_worker_h worker = nullptr;
  int descriptor = -1;  // of the worker
  ucp_ep_h endpoint = nullptr;
  bool is_open = false;     // frames can be sent
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

  bool is_closing = false;          // UCX closes it
  Clock::time_point goodbye_end{};  // until when the other side may answer a goodbye

  // Whether it is in these lists of the transport.
  bool in_writable = false, in_arrived = false, in_failed = false;

  bool uses_host_memory() const { return borrowed > 0 || (is_receiving && !has_received); }
};

}  // namespace commnet::ucx

#endif  // COMMNET_TRANSPORTS_UCX_CONNECTION_H_
