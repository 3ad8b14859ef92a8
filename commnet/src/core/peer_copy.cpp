// Copies from the memory of the process of a peer.
#include <algorithm>

#include "core/endpoint.h"
#include "core/peer.h"
#include "core/status.h"

namespace commnet {

namespace {

// How much is copied at a time: other peers wait meanwhile, and so does a program that takes its memory back.
constexpr uint64_t kPull = 256 << 10;

}  // namespace

// Copies a piece of memory of the peer's process. Returns whether there is more to copy.
bool Peer::copy_piece() {
  if (!copying_.empty()) {
    if (const auto found = operations_.find(copying_.front()); found != operations_.end())
      copy_read(OperationPointer(found->second));
    else
      copying_.pop_front();
  }
  if (is_connected_ && !copying_served_.empty()) {
    const uint64_t id = copying_served_.front();
    const auto found = served_.find(id);
    // The peer may have taken its request back, and begun another one with its number.
    if (found != served_.end() && found->second.type == FrameType::kWrite && found->second.remote != 0)
      copy_write(id, found->second);
    else
      copying_served_.pop_front();
  }
  return !copying_.empty() || !copying_served_.empty();
}

void Peer::copy_read(const OperationPointer& operation) {
  Operation& read = *operation;
  const uint64_t size = std::min(kPull, read.size - read.moved);
  const cn_status status = main().pull(read.data + read.moved, read.remote + read.moved, size, read.grant);
  if (status == CN_OK) {
    read.moved += size;
    if (read.moved < read.size) return;
    copying_.pop_front();
    return control({.type = FrameType::kPulled, .id = read.id});
  }
  copying_.pop_front();
  if (status == CN_PEER_LOST) return main().close(status, cn_error());
  control({.type = FrameType::kCancel, .id = read.id});
  // Other memory may have been released there, or the bytes have to travel in frames from now on.
  if (status == CN_CANCELLED || status == CN_UNSUPPORTED) return ask_again(operation);
  finish(operation, status, cn_error());
}

void Peer::copy_write(uint64_t id, Served& write) {
  cn_status status = CN_DENIED;
  if (write.is_alive()) {
    const uint64_t size = std::min(kPull, write.size - write.next);
    status = main().pull(write.memory->data + write.offset + write.next, write.remote + write.next, size, write.grant);
    if (status == CN_OK) write.next += size;
    if (status == CN_OK && write.next < write.size) return;
  }
  copying_served_.pop_front();
  if (status == CN_PEER_LOST) return main().close(status, cn_error());
  if (status == CN_CANCELLED || status == CN_UNSUPPORTED)
    direct(id, kAgain, write.next);
  else
    result(id, status, status == CN_OK ? "" : write.is_alive() ? cn_error() : "the memory is no longer registered");
  served_.erase(id);
}

}  // namespace commnet
