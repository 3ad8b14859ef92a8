// Signals to this program, read from a descriptor in the loop.
#ifndef ONEFLOW_LAUNCH_SIGNALS_H_
#define ONEFLOW_LAUNCH_SIGNALS_H_

#include <csignal>
#include <vector>

#include "launch/descriptor.h"

namespace oneflow::launch {

// Returns whether a signal asks a program to end.
bool is_ending(int signal);

// Ends the program by a signal, so that a shell sees that its script was interrupted.
void end_by(int signal);

class Signals {
 public:
  // Blocks the signals that ranks get, too, and SIGCHLD. Those that were ignored stay so, as nohup wants it.
  Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  int descriptor() const { return descriptor_.get(); }
  // Returns the signals that have arrived.
  std::vector<int> read() const;
  // Gives a forked process what the program was started with. Safe after fork().
  void restore() const;

 private:
  sigset_t original_mask_;
  struct sigaction original_pipe_, original_child_;
  Descriptor descriptor_;
};

}  // namespace oneflow::launch

#endif  // ONEFLOW_LAUNCH_SIGNALS_H_
