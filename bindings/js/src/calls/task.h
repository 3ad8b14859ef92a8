// Asynchronous work: runs on a worker thread and settles a promise.
#pragma once

#include <memory>
#include <new>
#include <string>
#include <utility>

#include "calls/workers.h"
#include "functions.h"

namespace oneflow::node {

// A unit of asynchronous work. Calls run() on a worker thread, then finish() and release() on the JavaScript thread.
class Task : public Job {
 public:
  ~Task() override { of_generator_release(state_.generator); }
  // Does the work. Must not use Node-API.
  virtual of_status run() = 0;
  // Returns the value of the promise after run() succeeded.
  virtual Napi::Value finish(Environment& environment) { return environment.env().Undefined(); }
  // Releases references to JavaScript objects. Called last, after success and failure alike.
  virtual void release(napi_env) {}

  // Queues a task, which is deleted when it is done, and returns its promise.
  static Napi::Value start(std::unique_ptr<Task> task, Environment& environment) {
    return start_when(std::move(task), environment, [](const auto& queue) { queue(); });
  }

  // Likewise, once `subscribe(queue)` lets any thread call queue(), which it does once.
  template <class Subscribe>
  static Napi::Value start_when(std::unique_ptr<Task> task, Environment& environment, Subscribe&& subscribe) {
    task->environment_ = &environment;
    task->state_.struct_size = sizeof task->state_;
    of_thread_get_state(&task->state_);
    of_generator_retain(task->state_.generator);
    napi_value promise;
    std::function<void(Job*)> add;
    if (napi_create_promise(environment.env(), &task->deferred_, &promise) == napi_ok)
      add = environment.workers().expect();
    if (!add) {
      task->release(environment.env());
      throw environment.make_error(OF_INTERNAL_ERROR, "cannot queue the work");
    }
    subscribe([add, queued = task.release()] { add(queued); });
    return {environment.env(), promise};
  }

 private:
  void execute() noexcept override {
    try {
      of_thread_set_state(&state_);
      status_ = run();
      if (status_ != OF_OK) error_ = of_last_error();  // the message is thread-local
    } catch (const std::bad_alloc&) {
      status_ = OF_OUT_OF_MEMORY;
      error_.clear();
    }
  }

  void complete(napi_env env) override {
    std::unique_ptr<Task> self(this);
    if (environment_->is_closed()) return;
    settle(env);
    release(env);
  }

  // Settles the promise in every case: a value or an error that cannot be made is an error, too.
  void settle(napi_env env) {
    try {
      if (status_ != OF_OK) throw environment_->make_error(status_, error_.c_str());
      napi_resolve_deferred(env, deferred_, finished());
    } catch (const Napi::Error& error) {
      napi_reject_deferred(env, deferred_, error.Value());
    }
  }

  Napi::Value finished() {
    try {
      return finish(*environment_);
    } catch (const std::bad_alloc&) {
      throw environment_->make_error(OF_OUT_OF_MEMORY, "out of host memory");
    }
  }

  Environment* environment_ = nullptr;
  napi_deferred deferred_ = nullptr;
  of_status status_ = OF_INTERNAL_ERROR;
  std::string error_ = "the work was cancelled";
  // That of the JavaScript thread, from which the work continues.
  of_thread_state state_{};
};

// An owned tensor handle.
class Held {
 public:
  Held() = default;
  Held(Held&& other) noexcept : tensor_(std::exchange(other.tensor_, nullptr)) {}
  Held& operator=(Held&& other) = delete;
  ~Held() { of_tensor_release(tensor_); }

  // Takes a lazy clone of `tensor`, which keeps its present values when `tensor` is written to later.
  of_status snapshot(of_tensor tensor) { return of_tensor_lazy_clone(tensor, &tensor_); }
  of_tensor get() const { return tensor_; }

 private:
  of_tensor tensor_ = nullptr;
};

// Runs a task on a worker thread and returns a promise, or runs it on this thread.
template <bool is_async>
Napi::Value run_task(const Call& call, std::unique_ptr<Task> task) {
  if (is_async) return Task::start(std::move(task), call.environment());
  call.check(task->run());
  return task->finish(call.environment());
}

}  // namespace oneflow::node
