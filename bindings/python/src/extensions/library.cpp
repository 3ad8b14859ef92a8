#include "extensions/library.h"

#include <oneflow/operator_library.h>

#include <string>

#include "bind.h"
#include "extensions/library_function.h"
#include "tensor/tensor_parts.h"

namespace oneflow::python {
namespace {

constexpr char kOps[] = "oneflow_py.ops";

constexpr of_parameter kPath[] = {required("path", kAnyType)};
const Function kLoadFunction("load_library", kPath);

// Adds a function to a module.
bool add_function(PyObject* module, const char* name, const of_library_function& record, of_manner manner) {
  const Ref function = make_library_function(module, record, manner);
  return function && PyModule_AddObjectRef(module, name, function.get()) == 0;
}

// Returns the module with the functions of a library, which the first call creates.
PyObject* module_of(const of_operator_library& library) {
  const of_library_language* language = of_library_find_language(&library, "python");
  const Ref ops = Ref::borrow(PyImport_AddModule(kOps));
  if (language == nullptr || !ops) return raise(OF_UNSUPPORTED, "load_library: the library has nothing for Python");
  if (PyObject_HasAttrString(ops.get(), language->name_space) != 0)
    return PyObject_GetAttrString(ops.get(), language->name_space);
  const std::string name = std::string(kOps) + "." + language->name_space;
  Ref module = Ref::borrow(PyImport_AddModule(name.c_str()));
  const Ref path(PyUnicode_DecodeFSDefault(library.path));
  if (!module || !path || PyModule_AddObjectRef(module.get(), "__file__", path.get()) != 0 ||
      PyModule_SetDocString(module.get(), ("The operators of the library " + std::string(library.name) + ".").c_str()))
    return nullptr;
  for (uint32_t i = 0; i < language->function_count; ++i) {
    const of_library_function& each = language->functions[i];
    if (!add_function(module.get(), each.name, each, OF_CALLED_AS_FUNCTION)) return nullptr;
    if (each.in_place_name != nullptr && !add_function(module.get(), each.in_place_name, each, OF_CALLED_IN_PLACE))
      return nullptr;
  }
  if (PyModule_AddObjectRef(ops.get(), language->name_space, module.get()) != 0) return nullptr;
  return module.release();
}

nb::object load_library(nb::handle given) {
  const nb::object path = path_bytes("load_library", given);
  const of_operator_library* library = nullptr;
  require(run_unlocked([&] { return of_load_library(PyBytes_AS_STRING(path.ptr()), &library); }));
  return take(module_of(*library));
}

}  // namespace

bool add_libraries(PyObject* module) {
  static PyMethodDef functions[] = {
      bound<load_library, kLoadFunction>(
          "load_library",
          "load_library(path)\n--\n\n"
          "Loads a library of operators, and returns the module with its functions, which is also an\n"
          "attribute of `ops`.\n\n"
          "Raises FileError for a file that cannot be loaded, and Unsupported for one that is not a library\n"
          "of operators, that was built for another version, or whose namespace another library has."),
      {nullptr, nullptr, 0, nullptr}};
  const Ref ops = Ref::borrow(PyImport_AddModule(kOps));
  return ops && PyModule_SetDocString(ops.get(), "The libraries of operators that load_library() has loaded.") == 0 &&
         PyModule_AddObjectRef(module, "ops", ops.get()) == 0 && add_library_function_type(module) &&
         PyModule_AddFunctions(module, functions) == 0;
}

}  // namespace oneflow::python
