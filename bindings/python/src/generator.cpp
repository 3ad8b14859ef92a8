#include "generator.h"

#include <nanobind/stl/string.h>

#include "bind.h"

namespace oneflow::python {

PyTypeObject* generator_type = nullptr;

namespace {

PyObject* default_generator = nullptr;

// Reads an integer of 64 bits, signed or unsigned.
uint64_t to_word(nb::handle object, const char* function, const char* name) {
  Ref integer(PyIndex_Check(object.ptr()) && !PyBool_Check(object.ptr()) ? PyNumber_Index(object.ptr()) : nullptr);
  if (!integer) {
    PyErr_Clear();
    fail(OF_TYPE_MISMATCH, std::string(function) + ": " + name + " must be int, got " + type_name(object.ptr()));
  }
  of_value value;
  if (!find_integer(integer.get(), &value)) {
    fail(OF_INVALID_ARGUMENT, std::string(function) + ": " + name + " must fit into 64 bits, got a larger integer");
  }
  return value.kind == OF_VALUE_INT ? static_cast<uint64_t>(value.as.integer) : value.as.natural;
}

struct State {
  uint64_t seed = 0, offset = 0;
};

State state_of(of_generator generator) {
  State state;
  require(of_generator_get_state(generator, &state.seed, &state.offset));
  return state;
}

nb::tuple get_state_of(of_generator generator) {
  const State state = state_of(generator);
  return nb::make_tuple(state.seed, state.offset);
}

uint64_t initial_seed_of(of_generator generator) {
  uint64_t seed = 0;
  require(of_generator_initial_seed(generator, &seed));
  return seed;
}

void set_state_of(of_generator generator, const char* function, nb::handle state) {
  const bool is_list = PyTuple_Check(state.ptr()) || PyList_Check(state.ptr());
  if (!is_list || PySequence_Size(state.ptr()) != 2) {
    fail(OF_TYPE_MISMATCH, std::string(function) + ": state must be tuple of two ints, the seed and the offset, got " +
                               type_name(state.ptr()));
  }
  const nb::tuple copy(state);  // conversions run code that could change a list
  const uint64_t seed = to_word(copy[0], function, "seed");
  require(of_generator_set_state(generator, seed, to_word(copy[1], function, "offset")));
}

const ArgumentRecord kSeed[] = {{"seed", "int", ArgumentKind::kObject}};
const Parameters kSeedParameters("manual_seed", kSeed);
const ArgumentRecord kState[] = {{"state", "tuple of two ints", ArgumentKind::kObject}};
const Parameters kStateParameters("set_state", kState);
const Parameters kRngStateParameters("set_rng_state", kState);
const ArgumentRecord kOptionalSeed[] = {optional_argument("seed", "int", ArgumentKind::kObject)};
const Parameters kParameters("Generator", kOptionalSeed);

// ------------------------------------------------------------------------------------------------ the class

struct Generator {
  Owned<of_generator, of_generator_release> handle;

