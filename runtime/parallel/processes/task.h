// Algorithms that wait for other processes without a thread of their own: coroutines.
#ifndef ONEFLOW_PARALLEL_PROCESSES_TASK_H_
#define ONEFLOW_PARALLEL_PROCESSES_TASK_H_

#include <coroutine>
#include <exception>
#include <utility>

namespace oneflow::processes {

// A coroutine without a result, which starts when it is awaited or resumed. Its failure goes to the one that awaits it.
class [[nodiscard]] Task {
 public:
  struct promise_type;
  using Handle = std::coroutine_handle<promise_type>;

  struct promise_type {
    std::coroutine_handle<> continuation = std::noop_coroutine();
    std::exception_ptr failure;

    Task get_return_object() { return Task(Handle::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    auto final_suspend() noexcept {
      struct Continue {
        bool await_ready() noexcept { return false; }
        std::coroutine_handle<> await_suspend(Handle done) noexcept { return done.promise().continuation; }
        void await_resume() noexcept {}
      };
      return Continue{};
    }
    void return_void() {}
    void unhandled_exception() { failure = std::current_exception(); }
  };

  Task() = default;
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Task& operator=(Task&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Task() {
    if (handle_) handle_.destroy();
  }

  // Runs until the first wait.
  void start() { handle_.resume(); }
  bool is_done() const { return !handle_ || handle_.done(); }
  // Throws the failure of a task that is done.
  void rethrow() const {
    if (handle_ && handle_.promise().failure) std::rethrow_exception(handle_.promise().failure);
  }

  auto operator co_await() && {
    struct Await {
      Handle handle;
      bool await_ready() { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<> waiting) {
        handle.promise().continuation = waiting;
        return handle;
      }
      void await_resume() {
        if (handle.promise().failure) std::rethrow_exception(handle.promise().failure);
      }
    };
    return Await{handle_};
  }

 private:
  explicit Task(Handle handle) : handle_(handle) {}

  Handle handle_;
};

}  // namespace oneflow::processes

#endif  // ONEFLOW_PARALLEL_PROCESSES_TASK_H_
