// The promise variants of calls, reads and waiting.
#include <oneflow/autograd.h>
#include <oneflow/front_end.h>

#include <memory>
#include <string>
#include <utility>

#include "arguments.h"
#include "functions.h"
#include "task.h"

namespace oneflow::node {
namespace {

// A call of an operator, by the function `caller`, with the arguments in the frame.
class CallTask : public Task {
 public:
  explicit CallTask(std::string caller) : caller_(std::move(caller)) {}
  ~CallTask() override {
    for (of_value& result : results_) of_value_release(&result);
  }

  // Copies the call and everything that the frame refers to, because the frame is reused for later calls.
  of_status capture(Environment* environment) {
    const Frame::Header& header = *environment->frame.header();
    op_ = environment->op(header.op);
    arguments_.assign(environment->frame.values(), environment->frame.values() + header.arguments);
    results_.assign(header.results, of_value{});
    if (of_status status = resolve_values(*environment, arguments_.data(), header.arguments)) {
      return status;
    }
    for (of_value& argument : arguments_) {
      if (of_status status = capture(&argument)) return status;
    }
    return OF_OK;
  }

  of_status run() override {
    const of_status status = of_call(op_, arguments_.data(), arguments_.size(), results_.data(), results_.size());
    if (status != OF_OK) of_error_set_caller(caller_.c_str());
    return status;
  }

  Napi::Value finish(Environment& environment) override {
    return array_of(environment.env(), results_.size(),
                    [&](size_t i) { return result_to_js(&environment, &results_[i]); });
  }

 protected:
  std::vector<of_value> arguments_;
  std::vector<of_value> results_;

 private:
  // Copies the memory that an argument refers to, and makes the argument refer to the copy.
  of_status capture(of_value* argument) {
    switch (argument->kind) {
      case OF_VALUE_STRING:
        strings_.push_back(std::make_unique<std::string>(argument->as.string, argument->count));
        argument->as.string = strings_.back()->data();
        return OF_OK;
      case OF_VALUE_INT_LIST:
        integer_lists_.emplace_back(argument->as.integers, argument->as.integers + argument->count);
        argument->as.integers = integer_lists_.back().data();
        return OF_OK;
      case OF_VALUE_DEVICE_LIST:
        device_lists_.emplace_back(argument->as.devices, argument->as.devices + argument->count);
        argument->as.devices = device_lists_.back().data();
        return OF_OK;
      case OF_VALUE_GENERATOR:
        generators_.emplace_back(of_generator_retain(argument->as.generator), of_generator_release);
        return OF_OK;
      case OF_VALUE_TENSOR:
        return capture(&argument->as.tensor);
      case OF_VALUE_TENSOR_LIST:
        tensor_lists_.emplace_back(argument->as.tensors, argument->as.tensors + argument->count);
        argument->as.tensors = tensor_lists_.back().data();
        for (int32_t i = 0; i < argument->count; ++i) {
          if (of_status status = capture(&argument->as.tensors[i])) return status;
        }
        return OF_OK;
      default:
        return OF_OK;
    }
  }

  of_status capture(of_tensor* tensor) {
    if (*tensor == nullptr) return OF_OK;  // an absent item of a list
    const of_status status = held_.emplace_back().snapshot(*tensor);
    *tensor = held_.back().get();
    return status;
  }

  const std::string caller_;
  of_op op_ = nullptr;
  std::vector<std::vector<of_tensor>> tensor_lists_;
  std::vector<std::vector<int64_t>> integer_lists_;
  std::vector<std::vector<of_device>> device_lists_;
  std::vector<std::unique_ptr<std::string>> strings_;
  std::vector<Held> held_;
  std::vector<std::unique_ptr<of_generator_object, decltype(&of_generator_release)>> generators_;
};

// A call of an einsum expression. The only argument in the frame is the list of operands.
class ExpressionTask : public CallTask {
 public:
  explicit ExpressionTask(of_expression expression) : CallTask({}), expression_(of_expression_retain(expression)) {}
  ~ExpressionTask() override { of_expression_release(expression_); }

  of_status run() override {
    const of_value& operands = arguments_[0];
    return of_expression_call(expression_, operands.as.tensors, operands.count, results_.data());
  }

 private:
  of_expression expression_;
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

// Waits for all work of a device.
class SynchronizeTask : public Task {
 public:
  explicit SynchronizeTask(of_device device) : device_(device) {}

  of_status run() override { return of_synchronize(device_); }

 private:
  of_device device_;
};

// Starts the call in the frame as `task`. Returns the promise.
Napi::Value start_call(std::unique_ptr<CallTask> task, const Call& call) {
  call.check(task->capture(&call.environment()));
  return Task::start(std::move(task), call.environment());
}

}  // namespace

void add_async_functions(Exports& exports) {
  // callAsync(caller, ...keepAlive): runs the operator in the frame on a worker thread, for the function of this name.
  // Returns a promise of an array of results.
  exports.add("callAsync",
              [](const Call& call) { return start_call(std::make_unique<CallTask>(call.string(0)), call); });
  // callExpressionAsync(slot, ...keepAlive): runs the expression in the slot on a worker thread. Returns a promise of
  // the array with its result.
  exports.add("callExpressionAsync",
              [](const Call& call) { return start_call(std::make_unique<ExpressionTask>(call.expression(0)), call); });
  // readAsync(slot, arrayBuffer): copies the elements to the buffer, in row-major order, on a worker thread. Returns a
  // promise of the buffer.
  exports.add("readAsync", [](const Call& call) {
    auto task = std::make_unique<ReadTask>();
    call.check(task->capture(&call.environment(), call.tensor(0), call[1]));
    return Task::start(std::move(task), call.environment());
  });
  // synchronizeAsync(device): waits for all work of the device on a worker thread. Returns a promise.
  exports.add("synchronizeAsync", [](const Call& call) {
    return Task::start(std::make_unique<SynchronizeTask>(call.device(0)), call.environment());
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
