// Gradients: what autograd keeps with tensors, backward passes, hooks and functions of users.
#include <oneflow/autograd.h>

#include <algorithm>
#include <memory>

#include "functions.h"
#include "pins.h"

namespace oneflow::node {
namespace {

// Returns the tensors in an array of slots; 0 stands for none.
std::vector<of_tensor> tensors_of(const Call& call, size_t argument) {
  std::vector<of_tensor> tensors;
  for (const int64_t slot : call.integers(argument)) tensors.push_back(call.environment().get(slot));
  return tensors;
}

// Returns an array of new slots; 0 stands for none.
napi_value slots_of(Environment& environment, const std::vector<of_tensor>& tensors) {
  std::vector<int64_t> slots;
  for (const of_tensor tensor : tensors) slots.push_back(tensor != nullptr ? environment.put(tensor) : 0);
  return to_js(environment.env(), slots.data(), static_cast<int32_t>(slots.size()));
}

napi_value requires_grad(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  return to_js(env, of_tensor_requires_grad(call.tensor(0)));
}

napi_value set_requires_grad(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  return done(call, of_tensor_set_requires_grad(call.tensor(0), call.boolean(1)));
}

napi_value is_leaf(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  return to_js(env, of_tensor_is_leaf(call.tensor(0)));
}

// gradFn(slot): returns the name of the recorded call; empty for a leaf.
napi_value grad_fn(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  const char* name = of_tensor_grad_fn(call.tensor(0));
  return to_js(env, name != nullptr ? name : "");
}

// grad(slot): returns a new slot; 0 if there is no gradient.
napi_value grad(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  of_tensor found = nullptr;
  if (of_status status = of_tensor_get_grad(call.tensor(0), &found)) return call.environment().fail(status);
  return to_js(env, found != nullptr ? call.environment().put(found) : 0);
}

// setGrad(slot, slot): 0 removes the gradient.
napi_value set_grad(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  return done(call, of_tensor_set_grad(call.tensor(0), call.tensor(1)));
}

napi_value retain_grad(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  return done(call, of_tensor_retain_grad(call.tensor(0)));
}

napi_value retains_grad(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  return to_js(env, of_tensor_retains_grad(call.tensor(0)));
}

napi_value detach(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  of_tensor result = nullptr;
  const of_status status = of_tensor_detach(call.tensor(0), &result);
  return done(call, status, result);
}

napi_value is_grad_enabled(napi_env env, napi_callback_info) { return to_js(env, of_grad_enabled()); }

napi_value set_grad_enabled(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  of_set_grad_enabled(call.boolean(0));
  return nullptr;
}

// runBackward(slots, gradient slots, input slots or null, retainGraph, createGraph): returns an array of slots for the
// inputs; without inputs, undefined.
napi_value run_backward(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  Environment& environment = call.environment();
  const std::vector<of_tensor> tensors = tensors_of(call, 0), grads = tensors_of(call, 1);
  napi_valuetype type;
  napi_typeof(env, call.value(2), &type);
  const bool has_inputs = type == napi_object;
  const std::vector<of_tensor> inputs = has_inputs ? tensors_of(call, 2) : std::vector<of_tensor>();
  of_backward_options options{};
  options.struct_size = sizeof(options);
  options.retain_graph = call.boolean(3);
  options.create_graph = call.boolean(4);
  std::vector<of_tensor> results(inputs.size());
  const of_status status = has_inputs ? of_grad(tensors.data(), grads.data(), tensors.size(), inputs.data(),
                                                inputs.size(), &options, results.data())
                                      : of_backward(tensors.data(), grads.data(), tensors.size(), &options);
  bool has_thrown = false;  // a JavaScript function within the pass
  napi_is_exception_pending(env, &has_thrown);
  if (has_thrown) return nullptr;
  if (status != OF_OK) return environment.fail(status);
  return has_inputs ? slots_of(environment, results) : nullptr;
}

// A JavaScript function that backward passes call.
struct Callback {
  Environment* environment;
  void* pinned;

  static void destroy(void* callback) {
    const std::unique_ptr<Callback> owned(static_cast<Callback*>(callback));
    Pins::unpin(owned->pinned);
  }

  // Calls the function. Returns NULL, with the status of the failure, if that is not possible or it throws.
  napi_value call(std::initializer_list<napi_value> arguments, of_status* status) const {
    napi_value function = Pins::value(pinned), receiver = nullptr, result = nullptr;
    const napi_env env = environment->env();
    napi_get_undefined(env, &receiver);
    if (napi_call_function(env, receiver, function, arguments.size(), arguments.begin(), &result) == napi_ok) {
      return result;
    }
    *status = of_fail(OF_INTERNAL_ERROR, "a function of a backward pass has thrown");
    return nullptr;
  }

