#include "launch/job.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "launch/addresses.h"
#include "launch/failure.h"
#include "launch/ranks.h"

namespace oneflow::launch {

namespace {

// How long ranks have to end by themselves: after a signal of the user, to save their work; after a failure, to write
// their own errors.
constexpr double kGrace = 5, kGraceOfFailure = 0.5;
// A signal that comes again so soon is the same key: npm, for one, passes on what the terminal has sent already.
constexpr std::chrono::milliseconds kSameKey{200};
// How long a killed process may take to end; one that waits for a dead file server does not.
constexpr std::chrono::seconds kPatience{5};

// Returns the working folder by the name that the user's shell has for it: on other hosts, the links that lead to it
// may lead elsewhere.
std::string working_folder() {
  const std::string actual = std::filesystem::current_path();
  const char* const name = std::getenv("PWD");
  std::error_code error;
  return name != nullptr && *name == '/' && std::filesystem::equivalent(name, actual, error) ? name : actual;
}

// Lists ranks: "rank 0, 4, 7, ...".
std::string list(const std::set<int>& ranks) {
  constexpr int kMost = 8;
  std::string text = "rank ";
  int count = 0;
  for (const int rank : ranks) {
    if (count > 0) text += ", ";
    if (count++ == kMost) return text + "...";
    text += std::to_string(rank);
  }
  return text;
}

// Returns a text that fits into a line with others.
std::string shortened(const std::string& text) {
  constexpr size_t kMost = 80;
  if (text.size() <= kMost) return text;
  size_t end = kMost - 3;
  while (end > 0 && (text[end] & 0xC0) == 0x80) --end;  // between characters of UTF-8
  return text.substr(0, end) + "...";
}

}  // namespace

Job::Job(const Options& options, const Placement& placement, int restart, Loop& loop, Output& output,
         const Signals& signals, Guard& guard)
    : options_(options),
      placement_(placement),
      restart_(restart),
      loop_(loop),
      output_(output),
      signals_(signals),
      guard_(guard) {
  loop_.add(
      signals_.descriptor(), []() -> short { return POLLIN; },
      [this] {
        for (const int signal : signals_.read()) handle(signal);
      });
  if (placement_.hosts.front().ranks.front().source != Source::relayed) return;
  loop_.add(
      STDIN_FILENO,
      [this]() -> short {
        // A program in the background would be stopped if it read from its terminal.
        const pid_t reading = tcgetpgrp(STDIN_FILENO);
        const bool may_read = reading < 0 || reading == getpgrp();
        return has_input_ && may_read && !members_.empty() && members_.front().host->wants_input() ? POLLIN : 0;
      },
      [this] { read_input(); });
}

Job::~Job() {
  loop_.remove(signals_.descriptor());
  loop_.remove(STDIN_FILENO);
}

void Job::read_input() {
  char bytes[1 << 16];
  const ssize_t count = ::read(STDIN_FILENO, bytes, sizeof bytes);
  if (count < 0 && (errno == EINTR || errno == EAGAIN)) return;
  has_input_ = count > 0;
  members_.front().host->input({bytes, static_cast<size_t>(std::max<ssize_t>(count, 0))});
}

std::chrono::milliseconds Job::grace_or(double seconds) const {
  return std::chrono::milliseconds(static_cast<int64_t>(options_.grace_s.value_or(seconds) * 1000));
}

Result Job::run() {
  guarded([this] {
    connect();
    if (!is_failing_ && !result_.stopped) start();
  });
  if (result_.stopped && !members_.empty() && !members_.front().is_started) result_.status = 128 + *result_.stopped;
  while (!is_done()) guarded([this] { run_once(); });
  is_flushing_ = true;
  while (!output_.is_empty()) guarded([this] { run_once(); });
  return result_;
}

template <class Step>
void Job::guarded(Step step) {
  try {
    step();
  } catch (const Failure& failure) {
    host_failed(failure.what(), failure.status());
    result_.may_restart = false;
  }
}

void Job::connect() {
  for (const PlacedRanks& placed : placement_.hosts) {
    if (placed.is_here) {
      members_.push_back({std::make_unique<Ranks>(loop_, *this, guard_, signals_), &placed, nullptr});
      continue;
    }
    auto remote = std::make_unique<RemoteHost>(loop_, *this, output_, signals_, placed.host,
                                               remote_command(options_, placed.host));
    RemoteHost* const pointer = remote.get();
    members_.push_back({std::move(remote), &placed, pointer});
  }
  const auto is_ready = [](const Member& member) { return member.host->is_ready(); };
  while (!is_failing_ && !result_.stopped && !std::ranges::all_of(members_, is_ready)) run_once();
}

std::string Job::meeting_address() const {
  if (!options_.address.empty()) return resolve(options_.address);
  if (members_.front().remote) return resolve(address_of(members_.front().placed->host));
  return own_address_towards(address_of(members_[1].placed->host));
}

HostPlan Job::plan_of(const Member& member, const std::string& address, const std::string& meeting,
                      const std::string& secret) const {
  HostPlan plan;
  plan.folder = working_folder();
  plan.meeting_address = address;
  plan.grace_ms = grace_or(kGrace).count();
  plan.ranks = member.placed->ranks;
  if (member.remote) {
    for (char** variable = environ; *variable != nullptr; ++variable) {
      const std::string text = *variable, name = text.substr(0, text.find('='));
      if (name.starts_with("ONEFLOW_") || std::ranges::find(options_.exported, name) != options_.exported.end())
        plan.environment.push_back(text);
    }
  }
  const Variables own = variables_of_job(placement_.size, meeting, secret, restart_, options_.threads);
  plan.environment.insert(plan.environment.end(), own.begin(), own.end());
  return plan;
}

void Job::start() {
  const std::string secret = make_secret();
  std::string address, meeting;
  if (placement_.is_here()) {
    folder_.emplace(guard_);
    meeting = "file:" + folder_->path();
  } else {
    const RemoteHost* const first = members_.front().remote;
    address = meeting_address();
    meeting = tcp_meeting(address, options_.port != 0 ? options_.port : first ? first->port() : free_port());
  }
  for (Member& member : members_) {
    if (is_failing_) return;
    member.is_started = true;
    for (const RankPlan& rank : member.placed->ranks) running_.insert(rank.rank);
    member.host->start(plan_of(member, address, meeting, secret));
  }
}

void Job::run_once() {
  Deadline deadline = earlier(earlier(kill_at_, give_up_at_), output_.next_started());
  for (const Member& member : members_) deadline = earlier(deadline, member.host->deadline());
  loop_.run_once(deadline);
  output_.show_started();
  const auto now = Clock::now();
  if (kill_at_ && *kill_at_ <= now) {
    // Users look for those that hang.
    if (!is_failing_ && !running_.empty()) output_.say("oneflow-run: killing what did not end: " + list(running_));
    kill_all();
  }
  // The ranks need not write what nobody reads.
  if (const int error = output_.error(); error != 0 && !is_failing_) {
    if (error != EPIPE) output_.say(std::string("oneflow-run: cannot write standard output: ") + std::strerror(error));
    fail(error == EPIPE ? 128 + SIGPIPE : 1);
  }
}

bool Job::is_done() const {
  if (give_up_at_ && *give_up_at_ <= Clock::now()) return true;
  return std::ranges::all_of(members_,
                             [](const Member& member) { return !member.is_started || member.host->is_done(); });
}

void Job::ended(int rank, const End& end) {
  running_.erase(rank);
  output_.finish(rank);
  const int status = exit_status(end);
  if (status == 0 || is_failing_) return;
  if (result_.stopped) {
    if (result_.status == 0) result_.status = status;
    return;
  }
  fail(status);
  result_.may_restart = end.kind != End::not_started;
  if (options_.report >= 0) {
    dprintf(options_.report, "%d %s\n", rank, describe(end).c_str());
    return;
  }
  std::string who = "rank " + std::to_string(rank);
  for (const PlacedRanks& placed : placement_.hosts)
    for (const RankPlan& plan : placed.ranks)
      if (plan.rank == rank)
        who += " (" + shortened(joined(plan.arguments)) +
               (end.process ? ", process " + std::to_string(end.process) : "") +
               (placed.is_here ? "" : " on " + placed.host) + ")";
  output_.say("oneflow-run: " + who + " " + describe(end));
}

void Job::host_failed(const std::string& text, int status) {
  if (is_failing_) return;
  output_.say("oneflow-run: " + text);
  fail(status);
  result_.may_restart = true;
}

void Job::fail(int status) {
  is_failing_ = true;
  if (result_.status == 0) result_.status = status;
  signal_all(SIGTERM);
  // One that is stopped could not end.
  signal_all(SIGCONT);
  end_after(grace_or(kGraceOfFailure));
}

void Job::signal_all(int number) {
  for (const Member& member : members_)
    if (member.is_started) member.host->signal(number);
}

void Job::end_after(std::chrono::milliseconds grace) { kill_at_ = Clock::now() + grace; }

void Job::kill_all() {
  kill_at_.reset();
  if (!give_up_at_) give_up_at_ = Clock::now() + kPatience;
  signal_all(SIGKILL);
}

void Job::handle(int signal) {
  if (signal == SIGCHLD) {
    for (const Member& member : members_) member.host->children_ended();
    return;
  }
  if (!is_ending(signal)) {
    signal_all(signal);
    // This one stops like the ranks. SIGCONT, which continues it, arrives here as well.
    if (signal == SIGTSTP) raise(SIGSTOP);
    return;
  }
  // Whoever reads the output may have stopped to read.
  if (is_flushing_) return end_by(signal);
  const auto now = Clock::now();
  if (result_.stopped || is_failing_) {
    if (!result_.stopped || now - stopped_at_ > kSameKey) kill_all();
    return;
  }
  result_.stopped = signal;
  stopped_at_ = now;
  signal_all(signal);
  end_after(grace_or(kGrace));
}

}  // namespace oneflow::launch
