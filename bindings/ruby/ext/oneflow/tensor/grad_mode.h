// Whether calls are recorded, for gradients and in a graph that is captured. The mode of a block belongs to the fiber
// that runs it: a fiber that it switches to has its own.
#pragma once

#include <ruby.h>

namespace oneflow::ruby {

// The number of blocks with a mode that have begun in this thread and have not ended. While there are none, the
// thread's own mode is right.
extern thread_local int open_modes;

// Gives the thread the mode of the current fiber.
void switch_grad_mode();

// Does so if fibers of this thread may have different modes. Every call of an operator begins with it.
inline void enter_grad_mode() {
  if (open_modes > 0) switch_grad_mode();
}

// Gives the fiber the mode of the thread, which the library has set for a Ruby function, for as long as the object
// lives. Fibers that are created meanwhile by the function are recorded in the same graph.
class InheritedGradMode {
 public:
  InheritedGradMode();
  InheritedGradMode(const InheritedGradMode&) = delete;
  InheritedGradMode& operator=(const InheritedGradMode&) = delete;
  ~InheritedGradMode();

 private:
  const bool mode_;
  VALUE before_;
  long number_ = 0;  // of the recording; 0: there is none
  VALUE recording_before_ = Qnil;
};

// Defines OneFlow.grad_enabled?, OneFlow.grad_enabled= and Autograd.in_mode.
void define_grad_mode(VALUE module, VALUE autograd);

}  // namespace oneflow::ruby
