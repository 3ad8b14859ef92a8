// The state of the process's random number generator. Thread-safe.
#ifndef ONEFLOW_TENSOR_RANDOM_STATE_H_
#define ONEFLOW_TENSOR_RANDOM_STATE_H_

#include <cstdint>

namespace oneflow {

// A position in a sequence of random numbers: the seed of the sequence, and how many of its numbers were drawn.
struct RandomState {
  uint64_t seed;
  uint64_t offset;
};

// Reserves `count` numbers of the sequence for the caller, and returns the position of the first one.
RandomState reserve_random(uint64_t count);

// Starts the sequence of `seed` from its beginning.
void manual_seed(uint64_t seed);
// Returns the seed of the current sequence; a process starts with a fixed seed.
uint64_t initial_seed();

// Returns the position of the next number.
RandomState random_state();
// Sets the position of the next number.
void set_random_state(RandomState state);

}  // namespace oneflow

#endif  // ONEFLOW_TENSOR_RANDOM_STATE_H_
