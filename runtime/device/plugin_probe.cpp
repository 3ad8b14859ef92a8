#include "device/plugin_probe.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "base/error.h"
#include "device/plugin_loading.h"

namespace oneflow {

namespace {

using Clock = std::chrono::steady_clock;

// Returns the path of the program.
std::string find_program() {
  const char* named = std::getenv("ONEFLOW_PROBE");
  return named ? named : (own_folder() / "oneflow-probe").string();
}

// The program, while it runs, and the pipe from its standard output.
class Process {
 public:
  // Starts the program. Returns 0, or the number of the error.
  int start(const std::string& program, const std::string& plugin) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return errno;
    output_ = ends[0];
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawnattr_t attributes;  // no blocked signals
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    char* arguments[] = {const_cast<char*>(program.c_str()), const_cast<char*>(plugin.c_str()), nullptr};
    const int error = posix_spawn(&id_, program.c_str(), &actions, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (error != 0) id_ = -1;
    return error;
  }
  Process() = default;
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() {
    if (output_ >= 0) close(output_);
    end();
  }

  // Reads the output up to a zero byte, or up to its end. Returns nothing if that takes too long.
  std::optional<std::string> read_output(double seconds) {
    const auto deadline =
        Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    std::string text;
    while (text.find('\0') == std::string::npos) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
      if (left <= 0) return std::nullopt;
      pollfd waited{output_, POLLIN, 0};
      if (poll(&waited, 1, static_cast<int>(left)) < 0 && errno != EINTR) break;
      if (waited.revents == 0) continue;
      char part[1024];
      const ssize_t length = read(output_, part, sizeof(part));
      if (length < 0 && errno == EINTR) continue;
      if (length <= 0) break;
      text.append(part, static_cast<size_t>(length));
    }
    return text;
  }
  // Ends the process, unless it has ended. Returns its status as waitpid() gives it; 0 if it is unknown.
  int end(int signal = SIGKILL) {
    if (id_ < 0) return 0;
    if (signal != 0) kill(id_, signal);
    int status = 0;
    while (waitpid(id_, &status, 0) < 0)
      if (errno != EINTR) {  // the program ignores SIGCHLD
        status = 0;
        break;
      }
    id_ = -1;
    return status;
  }

 private:
  pid_t id_ = -1;
  int output_ = -1;
};

}  // namespace

Probe probe_plugin(const std::string& path, double seconds) {
  const std::string program = find_program();
  Process process;
  if (const int error = process.start(program, path))
    return {true, format_text("the device plugin %s was not probed before it was loaded: cannot run %s: %s",
                              path.c_str(), program.c_str(), std::strerror(error))};
  const std::optional<std::string> output = process.read_output(seconds);
  if (!output)
    return {false, format_text("the device plugin %s did not answer within %g seconds", path.c_str(), seconds)};
  // The exit status does not matter: a plugin may end its process with any status.
  const size_t end = output->find('\0');
  if (end != std::string::npos && output->front() == kUsable) return {true, ""};
  if (end != std::string::npos && output->front() == kRejected) return {false, output->substr(1, end - 1)};
  const int status = process.end(0);
  std::string reason = format_text("the device plugin %s ended its process", path.c_str());
  if (WIFSIGNALED(status)) reason += format_text(" with signal %d", WTERMSIG(status));
  return {false, reason};
}

}  // namespace oneflow
