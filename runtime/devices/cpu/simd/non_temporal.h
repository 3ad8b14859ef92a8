// Non-temporal stores, which bypass the caches, for results that do not fit into them. Whole cache lines are then
// written to memory without being read first.
#ifndef ONEFLOW_DEVICES_CPU_SIMD_NON_TEMPORAL_H_
#define ONEFLOW_DEVICES_CPU_SIMD_NON_TEMPORAL_H_

#include <cstdint>

#include "simd/cache_sizes.h"

namespace oneflow::cpu {

// Returns the size in bytes from which a result that is written sequentially uses non-temporal stores. It is above the
// size of the last-level cache, because part of a result that is not much larger stays there for the next access.
inline int64_t non_temporal_bytes() { return last_level_bytes() / 4 * 5; }
// Returns that size for results that are written tile by tile, which share the last-level cache with the operands.
inline int64_t non_temporal_tile_bytes() { return last_level_bytes() / 2; }

// Returns whether copy_non_temporal() supports this destination: it must be aligned to a cache line.
bool can_copy_non_temporal(const void* to);

// Copies bytes with non-temporal stores. Other threads may read them after the copying thread called
// end_non_temporal().
void copy_non_temporal(void* to, const void* from, int64_t bytes);
void end_non_temporal();

}  // namespace oneflow::cpu

#endif  // ONEFLOW_DEVICES_CPU_SIMD_NON_TEMPORAL_H_
