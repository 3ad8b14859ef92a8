// Messages that have arrived.
#ifndef COMMNET_CORE_MESSAGE_H_
#define COMMNET_CORE_MESSAGE_H_

#include <commnet/commnet.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/notice.h"

namespace commnet {

class Endpoint;
class Peer;

// What a message counts for a window beyond its bytes.
constexpr uint64_t kMessageCost = 64;

// The memory of large messages that were released, for the next ones: fresh memory costs the system as much time as the
// transfer. Guarded by the endpoint's lock.
class SpareMemory {
 public:
  struct Block {
    std::unique_ptr<char[]> data;
    uint64_t size = 0;
  };

  SpareMemory();

  // Returns a block of at least `size` bytes.
  Block take(uint64_t size);
  void put(Block block);
  // Frees what was not used since the last call.
  void tick();

 private:
  std::vector<Block> blocks_;  // with room for all that are kept
  bool is_used_ = false;
};

}  // namespace commnet

// Guarded by the endpoint's lock until it is handed out. The endpoint exists at least as long.
struct cn_message {
  // Messages up to this size need no memory of their own.
  static constexpr uint64_t kInside = 64;

  std::shared_ptr<commnet::Endpoint> endpoint;
  commnet::Peer* peer;
  uint64_t session;  // of the peer, when it arrived
  uint32_t handler, channel;
  uint64_t size;
  uint64_t arrived = 0;  // bytes
  // The library while the handler runs, and whoever keeps it: a handler may keep and release it, or another thread may.
  std::atomic<int> owners{1};
  std::atomic<bool> is_kept{false};
  commnet::SpareMemory::Block memory;
  char inside[kInside];
  commnet::Notices notice;  // of its arrival, until then

  char* data() { return memory.data ? memory.data.get() : inside; }
  const char* data() const { return memory.data ? memory.data.get() : inside; }
  uint64_t cost() const { return size + commnet::kMessageCost; }
};

#endif  // COMMNET_CORE_MESSAGE_H_
