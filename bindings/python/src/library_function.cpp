#include "library_function.h"

#include <oneflow/autograd.h>
#include <oneflow/front_end.h>

#include <memory>
#include <vector>

#include "classes/language.h"
#include "errors.h"
#include "tensor.h"

namespace oneflow::python {
namespace {

// What belongs to each overload. It lives as long as the process.
struct LibraryOverload {
  of_op op;
  PyObject* result_type;  // the class of the named tuple, or NULL
};

struct FunctionObject {
  PyObject_HEAD vectorcallfunc vectorcall;
  const of_library_function* record;
  const LibraryOverload* overloads;
  PyObject* module;  // the name
  of_manner manner;
};

PyTypeObject* function_type = nullptr;

const FunctionObject& cast(PyObject* self) { return *reinterpret_cast<FunctionObject*>(self); }

const char* name_of(const FunctionObject& function) {
  return function.manner == OF_CALLED_IN_PLACE ? function.record->in_place_name : function.record->name;
}

// A call with its arguments bound.
class Call {
 public:
  explicit Call(const FunctionObject& function) : function_(function) {}
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call() { of_arguments_release(arguments_); }

  // Binds the arguments. Raises and returns false if they do not fit.
  bool bind(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
    const Py_ssize_t named = keywords != nullptr ? PyTuple_GET_SIZE(keywords) : 0;
    context_.names = keywords;
    std::vector<const char*> names;
    for (Py_ssize_t i = 0; i < named; ++i) names.push_back(PyUnicode_AsUTF8(PyTuple_GET_ITEM(keywords, i)));
    PyErr_Clear();  // of a name that is no valid text, which the binder reports
    const std::vector<of_native> values(args, args + count + named);
    return check(of_bind_function(&function_.record->function, function_.manner, &python_language, &context_,
                                  values.data(), static_cast<size_t>(count), names.data(), names.size(), &arguments_));
  }

  // Runs the operator. Returns NULL with an exception if it fails.
  PyObject* run() {
    const of_overload& overload = *arguments_->overload;
    const of_op op = own().op;
    of_status status;
    {
      const auto count = static_cast<size_t>(overload.parameter_count);
      const UnlockedScope unlocked(of_call_is_long(op, arguments_->values, count));
      status = of_call(op, arguments_->values, count, arguments_->results, static_cast<size_t>(overload.result_count));
    }
    if (status != OF_OK) {
      const of_public_function& names = function_.record->function;
      of_error_set_caller(function_.manner == OF_CALLED_IN_PLACE ? names.in_place_name : names.name);
    }
    if (!check(status)) return nullptr;
    if (function_.manner == OF_CALLED_IN_PLACE) return replaced();
    if (overload.written >= 0) return written();
    return arguments_->output_count != 0 ? outputs() : new_results();
  }

 private:
  const LibraryOverload& own() const {
    return function_.overloads[arguments_->overload - function_.record->function.overloads];
  }

  static PyObject* borrowed(of_native native) { return Py_NewRef(static_cast<PyObject*>(native)); }

  PyObject* written() {
    of_value_release(&arguments_->results[0]);
    return borrowed(arguments_->natives[arguments_->overload->written]);
  }

  // Returns the tensors that the in-place form has written to.
  PyObject* replaced() {
    const int32_t position = arguments_->overload->replaced;
    if (!arguments_->is_given[position]) return tuple(arguments_->items, arguments_->item_count);
    PyObject* given = static_cast<PyObject*>(arguments_->natives[position]);
    return is_tensor(given) ? PyTuple_Pack(1, given) : PySequence_Tuple(given);
  }

  static PyObject* tuple(const of_native* items, size_t count) {
    Ref made(PyTuple_New(static_cast<Py_ssize_t>(count)));
    for (size_t i = 0; made && i < count; ++i)
      PyTuple_SET_ITEM(made.get(), static_cast<Py_ssize_t>(i), borrowed(items[i]));
    return made.release();
  }

  // Returns a tuple, with names if the results have them.
  PyObject* named(Ref tuple) const {
    if (!tuple || own().result_type == nullptr) return tuple.release();
    return PyObject_CallMethod(own().result_type, "_make", "(O)", tuple.get());
  }

