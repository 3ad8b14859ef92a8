// Gradients: attributes and methods of tensors, and the functions that oneflow_py/autograd.py is made of.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <oneflow/autograd.h>

#include <utility>

#include "bind.h"

namespace oneflow::python {
namespace {

// ------------------------------------------------------------------------------------------------ attributes

int set_requires_grad(PyObject* self, PyObject* value, void*) {
  if (value != nullptr && !PyBool_Check(value)) {
    raise(OF_TYPE_MISMATCH, "requires_grad: must be bool, got " + type_name(value));
    return -1;
  }
  return check(of_tensor_set_requires_grad(handle_of(self), value == Py_True)) ? 0 : -1;
}

OwnedTensor get_grad(of_tensor self) {
  of_tensor grad = nullptr;
  require(of_tensor_get_grad(self, &grad));
  return OwnedTensor(grad);
}

int set_grad(PyObject* self, PyObject* value, void*) {
  if (value != nullptr && value != Py_None && !is_tensor(value)) {
    raise(OF_TYPE_MISMATCH, "grad: must be Tensor or None, got " + type_name(value));
    return -1;
  }
  const bool is_removed = value == nullptr || value == Py_None;
  return check(of_tensor_set_grad(handle_of(self), is_removed ? nullptr : handle_of(value))) ? 0 : -1;
}

// ------------------------------------------------------------------------------------------------ methods

constexpr of_parameter kRequires[] = {optional("requires_grad", kBoolOrNone)};
const Function kRequiresFunction("requires_grad_", kRequires);

nb::handle requires_grad_in_place(Self self, std::optional<bool> wanted) {
  require(of_tensor_set_requires_grad(handle_of(self.ptr()), wanted.value_or(true)));
  return self;
}

OwnedTensor detach(of_tensor self) {
  of_tensor result = nullptr;
  require(of_tensor_detach(self, &result));
  return OwnedTensor(result);
}

constexpr of_parameter kBackward[] = {
    optional("gradient", kTensorOrNone),
    optional("retain_graph", kBoolOrNone),
    optional("create_graph", kBoolOrNone),
};
const Function kBackwardFunction("backward", kBackward);

void backward(of_tensor self, std::optional<of_tensor> gradient, std::optional<bool> retain,
              std::optional<bool> create) {
  of_backward_options options{};
  options.struct_size = sizeof(options);
  options.create_graph = create.value_or(false);
  options.retain_graph = retain.value_or(options.create_graph);
  const of_tensor grad = gradient.value_or(nullptr);
  require(run_unlocked([&] { return of_backward(&self, &grad, 1, &options); }));
}

// ------------------------------------------------------------------------------------------------ functions

// Returns the tensors of a list; an item may be None.
std::vector<of_tensor> handles_of(nb::handle object) {
  nb::list list;
  if (!nb::try_cast(object, list)) fail(OF_TYPE_MISMATCH, "expected a list of tensors, got " + type_name(object.ptr()));
  std::vector<of_tensor> handles;
  for (const nb::handle item : list) {
    BorrowedTensor tensor;
    if (!nb::try_cast(item, tensor)) {
      fail(OF_TYPE_MISMATCH, "expected a list of tensors, got an item of type " + type_name(item.ptr()));
    }
    handles.push_back(tensor.handle);
  }
  return handles;
}

// Runs a backward pass. Without inputs, it adds to leaves. With the name of a function that is differentiated, tensors
// may be constants.
std::optional<std::vector<OwnedTensor>> run_pass(nb::handle tensor_list, nb::handle grad_list, nb::handle input_list,
                                                 nb::handle retain, nb::handle create,
                                                 const std::optional<std::string>& caller) {
  const std::vector<of_tensor> tensors = handles_of(tensor_list), grads = handles_of(grad_list);
  const bool has_inputs = !input_list.is_none();
  const std::vector<of_tensor> inputs = has_inputs ? handles_of(input_list) : std::vector<of_tensor>();
  of_backward_options options{};
  options.struct_size = sizeof(options);
  options.retain_graph = bool(nb::bool_(retain));
  options.create_graph = bool(nb::bool_(create));
  options.allow_constants = caller.has_value();
  options.caller = caller ? caller->c_str() : nullptr;
  std::vector<of_tensor> results(inputs.size());
  const auto run = [&] {
    if (!has_inputs) return of_backward(tensors.data(), grads.data(), tensors.size(), &options);
    return of_grad(tensors.data(), grads.data(), tensors.size(), inputs.data(), inputs.size(), &options,
                   results.data());
  };
  require(run_unlocked(run));
  if (!has_inputs) return std::nullopt;
  return std::vector<OwnedTensor>(results.begin(), results.end());
}

OwnedTensor independent_variable(BorrowedTensor tensor, bool keeps_history) {
  of_tensor result = nullptr;
  require(of_independent_variable(tensor.handle, keeps_history, &result));
  return OwnedTensor(result);
}

bool depends_on_others(nb::handle tensor_list, nb::handle input_list) {
  const std::vector<of_tensor> tensors = handles_of(tensor_list), inputs = handles_of(input_list);
  bool result = false;
  require(of_depends_on_others(tensors.data(), tensors.size(), inputs.data(), inputs.size(), &result));
  return result;
}

void release_object(void* context) {
  LockedScope locked;
  if (locked) Py_DECREF(static_cast<PyObject*>(context));
}

// Calls the Python function that computes the gradients of a function of a user.
of_status call_backward(void* context, const of_tensor* grads, size_t grad_count, const bool* wanted,
                        of_tensor* results, size_t result_count) {
  LockedScope locked;
  if (!locked) return OF_OK;
  const Ref done(guarded([=] {
    std::vector<OwnedTensor> owned;
    for (const of_tensor grad : std::span(grads, grad_count)) owned.emplace_back(of_tensor_retain(grad));
    nb::list flags;
    for (const bool flag : std::span(wanted, result_count)) flags.append(flag);
    const nb::object list = nb::cast(std::move(owned));
    PyObject* args[] = {list.ptr(), flags.ptr()};
    const auto call = [&] { return PyObject_Vectorcall(static_cast<PyObject*>(context), args, 2, nullptr); };
    const nb::object found = take(call_python(call));
    const std::vector<of_tensor> tensors = handles_of(found);
    if (tensors.size() != result_count) {
      fail(OF_INVALID_ARGUMENT, "backward must return a gradient or None for each of " + std::to_string(result_count) +
                                    " tensors, got " + std::to_string(tensors.size()));
    }
    for (size_t i = 0; i < result_count; ++i) {
      if (wanted[i] && tensors[i] != nullptr) results[i] = of_tensor_retain(tensors[i]);
    }
  }));
  return done ? OF_OK : keep_exception();
}

void record_function(const char* name, nb::handle input_list, nb::handle output_list, nb::object function) {
  const std::vector<of_tensor> inputs = handles_of(input_list), outputs = handles_of(output_list);
  require(of_record_function(name, inputs.data(), inputs.size(), outputs.data(), outputs.size(), call_backward,
                             function.release().ptr(), release_object));
}

}  // namespace

std::vector<PyGetSetDef> gradient_attributes() {
  return {
      attribute<of_tensor_requires_grad>("requires_grad", "Whether a gradient of the tensor is wanted.",
                                         set_requires_grad),
      attribute<get_grad>("grad", "The gradient that backward passes have collected, or None.", set_grad),
      attribute<of_tensor_is_leaf>("is_leaf", "Whether the tensor is not the result of a recorded call."),
      attribute<of_tensor_retains_grad>("retains_grad", "Whether retain_grad() was called."),
      attribute<of_tensor_grad_fn>("grad_fn", "The name of the recorded call that the tensor is a result of, or None."),
  };
}

std::vector<PyMethodDef> gradient_methods() {
  return {
      bound<requires_grad_in_place, kRequiresFunction>(
          "requires_grad_",
          "requires_grad_($self, requires_grad=True)\n--\n\n"
          "Makes a leaf require a gradient, or not, and returns it.\n\n"
          "Raises DTypeError for a tensor that is neither floating-point nor complex."),
      plain<of_tensor_retain_grad>(
          "retain_grad",
          "retain_grad($self)\n--\n\nMakes backward passes collect the gradient of a tensor that is not a leaf."),
      plain<detach>(
          "detach",
          "detach($self)\n--\n\nReturns a tensor over the same memory that has no history and requires no gradient."),
      bound<backward, kBackwardFunction>(
          "backward",
          "backward($self, gradient=None, retain_graph=None, create_graph=False)\n--\n\n"
          "Adds the gradients of the tensor to all leaves that it depends on.\n\n"
          "`gradient` is that of the tensor itself, by default 1 for a tensor with one element.\n"
          "`retain_graph` keeps what another pass needs, `create_graph` records this one.\n\n"
          "Raises InvalidArgument for a tensor that requires no gradient, or whose graph was freed."),
  };
}

std::vector<PyMethodDef> gradient_functions() {
  return {plain<of_grad_enabled>("is_grad_enabled",
                                 "is_grad_enabled()\n--\n\nReturns whether the calls of this thread are recorded.")};
}

void add_gradient_functions(PyObject* module) {
  auto scope = nb::borrow<nb::module_>(module);
  scope.def("_set_grad_enabled", of_set_grad_enabled);
  const auto any = nb::arg().none();
  scope.def("_backward", run_pass, any, any, any, any, any, any = nb::none());
  scope.def("_independent_variable", independent_variable);
  scope.def("_depends_on_others", depends_on_others);
  scope.def("_record_function", record_function);
  scope.def(
      "_type_name", [](nb::handle value) { return type_name(value.ptr()); }, any);
}

}  // namespace oneflow::python
