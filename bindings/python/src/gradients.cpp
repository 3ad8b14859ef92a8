// Gradients: attributes and methods of tensors, and the functions that oneflow_py/autograd.py is made of.

#include <oneflow/autograd.h>

#include "arguments.h"
#include "errors.h"
#include "tensor.h"
#include "tensor_parts.h"

namespace oneflow::python {
namespace {

// The exception that a Python function raised during a backward pass of this thread, which passes the runtime.
thread_local PyObject* pending = nullptr;

// Keeps the current exception, and returns the status of the call that it ends.
of_status keep_exception() {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  if (traceback != nullptr) PyException_SetTraceback(value, traceback);
  Py_XDECREF(type);
  Py_XDECREF(traceback);
  Py_XSETREF(pending, value);
  return OF_INTERNAL_ERROR;
}

// Returns whether a backward pass has succeeded; raises the exception that ended it otherwise.
bool check_pass(of_status status) {
  PyObject* raised = std::exchange(pending, nullptr);
  if (status == OF_OK || raised == nullptr) {
    Py_XDECREF(raised);
    return check(status);
  }
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(raised)), raised);
  Py_DECREF(raised);
  return false;
}

PyObject* wrap_or_none(of_tensor tensor) {
  if (tensor == nullptr) Py_RETURN_NONE;
  return wrap(tensor);
}

// ------------------------------------------------------------------------------------------------ attributes

PyObject* get_requires_grad(PyObject* self, void*) { return PyBool_FromLong(of_tensor_requires_grad(handle_of(self))); }

int set_requires_grad(PyObject* self, PyObject* value, void*) {
  const int wanted = value != nullptr ? PyObject_IsTrue(value) : 0;
  return wanted >= 0 && check(of_tensor_set_requires_grad(handle_of(self), wanted != 0)) ? 0 : -1;
}

PyObject* get_grad(PyObject* self, void*) {
  of_tensor grad = nullptr;
  return check(of_tensor_get_grad(handle_of(self), &grad)) ? wrap_or_none(grad) : nullptr;
}

int set_grad(PyObject* self, PyObject* value, void*) {
  if (value != nullptr && value != Py_None && !is_tensor(value)) {
    raise(OF_TYPE_MISMATCH, "grad: must be Tensor or None, got " + type_name(value));
    return -1;
  }
  const bool is_removed = value == nullptr || value == Py_None;
  return check(of_tensor_set_grad(handle_of(self), is_removed ? nullptr : handle_of(value))) ? 0 : -1;
}

PyObject* get_is_leaf(PyObject* self, void*) { return PyBool_FromLong(of_tensor_is_leaf(handle_of(self))); }
PyObject* get_retains_grad(PyObject* self, void*) { return PyBool_FromLong(of_tensor_retains_grad(handle_of(self))); }

PyObject* get_grad_fn(PyObject* self, void*) {
  const char* name = of_tensor_grad_fn(handle_of(self));
  if (name == nullptr) Py_RETURN_NONE;
  return PyUnicode_FromString(name);
}

// ------------------------------------------------------------------------------------------------ methods

const ArgumentRecord kRequires[] = {optional_argument("requires_grad", "bool", ArgumentKind::kBool)};
const Parameters kRequiresParameters("requires_grad_", kRequires);

PyObject* requires_grad_in_place(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  HandCall<1> call;
  if (!call.parse(kRequiresParameters, args, count, keywords)) return nullptr;
  const bool wanted = call.values[0].kind != OF_VALUE_BOOL || call.values[0].as.boolean;
  return check(of_tensor_set_requires_grad(handle_of(self), wanted)) ? Py_NewRef(self) : nullptr;
}

PyObject* retain_grad(PyObject* self, PyObject*) {
  if (!check(of_tensor_retain_grad(handle_of(self)))) return nullptr;
  Py_RETURN_NONE;
}

PyObject* detach(PyObject* self, PyObject*) {
  of_tensor result = nullptr;
  return check(of_tensor_detach(handle_of(self), &result)) ? wrap(result) : nullptr;
}

// Reads two flags of which the second one implies the first one.
of_backward_options options_of(const of_value& retain, const of_value& create) {
  of_backward_options options{};
  options.struct_size = sizeof(options);
  options.create_graph = create.kind == OF_VALUE_BOOL && create.as.boolean;
  options.retain_graph = retain.kind == OF_VALUE_BOOL ? retain.as.boolean : options.create_graph;
  return options;
}

const ArgumentRecord kBackward[] = {
    optional_argument("gradient", "Tensor", ArgumentKind::kTensor),
    optional_argument("retain_graph", "bool", ArgumentKind::kBool),
    optional_argument("create_graph", "bool", ArgumentKind::kBool),
};
const Parameters kBackwardParameters("backward", kBackward);

PyObject* backward(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  HandCall<3> call;
  if (!call.parse(kBackwardParameters, args, count, keywords)) return nullptr;
  const of_backward_options options = options_of(call.values[1], call.values[2]);
  const of_tensor tensor = handle_of(self);
  const of_tensor grad = call.values[0].kind == OF_VALUE_TENSOR ? call.values[0].as.tensor : nullptr;
  if (!check_pass(run_unlocked([&] { return of_backward(&tensor, &grad, 1, &options); }))) return nullptr;
  Py_RETURN_NONE;
}

