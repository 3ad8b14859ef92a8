// Asynchronous work: runs on a thread of libuv's pool and settles a promise.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "environment.h"

namespace oneflow::node {

// A unit of asynchronous work. Calls run() on a worker thread, then finish() and release() on the JavaScript thread.
class Task {
 public:
  virtual ~Task() { of_generator_release(state_.generator); }
  // Does the work. Must not use Node-API.
  virtual of_status run() = 0;
  // Returns the value of the promise after run() succeeded.
  virtual napi_value finish(Environment* environment) = 0;
  // Releases references to JavaScript objects. Called last, after success and failure alike.
  virtual void release(napi_env) {}

  // Queues a task, which is deleted when it is done, and returns its promise.
  static napi_value start(std::unique_ptr<Task> task, Environment* environment) {
    const napi_env env = environment->env();
    task->environment_ = environment;
    of_thread_get_state(&task->state_);
    of_generator_retain(task->state_.generator);
    napi_value promise;
    if (napi_create_promise(env, &task->deferred_, &promise) != napi_ok || !task->queue(env)) {
      return environment->fail(OF_INTERNAL_ERROR, "cannot queue the work");
    }
    task.release();
    return promise;
  }

 private:
  bool queue(napi_env env) {
    napi_value name;
    return napi_create_string_utf8(env, "oneflow", NAPI_AUTO_LENGTH, &name) == napi_ok &&
           napi_create_async_work(env, nullptr, name, execute, complete, this, &work_) == napi_ok &&
           napi_queue_async_work(env, work_) == napi_ok;
  }

  static void execute(napi_env, void* data) {
    auto* task = static_cast<Task*>(data);
    of_thread_set_state(&task->state_);
    task->status_ = task->run();
    if (task->status_ != OF_OK) task->error_ = of_last_error();  // the message is thread-local
  }

  static void complete(napi_env env, napi_status, void* data) {
    std::unique_ptr<Task> task(static_cast<Task*>(data));
    napi_delete_async_work(env, task->work_);
    if (task->environment_->is_closed()) return;
    if (task->status_ == OF_OUT_OF_MEMORY && !std::exchange(task->was_short_of_memory_, true)) {
      task->environment_->collect_garbage();  // unreachable tensors may hold enough memory
      if (task->queue(env)) {
        task.release();
        return;
      }
    }
    if (task->status_ == OF_OK) {
      napi_resolve_deferred(env, task->deferred_, task->finish(task->environment_));
    } else if (napi_value error = task->environment_->make_error(task->status_, task->error_.c_str())) {
      napi_reject_deferred(env, task->deferred_, error);
    }
    task->release(env);
  }

  Environment* environment_ = nullptr;
  napi_deferred deferred_ = nullptr;
  napi_async_work work_ = nullptr;
  of_status status_ = OF_INTERNAL_ERROR;
  std::string error_ = "the work was cancelled";
  bool was_short_of_memory_ = false;
  // That of the JavaScript thread, from which the work continues.
  of_thread_state state_{.struct_size = sizeof(of_thread_state)};
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

}  // namespace oneflow::node