  // Returns whether the function can be called: only the thread of its environment can.
  bool is_here(of_status* status) const {
    if (Pins::value(pinned) != nullptr) return true;
    *status = of_fail(OF_UNSUPPORTED, "a JavaScript hook or function runs only on the thread that it was made on");
    return false;
  }
};

// Opens a scope of values for a call that does not come from JavaScript.
class Scope {
 public:
  explicit Scope(napi_env env) : env_(env) { napi_open_handle_scope(env, &scope_); }
  ~Scope() { napi_close_handle_scope(env_, scope_); }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  napi_env env_;
  napi_handle_scope scope_ = nullptr;
};

// The function takes the slot of the gradient, and returns the slot of another one or 0.
of_status call_hook(void* context, of_tensor grad, of_tensor* replaced) {
  const auto& callback = *static_cast<Callback*>(context);
  of_status status = OF_OK;
  if (!callback.is_here(&status)) return status;
  Environment& environment = *callback.environment;
  const Scope scope(environment.env());
  of_tensor_retain(grad);
  napi_value result = callback.call({to_js(environment.env(), environment.put(grad))}, &status);
  int64_t slot = 0;
  if (result == nullptr || napi_get_value_int64(environment.env(), result, &slot) != napi_ok || slot == 0)
    return status;
  if (of_tensor found = environment.get(slot)) of_tensor_retain(*replaced = found);
  return status;
}

Callback* make_callback(const Call& call, size_t argument) {
  void* pinned = call.environment().pins()->pin(call.value(argument));
  return pinned != nullptr ? new Callback{&call.environment(), pinned} : nullptr;
}

// addHook(slot, function): returns an external value for removeHook().
napi_value add_hook(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  Callback* callback = make_callback(call, 1);
  if (callback == nullptr) return call.environment().fail(OF_INTERNAL_ERROR, "addHook: cannot keep the function");
  of_hook hook = nullptr;
  if (of_status status = of_tensor_add_hook(call.tensor(0), call_hook, callback, Callback::destroy, &hook)) {
    return call.environment().fail(status);
  }
  napi_value external = nullptr;
  napi_create_external(
      env, hook, [](napi_env, void* data, void*) { of_hook_release(static_cast<of_hook>(data)); }, nullptr, &external);
  return external;
}

napi_value remove_hook(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  void* hook = nullptr;
  if (napi_get_value_external(env, call.value(0), &hook) == napi_ok) of_hook_remove(static_cast<of_hook>(hook));
  return nullptr;
}

// The function takes an array with the slots of the gradients and an array of booleans, whether each result is wanted.
// It returns an array of slots, 0 for none.
of_status call_backward(void* context, const of_tensor* grads, size_t grad_count, const bool* wanted,
                        of_tensor* results, size_t result_count) {
  const auto& callback = *static_cast<Callback*>(context);
  of_status status = OF_OK;
  if (!callback.is_here(&status)) return status;
  Environment& environment = *callback.environment;
  const napi_env env = environment.env();
  const Scope scope(env);
  std::vector<of_tensor> tensors(grads, grads + grad_count);
  for (const of_tensor grad : tensors) of_tensor_retain(grad);
  napi_value flags = nullptr;
  napi_create_array_with_length(env, result_count, &flags);
  for (size_t i = 0; i < result_count; ++i)
    napi_set_element(env, flags, static_cast<uint32_t>(i), to_js(env, wanted[i]));
  napi_value found = callback.call({slots_of(environment, tensors), flags}, &status);
  for (size_t i = 0; i < result_count && found != nullptr; ++i) {
    napi_value item = nullptr;
    int64_t slot = 0;
    napi_get_element(env, found, static_cast<uint32_t>(i), &item);
    napi_get_value_int64(env, item, &slot);
    if (of_tensor tensor = wanted[i] ? environment.get(slot) : nullptr) of_tensor_retain(results[i] = tensor);
  }
  return status;
}

// recordFunction(name, input slots, output slots, function)
napi_value record_function(napi_env env, napi_callback_info info) {
  const Call call(env, info);
  const std::vector<of_tensor> inputs = tensors_of(call, 1), outputs = tensors_of(call, 2);
  Callback* callback = make_callback(call, 3);
  if (callback == nullptr)
    return call.environment().fail(OF_INTERNAL_ERROR, "recordFunction: cannot keep the function");
  return done(call, of_record_function(call.string(0).c_str(), inputs.data(), inputs.size(), outputs.data(),
                                       outputs.size(), call_backward, callback, Callback::destroy));
}

}  // namespace

void add_gradient_functions(Environment* environment, napi_value exports) {
  add_function<requires_grad>(environment, exports, "requiresGrad");
  add_function<set_requires_grad>(environment, exports, "setRequiresGrad");
  add_function<is_leaf>(environment, exports, "isLeaf");
  add_function<grad_fn>(environment, exports, "gradFn");
  add_function<grad>(environment, exports, "grad");
  add_function<set_grad>(environment, exports, "setGrad");
  add_function<retain_grad>(environment, exports, "retainGrad");
  add_function<retains_grad>(environment, exports, "retainsGrad");
  add_function<detach>(environment, exports, "detach");
  add_function<is_grad_enabled>(environment, exports, "isGradEnabled");
  add_function<set_grad_enabled>(environment, exports, "setGradEnabled");
  add_function<run_backward>(environment, exports, "runBackward");
  add_function<add_hook>(environment, exports, "addHook");
  add_function<remove_hook>(environment, exports, "removeHook");
  add_function<record_function>(environment, exports, "recordFunction");
}

}  // namespace oneflow::node
