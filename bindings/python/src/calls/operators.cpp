#include "calls/operators.h"

#include <map>
#include <memory>

#include "calls/call.h"
#include "calls/function_table.h"
#include "errors.h"
#include "tensor/tensor.h"

namespace oneflow::python {
namespace {

// The form of an operator object is an of_manner. The first argument of a method is the tensor that it was looked up
// on; the in-place form is a method if the function has one.
struct OperatorObject {
  PyObject_HEAD vectorcallfunc vectorcall;
  const Function* function;
  of_manner manner;
  const FunctionRecord* record;
};

PyTypeObject* function_type = nullptr;
PyTypeObject* method_type = nullptr;
std::map<std::string_view, std::unique_ptr<Function>> functions;  // by full name; never freed
std::map<std::string_view, PyTypeObject*> result_types;           // by their fields

const OperatorObject& as_operator(PyObject* self) { return *reinterpret_cast<OperatorObject*>(self); }

bool is_method(const FunctionRecord& record, of_manner manner) {
  return manner != OF_CALLED_AS_FUNCTION && record.is_method;
}

PyObject* vectorcall(PyObject* self, PyObject* const* args, size_t flags, PyObject* keywords) {
  const OperatorObject& object = as_operator(self);
  return call(*object.function, object.manner, {args, PyVectorcall_NARGS(flags), keywords});
}

const char* name_of(const OperatorObject& object) {
  return object.manner == OF_CALLED_IN_PLACE ? object.record->in_place : object.record->name;
}

PyObject* get_name(PyObject* self, void*) { return PyUnicode_FromString(name_of(as_operator(self))); }

PyObject* get_qualified_name(PyObject* self, void*) {
  const OperatorObject& object = as_operator(self);
  return PyUnicode_FromFormat("%s%s", is_method(*object.record, object.manner) ? "Tensor." : "", name_of(object));
}

PyObject* get_module(PyObject* self, void*) {
  const char* name = as_operator(self).record->module;
  return PyUnicode_FromFormat("oneflow_py%s%s", *name != '\0' ? "." : "", name);
}

PyObject* get_documentation(PyObject* self, void*) {
  const OperatorObject& object = as_operator(self);
  const FunctionRecord& record = *object.record;
  if (object.manner != OF_CALLED_IN_PLACE) return PyUnicode_FromString(record.documentation);
  return PyUnicode_FromFormat("Writes the result of %s() to %s and returns %s.\n\n%s", record.name,
                              record.is_method ? "this tensor" : "the tensors", record.is_method ? "it" : "them",
                              record.documentation);
}

PyObject* get_signature(PyObject* self, void*) {
  const OperatorObject& object = as_operator(self);
  const FunctionRecord& record = *object.record;
  const char* texts[] = {record.signature, record.method_signature, record.in_place_signature};
  return PyUnicode_FromString(texts[static_cast<int>(object.manner)]);
}

PyObject* represent(PyObject* self) {
  Ref module(get_module(self, nullptr));
  Ref name(get_qualified_name(self, nullptr));
  return module && name ? PyUnicode_FromFormat("<function %U.%U>", module.get(), name.get()) : nullptr;
}

PyObject* reduce(PyObject* self, PyObject*) {
  if (!is_method(*as_operator(self).record, as_operator(self).manner)) return get_name(self, nullptr);
  Ref builtins(PyImport_ImportModule("builtins"));
  Ref getattr(builtins ? PyObject_GetAttrString(builtins.get(), "getattr") : nullptr);
  return getattr ? Py_BuildValue("O(Os)", getattr.get(), tensor_type, name_of(as_operator(self))) : nullptr;
}

// Returns the function itself: like Python's built-in functions, it does not bind to instances of a class that has it.
PyObject* get_function(PyObject* self, PyObject*, PyObject*) { return Py_NewRef(self); }

PyObject* get_method(PyObject* self, PyObject* object, PyObject*) {
  return object == nullptr ? Py_NewRef(self) : PyMethod_New(self, object);
}

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(OperatorObject, vectorcall), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

PyGetSetDef attributes[] = {
    {"__name__", get_name, nullptr, nullptr, nullptr},
    {"__qualname__", get_qualified_name, nullptr, nullptr, nullptr},
    {"__module__", get_module, nullptr, nullptr, nullptr},
    {"__doc__", get_documentation, nullptr, nullptr, nullptr},
    {"__text_signature__", get_signature, nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyMethodDef methods[] = {
    {"__reduce__", reduce, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot function_slots[] = {
    {Py_tp_members, members},
    {Py_tp_getset, attributes},
    {Py_tp_methods, methods},
    {Py_tp_repr, reinterpret_cast<void*>(represent)},
    {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
    {Py_tp_descr_get, reinterpret_cast<void*>(get_function)},
    {0, nullptr},
};

PyType_Slot method_slots[] = {
    {Py_tp_members, members},
    {Py_tp_getset, attributes},
    {Py_tp_methods, methods},
    {Py_tp_repr, reinterpret_cast<void*>(represent)},
    {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
    {Py_tp_descr_get, reinterpret_cast<void*>(get_method)},
    {0, nullptr},
};

constexpr unsigned kFlags =
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE;
PyType_Spec function_spec = {"oneflow_py.Operator", sizeof(OperatorObject), 0, kFlags, function_slots};
// The flag lets the interpreter call x.sum() without creating a bound method.
PyType_Spec method_spec = {"oneflow_py.OperatorMethod", sizeof(OperatorObject), 0,
                           kFlags | Py_TPFLAGS_METHOD_DESCRIPTOR, method_slots};

Ref make_operator(const Function* function, const FunctionRecord& record, of_manner manner) {
  OperatorObject* object = PyObject_New(OperatorObject, is_method(record, manner) ? method_type : function_type);
  if (object != nullptr) {
    object->vectorcall = vectorcall;
    object->function = function;
    object->manner = manner;
    object->record = &record;
  }
  return Ref(reinterpret_cast<PyObject*>(object));
}

bool add_result_types(PyObject* module) {
  for (const ResultTypeRecord& record : result_type_records)
    if (add_result_type(module, record.name, record.fields) == nullptr) return false;
  return true;
}

// Returns the function of a record. Raises ImportError and returns NULL if an operator is missing in the runtime:
// extension and runtime were then built from different definitions.
const Function* new_function(const FunctionRecord& record) {
  auto function = std::make_unique<Function>(record.function);
  for (int32_t i = 0; i < record.function.overload_count; ++i) {
    if (function->op(static_cast<size_t>(i)) != nullptr) continue;
    PyErr_Format(PyExc_ImportError,
                 "oneflow_py: liboneflow has no operator %s; were both built from the same definitions?",
                 record.function.overloads[i].op);
    return nullptr;
  }
  return (functions[record.function.name] = std::move(function)).get();
}

bool add_function(PyObject* module, const FunctionRecord& record) {
  const Function* function = new_function(record);
  if (function == nullptr) return false;
  Ref home = namespace_module(module, record.module);
  Ref object = make_operator(function, record, OF_CALLED_AS_FUNCTION);
  if (!home || !object || PyModule_AddObjectRef(home.get(), record.name, object.get()) != 0) return false;
  PyObject* tensors = reinterpret_cast<PyObject*>(tensor_type);
  if (record.is_method) {
    Ref method = make_operator(function, record, OF_CALLED_AS_METHOD);
    if (method && record.is_attribute)
      method = Ref(PyObject_CallOneArg(reinterpret_cast<PyObject*>(&PyProperty_Type), method.get()));
    if (!method || PyObject_SetAttrString(tensors, record.name, method.get()) != 0) return false;
  }
  if (record.in_place == nullptr) return true;
  Ref form = make_operator(function, record, OF_CALLED_IN_PLACE);
  PyObject* owner = record.is_method ? tensors : home.get();
  return form && PyObject_SetAttrString(owner, record.in_place, form.get()) == 0;
}

// Implements _elsewhere(methods): returns what errors say of the names that functions or methods have elsewhere.
PyObject* elsewhere(PyObject*, PyObject* methods) {
  Ref texts(PyDict_New());
  for (const ElsewhereRecord& record : elsewhere_records) {
    if (record.is_method != (methods == Py_True)) continue;
    Ref text(texts ? PyUnicode_FromString(record.text) : nullptr);
    if (!text || PyDict_SetItemString(texts.get(), record.name, text.get()) != 0) return nullptr;
  }
  return texts.release();
}

PyTypeObject* add_type(PyObject* module, PyType_Spec* spec) {
  return reinterpret_cast<PyTypeObject*>(PyType_FromModuleAndSpec(module, spec, nullptr));
}

}  // namespace

const Function* find_function(std::string_view name) {
  const auto found = functions.find(name);
  return found != functions.end() ? found->second.get() : nullptr;
}

PyObject* call_function(std::string_view name, std::span<PyObject* const> args) {
  const Function* function = find_function(name);
  if (function == nullptr) return raise(OF_UNSUPPORTED, "this build of oneflow has no operator " + std::string(name));
  return call(*function, OF_CALLED_AS_FUNCTION, {args.data(), static_cast<Py_ssize_t>(args.size()), nullptr});
}

PyTypeObject* result_type(std::string_view fields) {
  const auto found = result_types.find(fields);
  return found != result_types.end() ? found->second : nullptr;
}

PyTypeObject* add_result_type(PyObject* module, const char* name, const char* fields) {
  PyObject* type = named_tuple(module, name, fields);
  return type == nullptr ? nullptr : result_types[fields] = reinterpret_cast<PyTypeObject*>(type);
}

Ref namespace_module(PyObject* module, std::string_view name) {
  if (name.empty()) return Ref::borrow(module);
  const size_t dot = name.rfind('.');
  const bool nested = dot != std::string_view::npos;
  Ref parent = namespace_module(module, nested ? name.substr(0, dot) : std::string_view());
  if (!parent) return parent;
  const std::string full_name = "oneflow_py." + std::string(name);
  Ref inner = Ref::borrow(PyImport_AddModule(full_name.c_str()));
  const std::string own_name(nested ? name.substr(dot + 1) : name);
  if (!inner || PyModule_AddObjectRef(parent.get(), own_name.c_str(), inner.get()) != 0 ||
      PyModule_SetDocString(inner.get(), ("The functions of " + full_name + ".").c_str()) != 0) {
    return Ref();
  }
  return inner;
}

bool add_operators(PyObject* module) {
  static PyMethodDef functions_of_names[] = {
      {"_elsewhere", elsewhere, METH_O,
       "_elsewhere(methods, /)\n--\n\nReturns the texts of errors by names elsewhere."},
      {nullptr, nullptr, 0, nullptr}};
  if (PyModule_AddFunctions(module, functions_of_names) != 0) return false;
  function_type = add_type(module, &function_spec);
  method_type = add_type(module, &method_spec);
  if (function_type == nullptr || method_type == nullptr || !add_result_types(module)) return false;
  for (const FunctionRecord& record : function_records) {
    if (!add_function(module, record)) return false;
  }
  return true;
}

}  // namespace oneflow::python