// ------------------------------------------------------------------------------------------------ hooks

// Calls a Python function with a gradient.
of_status call_hook(void* context, of_tensor grad, of_tensor* replaced) {
  LockedScope locked;
  if (!locked) return OF_OK;
  of_tensor_retain(grad);
  Ref argument(wrap(grad));
  Ref result(argument ? PyObject_CallOneArg(static_cast<PyObject*>(context), argument.get()) : nullptr);
  if (!result) return keep_exception();
  if (result.get() == Py_None) return OF_OK;
  if (!is_tensor(result.get())) {
    raise(OF_TYPE_MISMATCH, "a hook must return Tensor or None, got " + type_name(result.get()));
    return keep_exception();
  }
  of_tensor_retain(*replaced = handle_of(result.get()));
  return OF_OK;
}

void release_object(void* context) {
  LockedScope locked;
  if (locked) Py_DECREF(static_cast<PyObject*>(context));
}

void remove_hook(PyObject* capsule) { of_hook_release(static_cast<of_hook>(PyCapsule_GetPointer(capsule, "of_hook"))); }

// Returns an oneflow_py.autograd.HookHandle.
PyObject* register_hook(PyObject* self, PyObject* function) {
  if (!PyCallable_Check(function)) {
    return raise(OF_TYPE_MISMATCH, "register_hook: hook must be a function, got " + type_name(function));
  }
  of_hook hook = nullptr;
  if (!check(of_tensor_add_hook(handle_of(self), call_hook, Py_NewRef(function), release_object, &hook)))
    return nullptr;
  Ref capsule(PyCapsule_New(hook, "of_hook", remove_hook));
  Ref module(capsule ? PyImport_ImportModule("oneflow_py.autograd") : nullptr);
  return module ? PyObject_CallMethod(module.get(), "HookHandle", "O", capsule.get()) : nullptr;
}

PyObject* remove_hook_function(PyObject*, PyObject* capsule) {
  if (!PyCapsule_IsValid(capsule, "of_hook")) return raise(OF_TYPE_MISMATCH, "_remove_hook: not a hook");
  of_hook_remove(static_cast<of_hook>(PyCapsule_GetPointer(capsule, "of_hook")));
  Py_RETURN_NONE;
}

// ------------------------------------------------------------------------------------------------ functions

PyObject* is_grad_enabled(PyObject*, PyObject*) { return PyBool_FromLong(of_grad_enabled()); }

PyObject* set_grad_enabled(PyObject*, PyObject* mode) {
  const int enabled = PyObject_IsTrue(mode);
  if (enabled < 0) return nullptr;
  of_set_grad_enabled(enabled != 0);
  Py_RETURN_NONE;
}

// Returns the tensors of a list that was checked by Python code; an item may be None.
bool handles_of(PyObject* list, std::vector<of_tensor>* handles) {
  if (!PyList_Check(list)) {
    raise(OF_TYPE_MISMATCH, "expected a list of tensors, got " + type_name(list));
    return false;
  }
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
    PyObject* item = PyList_GET_ITEM(list, i);
    if (item != Py_None && !is_tensor(item)) {
      raise(OF_TYPE_MISMATCH, "expected a list of tensors, got an item of type " + type_name(item));
      return false;
    }
    handles->push_back(item == Py_None ? nullptr : handle_of(item));
  }
  return true;
}

PyObject* list_of(const std::vector<of_tensor>& handles) {
  Ref list(PyList_New(static_cast<Py_ssize_t>(handles.size())));
  for (size_t i = 0; i < handles.size(); ++i) {
    PyObject* item = list ? wrap_or_none(handles[i]) : nullptr;
    if (item == nullptr) return nullptr;
    PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), item);
  }
  return list.release();
}

// _backward(tensors, grads, inputs, retain_graph, create_graph): `inputs` is None for a pass that adds to leaves.
PyObject* run_pass(PyObject*, PyObject* arguments) {
  PyObject *tensor_list, *grad_list, *input_list;
  int retain, create;
  if (!PyArg_ParseTuple(arguments, "OOOpp", &tensor_list, &grad_list, &input_list, &retain, &create)) return nullptr;
  std::vector<of_tensor> tensors, grads, inputs;
  if (!handles_of(tensor_list, &tensors) || !handles_of(grad_list, &grads)) return nullptr;
  const bool has_inputs = input_list != Py_None;
  if (has_inputs && !handles_of(input_list, &inputs)) return nullptr;
  of_backward_options options{};
  options.struct_size = sizeof(options);
  options.retain_graph = retain != 0;
  options.create_graph = create != 0;
  std::vector<of_tensor> results(inputs.size());
  const auto run = [&] {
    if (!has_inputs) return of_backward(tensors.data(), grads.data(), tensors.size(), &options);
    return of_grad(tensors.data(), grads.data(), tensors.size(), inputs.data(), inputs.size(), &options,
                   results.data());
  };
  if (!check_pass(run_unlocked(run))) return nullptr;
  if (!has_inputs) Py_RETURN_NONE;
  return list_of(results);
}

