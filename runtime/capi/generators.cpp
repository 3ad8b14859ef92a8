// The C API: generators of random numbers.
#include "capi/boundary.h"
#include "tensor/generator.h"

using namespace oneflow;

namespace {

Generator& require_generator(of_generator handle, const char* function) {
  require(handle, function, "generator");
  return *to_generator(handle);
}

}  // namespace

of_status of_generator_create(uint64_t seed, of_generator* result) {
  return guard([&, function = __func__] {
    require(result, function, "result");
    *result = to_handle(Generator::create(seed).detach());
  });
}

of_generator of_generator_retain(of_generator generator) {
  if (generator) to_generator(generator)->retain();
  return generator;
}

void of_generator_release(of_generator generator) {
  if (generator) to_generator(generator)->release();
}

of_status of_generator_manual_seed(of_generator generator, uint64_t seed) {
  return guard([&, function = __func__] { require_generator(generator, function).set_state({seed, 0}); });
}

of_status of_generator_seed(of_generator handle, uint64_t* seed) {
  return guard([&, function = __func__] {
    Generator& generator = require_generator(handle, function);
    require(seed, function, "seed");
    const uint64_t chosen = unpredictable_seed();
    generator.set_state({chosen, 0});
    *seed = chosen;
  });
}

of_status of_generator_initial_seed(of_generator handle, uint64_t* seed) {
  return guard([&, function = __func__] {
    const Generator& generator = require_generator(handle, function);
    require(seed, function, "seed");
    *seed = generator.state().seed;
  });
}

of_status of_generator_get_state(of_generator handle, uint64_t* seed, uint64_t* offset) {
  return guard([&, function = __func__] {
    const Generator& generator = require_generator(handle, function);
    require(seed, function, "seed");
    require(offset, function, "offset");
    const RandomState state = generator.state();
    *seed = state.seed;
    *offset = state.offset;
  });
}

of_status of_generator_set_state(of_generator generator, uint64_t seed, uint64_t offset) {
  return guard([&, function = __func__] { require_generator(generator, function).set_state({seed, offset}); });
}

of_generator of_default_generator(void) { return to_handle(&Generator::of_process()); }
