// Copies from the memory of the process of a peer.
#include <algorithm>

#include "core/endpoint.h"
#include "core/peer.h"
#include "core/status.h"

namespace commnet {

namespace {

// How much is copied at a time.
constexpr uint64_t kPull = 4 << 20;

}  // namespace

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

}  // namespace commnet
