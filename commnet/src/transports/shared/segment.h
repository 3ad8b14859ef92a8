// The memory that the two sides of a connection share.
#ifndef COMMNET_TRANSPORTS_SHARED_SEGMENT_H_
#define COMMNET_TRANSPORTS_SHARED_SEGMENT_H_

#include <atomic>
#include <cstdint>

#include "core/memory_file.h"
#include "transports/shared/ring.h"

namespace commnet::shared {

// Regions share counts of revocations: that one is revoked makes few others be asked about again.
constexpr size_t kCounts = 64;

// By which a process stops the copies that the other one makes from its memory and to it. The owner of the memory
// counts revocations; who copies says in `copying` which count it is about, plus 1, and then looks whether the count is
// still that of its grant. In this order, so that an owner which has counted, and then finds nobody copying, knows that
// all later copies find their grants revoked.
struct CopyState {
  alignas(64) std::atomic<uint64_t> revocations[kCounts];
  alignas(64) std::atomic<uint32_t> copying;  // 0: nothing
};

// Of two things each, the first is for what the side that connects sends, or for its memory.
struct Segment {
  RingState rings[2];
  CopyState copies[2];
  alignas(4096) char bytes[2][kRing];
};

}  // namespace commnet::shared

#endif  // COMMNET_TRANSPORTS_SHARED_SEGMENT_H_
