// Stores that pass the caches by, for results that do not fit into them: memory is then not read before it is written.
#ifndef ONEFLOW_DEVICES_CPU_STREAM_H_
#define ONEFLOW_DEVICES_CPU_STREAM_H_

#include <cstdint>

namespace oneflow::cpu {

// The bytes of the last-level cache that one core has a share in, as far as it may count on them.
int64_t last_level_bytes();

// Results from so many bytes on are streamed that are written from end to end. Of one that is not much larger than the
// last-level cache a part stays there, for who reads or writes it next (a product without a sum of 33 MB, beside 32 MB:
// 0.4 to 0.95 of the time).
inline int64_t streamed_bytes() { return last_level_bytes() / 4 * 5; }
// The same of results that are written in tiles, while operands go through the caches (ar,br,cr,dr->abcd of 21 MB,
// beside 32 MB: 0.85 of the time).
inline int64_t streamed_tile_bytes() { return last_level_bytes() / 2; }

// Whether stream_copy() does more than an ordinary copy to this address.
bool can_stream(const void* to);

// Copies to an address that can be streamed to. Other threads see it after end_stream().
void stream_copy(void* to, const void* from, int64_t bytes);
void end_stream();

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_STREAM_H_
