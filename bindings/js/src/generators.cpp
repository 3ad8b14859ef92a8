// Generators of random numbers. JavaScript refers to them by slots, as to tensors.
#include "functions.h"

namespace oneflow::node {
namespace {

napi_value word_to_js(napi_env env, uint64_t word) {
  napi_value value = nullptr;
  napi_create_bigint_uint64(env, word, &value);
  return value;
}

uint64_t word_argument(napi_env env, napi_value value) {
  uint64_t word = 0;
  bool lossless;
  napi_get_value_bigint_uint64(env, value, &word, &lossless);
  return word;
}

// createGenerator(seed): returns the slot of a new generator.
napi_value create_generator(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  of_generator generator = nullptr;
  if (of_status status = of_generator_create(word_argument(env, call.value(0)), &generator)) {
    return call.environment().fail(status);
  }
  return to_js(env, call.environment().put(generator));
}

// defaultGenerator(): returns a new slot of the generator of the process.
napi_value default_generator(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  return to_js(env, call.environment().put(of_generator_retain(of_default_generator())));
}

// seedGenerator(slot): starts the sequence of an unpredictable seed, and returns the seed as a BigInt.
napi_value seed_generator(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  uint64_t seed = 0;
  const of_status status = of_generator_seed(call.environment().generator(call.integer(0)), &seed);
  return status == OF_OK ? word_to_js(env, seed) : call.environment().fail(status);
}

// generatorState(slot): returns {seed, offset}, both as BigInts.
napi_value generator_state(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  uint64_t seed = 0, offset = 0;
  if (of_status status = of_generator_get_state(call.environment().generator(call.integer(0)), &seed, &offset)) {
    return call.environment().fail(status);
  }
  return to_js(env, {{"seed", word_to_js(env, seed)}, {"offset", word_to_js(env, offset)}});
}

// setGeneratorState(slot, seed, offset)
napi_value set_generator_state(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  return done(call, of_generator_set_state(call.environment().generator(call.integer(0)),
                                           word_argument(env, call.value(1)), word_argument(env, call.value(2))));
}

}  // namespace

void add_generator_functions(Environment* environment, napi_value exports) {
  add_function<create_generator>(environment, exports, "createGenerator");
  add_function<default_generator>(environment, exports, "defaultGenerator");
  add_function<seed_generator>(environment, exports, "seedGenerator");
  add_function<generator_state>(environment, exports, "generatorState");
  add_function<set_generator_state>(environment, exports, "setGeneratorState");
  const napi_env env = environment->env();
  napi_set_named_property(env, exports, "DEFAULT_SEED", word_to_js(env, OF_DEFAULT_SEED));
}

}  // namespace oneflow::node
