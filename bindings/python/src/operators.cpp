#include "operators.h"

#include <map>
#include <memory>

#include "call.h"
#include "errors.h"
#include "labelled.h"
#include "tensor.h"

namespace oneflow::python {
namespace {

// The form of an operator object. The first argument of a method is the tensor that it was looked up on; the in-place
// form is a method if the function has one.
enum class Form : uint8_t { kFunction, kMethod, kInPlace };

struct OperatorObject {
  PyObject_HEAD vectorcallfunc vectorcall;
  const Function* function;
  Form form;
};

PyTypeObject* function_type = nullptr;
PyTypeObject* method_type = nullptr;
std::map<std::string, std::unique_ptr<Function>, std::less<>> functions;  // by full name; never freed
std::map<std::string, PyObject*, std::less<>> result_types;

const OperatorObject& as_operator(PyObject* self) { return *reinterpret_cast<OperatorObject*>(self); }

bool is_method(const FunctionRecord& record, Form form) { return form != Form::kFunction && record.is_method; }

// Returns whether an overload exists in a form.
bool offers(const Overload& overload, Form form) {
  if (form == Form::kInPlace) return overload.record->replaced >= 0;
  return form == Form::kFunction || overload.record->receiver >= 0;
}

// Calls the first overload that the arguments fit, and returns the result. If there is none, returns NULL with the
// mismatch of the overload that got furthest.
PyObject* try_overloads(const Function& function, Form form, PyObject* const* args, Py_ssize_t positional,
                        PyObject* keywords, const ArrayReader* arrays, Mismatch* furthest) {
  furthest->rank = -1;
  for (const Overload& overload : function.overloads) {
    if (!offers(overload, form)) continue;
    Mismatch mismatch;
    Bound bound;
    ValueStore store(arrays);
    std::array<of_value, kMaxArguments> values;
    if (overload.parameters.bind(is_method(*function.record, form), args, positional, keywords, &bound, &mismatch) &&
        overload.parameters.convert(bound, &store, values.data(), &mismatch)) {
      if (form != Form::kInPlace) return call_overload(overload, values.data(), bound, bound.out());
      if (!function.record->is_method) return call_on_list(overload, values.data(), bound);
      PyObject* self = bound.objects[overload.record->replaced];
      if (is_tensor(self)) return call_overload(overload, values.data(), bound, self);
      return raise(OF_TYPE_MISMATCH, function.name + ": input must be Tensor, got " + type_name(self));
    }
    if (PyErr_Occurred()) return nullptr;
    if (mismatch.rank > furthest->rank) *furthest = std::move(mismatch);
  }
  return nullptr;
}

// Calls the first overload that the arguments fit: first as they are, so that tensors, numbers and lists tell the
// overloads apart, then with array-likes in place of tensors. Raises the error of the overload that got furthest.
PyObject* call_as_given(const Function& function, Form form, PyObject* const* args, Py_ssize_t positional,
                        PyObject* keywords) {
  Mismatch mismatch;
  PyObject* result = try_overloads(function, form, args, positional, keywords, nullptr, &mismatch);
  if (result != nullptr || PyErr_Occurred()) return result;
  const bool writes_list = form == Form::kInPlace && !function.record->is_method;
  if (mismatch.reason == Mismatch::Reason::kWrongType && !writes_list) {
    const auto count = static_cast<size_t>(positional + (keywords != nullptr ? PyTuple_GET_SIZE(keywords) : 0));
    const ArrayReader arrays(function.name.c_str(), {args, count});
    result = try_overloads(function, form, args, positional, keywords, &arrays, &mismatch);
    if (result != nullptr || PyErr_Occurred()) return result;
  }
  return mismatch.raise(function.name.c_str());
}

PyObject* call(const Function& function, Form form, PyObject* const* args, Py_ssize_t positional, PyObject* keywords) {
  if (!function.record->takes_equation || positional == 0 || !is_tensor(args[0])) [[likely]]
    return call_as_given(function, form, args, positional, keywords);
  LabelledCall labelled;
  if (!labelled.read(function.name.c_str(), args, positional, keywords)) return nullptr;
  return call_as_given(function, form, labelled.args(), labelled.positional(), keywords);
}

PyObject* vectorcall(PyObject* self, PyObject* const* args, size_t flags, PyObject* keywords) {
  const OperatorObject& object = as_operator(self);
  return call(*object.function, object.form, args, PyVectorcall_NARGS(flags), keywords);
}

const char* name_of(const OperatorObject& object) {
  return object.form == Form::kInPlace ? object.function->record->in_place : object.function->record->name;
}

PyObject* get_name(PyObject* self, void*) { return PyUnicode_FromString(name_of(as_operator(self))); }

PyObject* get_qualified_name(PyObject* self, void*) {
  const OperatorObject& object = as_operator(self);
  return PyUnicode_FromFormat("%s%s", is_method(*object.function->record, object.form) ? "Tensor." : "",
                              name_of(object));
}

PyObject* get_module(PyObject* self, void*) {
  const char* name = as_operator(self).function->record->module;
  return PyUnicode_FromFormat("oneflow_py%s%s", *name != '\0' ? "." : "", name);
}

PyObject* get_documentation(PyObject* self, void*) {
  const OperatorObject& object = as_operator(self);
  const FunctionRecord& record = *object.function->record;
  if (object.form != Form::kInPlace) return PyUnicode_FromString(record.documentation);
  return PyUnicode_FromFormat("Writes the result of %s() to %s and returns %s.\n\n%s", record.name,
                              record.is_method ? "this tensor" : "the tensors", record.is_method ? "it" : "them",
                              record.documentation);
}

PyObject* get_signature(PyObject* self, void*) {
  const OperatorObject& object = as_operator(self);
  const FunctionRecord& record = *object.function->record;
  const char* texts[] = {record.signature, record.method_signature, record.in_place_signature};
  return PyUnicode_FromString(texts[static_cast<int>(object.form)]);
}

PyObject* represent(PyObject* self) {
  Ref module(get_module(self, nullptr));
  Ref name(get_qualified_name(self, nullptr));
  return module && name ? PyUnicode_FromFormat("<function %U.%U>", module.get(), name.get()) : nullptr;
}

PyObject* reduce(PyObject* self, PyObject*) {
  if (!is_method(*as_operator(self).function->record, as_operator(self).form)) return get_name(self, nullptr);
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

Ref make_operator(const Function* function, Form form) {
  OperatorObject* object =
      PyObject_New(OperatorObject, is_method(*function->record, form) ? method_type : function_type);
  if (object != nullptr) {
    object->vectorcall = vectorcall;
    object->function = function;
    object->form = form;
  }
  return Ref(reinterpret_cast<PyObject*>(object));
}

bool add_result_types(PyObject* module) {
  for (const ResultTypeRecord& record : result_type_records) {
    PyObject* type = named_tuple(module, record.name, record.fields);
    if (type == nullptr) return false;
    result_types[record.name] = type;
  }
  return true;
}

std::span<const char* const> options_of(const OverloadRecord& record) {
  const size_t count = record.makes_leaves ? 2 : record.has_out ? 1 : 0;
  return std::span(kOptions).first(count);
}

// Returns the function of a record, or its in-place form, under the name `name`. Looks up the operators in the runtime,
// and raises ImportError if one is missing: extension and runtime were then built from different definitions.
const Function* add_named(const FunctionRecord& record, const char* name) {
  const std::string prefix = *record.module != '\0' ? std::string(record.module) + "." : "";
  auto function = std::make_unique<Function>(Function{&record, prefix + name, {}});
  for (const OverloadRecord& overload : record.overloads) {
    const of_op op = of_op_find(overload.op);
    if (op == nullptr || overload.arguments.size() > kMaxArguments) {
      PyErr_Format(PyExc_ImportError,
                   "oneflow_py: liboneflow has no operator %s; were both built from the same definitions?",
                   overload.op);
      return nullptr;
    }
    const auto type = overload.result_type != nullptr ? result_types.find(overload.result_type) : result_types.end();
    function->overloads.push_back(
        {&overload, op, Parameters(function->name.c_str(), overload.arguments, overload.receiver, options_of(overload)),
         type != result_types.end() ? type->second : nullptr});
  }
  return (functions[function->name] = std::move(function)).get();
}

bool add_function(PyObject* module, const FunctionRecord& record) {
  const Function* function = add_named(record, record.name);
  if (function == nullptr) return false;
  Ref home = namespace_module(module, record.module);
  Ref object = make_operator(function, Form::kFunction);
  if (!home || !object || PyModule_AddObjectRef(home.get(), record.name, object.get()) != 0) return false;
  PyObject* tensors = reinterpret_cast<PyObject*>(tensor_type);
  if (record.is_method) {
    Ref method = make_operator(function, Form::kMethod);
    if (method && record.is_attribute)
      method = Ref(PyObject_CallOneArg(reinterpret_cast<PyObject*>(&PyProperty_Type), method.get()));
    if (!method || PyObject_SetAttrString(tensors, record.name, method.get()) != 0) return false;
  }
  if (record.in_place != nullptr) {
    const Function* in_place = add_named(record, record.in_place);
    Ref form = in_place != nullptr ? make_operator(in_place, Form::kInPlace) : Ref();
    PyObject* owner = record.is_method ? tensors : home.get();
    if (!form || PyObject_SetAttrString(owner, record.in_place, form.get()) != 0) return false;
  }
  return true;
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
  return call(*function, Form::kFunction, args.data(), static_cast<Py_ssize_t>(args.size()), nullptr);
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
