#include "launch/signals.h"

#include <sys/signalfd.h>

#include <algorithm>
#include <iterator>

namespace oneflow::launch {

namespace {

constexpr int kEnding[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
constexpr int kOthers[] = {SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT};

bool is_ignored(int signal) {
  struct sigaction action {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

bool is_ending(int signal) { return std::ranges::find(kEnding, signal) != std::end(kEnding); }

void end_by(int signal) {
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, signal);
  std::signal(signal, SIG_DFL);
  raise(signal);
  sigprocmask(SIG_UNBLOCK, &one, nullptr);
}

Signals::Signals() {
  sigset_t handled;
  sigemptyset(&handled);
  sigaddset(&handled, SIGCHLD);
  for (const int signal : kEnding)
    if (!is_ignored(signal)) sigaddset(&handled, signal);
  for (const int signal : kOthers)
    if (!is_ignored(signal)) sigaddset(&handled, signal);
  struct sigaction action {};
  action.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &action, &original_pipe_);
  // Where it is ignored, the system forgets how children have ended.
  action.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &action, &original_child_);
  sigprocmask(SIG_BLOCK, &handled, &original_mask_);
  descriptor_ = Descriptor(signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!descriptor_.is_open()) fail_with(errno, "cannot handle signals");
}

std::vector<int> Signals::read() const {
  std::vector<int> signals;
  signalfd_siginfo info;
  while (::read(descriptor_.get(), &info, sizeof info) == sizeof info)
    signals.push_back(static_cast<int>(info.ssi_signo));
  return signals;
}

void Signals::restore() const {
  sigaction(SIGPIPE, &original_pipe_, nullptr);
  sigaction(SIGCHLD, &original_child_, nullptr);
  sigprocmask(SIG_SETMASK, &original_mask_, nullptr);
}

}  // namespace oneflow::launch
