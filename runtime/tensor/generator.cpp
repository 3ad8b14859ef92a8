#include "tensor/generator.h"

#include <mutex>
#include <random>

#include "base/fork_safe.h"

namespace oneflow {
namespace {

// One mutex for all generators, because mutexes that survive forks live as long as the process.
ForkSafe<std::mutex> mutex{LockLevel::kGenerators};

}  // namespace

Ref<Generator> Generator::create(uint64_t seed) { return Ref<Generator>::adopt(new Generator(seed)); }

Generator& Generator::of_process_ = *new Generator(OF_DEFAULT_SEED);

RandomState Generator::reserve(uint64_t count) {
  const std::lock_guard lock(mutex);
  const RandomState first = state_;
  state_.offset += count;
  return first;
}

RandomState Generator::state() const {
  const std::lock_guard lock(mutex);
  return state_;
}

void Generator::set_state(RandomState state) {
  const std::lock_guard lock(mutex);
  state_ = state;
}

uint64_t unpredictable_seed() {
  std::random_device words;
  return uint64_t{words()} << 32 | words();
}

}  // namespace oneflow
