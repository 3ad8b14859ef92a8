// Stores that pass the caches by, for results that do not fit into them: memory is then not read before it is written.
#ifndef ONEFLOW_DEVICES_CPU_STREAM_H_
#define ONEFLOW_DEVICES_CPU_STREAM_H_

#include <cstdint>

namespace oneflow::cpu {

// Results from so many bytes on are streamed: three quarters of the last-level cache.
int64_t streamed_bytes();

// Whether stream_copy() does more than an ordinary copy to this address.
bool can_stream(const void* to);

// Copies to an address that can be streamed to. Other threads see it after end_stream().
void stream_copy(void* to, const void* from, int64_t bytes);
void end_stream();

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_STREAM_H_