// Calls the Python function that computes the gradients of a function of a user.
of_status call_backward(void* context, const of_tensor* grads, size_t grad_count, const bool* wanted,
                        of_tensor* results, size_t result_count) {
  LockedScope locked;
  if (!locked) return OF_OK;
  std::vector<of_tensor> handles(grads, grads + grad_count);
  for (const of_tensor grad : handles) of_tensor_retain(grad);
  Ref list(list_of(handles));
  Ref flags(PyList_New(0));
  for (size_t i = 0; i < result_count && flags; ++i) PyList_Append(flags.get(), wanted[i] ? Py_True : Py_False);
  PyObject* args[] = {list.get(), flags.get()};
  Ref found(list && flags ? PyObject_Vectorcall(static_cast<PyObject*>(context), args, 2, nullptr) : nullptr);
  std::vector<of_tensor> tensors;
  if (!found || !handles_of(found.get(), &tensors)) return keep_exception();
  if (tensors.size() != result_count) {
    raise(OF_INVALID_ARGUMENT, "backward must return a gradient or None for each of " + std::to_string(result_count) +
                                   " tensors, got " + std::to_string(tensors.size()));
    return keep_exception();
  }
  for (size_t i = 0; i < result_count; ++i) {
    if (!wanted[i] || tensors[i] == nullptr) continue;
    of_tensor_retain(results[i] = tensors[i]);
  }
  return OF_OK;
}

// _record_function(name, inputs, outputs, backward)
PyObject* record_function(PyObject*, PyObject* arguments) {
  const char* name;
  PyObject *input_list, *output_list, *function;
  if (!PyArg_ParseTuple(arguments, "sOOO", &name, &input_list, &output_list, &function)) return nullptr;
  std::vector<of_tensor> inputs, outputs;
  if (!handles_of(input_list, &inputs) || !handles_of(output_list, &outputs)) return nullptr;
  if (!check(of_record_function(name, inputs.data(), inputs.size(), outputs.data(), outputs.size(), call_backward,
                                Py_NewRef(function), release_object))) {
    return nullptr;
  }
  Py_RETURN_NONE;
}

}  // namespace

std::vector<PyGetSetDef> gradient_attributes() {
  return {
      {"requires_grad", get_requires_grad, set_requires_grad, "Whether a gradient of the tensor is wanted.", nullptr},
      {"grad", get_grad, set_grad, "The gradient that backward passes have collected, or None.", nullptr},
      {"is_leaf", get_is_leaf, nullptr, "Whether the tensor is not the result of a recorded call.", nullptr},
      {"retains_grad", get_retains_grad, nullptr, "Whether retain_grad() was called.", nullptr},
      {"grad_fn", get_grad_fn, nullptr, "The name of the recorded call that the tensor is a result of, or None.",
       nullptr},
  };
}

std::vector<PyMethodDef> gradient_methods() {
  return {
      fast_method("requires_grad_", requires_grad_in_place,
                  "requires_grad_($self, requires_grad=True)\n--\n\n"
                  "Makes a leaf require a gradient, or not, and returns it.\n\n"
                  "Raises DTypeError for a tensor that is neither floating-point nor complex."),
      {"retain_grad", retain_grad, METH_NOARGS,
       "retain_grad($self)\n--\n\nMakes backward passes collect the gradient of a tensor that is not a leaf."},
      {"detach", detach, METH_NOARGS,
       "detach($self)\n--\n\nReturns a tensor over the same memory that has no history and requires no gradient."},
      fast_method("backward", backward,
                  "backward($self, gradient=None, retain_graph=None, create_graph=False)\n--\n\n"
                  "Adds the gradients of the tensor to all leaves that it depends on.\n\n"
                  "`gradient` is that of the tensor itself, by default 1 for a tensor with one element.\n"
                  "`retain_graph` keeps what another pass needs, `create_graph` records this one.\n\n"
                  "Raises InvalidArgument for a tensor that requires no gradient, or whose graph was freed."),
      {"register_hook", register_hook, METH_O,
       "register_hook($self, hook)\n--\n\n"
       "Makes backward passes call `hook(grad)`, which may return another gradient. Returns a handle with "
       "`remove()`.\n\n"
       "Raises InvalidArgument for a tensor that requires no gradient."},
  };
}

std::vector<PyMethodDef> gradient_functions() {
  return {
      {"is_grad_enabled", is_grad_enabled, METH_NOARGS,
       "is_grad_enabled()\n--\n\nReturns whether the calls of this thread are recorded."},
      {"_set_grad_enabled", set_grad_enabled, METH_O, nullptr},
      {"_backward", run_pass, METH_VARARGS, nullptr},
      {"_record_function", record_function, METH_VARARGS, nullptr},
      {"_remove_hook", remove_hook_function, METH_O, nullptr},
  };
}

}  // namespace oneflow::python