  nb::object represent() const {
    const State state = state_of(handle.get());
    return nb::cast("Generator(seed=" + std::to_string(state.seed) + ", offset=" + std::to_string(state.offset) + ")");
  }
  uint64_t seed() const {
    uint64_t seed = 0;
    require(of_generator_seed(handle.get(), &seed));
    return seed;
  }
  uint64_t initial_seed() const { return initial_seed_of(handle.get()); }
  nb::tuple get_state() const { return get_state_of(handle.get()); }
  void set_state(nb::handle state) const { set_state_of(handle.get(), "set_state", state); }
  // Returns what pickle and copy make an independent generator in the same state of.
  nb::tuple reduce() const {
    return nb::make_tuple(nb::handle(reinterpret_cast<PyObject*>(generator_type)), nb::make_tuple(), get_state());
  }
};

Generator create(nb::handle given) {
  const uint64_t seed = given.is_none() ? OF_DEFAULT_SEED : to_word(given, "Generator", "seed");
  of_generator handle = nullptr;
  require(of_generator_create(seed, &handle));
  return Generator{Owned<of_generator, of_generator_release>(handle)};
}

nb::handle manual_seed(Self self, nb::handle seed) {
  require(of_generator_manual_seed(generator_of(self.ptr()), to_word(seed, "manual_seed", "seed")));
  return self;
}

PyMethodDef methods[] = {
    plain<&Generator::seed>("seed",
                            "seed($self)\n--\n\nStarts the sequence of an unpredictable seed, and returns the seed."),
    bound<manual_seed, kSeedParameters>(
        "manual_seed",
        "manual_seed($self, seed)\n--\n\nStarts the sequence of a seed from its beginning. Returns the generator."),
    plain<&Generator::initial_seed>("initial_seed",
                                    "initial_seed($self)\n--\n\nReturns the seed of the current sequence."),
    plain<&Generator::get_state>(
        "get_state", "get_state($self)\n--\n\nReturns the state: the seed and the number of values drawn, as a tuple."),
    bound<&Generator::set_state, kStateParameters>(
        "set_state",
        "set_state($self, state)\n--\n\nRestores a state from get_state(): the same random numbers follow again."),
    bound<&Generator::set_state, kStateParameters>("__setstate__", "__setstate__($self, state)\n--\n\n"),
    plain<&Generator::reduce>("__reduce__", nullptr),
    {nullptr, nullptr, 0, nullptr},
};

const char kDocumentation[] =
    "Generator(seed=None)\n--\n\n"
    "A generator of random numbers: a position in the sequence of a seed, which calls with generator= move forward.\n\n"
    "Without a seed, it starts with the fixed seed of new processes. Copies are independent, in the same state.";

const PyType_Slot slots[] = {
    {Py_tp_doc, const_cast<char*>(kDocumentation)},
    {Py_tp_new, new_slot<create, kParameters>()},
    {Py_tp_repr, unary_slot<&Generator::represent>()},
    {Py_tp_methods, methods},
    {0, nullptr},
};

// ------------------------------------------------------------------------------------------------ the process's

nb::handle manual_seed_of_default(nb::handle seed) { return manual_seed(Self(default_generator), seed); }
uint64_t initial_seed_of_default() { return initial_seed_of(of_default_generator()); }
nb::tuple get_rng_state() { return get_state_of(of_default_generator()); }
void set_rng_state(nb::handle state) { set_state_of(of_default_generator(), "set_rng_state", state); }

}  // namespace

of_generator generator_of(PyObject* generator) { return nb::inst_ptr<Generator>(generator)->handle.get(); }

bool add_generator_type(PyObject* module) {
  generator_type = add_class<Generator>(module, "Generator", slots);
  Owned<of_generator, of_generator_release> handle(of_generator_retain(of_default_generator()));
  default_generator = nb::cast(Generator{std::move(handle)}).release().ptr();
  return PyModule_AddObjectRef(module, "default_generator", default_generator) == 0;
}

std::vector<PyMethodDef> generator_functions() {
  return {
      bound<manual_seed_of_default, kSeedParameters>(
          "manual_seed",
          "manual_seed(seed)\n--\n\n"
          "Starts the sequence of a seed in the default generator, and returns the generator. The same seed\n"
          "gives the same numbers on every device and in every language."),
      plain<initial_seed_of_default>("initial_seed",
                                     "initial_seed()\n--\n\nReturns the seed of the default generator."),
      plain<get_rng_state>("get_rng_state",
                           "get_rng_state()\n--\n\n"
                           "Returns the state of the default generator: the seed and the number of values drawn."),
      bound<set_rng_state, kRngStateParameters>(
          "set_rng_state",
          "set_rng_state(state)\n--\n\nRestores a state from get_rng_state(): the same random numbers follow again."),
  };
}

}  // namespace oneflow::python
