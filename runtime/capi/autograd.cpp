// The C API: gradients.
#include <oneflow/autograd.h>

#include "autograd/engine.h"
#include "autograd/function_node.h"
#include "autograd/mode.h"
#include "autograd/variable.h"
#include "capi/boundary.h"
#include "device/device.h"

using namespace oneflow;
using namespace oneflow::autograd;

namespace {

Hook* to_hook(of_hook handle) { return reinterpret_cast<Hook*>(handle); }

// Takes ownership of the context, which is destroyed if there is no memory for the hook.
Ref<Hook> new_hook(of_gradient_hook hook, void* context, of_deleter destroy) {
  try {
    return Ref<Hook>::adopt(new Hook(hook, context, destroy));
  } catch (...) {
    if (destroy) destroy(context);
    throw;
  }
}

BackwardOptions options_of(const of_backward_options* options, const char* function) {
  if (!options) return {};
  const of_backward_options given = read_struct(options, function, "options");
  return {given.retain_graph || given.create_graph, given.create_graph, given.allow_constants};
}

// Returns the name of the function that runs a pass.
std::string caller_of(const of_backward_options* options, const char* function, const char* otherwise) {
  const char* name = options ? read_struct(options, function, "options").caller : nullptr;
  return name ? name : otherwise;
}

std::vector<Root> roots_of(const of_tensor* tensors, const of_tensor* grads, size_t count, const char* function) {
  if (count) require(tensors, function, "tensors");
  std::vector<Root> roots;
  for (size_t i = 0; i < count; ++i) {
    const Tensor& tensor = require_tensor(tensors[i], function, "an item of tensors");
    roots.push_back({share(tensor), grads && grads[i] ? share(*to_tensor(grads[i])) : TensorRef()});
  }
  return roots;
}

std::vector<TensorRef> tensors_of(const of_tensor* tensors, size_t count, const char* function, const char* name) {
  if (count) require(tensors, function, name);
  const std::string item = "an item of " + std::string(name);
  std::vector<TensorRef> found;
  for (size_t i = 0; i < count; ++i) found.push_back(share(require_tensor(tensors[i], function, item.c_str())));
  return found;
}

void check_grad(const Tensor& tensor, const Tensor& grad) {
  if (!same_sizes(tensor.sizes(), grad.sizes()))
    fail(OF_SHAPE_ERROR, "a gradient of shape %s does not fit a tensor of shape %s", to_text(grad.sizes()).c_str(),
         to_text(tensor.sizes()).c_str());
  if (grad.dtype() != tensor.dtype())
    fail(OF_DTYPE_ERROR, "a gradient of type %s does not fit a tensor of type %s", dtype_name(grad.dtype()),
         dtype_name(tensor.dtype()));
  if (!(grad.device() == tensor.device())) fail(OF_DEVICE_ERROR, "a gradient must be on the device of its tensor");
}

}  // namespace

bool of_tensor_requires_grad(of_tensor tensor) {
  bool result = false;
  guard([&] { result = requires_grad(require_tensor(tensor, "of_tensor_requires_grad")); });
  return result;
}

of_status of_tensor_set_requires_grad(of_tensor tensor, bool requires_grad) {
  return guard([&, function = __func__] {
    const Tensor& of = require_tensor(tensor, function);
    named("requires_grad", [&] { set_requires_grad(of, requires_grad); });
  });
}

bool of_tensor_is_leaf(of_tensor tensor) {
  bool result = true;
  guard([&] { result = !edge_of(require_tensor(tensor, "of_tensor_is_leaf")).node; });
  return result;
}

const char* of_tensor_grad_fn(of_tensor tensor) {
  const char* name = nullptr;
  guard([&] {
    const Edge edge = edge_of(require_tensor(tensor, "of_tensor_grad_fn"));
    if (edge.node) name = edge.node->name();
  });
  return name;
}

of_status of_tensor_retain_grad(of_tensor tensor) {
  return guard([&, function = __func__] {
    const Tensor& of = require_tensor(tensor, function);
    if (!edge_of(of)) fail_without_gradient("retain_grad: the tensor");
    Variable::of(of).retain_grad();
  });
}

bool of_tensor_retains_grad(of_tensor tensor) {
  bool result = false;
  guard([&] {
    Variable* const variable = Variable::find(require_tensor(tensor, "of_tensor_retains_grad"));
    result = variable && !variable->is_leaf() && variable->accumulator();
  });
  return result;
}

of_status of_tensor_get_grad(of_tensor tensor, of_tensor* grad) {
  return guard([&, function = __func__] {
    require(grad, function, "grad");
    Variable* const variable = Variable::find(require_tensor(tensor, function));
    const Ref<Accumulator> accumulator = variable ? variable->accumulator() : Ref<Accumulator>();
    TensorRef found = accumulator ? accumulator->grad() : TensorRef();
    *grad = to_handle(found.detach());
  });
}

