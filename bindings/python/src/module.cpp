// oneflow_py._native: the extension module, which defines everything that the package oneflow_py exports.

#include <oneflow/oneflow.h>

#include <cstring>
#include <limits>
#include <numbers>

#include "bind.h"
#include "calls/operators.h"
#include "classes/classes.h"
#include "devices/device.h"
#include "errors.h"
#include "extensions/library.h"
#include "tensor/dtype.h"
#include "tensor/tensor.h"
#include "tensor/tensor_parts.h"

namespace oneflow::python {
namespace {

// Runs the garbage collector when memory is exhausted: reference cycles may hold tensors. gc.collect() works even if
// automatic collection is disabled. Returns whether it ran. On a thread that Python does not know it does nothing: such
// a thread works for one that may hold the GIL, and then asks that one.
bool collect_garbage(void*, uint64_t) {
  if (Py_IsInitialized() == 0 || PyGILState_GetThisThreadState() == nullptr) return false;
  LockedScope locked;
  if (!locked) return false;
  Ref collector(PyImport_ImportModule("gc"));
  const auto collect = [&] { return PyObject_CallMethod(collector.get(), "collect", nullptr); };
  Ref count(collector ? call_python(collect) : nullptr);
  PyErr_Clear();
  return static_cast<bool>(count);
}

bool add_functions(PyObject* module) {
  static std::vector<PyMethodDef>* functions = nullptr;
  if (functions == nullptr) {
    functions = new std::vector<PyMethodDef>;
    for (auto part : {creation_functions, exchange_functions, dlpack_functions, copying_functions, printing_functions,
                      settings_functions, memory_functions, expression_functions, gradient_functions}) {
      for (const PyMethodDef& function : part()) functions->push_back(function);
    }
    functions->push_back({nullptr, nullptr, 0, nullptr});
  }
  return PyModule_AddFunctions(module, functions->data()) == 0;
}

// Sets __array_priority__, so that NumPy's operators defer to those of the tensor.
bool add_array_priority() {
  Ref priority(PyFloat_FromDouble(1000.0));
  return priority &&
         PyObject_SetAttrString(reinterpret_cast<PyObject*>(tensor_type), "__array_priority__", priority.get()) == 0;
}

// Adds the constants that users of NumPy write: flow.pi, flow.newaxis.
bool add_constants(PyObject* module) {
  const std::pair<const char*, double> numbers[] = {
      {"pi", std::numbers::pi},
      {"e", std::numbers::e},
      {"inf", std::numeric_limits<double>::infinity()},
      {"nan", std::numeric_limits<double>::quiet_NaN()},
  };
  for (const auto& [name, value] : numbers) {
    const Ref number(PyFloat_FromDouble(value));
    if (!number || PyModule_AddObjectRef(module, name, number.get()) != 0) return false;
  }
  return PyModule_AddObjectRef(module, "newaxis", Py_None) == 0;
}

// Checks that the library is of the version that this code was compiled for: a process loads one of that name, and
// another package may have loaded its own before. Raises ImportError and returns false if it is not.
bool check_library() {
  if (strcmp(of_version(), ONEFLOW_VERSION) == 0) return true;
  PyErr_Format(PyExc_ImportError,
               "oneflow_py cannot be loaded: it needs version %s of liboneflow, and the process has loaded version %s, "
               "%s. Use one version of all packages that load it",
               ONEFLOW_VERSION, of_version(), of_library_path());
  return false;
}

int execute(PyObject* module) {
  // The interpreter of number 0 is the main one. Types, exceptions and tables are global to the process: a second
  // import would create a second Tensor type.
  static bool executed = false;
  if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0 || std::exchange(executed, true)) {
    PyErr_SetString(PyExc_ImportError, "oneflow_py can be loaded once per process, and not into subinterpreters");
    return -1;
  }
  if (!check_library() || !nb::register_module(module)) return -1;
  nb::set_leak_warnings(false);  // objects that live as long as the process are no leaks
  const Ref done(guarded([=] {
    if (!add_errors(module) || !add_dtypes(module) || !add_device_type(module) || !add_classes(module) ||
        !add_tensor_type(module) || !add_operators(module) || !add_expression_type(module) || !resolve_number_slots() ||
        !add_functions(module) || !add_array_priority() || !add_constants(module) || !add_extension_api(module) ||
        !add_libraries(module) || PyModule_AddStringConstant(module, "__version__", of_version()) != 0) {
      throw nb::python_error();
    }
    add_gradient_functions(module);
  }));
  if (!done) return -1;
  of_set_memory_pressure_callback(collect_garbage, nullptr);
  return 0;
}

PyModuleDef_Slot slots[] = {
    {Py_mod_exec, reinterpret_cast<void*>(execute)},
#if PY_VERSION_HEX >= 0x030C0000
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#endif
#ifdef Py_MOD_GIL_USED
    {Py_mod_gil, Py_MOD_GIL_USED},  // the free list of tensors and the caches of names rely on the lock
#endif
    {0, nullptr},
};

PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "oneflow_py._native",
    .m_doc = "The compiled part of oneflow_py.",
    .m_size = 0,
    .m_methods = nullptr,
    .m_slots = slots,
    .m_traverse = nullptr,
    .m_clear = nullptr,
    .m_free = nullptr,
};

}  // namespace
}  // namespace oneflow::python

PyMODINIT_FUNC PyInit__native() { return PyModuleDef_Init(&oneflow::python::definition); }
