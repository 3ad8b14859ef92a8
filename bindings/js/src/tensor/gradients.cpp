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
Napi::Array slots_of(Environment& environment, const std::vector<of_tensor>& tensors) {
  std::vector<int64_t> slots;
  for (const of_tensor tensor : tensors) slots.push_back(tensor != nullptr ? environment.put(tensor) : 0);
  return integers_to_js(environment.env(), slots.data(), slots.size());
}

// runBackward(slots, gradient slots, input slots or null, retainGraph, createGraph, name or null, ...keepAlive):
// returns an array of slots for the inputs; without inputs, undefined. With the name of a function that is
// differentiated, tensors may be constants.
Napi::Value run_backward(const Call& call) {
  const std::vector<of_tensor> tensors = tensors_of(call, 0), grads = tensors_of(call, 1), inputs = tensors_of(call, 2);
  const bool has_inputs = call[2].IsArray();
  of_backward_options options{};
  options.struct_size = sizeof(options);
  options.retain_graph = call.boolean(3);
  options.create_graph = call.boolean(4);
  const std::string caller = call[5].IsString() ? call.string(5) : "";
  if (!caller.empty()) {
    options.allow_constants = true;
    options.caller = caller.c_str();
  }
  std::vector<of_tensor> results(inputs.size());
  const of_status status = has_inputs ? of_grad(tensors.data(), grads.data(), tensors.size(), inputs.data(),
                                                inputs.size(), &options, results.data())
                                      : of_backward(tensors.data(), grads.data(), tensors.size(), &options);
  if (call.Env().IsExceptionPending()) return call.Env().Undefined();  // that of a JavaScript function within the pass
  call.check(status);
  return has_inputs ? slots_of(call.environment(), results) : call.Env().Undefined();
}

// A JavaScript function that backward passes call.
struct Callback {
  Environment* environment;
  void* pinned;

  static void destroy(void* callback) {
    const std::unique_ptr<Callback> owned(static_cast<Callback*>(callback));
    Pins::unpin(owned->pinned);
  }
};

// Keeps the function in an argument for backward passes.
Callback* make_callback(const Call& call, size_t argument, const char* failure) {
  void* pinned = call.environment().pins()->pin(call[argument]);
  if (pinned == nullptr) throw call.environment().make_error(OF_INTERNAL_ERROR, failure);
  return new Callback{&call.environment(), pinned};
}

// Runs use(function, environment) for a call that does not come from JavaScript. Leaves an exception pending, and
// returns the status of a failure.
template <class Use>
of_status with_function(void* context, Use use) {
  const auto& callback = *static_cast<Callback*>(context);
  napi_value value = Pins::value(callback.pinned);
  if (value == nullptr) {
    return of_fail(OF_UNSUPPORTED, "a JavaScript hook or function runs only on the thread that it was made on");
  }
  const Napi::Env env = callback.environment->env();
  const Napi::HandleScope scope(env);
  try {
    use(Napi::Function(env, value), *callback.environment);
    return OF_OK;
  } catch (const Napi::Error& error) {
    throw_in_js(error);
    return of_fail(OF_INTERNAL_ERROR, "a function of a backward pass has thrown");
  } catch (const std::bad_alloc&) {
    return of_fail(OF_OUT_OF_MEMORY, "out of host memory");
  }
}

// The function takes an array with the slots of the gradients and an array of booleans, whether each result is wanted.
// It returns an array of slots, 0 for none.
of_status call_backward(void* context, const of_tensor* grads, size_t grad_count, const bool* wanted,
                        of_tensor* results, size_t result_count) {
  return with_function(context, [=](const Napi::Function& function, Environment& environment) {
    const std::vector<of_tensor> tensors(grads, grads + grad_count);
    for (const of_tensor grad : tensors) of_tensor_retain(grad);
    const auto flags = array_of(function.Env(), result_count, [=](size_t i) { return wanted[i]; });
    const auto found = function.Call({slots_of(environment, tensors), flags}).As<Napi::Array>();
    for (uint32_t i = 0; i < result_count; ++i) {
      const of_tensor tensor = environment.get(found.Get(i).As<Napi::Number>());
      if (wanted[i] && tensor != nullptr) results[i] = of_tensor_retain(tensor);
    }
  });
}

}  // namespace

void add_gradient_functions(Exports& exports) {
  exports.add("requiresGrad", [](const Call& call) { return of_tensor_requires_grad(call.tensor(0)); });
  exports.add("setRequiresGrad",
              [](const Call& call) { call.check(of_tensor_set_requires_grad(call.tensor(0), call.boolean(1))); });
  exports.add("isLeaf", [](const Call& call) { return of_tensor_is_leaf(call.tensor(0)); });
  // gradFn(slot): returns the name of the recorded call; empty for a leaf.
  exports.add("gradFn", [](const Call& call) {
    const char* name = of_tensor_grad_fn(call.tensor(0));
    return name != nullptr ? name : "";
  });
  // grad(slot): returns a new slot; 0 if there is no gradient.
  exports.add("grad", [](const Call& call) {
    of_tensor found = nullptr;
    call.check(of_tensor_get_grad(call.tensor(0), &found));
    return found != nullptr ? call.environment().put(found) : 0;
  });
  // setGrad(slot, slot): 0 removes the gradient.
  exports.add("setGrad", [](const Call& call) { call.check(of_tensor_set_grad(call.tensor(0), call.tensor(1))); });
  exports.add("retainGrad", [](const Call& call) { call.check(of_tensor_retain_grad(call.tensor(0))); });
  exports.add("retainsGrad", [](const Call& call) { return of_tensor_retains_grad(call.tensor(0)); });
  exports.add("detach", [](const Call& call) {
    of_tensor result = nullptr;
    call.check(of_tensor_detach(call.tensor(0), &result));
    return call.environment().put(result);
  });
  // independentVariable(slot, keepsHistory): returns a new slot.
  exports.add("independentVariable", [](const Call& call) {
    of_tensor result = nullptr;
    call.check(of_independent_variable(call.tensor(0), call.boolean(1), &result));
    return call.environment().put(result);
  });
  // dependsOnOthers(slots, input slots, ...keepAlive)
  exports.add("dependsOnOthers", [](const Call& call) {
    const std::vector<of_tensor> tensors = tensors_of(call, 0), inputs = tensors_of(call, 1);
    bool result = false;
    call.check(of_depends_on_others(tensors.data(), tensors.size(), inputs.data(), inputs.size(), &result));
    return result;
  });
  exports.add("isGradEnabled", [](const Call&) { return of_grad_enabled(); });
  exports.add("setGradEnabled", [](const Call& call) { of_set_grad_enabled(call.boolean(0)); });
  exports.add<run_backward>("runBackward");
  // recordFunction(name, input slots, output slots, function, ...keepAlive)
  exports.add("recordFunction", [](const Call& call) {
    const std::vector<of_tensor> inputs = tensors_of(call, 1), outputs = tensors_of(call, 2);
    Callback* callback = make_callback(call, 3, "recordFunction: cannot keep the function");
    call.check(of_record_function(call.string(0).c_str(), inputs.data(), inputs.size(), outputs.data(), outputs.size(),
                                  call_backward, callback, Callback::destroy));
  });
}

}  // namespace oneflow::node
