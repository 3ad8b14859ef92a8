// The state of the random numbers: a seed, and how many numbers of its sequence were drawn.
#ifndef ONEFLOW_TENSOR_RANDOM_STATE_H_
#define ONEFLOW_TENSOR_RANDOM_STATE_H_

#include <cstdint>

namespace oneflow {

struct RandomState {
  uint64_t seed;
  uint64_t offset;
};

// Takes `count` numbers out of the sequence for the caller alone; returns where they begin.
RandomState reserve_random(uint64_t count);

// Starts the sequence of `seed` from its beginning.
void manual_seed(uint64_t seed);
// The seed of the last manual_seed(), or the fixed one that every process starts with.
uint64_t initial_seed();

RandomState random_state();
void set_random_state(RandomState state);

}  // namespace oneflow

#endif  // ONEFLOW_TENSOR_RANDOM_STATE_H_
