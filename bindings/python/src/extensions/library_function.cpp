#include "extensions/library_function.h"

#include <memory>
#include <string>

#include "calls/call.h"
#include "calls/operators.h"

namespace oneflow::python {
namespace {

struct FunctionObject {
  PyObject_HEAD vectorcallfunc vectorcall;
  const of_library_function* record;
  const Function* function;  // which it owns
  PyObject* module;          // the name
  of_manner manner;
};

PyTypeObject* function_type = nullptr;

const FunctionObject& cast(PyObject* self) { return *reinterpret_cast<FunctionObject*>(self); }

const char* name_of(const FunctionObject& function) {
  return function.manner == OF_CALLED_IN_PLACE ? function.record->in_place_name : function.record->name;
}

PyObject* vectorcall(PyObject* self, PyObject* const* args, size_t flags, PyObject* keywords) {
  return call(*cast(self).function, cast(self).manner, {args, PyVectorcall_NARGS(flags), keywords});
}

PyObject* get_name(PyObject* self, void*) { return PyUnicode_FromString(name_of(cast(self))); }

PyObject* get_module(PyObject* self, void*) { return Py_NewRef(cast(self).module); }

PyObject* get_documentation(PyObject* self, void*) {
  const FunctionObject& function = cast(self);
  if (function.manner != OF_CALLED_IN_PLACE) return PyUnicode_FromString(function.record->documentation);
  return PyUnicode_FromFormat("Writes the result of %s() to the tensors and returns them.\n\n%s", function.record->name,
                              function.record->documentation);
}

PyObject* get_signature(PyObject* self, void*) { return PyUnicode_FromString(cast(self).record->signature); }

PyObject* represent(PyObject* self) {
  return PyUnicode_FromFormat("<function %U.%s>", cast(self).module, name_of(cast(self)));
}

PyObject* reduce(PyObject* self, PyObject*) { return get_name(self, nullptr); }

// Returns the function itself: like Python's built-in functions, it does not bind to instances of a class that has it.
PyObject* get_function(PyObject* self, PyObject*, PyObject*) { return Py_NewRef(self); }

void destroy(PyObject* self) {
  PyTypeObject* own = Py_TYPE(self);
  Py_DECREF(cast(self).module);
  delete cast(self).function;
  reinterpret_cast<freefunc>(PyType_GetSlot(own, Py_tp_free))(self);
  Py_DECREF(reinterpret_cast<PyObject*>(own));
}

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(FunctionObject, vectorcall), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

PyGetSetDef attributes[] = {
    {"__name__", get_name, nullptr, nullptr, nullptr},
    {"__qualname__", get_name, nullptr, nullptr, nullptr},
    {"__module__", get_module, nullptr, nullptr, nullptr},
    {"__doc__", get_documentation, nullptr, nullptr, nullptr},
    {"__text_signature__", get_signature, nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyMethodDef methods[] = {
    {"__reduce__", reduce, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot slots[] = {
    {Py_tp_members, members},
    {Py_tp_getset, attributes},
    {Py_tp_methods, methods},
    {Py_tp_dealloc, reinterpret_cast<void*>(destroy)},
    {Py_tp_repr, reinterpret_cast<void*>(represent)},
    {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
    {Py_tp_descr_get, reinterpret_cast<void*>(get_function)},
    {0, nullptr},
};

PyType_Spec spec = {
    "oneflow_py.LibraryOperator", sizeof(FunctionObject), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    slots};

// Makes the class of the named tuple that an overload returns an attribute of the module of the library, if each of its
// results has a name and there is no class with these. Raises and returns false on failure.
bool add_result_type_of(PyObject* module, const of_overload& overload) {
  const std::string names = overload.result_names != nullptr ? overload.result_names : "_";
  if ((" " + names + " ").find(" _ ") != std::string::npos || result_type(overload.result_names) != nullptr)
    return true;
  std::string name;
  bool starts = true;
  for (const char c : names) {
    if (c != ' ' && c != '_') name += starts && c >= 'a' ? static_cast<char>(c - 'a' + 'A') : c;
    starts = c == ' ' || c == '_';
  }
  PyTypeObject* type = add_result_type(module, name.c_str(), overload.result_names);
  const Ref home(PyObject_GetAttrString(module, "__name__"));
  return type != nullptr && home &&
         PyObject_SetAttrString(reinterpret_cast<PyObject*>(type), "__module__", home.get()) == 0;
}

}  // namespace

bool add_library_function_type(PyObject* module) {
  function_type = reinterpret_cast<PyTypeObject*>(PyType_FromModuleAndSpec(module, &spec, nullptr));
  return function_type != nullptr;
}

Ref make_library_function(PyObject* module, const of_library_function& record, of_manner manner) {
  Ref name(PyObject_GetAttrString(module, "__name__"));
  if (!name) return name;
  for (int32_t i = 0; i < record.function.overload_count; ++i)
    if (!add_result_type_of(module, record.function.overloads[i])) return Ref();
  auto function = std::make_unique<const Function>(record.function);
  FunctionObject* object = PyObject_New(FunctionObject, function_type);
  if (object != nullptr) {
    object->vectorcall = vectorcall;
    object->record = &record;
    object->function = function.release();
    object->module = name.release();
    object->manner = manner;
  }
  return Ref(reinterpret_cast<PyObject*>(object));
}

}  // namespace oneflow::python
