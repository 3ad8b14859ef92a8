// Access to memory of the other side by remote keys.
#ifndef COMMNET_TRANSPORTS_UCX_ACCESS_H_
#define COMMNET_TRANSPORTS_UCX_ACCESS_H_

#include <ucp/api/ucp.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "transports/ucx/library.h"

namespace commnet::ucx {

struct Connection;

// Where UCX's get and put are used. Over a network device that accesses memory by itself they take no time of the
// owner. Elsewhere UCX emulates them: the owner's worker copies each piece through its buffers, which takes longer than
// to send the bytes in frames, and it does so for any address that it is asked for.
enum class AccessRule : uint8_t { kHardware, kAlways, kNever };

// Returns what COMMNET_UCX_ACCESS says: "hardware" (the default), "always" or "never". Throws Error for other words.
AccessRule access_rule();
// Returns whether a description by UCX of its devices names one that accesses memory by itself.
bool names_hardware(std::string_view description);

// Memory of this side that is mapped for others.
struct Region {
  ucp_mem_h memory = nullptr;
  std::string key;  // its address, and UCX's key
};

// Memory of the other side.
struct Remote {
  ucp_rkey_h key = nullptr;
  uint64_t address = 0;
  uint64_t grant = 0;
  uint64_t moves = 0;
  bool is_closed = false;  // to be freed with its last move
};

// A get or a put.
struct Move {
  Connection* connection = nullptr;
  Remote* remote = nullptr;
  bool is_get = false;
  uint64_t offset = 0;
  char* data = nullptr;
  uint64_t size = 0, cookie = 0;
  unsigned parts = 0;  // what UCX has begun for it, and not ended
  ucs_status_t status = UCS_OK;
  bool is_taken_back = false;  // before it has begun

  bool is_begun() const { return parts > 0; }
};

}  // namespace commnet::ucx

#endif  // COMMNET_TRANSPORTS_UCX_ACCESS_H_
