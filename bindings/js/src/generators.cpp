// Generators of random numbers. JavaScript refers to them by slots, as to tensors. Words of 64 bits are BigInts.
#include "functions.h"

namespace oneflow::node {
namespace {

uint64_t word_argument(const Call& call, size_t i) {
  bool is_lossless;
  return call[i].As<Napi::BigInt>().Uint64Value(&is_lossless);
}

}  // namespace

void add_generator_functions(Exports& exports) {
  exports.add_value("DEFAULT_SEED", Napi::BigInt::New(exports.env(), OF_DEFAULT_SEED));
  // createGenerator(seed): returns the slot of a new generator.
  exports.add("createGenerator", [](const Call& call) {
    of_generator generator = nullptr;
    call.check(of_generator_create(word_argument(call, 0), &generator));
    return call.environment().put(generator);
  });
  // defaultGenerator(): returns a new slot of the generator of the process.
  exports.add("defaultGenerator",
              [](const Call& call) { return call.environment().put(of_generator_retain(of_default_generator())); });
  // seedGenerator(slot): starts the sequence of an unpredictable seed, and returns the seed.
  exports.add("seedGenerator", [](const Call& call) {
    uint64_t seed = 0;
    call.check(of_generator_seed(call.generator(0), &seed));
    return Napi::BigInt::New(call.Env(), seed);
  });
  // generatorState(slot): returns {seed, offset}.
  exports.add("generatorState", [](const Call& call) {
    uint64_t seed = 0, offset = 0;
    call.check(of_generator_get_state(call.generator(0), &seed, &offset));
    auto state = Napi::Object::New(call.Env());
    state.Set("seed", Napi::BigInt::New(call.Env(), seed));
    state.Set("offset", Napi::BigInt::New(call.Env(), offset));
    return state;
  });
  // setGeneratorState(slot, seed, offset)
  exports.add("setGeneratorState", [](const Call& call) {
    call.check(of_generator_set_state(call.generator(0), word_argument(call, 1), word_argument(call, 2)));
  });
}

}  // namespace oneflow::node
