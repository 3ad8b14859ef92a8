// The promise variants of calls, reads and waiting.
#include <oneflow/autograd.h>
#include <oneflow/front_end.h>
#include <oneflow/processes.h>
#include <oneflow/values.h>

#include <memory>
#include <string>
#include <utility>

#include "calls/arguments.h"
#include "calls/binding.h"
#include "calls/expression.h"
#include "calls/function_table.h"
#include "calls/task.h"
#include "functions.h"

namespace oneflow::node {
namespace {

// A call whose arguments are bound.
class CallTask : public Task {
 public:
  CallTask(BoundArguments& bound, Environment& environment)
      : caller_(bound.name()), overload_(*bound->overload), results_(static_cast<size_t>(overload_.result_count)) {
    if (bound->output_count > 0)
      throw environment.make_error(OF_TYPE_MISMATCH, (caller_ + ": unknown argument out").c_str(), true);
    arguments_ = bound.release();
    values_.assign(arguments_->values, arguments_->values + overload_.parameter_count);
  }
  ~CallTask() override {
    for (of_value& result : results_) of_value_release(&result);
  }

  // Keeps what the arguments refer to, with the present elements of tensors.
  of_status capture() {
    for (of_value& value : values_) {
      if (value.kind == OF_VALUE_GENERATOR)
        generators_.emplace_back(of_generator_retain(value.as.generator), of_generator_release);
      const bool is_list = value.kind == OF_VALUE_TENSOR_LIST;
      const int32_t count = is_list ? value.count : value.kind == OF_VALUE_TENSOR ? 1 : 0;
      of_tensor* tensors = is_list ? value.as.tensors : &value.as.tensor;
      for (int32_t i = 0; i < count; ++i) {
        if (tensors[i] == nullptr) continue;  // an absent item of a list
        if (const of_status status = held_.emplace_back().snapshot(tensors[i])) return status;
        tensors[i] = held_.back().get();
      }
    }
    return OF_OK;
  }

  of_status run() override {
    const of_status status = invoke(values_.data(), values_.size(), results_.data());
    if (status != OF_OK) of_error_set_caller(caller_.c_str());
    return status;
  }

  Napi::Value finish(Environment& environment) override {
    return results_to_js(environment, overload_, results_.data());
  }

 protected:
  const of_overload& overload() const { return overload_; }
  const char* caller() const { return caller_.c_str(); }
  const std::vector<of_value>& values() const { return values_; }

 private:
  virtual of_status invoke(const of_value* values, size_t count, of_value* results) = 0;

  const std::string caller_;
  const of_overload overload_;
  BoundArguments::Owner arguments_{nullptr, of_arguments_release};
  std::vector<of_value> values_, results_;
  std::vector<Held> held_;
  std::vector<std::unique_ptr<of_generator_object, decltype(&of_generator_release)>> generators_;
};

// A call of an operator.
class OperatorTask : public CallTask {
 public:
  OperatorTask(BoundArguments& bound, Environment& environment)
      : CallTask(bound, environment), op_(operator_of(environment, overload())) {}

 private:
  of_status invoke(const of_value* values, size_t count, of_value* results) override {
    return of_call(op_, values, count, results, static_cast<size_t>(overload().result_count));
  }

  const of_op op_;
};

// A collective that begins at once, and waits for other processes without a worker thread.
class CollectiveTask : public CallTask {
 public:
  CollectiveTask(BoundArguments& bound, Environment& environment)
      : CallTask(bound, environment), op_(operator_of(environment, overload())) {}
  ~CollectiveTask() override { of_started_call_release(started_); }

  of_status begin() {
    if (const of_status status = capture()) return status;
    const of_status status = of_call_start(op_, values().data(), values().size(), &started_);
    if (status != OF_OK) of_error_set_caller(caller());
    return status;
  }

  // Returns the promise.
  static Napi::Value settle(std::unique_ptr<CollectiveTask> task, Environment& environment) {
    const of_started_call started = task->started_;
    return start_when(std::move(task), environment, [=](auto queue) {
      using Queue = decltype(queue);
      auto* const kept = new Queue(std::move(queue));
      const auto call = [](void* context) {
        const std::unique_ptr<Queue> owned(static_cast<Queue*>(context));
        (*owned)();
      };
      if (of_started_call_on_done(started, call, kept) != OF_OK) call(kept);
    });
  }

 private:
  of_status invoke(const of_value*, size_t, of_value* results) override {
    of_tensor tensor = nullptr;
    const of_status status = of_call_finish(started_, &tensor);
    if (status == OF_OK) results[0] = of_tensor_value(tensor);
    return status;
  }

