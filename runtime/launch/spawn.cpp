#include "launch/spawn.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <optional>

namespace oneflow::launch {

namespace {

std::optional<rlimit> original_limit;  // of open descriptors, if it was raised

// Runs in the new process: becomes the program, or returns the number of the error.
int become(std::vector<char*>& arguments, const Variables& environment, int input, int out, int err, pid_t parent,
           const Signals& signals, const Guarded& guarded) {
  setpgid(0, 0);
  // Before the program can start others. The guard does not look before the pipe to it is closed here, too.
  if (guarded.guard) guarded.guard->set_group(guarded.index, getpid());
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent may have ended before that.
  if (getppid() != parent) _exit(1);
  if (input >= 0 && dup2(input, STDIN_FILENO) < 0) return errno;
  if (dup2(out, STDOUT_FILENO) < 0 || dup2(err, STDERR_FILENO) < 0) return errno;
  for (const std::string& variable : environment)
    if (const int error = apply(variable); error != 0) return error;
  if (original_limit) setrlimit(RLIMIT_NOFILE, &*original_limit);
  signals.restore();
  execvp(arguments.front(), arguments.data());
  return errno;
}

}  // namespace

void allow_descriptors(size_t count) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= count) return;
  original_limit = limit;
  limit.rlim_cur = std::min<rlim_t>(count, limit.rlim_max);
  setrlimit(RLIMIT_NOFILE, &limit);
}

Child start_program(const std::vector<std::string>& arguments, const Variables& environment, Source source,
                    const Signals& signals, Guarded guarded) {
  Pipe out, err, failure;
  Descriptor input, input_writer;
  if (source == Source::relayed) {
    Pipe pipe;
    input = std::move(pipe.reader);
    input_writer = std::move(pipe.writer);
  } else if (source == Source::nothing) {
    input = Descriptor(open("/dev/null", O_RDONLY | O_CLOEXEC));
  }
  std::vector<char*> pointers;
  for (const std::string& argument : arguments) pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);

  const pid_t parent = getpid();
  Child child;
  child.process = fork();
  if (child.process < 0) fail_with(errno, "cannot fork");
  if (child.process == 0) {
    const int error =
        become(pointers, environment, input.get(), out.writer.get(), err.writer.get(), parent, signals, guarded);
    _exit(::write(failure.writer.get(), &error, sizeof error) == sizeof error ? 1 : 2);
  }
  // Both processes do it, so that neither runs on before it is done.
  setpgid(child.process, child.process);
  failure.writer.close();
  ssize_t count;
  while ((count = ::read(failure.reader.get(), &child.error, sizeof child.error)) < 0 && errno == EINTR) {
  }
  if (count > 0) {
    while (waitpid(child.process, nullptr, 0) < 0 && errno == EINTR) {
    }
    if (guarded.guard) guarded.guard->set_group(guarded.index, 0);
    child.process = 0;
    return child;
  }
  child.input = std::move(input_writer);
  child.out = std::move(out.reader);
  child.err = std::move(err.reader);
  for (const Descriptor* end : {&child.out, &child.err, &child.input})
    if (end->is_open()) make_nonblocking(*end);
  return child;
}

void end_child(pid_t process) {
  constexpr int kTries = 500, kPauseUs = 10'000;
  kill(-process, SIGKILL);
  for (int i = 0; i < kTries && waitpid(process, nullptr, WNOHANG) == 0; ++i) usleep(kPauseUs);
}

}  // namespace oneflow::launch
