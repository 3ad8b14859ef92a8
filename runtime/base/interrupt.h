// Requests to end the work of a thread early, which front ends pass on from the interrupts of their languages.
#ifndef ONEFLOW_BASE_INTERRUPT_H_
#define ONEFLOW_BASE_INTERRUPT_H_

#include "base/error.h"

namespace oneflow {

// What a thread asks between parts of its work; see of_set_interrupt_check().
struct InterruptCheck {
  bool (*function)(void* context) = nullptr;
  void* context = nullptr;
};
// The static TLS block makes it one load.
extern thread_local constinit InterruptCheck interrupt_check __attribute__((tls_model("initial-exec")));

// Returns whether the work of this thread should end early.
inline bool is_interrupted() {
  return interrupt_check.function != nullptr && interrupt_check.function(interrupt_check.context);
}

// Throws an Error with OF_INTERRUPTED if the work of this thread should end early.
inline void throw_if_interrupted() {
  if (is_interrupted()) [[unlikely]]
    fail(OF_INTERRUPTED, "the work was interrupted");
}

// Keeps interrupts from ending the work of this thread, for as long as the object lives.
class Uninterrupted {
 public:
  Uninterrupted() : before_(std::exchange(interrupt_check, {})) {}
  Uninterrupted(const Uninterrupted&) = delete;
  Uninterrupted& operator=(const Uninterrupted&) = delete;
  ~Uninterrupted() { interrupt_check = before_; }

 private:
  const InterruptCheck before_;
};

}  // namespace oneflow

#endif  // ONEFLOW_BASE_INTERRUPT_H_