  PyObject* outputs() {
    if (arguments_->overload->result_count == 1) return borrowed(arguments_->out);
    return named(Ref(tuple(arguments_->outputs, arguments_->output_count)));
  }

  PyObject* new_results() {
    const of_overload& overload = *arguments_->overload;
    if (overload.gives_list) return list();
    if (overload.result_count == 1) {
      Ref result(wrap(arguments_->results[0].as.tensor));
      if (result && arguments_->requires_grad && !check(of_tensor_set_requires_grad(handle_of(result.get()), true)))
        return nullptr;
      return result.release();
    }
    Ref made(PyTuple_New(overload.result_count));
    for (int32_t i = 0; i < overload.result_count; ++i) {
      PyObject* item = made ? wrap(arguments_->results[i].as.tensor) : nullptr;
      if (item == nullptr) {
        while (++i < overload.result_count) of_value_release(&arguments_->results[i]);
        return nullptr;
      }
      PyTuple_SET_ITEM(made.get(), i, item);
    }
    return named(std::move(made));
  }

  PyObject* list() {
    of_value& value = arguments_->results[0];
    Ref tensors(PyTuple_New(value.count));
    for (int32_t i = 0; tensors && i < value.count; ++i) {
      PyObject* item = wrap(of_tensor_retain(value.as.tensors[i]));
      if (item == nullptr) {
        tensors = Ref();
        break;
      }
      PyTuple_SET_ITEM(tensors.get(), i, item);
    }
    of_value_release(&value);
    return tensors.release();
  }

  const FunctionObject& function_;
  CallContext context_;
  of_arguments* arguments_ = nullptr;
};

PyObject* vectorcall(PyObject* self, PyObject* const* args, size_t flags, PyObject* keywords) {
  Call call(cast(self));
  return call.bind(args, PyVectorcall_NARGS(flags), keywords) ? call.run() : nullptr;
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
  delete[] cast(self).overloads;
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

// Returns the class of the named tuple that an overload returns, which is an attribute of the module of the library;
// NULL, without an exception, if a result has no name.
PyObject* result_type(PyObject* module, const of_overload& overload) {
  const std::string names = overload.result_names != nullptr ? overload.result_names : "_";
  if ((" " + names + " ").find(" _ ") != std::string::npos) return nullptr;
  std::string name;
  bool starts = true;
  for (const char* c = overload.result_names; *c != '\0'; ++c) {
    if (*c != ' ' && *c != '_') name += starts && *c >= 'a' ? static_cast<char>(*c - 'a' + 'A') : *c;
    starts = *c == ' ' || *c == '_';
  }
  if (PyObject_HasAttrString(module, name.c_str()) != 0) {
    const Ref found(PyObject_GetAttrString(module, name.c_str()));
    return found.get();  // the module keeps it
  }
  PyObject* type = named_tuple(module, name.c_str(), overload.result_names);
  const Ref home(PyObject_GetAttrString(module, "__name__"));
  const bool is_home = type != nullptr && home && PyObject_SetAttrString(type, "__module__", home.get()) == 0;
  return is_home ? type : nullptr;
}

}  // namespace

bool add_library_function_type(PyObject* module) {
  function_type = reinterpret_cast<PyTypeObject*>(PyType_FromModuleAndSpec(module, &spec, nullptr));
  return function_type != nullptr;
}

Ref make_library_function(PyObject* module, const of_library_function& record, of_manner manner) {
  Ref name(PyObject_GetAttrString(module, "__name__"));
  const auto count = static_cast<size_t>(record.function.overload_count);
  auto overloads = std::make_unique<LibraryOverload[]>(count);
  for (size_t i = 0; i < count; ++i) {
    const of_overload& overload = record.function.overloads[i];
    overloads[i] = {of_op_find(overload.op), result_type(module, overload)};
  }
  if (!name || PyErr_Occurred() != nullptr) return Ref();
  FunctionObject* function = PyObject_New(FunctionObject, function_type);
  if (function != nullptr) {
    function->vectorcall = vectorcall;
    function->record = &record;
    function->overloads = overloads.release();
    function->module = name.release();
    function->manner = manner;
  }
  return Ref(reinterpret_cast<PyObject*>(function));
}

}  // namespace oneflow::python
