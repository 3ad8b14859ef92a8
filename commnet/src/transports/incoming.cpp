#include "transports/incoming.h"

#include <algorithm>
#include <cstring>

namespace commnet {

uint64_t Incoming::take(cn_host_connection* connection, const char* bytes, uint64_t count, bool* is_refused) {
  if (!is_in_payload_) {
    const uint64_t taken = std::min<uint64_t>(count, CN_FRAME_HEADER - header_size_);
    std::memcpy(header_ + header_size_, bytes, taken);
    header_size_ += taken;
    if (header_size_ == CN_FRAME_HEADER && !begin(connection)) *is_refused = true;
    return taken;
  }
  const uint64_t taken = std::min(count, left_);
  if (payload_) std::memcpy(payload_, bytes, taken);
  fill(connection, taken, is_refused);
  return taken;
}

void Incoming::fill(cn_host_connection* connection, uint64_t count, bool* is_refused) {
  if (payload_) payload_ += count;
  left_ -= count;
  if (left_ == 0 && !end(connection)) *is_refused = true;
}

void Incoming::detach(const void* begin, uint64_t size) {
  const auto first = reinterpret_cast<uintptr_t>(begin), place = reinterpret_cast<uintptr_t>(payload_);
  if (payload_ && place < first + size && place + left_ > first) payload_ = nullptr;
}

bool Incoming::begin(cn_host_connection* connection) {
  header_size_ = 0;
  is_in_payload_ = true;
  // The last field of a header is the size of the payload.
  std::memcpy(&left_, header_ + CN_FRAME_HEADER - sizeof left_, sizeof left_);
  void* payload = nullptr;
  if (!host_.begin_frame(connection, header_, left_, &payload)) return false;
  payload_ = static_cast<char*>(payload);
  return left_ > 0 || end(connection);
}

bool Incoming::end(cn_host_connection* connection) {
  ++frames_;
  is_in_payload_ = false;
  payload_ = nullptr;
  return host_.end_frame(connection);
}

}  // namespace commnet
