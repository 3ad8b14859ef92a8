#include "generator.h"

#include "convert.h"
#include "errors.h"

namespace oneflow::ruby {
namespace {

VALUE default_object;  // of the process's generator

// A generator is thread-safe, so that Ractors may share it once it is frozen; also then its state changes.
const rb_data_type_t generator_type = {
    "OneFlow::Generator",
    {nullptr,
     [](void* memory) { of_generator_release(static_cast<of_generator>(memory)); },
     nullptr,
     nullptr,
     {nullptr}},
    nullptr,
    nullptr,
    RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED | RUBY_TYPED_FROZEN_SHAREABLE,
};

VALUE allocate(VALUE generator_class) {
  const VALUE object = rb_data_typed_object_wrap(generator_class, nullptr, &generator_type);
  of_generator generator = nullptr;
  check(of_generator_create(OF_DEFAULT_SEED, &generator));
  RTYPEDDATA_DATA(object) = generator;
  return object;
}

// Converts a signed or unsigned 64-bit Integer argument. Raises TypeMismatch for other objects, InvalidArgument for a
// larger Integer.
uint64_t word_of(const char* function, const char* argument, VALUE value) {
  if (!RB_INTEGER_TYPE_P(value)) {
    raise(OF_TYPE_MISMATCH, "%s: %s must be Integer, got %" PRIsVALUE, function, argument, type_description(value));
  }
  uint64_t word;
  const int sign =
      rb_integer_pack(value, &word, 1, sizeof(word), 0, INTEGER_PACK_NATIVE_BYTE_ORDER | INTEGER_PACK_2COMP);
  // A result of -1 for an Integer whose two's complement is not negative: it is below -2**63.
  if (sign > 1 || sign < -1 || (sign == -1 && static_cast<int64_t>(word) >= 0)) {
    raise(OF_INVALID_ARGUMENT, "%s: %s must fit into 64 bits, got a larger integer", function, argument);
  }
  return word;
}

VALUE state_of(of_generator generator) {
  uint64_t seed = 0, offset = 0;
  check(of_generator_get_state(generator, &seed, &offset));
  return rb_assoc_new(ULL2NUM(seed), ULL2NUM(offset));
}

void set_state_of(const char* function, of_generator generator, VALUE state) {
  if (!RB_TYPE_P(state, T_ARRAY) || RARRAY_LEN(state) != 2) {
    raise(OF_TYPE_MISMATCH, "%s: state must be Array of seed and offset, got %" PRIsVALUE, function,
          RB_TYPE_P(state, T_ARRAY) ? rb_inspect(state) : type_description(state));
  }
  const uint64_t seed = word_of(function, "seed", RARRAY_AREF(state, 0));
  check(of_generator_set_state(generator, seed, word_of(function, "offset", RARRAY_AREF(state, 1))));
}

VALUE initial_seed_of(of_generator generator) {
  uint64_t seed = 0;
  check(of_generator_initial_seed(generator, &seed));
  return ULL2NUM(seed);
}

// ---------------------------------------------------------------- methods

// Generator.new(seed = nil)
VALUE initialize(int count, VALUE* values, VALUE self) {
  rb_check_arity(count, 0, 1);
  const uint64_t seed = count == 0 || NIL_P(values[0]) ? OF_DEFAULT_SEED : word_of("Generator", "seed", values[0]);
  check(of_generator_manual_seed(handle_of_generator(self), seed));
  return self;
}

VALUE initialize_copy(VALUE self, VALUE original) {
  set_state_of("initialize_copy", handle_of_generator(self), state_of(handle_of_generator(original)));
  return self;
}

VALUE seed(VALUE self) {
  uint64_t seed = 0;
  check(of_generator_seed(handle_of_generator(self), &seed));
  return ULL2NUM(seed);
}

VALUE manual_seed(VALUE self, VALUE seed) {
  check(of_generator_manual_seed(handle_of_generator(self), word_of("manual_seed", "seed", seed)));
  return self;
}

VALUE initial_seed(VALUE self) { return initial_seed_of(handle_of_generator(self)); }

VALUE state(VALUE self) { return state_of(handle_of_generator(self)); }

VALUE set_state(VALUE self, VALUE state) {
  set_state_of("state=", handle_of_generator(self), state);
  return state;
}

// ---------------------------------------------------------------- functions

VALUE default_generator(VALUE) { return default_object; }
VALUE seed_default(VALUE, VALUE seed) { return manual_seed(default_object, seed); }
VALUE initial_seed_of_default(VALUE) { return initial_seed(default_object); }
VALUE state_of_default(VALUE) { return state(default_object); }

VALUE set_state_of_default(VALUE, VALUE state) {
  set_state_of("random_state=", of_default_generator(), state);
  return state;
}

}  // namespace

bool is_generator(VALUE value) { return rb_typeddata_is_kind_of(value, &generator_type); }

of_generator handle_of_generator(VALUE generator) {
  return static_cast<of_generator>(rb_check_typeddata(generator, &generator_type));
}

void define_generators(VALUE module) {
  const VALUE generator_class = rb_define_class_under(module, "Generator", rb_cObject);
  rb_define_alloc_func(generator_class, allocate);
  rb_define_method(generator_class, "initialize", initialize, -1);
  rb_define_method(generator_class, "initialize_copy", initialize_copy, 1);
  rb_define_method(generator_class, "seed", seed, 0);
  rb_define_method(generator_class, "manual_seed", manual_seed, 1);
  rb_define_method(generator_class, "initial_seed", initial_seed, 0);
  rb_define_method(generator_class, "state", state, 0);
  rb_define_method(generator_class, "state=", set_state, 1);

  default_object = rb_data_typed_object_wrap(generator_class, of_default_generator(), &generator_type);
  of_generator_retain(of_default_generator());
  rb_gc_register_mark_object(rb_obj_freeze(default_object));
  rb_define_singleton_method(module, "default_generator", default_generator, 0);
  rb_define_singleton_method(module, "manual_seed", seed_default, 1);
  rb_define_singleton_method(module, "initial_seed", initial_seed_of_default, 0);
  rb_define_singleton_method(module, "random_state", state_of_default, 0);
  rb_define_singleton_method(module, "random_state=", set_state_of_default, 1);
}

}  // namespace oneflow::ruby