of_status of_tensor_set_grad(of_tensor tensor, of_tensor grad) {
  return guard([&, function = __func__] {
    const Tensor& of = require_tensor(tensor, function);
    named("grad", [&] {
      if (grad) check_grad(of, *to_tensor(grad));
      Variable* const variable = Variable::find(of);
      const Ref<Accumulator> accumulator = variable ? variable->accumulator() : Ref<Accumulator>();
      if (accumulator) return accumulator->set_grad(grad ? share(*to_tensor(grad)) : TensorRef());
      if (grad) fail(OF_INVALID_ARGUMENT, "only a tensor that requires a gradient can have one");
    });
  });
}

of_status of_tensor_detach(of_tensor tensor, of_tensor* result) {
  return guard([&, function = __func__] {
    require(result, function, "result");
    *result = to_handle(detached(require_tensor(tensor, function)).detach());
  });
}

of_status of_tensor_copy_leaf(of_tensor tensor, of_tensor* result) {
  return guard([&, function = __func__] {
    require(result, function, "result");
    const Tensor& of = require_tensor(tensor, function);
    *result = to_handle(named("copy", [&] { return copy_of_leaf(of); }).detach());
  });
}

of_status of_independent_variable(of_tensor tensor, bool keeps_history, of_tensor* result) {
  return guard([&, function = __func__] {
    require(result, function, "result");
    const Tensor& of = require_tensor(tensor, function);
    *result = to_handle(named("requires_grad", [&] { return independent_variable(of, keeps_history); }).detach());
  });
}

bool of_grad_enabled(void) { return is_recording(); }

void of_set_grad_enabled(bool enabled) { set_recording(enabled); }

of_status of_backward(const of_tensor* tensors, const of_tensor* grads, size_t count,
                      const of_backward_options* options) {
  return guard([&, function = __func__] {
    const auto roots = roots_of(tensors, grads, count, function);
    named(caller_of(options, function, "backward").c_str(), [&] { backward(roots, options_of(options, function)); });
  });
}

of_status of_grad(const of_tensor* tensors, const of_tensor* grads, size_t count, const of_tensor* inputs,
                  size_t input_count, const of_backward_options* options, of_tensor* results) {
  return guard([&, function = __func__] {
    const auto roots = roots_of(tensors, grads, count, function);
    const auto wanted = tensors_of(inputs, input_count, function, "inputs");
    if (input_count) require(results, function, "results");
    Gradients found = named(caller_of(options, function, "grad").c_str(),
                            [&] { return grad(roots, wanted, options_of(options, function)); });
    for (size_t i = 0; i < input_count; ++i) results[i] = to_handle(found[i].detach());
  });
}

of_status of_depends_on_others(const of_tensor* tensors, size_t count, const of_tensor* inputs, size_t input_count,
                               bool* result) {
  return guard([&, function = __func__] {
    require(result, function, "result");
    const auto given = tensors_of(tensors, count, function, "tensors");
    *result = depends_on_others(given, tensors_of(inputs, input_count, function, "inputs"));
  });
}

of_status of_tensor_add_hook(of_tensor tensor, of_gradient_hook hook, void* context, of_deleter destroy,
                             of_hook* handle) {
  return guard([&, function = __func__] {
    Ref<Hook> created = new_hook(hook, context, destroy);
    const Tensor& of = require_tensor(tensor, function);
    require(reinterpret_cast<void*>(hook), function, "function");
    const Edge edge = edge_of(of);
    if (!edge) fail_without_gradient("register_hook: the tensor");
    Hooks& hooks = edge.node ? edge.node->hooks(static_cast<size_t>(edge.output)) : edge.leaf->hooks();
    hooks.add(created);
    if (handle) *handle = reinterpret_cast<of_hook>(created.detach());
  });
}

void of_hook_remove(of_hook hook) {
  if (hook) to_hook(hook)->remove();
}

void of_hook_release(of_hook hook) {
  if (hook) to_hook(hook)->release();
}

of_status of_record_function(const char* name, const of_tensor* inputs, size_t input_count, const of_tensor* outputs,
                             size_t output_count, of_backward_function backward, void* context, of_deleter destroy) {
  return guard([&, function = __func__] {
    const Context owned(context, [destroy](void* data) {
      if (destroy) destroy(data);
    });
    require(name, function, "name");
    require(reinterpret_cast<void*>(backward), function, "backward");
    if (input_count) require(inputs, function, "inputs");
    if (output_count) require(outputs, function, "outputs");
    for (size_t i = 0; i < input_count; ++i) require(inputs[i], function, "an item of inputs");
    for (size_t i = 0; i < output_count; ++i) require(outputs[i], function, "an item of outputs");
    record_function(name, {inputs, input_count}, {outputs, output_count}, backward, owned);
  });
}
