// Work of which every part must run, although some fail.
#ifndef ONEFLOW_BASE_FIRST_FAILURE_H_
#define ONEFLOW_BASE_FIRST_FAILURE_H_

#include <exception>
#include <utility>

namespace oneflow {

// Keeps the first exception of several actions.
class FirstFailure {
 public:
  // Runs an action. Keeps its exception if it is the first one.
  template <class Action>
  void keep_failure_of(Action&& action) noexcept {
    try {
      action();
    } catch (...) {
      if (!failure_) failure_ = std::current_exception();
    }
  }
  // Throws that exception; does nothing without one.
  void rethrow() {
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

 private:
  std::exception_ptr failure_;
};

}  // namespace oneflow

#endif  // ONEFLOW_BASE_FIRST_FAILURE_H_
