#include "launch/remote_host.h"

#include <poll.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "launch/failure.h"

namespace oneflow::launch {

namespace {

// Quotes an argument for the shell that runs the command there.
std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'')
      result += "'\\''";
    else
      result += c;
  }
  return result + "'";
}

// Reads what there is, at most 64 KiB. Returns nothing at the end.
std::optional<std::string> read_some(const Descriptor& descriptor) {
  std::string bytes(1 << 16, '\0');
  const ssize_t count = ::read(descriptor.get(), bytes.data(), bytes.size());
  if (count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN)) return {};
  bytes.resize(count < 0 ? 0 : static_cast<size_t>(count));
  return bytes;
}

}  // namespace

std::vector<std::string> remote_command(const Options& options, const std::string& host) {
  const std::string program = options.remote_program.empty() ? std::filesystem::read_symlink("/proc/self/exe").string()
                                                             : options.remote_program;
  std::vector<std::string> command = options.remote_shell;
  command.push_back(host);
  command.push_back("exec " + quoted(program) + " --node");
  return command;
}

RemoteHost::RemoteHost(Loop& loop, Listener& listener, Output& output, const Signals& signals, std::string name,
                       const std::vector<std::string>& command)
    : loop_(loop), listener_(listener), output_(output), name_(std::move(name)) {
  shell_ = start_program(command, {}, Source::relayed, signals);
  if (shell_.process == 0)
    throw Failure("the remote shell " + command.front() + " cannot be started: " + std::strerror(shell_.error),
                  exit_status({End::not_started, shell_.error, 0}));
  input_.emplace(loop_, std::move(shell_.input));
  loop_.add(
      shell_.out.get(), [this]() -> short { return listener_.is_full() ? 0 : POLLIN; }, [this] { read_frames(); });
  loop_.add(
      shell_.err.get(), []() -> short { return POLLIN; }, [this] { read_messages(); });
}

RemoteHost::~RemoteHost() {
  close_output();
  if (shell_.err.is_open()) loop_.remove(shell_.err.get());
  input_.reset();
  // The connection ends with it, and with that what runs there.
  if (!has_ended_) end_child(shell_.process);
}

void RemoteHost::close_output() {
  if (shell_.out.is_open()) loop_.remove(shell_.out.get());
  shell_.out.close();
}

void RemoteHost::send(Frame::Kind kind, int32_t number, std::string_view content) {
  if (input_) input_->write(encode(kind, number, content));
}

void RemoteHost::start(const HostPlan& plan) {
  is_started_ = true;
  for (const RankPlan& rank : plan.ranks) running_.insert(rank.rank);
  send(Frame::plan, 0, encode(plan));
}

void RemoteHost::input(std::string_view bytes) {
  wants_input_ = false;
  send(Frame::input, 0, bytes);
}

void RemoteHost::read_greeting() {
  for (size_t end; port_ == 0 && (end = greeting_.find('\n')) != std::string::npos;) {
    const std::string line = greeting_.substr(0, end);
    greeting_.erase(0, end + 1);
    if (!line.starts_with(kGreeting)) {
      output_.say("[" + name_ + "] " + line);
      continue;
    }
    char version[32];
    if (std::sscanf(line.c_str() + kGreeting.size(), "%31s %d", version, &port_) != 2 ||
        std::string(version) != ONEFLOW_VERSION)
      throw Failure("host " + name_ + " has another version of oneflow-run than " ONEFLOW_VERSION ": '" + line + "'");
    frames_.add(std::exchange(greeting_, {}));
  }
}

void RemoteHost::read_frames() {
  const std::optional<std::string> bytes = read_some(shell_.out);
  if (!bytes) {
    close_output();
    return note_loss();
  }
  if (port_ == 0) {
    greeting_ += *bytes;
    read_greeting();
  } else {
    frames_.add(*bytes);
  }
  if (port_ == 0) return;
  while (const std::optional<Frame> frame = frames_.next()) handle(*frame);
}

void RemoteHost::handle(const Frame& frame) {
  switch (frame.kind) {
    case Frame::out:
    case Frame::err:
      if (running_.contains(frame.number))
        listener_.wrote(frame.number, frame.kind == Frame::out ? Stream::out : Stream::err, frame.content);
      break;
    case Frame::ended: {
      int kind = 0;
      End end{};
      if (std::sscanf(frame.content.c_str(), "%d %d %d", &kind, &end.value, &end.process) != 3) break;
      end.kind = static_cast<End::Kind>(kind);
      if (running_.erase(frame.number) != 0) listener_.ended(frame.number, end);
      break;
    }
    case Frame::wants_input:
      wants_input_ = true;
      break;
    case Frame::failed:
      has_failed_ = true;
      listener_.host_failed("host " + name_ + ": " + frame.content, frame.number);
      break;
    default:
      throw Failure("host " + name_ + " sent what only the launcher sends");
  }
}

void RemoteHost::read_messages() {
  const std::optional<std::string> bytes = read_some(shell_.err);
  if (bytes) message_ += *bytes;
  for (size_t end; (end = message_.find('\n')) != std::string::npos; message_.erase(0, end + 1)) {
    std::string line = message_.substr(0, end);
    if (line.ends_with('\r')) line.pop_back();
    output_.say("[" + name_ + "] " + line);
  }
  if (bytes) return;
  if (!message_.empty()) output_.say("[" + name_ + "] " + std::exchange(message_, {}));
  loop_.remove(shell_.err.get());
  shell_.err.close();
}

void RemoteHost::children_ended() {
  if (has_ended_) return;
  int status = 0;
  if (waitpid(shell_.process, &status, WNOHANG) != shell_.process) return;
  has_ended_ = true;
  end_ = WIFEXITED(status) ? End{End::exited, WEXITSTATUS(status), shell_.process}
                           : End{End::killed, WTERMSIG(status), shell_.process};
  while (shell_.err.is_open()) {
    pollfd waited{shell_.err.get(), POLLIN, 0};
    if (poll(&waited, 1, 0) <= 0) break;
    read_messages();
  }
  note_loss();
}

void RemoteHost::note_loss() {
  if (!is_done() || has_failed_ || (is_started_ && running_.empty())) return;
  has_failed_ = true;
  const int status = exit_status(end_);
  listener_.host_failed((is_ready() ? "the connection to host " : "there is no connection to host ") + name_ +
                            (is_ready() ? " was lost: the remote shell " : ": the remote shell ") + describe(end_),
                        status != 0 ? status : 1);
}

}  // namespace oneflow::launch
