#include "generator.h"

#include "arguments.h"
#include "errors.h"
#include "tensor_parts.h"

namespace oneflow::python {

PyTypeObject* generator_type = nullptr;

namespace {

PyObject* default_generator = nullptr;

// Returns a new object, which takes ownership of the handle.
PyObject* generator_object(of_generator handle) {
  GeneratorObject* object = PyObject_New(GeneratorObject, generator_type);
  if (object == nullptr) {
    of_generator_release(handle);
    return nullptr;
  }
  object->handle = handle;
  return reinterpret_cast<PyObject*>(object);
}

// Reads an integer of 64 bits, signed or unsigned. Raises and returns false for other objects.
bool to_word(PyObject* object, const char* function, const char* name, uint64_t* word) {
  Ref integer(PyIndex_Check(object) && !PyBool_Check(object) ? PyNumber_Index(object) : nullptr);
  if (!integer) {
    PyErr_Clear();
    raise(OF_TYPE_MISMATCH, std::string(function) + ": " + name + " must be int, got " + type_name(object));
    return false;
  }
  of_value value;
  if (!find_integer(integer.get(), &value)) {
    raise(OF_INVALID_ARGUMENT, std::string(function) + ": " + name + " must fit into 64 bits, got a larger integer");
    return false;
  }
  *word = value.kind == OF_VALUE_INT ? static_cast<uint64_t>(value.as.integer) : value.as.natural;
  return true;
}

PyObject* get_state_of(of_generator generator) {
  uint64_t seed = 0, offset = 0;
  if (!check(of_generator_get_state(generator, &seed, &offset))) return nullptr;
  return Py_BuildValue("(KK)", static_cast<unsigned long long>(seed), static_cast<unsigned long long>(offset));
}

PyObject* get_initial_seed_of(of_generator generator) {
  uint64_t seed = 0;
  return check(of_generator_initial_seed(generator, &seed)) ? PyLong_FromUnsignedLongLong(seed) : nullptr;
}

bool set_state_of(of_generator generator, const char* function, PyObject* state) {
  if ((!PyTuple_Check(state) && !PyList_Check(state)) || PySequence_Fast_GET_SIZE(state) != 2) {
    raise(OF_TYPE_MISMATCH, std::string(function) + ": state must be tuple of two ints, the seed and the offset, got " +
                                type_name(state));
    return false;
  }
  Ref copy(PySequence_Tuple(state));  // conversions run code that could change a list
  uint64_t seed = 0, offset = 0;
  return copy && to_word(PyTuple_GET_ITEM(copy.get(), 0), function, "seed", &seed) &&
         to_word(PyTuple_GET_ITEM(copy.get(), 1), function, "offset", &offset) &&
         check(of_generator_set_state(generator, seed, offset));
}

const ArgumentRecord kSeed[] = {{"seed", "int", ArgumentKind::kObject}};
const Parameters kSeedParameters("manual_seed", kSeed);
const ArgumentRecord kState[] = {{"state", "tuple of two ints", ArgumentKind::kObject}};
const Parameters kStateParameters("set_state", kState);
const Parameters kRngStateParameters("set_rng_state", kState);
const ArgumentRecord kOptionalSeed[] = {optional_argument("seed", "int", ArgumentKind::kObject)};
const Parameters kParameters("Generator", kOptionalSeed);

// ------------------------------------------------------------------------------------------------ the class

PyObject* create(PyTypeObject*, PyObject* arguments, PyObject* keywords) {
  HandCall<1> call;
  uint64_t seed = OF_DEFAULT_SEED;
  if (!call.parse_tuple(kParameters, arguments, keywords)) return nullptr;
  PyObject* given = call.objects[0];
  if (given != nullptr && given != Py_None && !to_word(given, "Generator", "seed", &seed)) return nullptr;
  of_generator handle = nullptr;
  return check(of_generator_create(seed, &handle)) ? generator_object(handle) : nullptr;
}

void destroy(PyObject* self) {
  of_generator_release(generator_of(self));
  PyTypeObject* type = Py_TYPE(self);
  PyObject_Free(self);
  Py_DECREF(type);
}

PyObject* represent(PyObject* self) {
  Ref state(get_state_of(generator_of(self)));
  if (!state) return nullptr;
  return PyUnicode_FromFormat("Generator(seed=%S, offset=%S)", PyTuple_GET_ITEM(state.get(), 0),
                              PyTuple_GET_ITEM(state.get(), 1));
}

PyObject* seed(PyObject* self, PyObject*) {
  uint64_t seed = 0;
  return check(of_generator_seed(generator_of(self), &seed)) ? PyLong_FromUnsignedLongLong(seed) : nullptr;
}

PyObject* manual_seed(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  HandCall<1> call;
  uint64_t seed = 0;
  if (!call.parse(kSeedParameters, args, count, keywords) || !to_word(call.objects[0], "manual_seed", "seed", &seed) ||
      !check(of_generator_manual_seed(generator_of(self), seed))) {
    return nullptr;
  }
  return Py_NewRef(self);
}

PyObject* initial_seed(PyObject* self, PyObject*) { return get_initial_seed_of(generator_of(self)); }

PyObject* get_state(PyObject* self, PyObject*) { return get_state_of(generator_of(self)); }

PyObject* set_state(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  HandCall<1> call;
  if (!call.parse(kStateParameters, args, count, keywords) ||
      !set_state_of(generator_of(self), "set_state", call.objects[0])) {
    return nullptr;
  }
  Py_RETURN_NONE;
}

// Returns what pickle and copy make an independent generator in the same state of.
PyObject* reduce(PyObject* self, PyObject*) {
  return Py_BuildValue("O()N", reinterpret_cast<PyObject*>(generator_type), get_state_of(generator_of(self)));
}

PyMethodDef methods[] = {
    {"seed", seed, METH_NOARGS,
     "seed($self)\n--\n\nStarts the sequence of an unpredictable seed, and returns the seed."},
    fast_method(
        "manual_seed", manual_seed,
        "manual_seed($self, seed)\n--\n\nStarts the sequence of a seed from its beginning. Returns the generator."),
    {"initial_seed", initial_seed, METH_NOARGS, "initial_seed($self)\n--\n\nReturns the seed of the current sequence."},
    {"get_state", get_state, METH_NOARGS,
     "get_state($self)\n--\n\nReturns the state: the seed and the number of values drawn, as a tuple."},
    fast_method(
        "set_state", set_state,
        "set_state($self, state)\n--\n\nRestores a state from get_state(): the same random numbers follow again."),
    fast_method("__setstate__", set_state, "__setstate__($self, state)\n--\n\n"),
    {"__reduce__", reduce, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

const char kDocumentation[] =
    "Generator(seed=None)\n--\n\n"
    "A generator of random numbers: a position in the sequence of a seed, which calls with generator= move forward.\n\n"
    "Without a seed, it starts with the fixed seed of new processes. Copies are independent, in the same state.";

PyType_Slot slots[] = {
    {Py_tp_doc, const_cast<char*>(kDocumentation)},
    {Py_tp_new, reinterpret_cast<void*>(create)},
    {Py_tp_dealloc, reinterpret_cast<void*>(destroy)},
    {Py_tp_repr, reinterpret_cast<void*>(represent)},
    {Py_tp_methods, methods},
    {0, nullptr},
};

PyType_Spec spec = {"oneflow_py.Generator", sizeof(GeneratorObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
                    slots};

// ------------------------------------------------------------------------------------------------ the process's

PyObject* manual_seed_of_default(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  return manual_seed(default_generator, args, count, keywords);
}

PyObject* initial_seed_of_default(PyObject*, PyObject*) { return get_initial_seed_of(of_default_generator()); }

PyObject* get_rng_state(PyObject*, PyObject*) { return get_state_of(of_default_generator()); }

PyObject* set_rng_state(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  HandCall<1> call;
  if (!call.parse(kRngStateParameters, args, count, keywords) ||
      !set_state_of(of_default_generator(), "set_rng_state", call.objects[0])) {
    return nullptr;
  }
  Py_RETURN_NONE;
}

}  // namespace

bool add_generator_type(PyObject* module) {
  generator_type = reinterpret_cast<PyTypeObject*>(PyType_FromModuleAndSpec(module, &spec, nullptr));
  if (generator_type == nullptr || PyModule_AddType(module, generator_type) != 0) return false;
  default_generator = generator_object(of_generator_retain(of_default_generator()));
  return default_generator != nullptr && PyModule_AddObjectRef(module, "default_generator", default_generator) == 0;
}

std::vector<PyMethodDef> generator_functions() {
  return {
      fast_method("manual_seed", manual_seed_of_default,
                  "manual_seed(seed)\n--\n\n"
                  "Starts the sequence of a seed in the default generator, and returns the generator. The same seed\n"
                  "gives the same numbers on every device and in every language."),
      {"initial_seed", initial_seed_of_default, METH_NOARGS,
       "initial_seed()\n--\n\nReturns the seed of the default generator."},
      {"get_rng_state", get_rng_state, METH_NOARGS,
       "get_rng_state()\n--\n\n"
       "Returns the state of the default generator: the seed and the number of values drawn."},
      fast_method(
          "set_rng_state", set_rng_state,
          "set_rng_state(state)\n--\n\nRestores a state from get_rng_state(): the same random numbers follow again."),
  };
}

}  // namespace oneflow::python
