#include "tensor/random_state.h"

#include <atomic>

namespace oneflow {
namespace {

constexpr uint64_t kFirstSeed = 67280421310721;  // PyTorch's default seed

// Two atomic variables without a lock, so that drawing is cheap. A draw that runs while another thread sets the state
// may combine the seed and the offset of different states.
std::atomic<uint64_t> current_seed{kFirstSeed};
std::atomic<uint64_t> next_offset{0};

}  // namespace

RandomState reserve_random(uint64_t count) {
  return {current_seed.load(std::memory_order_relaxed), next_offset.fetch_add(count, std::memory_order_relaxed)};
}

void manual_seed(uint64_t seed) { set_random_state({seed, 0}); }

uint64_t initial_seed() { return current_seed.load(std::memory_order_relaxed); }

RandomState random_state() { return reserve_random(0); }

void set_random_state(RandomState state) {
  current_seed.store(state.seed, std::memory_order_relaxed);
  next_offset.store(state.offset, std::memory_order_relaxed);
}

}  // namespace oneflow