  const of_op op_;
  of_started_call started_ = nullptr;
};

// A call of an einsum expression. The only argument is the list of operands.
class ExpressionTask : public CallTask {
 public:
  ExpressionTask(BoundArguments& bound, Environment& environment, of_expression expression)
      : CallTask(bound, environment), expression_(of_expression_retain(expression)) {}
  ~ExpressionTask() override { of_expression_release(expression_); }

 private:
  of_status invoke(const of_value* values, size_t, of_value* results) override {
    return of_expression_call(expression_, values[0].as.tensors, static_cast<size_t>(values[0].count), results);
  }

  const of_expression expression_;
};

// Copies the elements of a tensor to an ArrayBuffer, which is the value of the promise.
class ReadTask : public Task {
 public:
  of_status capture(Environment* environment, of_tensor tensor, napi_value buffer) {
    if (of_status status = held_.snapshot(tensor)) return status;
    if (napi_get_arraybuffer_info(environment->env(), buffer, &data_, &bytes_) != napi_ok ||
        napi_create_reference(environment->env(), buffer, 1, &buffer_) != napi_ok) {
      return of_fail(OF_INTERNAL_ERROR, "the result is not an ArrayBuffer");
    }
    return OF_OK;
  }

  of_status run() override { return of_tensor_read(held_.get(), data_, bytes_); }

  void release(napi_env env) override { napi_delete_reference(env, buffer_); }

  Napi::Value finish(Environment& environment) override {
    napi_value buffer = nullptr;
    napi_get_reference_value(environment.env(), buffer_, &buffer);
    return {environment.env(), buffer};
  }

 private:
  void* data_ = nullptr;
  size_t bytes_ = 0;
  napi_ref buffer_ = nullptr;
  Held held_;
};

// A backward pass from a tensor.
class BackwardTask : public Task {
 public:
  BackwardTask(of_tensor root, of_tensor grad, of_backward_options options)
      : root_(of_tensor_retain(root)), grad_(grad != nullptr ? of_tensor_retain(grad) : nullptr), options_(options) {}
  ~BackwardTask() override {
    of_tensor_release(root_);
    of_tensor_release(grad_);
  }

  of_status run() override { return of_backward(&root_, &grad_, 1, &options_); }

 private:
  const of_tensor root_, grad_;
  const of_backward_options options_;
};

// Starts a call. Returns the promise.
Napi::Value start_call(std::unique_ptr<CallTask> task, const Call& call) {
  call.check(task->capture());
  return Task::start(std::move(task), call.environment());
}

// callFunctionAsync(function, manner, ...arguments): binds the arguments as BoundArguments does, and runs the function
// on a worker thread. Returns a promise of what results_to_js() returns.
Napi::Value call_function_async(const Call& call) {
  const of_public_function& function = function_at(call.integer(0));
  BoundArguments bound(call, 2, function, static_cast<of_manner>(call.integer(1)));
  if (function.starts) {
    auto task = std::make_unique<CollectiveTask>(bound, call.environment());
    call.check(task->begin());
    return CollectiveTask::settle(std::move(task), call.environment());
  }
  return start_call(std::make_unique<OperatorTask>(bound, call.environment()), call);
}

// bindExpressionAsync(live, ...arguments): binds the operands, and runs the expression in the slot that `live` returns,
// on a worker thread. Returns a promise of its result.
Napi::Value bind_expression_async(const Call& call) {
  Environment& environment = call.environment();
  BoundArguments bound(call, 1, expression_operands, OF_CALLED_AS_FUNCTION);
  const of_expression expression = environment.expression(call[0].As<Napi::Function>().Call({}).ToNumber());
  return start_call(std::make_unique<ExpressionTask>(bound, environment, expression), call);
}

}  // namespace

void add_async_functions(Exports& exports) {
  exports.add_returning<call_function_async>("callFunctionAsync");
  exports.add_returning<bind_expression_async>("bindExpressionAsync");
  // readAsync(slot, arrayBuffer): copies the elements to the buffer, in row-major order, on a worker thread. Returns a
  // promise of the buffer.
  exports.add("readAsync", [](const Call& call) {
    auto task = std::make_unique<ReadTask>();
    call.check(task->capture(&call.environment(), call.tensor(0), call[1]));
    return Task::start(std::move(task), call.environment());
  });
  // backwardAsync(slot, gradient slot or 0, retainGraph, createGraph): runs a backward pass on a worker thread. Returns
  // a promise.
  exports.add("backwardAsync", [](const Call& call) {
    of_backward_options options{};
    options.struct_size = sizeof(options);
    options.retain_graph = call.boolean(2);
    options.create_graph = call.boolean(3);
    return Task::start(std::make_unique<BackwardTask>(call.tensor(0), call.tensor(1), options), call.environment());
  });
}

}  // namespace oneflow::node
