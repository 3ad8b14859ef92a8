// Generators of random numbers. Thread-safe.
#ifndef ONEFLOW_TENSOR_GENERATOR_H_
#define ONEFLOW_TENSOR_GENERATOR_H_

#include <oneflow/oneflow.h>

#include <cstdint>

#include "base/ref.h"

// The type that an of_generator points to. oneflow::Generator is the only derived class, so to_generator() converts a
// handle.
struct of_generator_object {};

namespace oneflow {

// A position in a sequence of random numbers: the seed of the sequence, and how many of its numbers were drawn.
struct RandomState {
  uint64_t seed;
  uint64_t offset;
};

// A position that calls of random operators move forward.
class Generator final : public of_generator_object, public RefCounted<Generator> {
 public:
  // Creates a generator at the beginning of the sequence of a seed.
  static Ref<Generator> create(uint64_t seed);
  // Returns the generator of the process, which is never freed.
  static Generator& of_process() { return of_process_; }

  // Reserves `count` numbers for the caller, and returns the position of the first one.
  RandomState reserve(uint64_t count);

  RandomState state() const;
  void set_state(RandomState state);

  void destroy() noexcept { delete this; }

 private:
  explicit Generator(uint64_t seed) : state_{seed, 0} {}

  static Generator& of_process_;

  RandomState state_;  // guarded by one mutex for all generators
};

inline Generator* to_generator(of_generator handle) { return static_cast<Generator*>(handle); }
inline of_generator to_handle(Generator* generator) { return generator; }

// Returns a seed that the operating system chooses at random.
uint64_t unpredictable_seed();

}  // namespace oneflow

#endif  // ONEFLOW_TENSOR_GENERATOR_H_
