#include "launch/ranks.h"

#include <poll.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <optional>

#include "launch/variables.h"

namespace oneflow::launch {

namespace {

// What a program may write at once before others get their turn, and what is read of a rank that has ended while a
// program that it has left behind writes on.
constexpr size_t kTurn = 1 << 16, kRest = 1 << 21;
// How long programs may write that ranks have left behind, such as the `tee` of a shell's process substitution.
constexpr std::chrono::milliseconds kPatience{500};

// Returns what a process has come to; nothing if it still runs. It stays a zombie, so that the number of its group
// cannot become that of another one before the end of the job.
std::optional<End> end_of(pid_t process) {
  siginfo_t info{};
  if (waitid(P_PID, static_cast<id_t>(process), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) return {};
  return End{info.si_code == CLD_EXITED ? End::exited : End::killed, info.si_status, process};
}

}  // namespace

Ranks::Ranks(Loop& loop, Listener& listener, Guard& guard, const Signals& signals)
    : loop_(loop), listener_(listener), guard_(guard), signals_(signals) {}

Ranks::~Ranks() {
  signal(SIGKILL);
  for (size_t i = 0; i < ranks_.size(); ++i) {
    Rank& rank = *ranks_[i];
    rank.input.reset();
    close(rank.child.out);
    close(rank.child.err);
    guard_.set_group(static_cast<int>(i), 0);
    if (rank.child.process != 0) end_child(rank.child.process);
  }
}

void Ranks::start(const HostPlan& plan) {
  const int count = static_cast<int>(plan.ranks.size());
  for (const RankPlan& planned : plan.ranks) {
    const Variables environment =
        variables_of_rank(planned.rank, static_cast<int>(ranks_.size()), count, plan.environment, plan.meeting_address);
    ranks_.push_back(std::make_unique<Rank>());
    Rank& rank = *ranks_.back();
    rank.number = planned.rank;
    const Guarded guarded{&guard_, static_cast<int>(ranks_.size()) - 1};
    rank.child = start_program(planned.arguments, environment, planned.source, signals_, guarded);
    if (rank.child.process == 0) {
      rank.has_ended = true;
      listener_.ended(rank.number, {End::not_started, rank.child.error, 0});
      return;
    }
    ++running_;
    if (rank.child.input.is_open()) rank.input = std::make_unique<Writer>(loop_, std::move(rank.child.input));
    listen_to(rank, Stream::out);
    listen_to(rank, Stream::err);
  }
}

void Ranks::listen_to(Rank& rank, Stream stream) {
  const Descriptor& descriptor = stream == Stream::out ? rank.child.out : rank.child.err;
  loop_.add(
      descriptor.get(), [this]() -> short { return listener_.is_full() ? 0 : POLLIN; },
      [this, &rank, stream] { read(rank, stream, kTurn); });
}

void Ranks::read(Rank& rank, Stream stream, size_t most) {
  Descriptor& descriptor = stream == Stream::out ? rank.child.out : rank.child.err;
  char bytes[1 << 16];
  for (size_t total = 0; total < most && descriptor.is_open();) {
    const ssize_t count = ::read(descriptor.get(), bytes, sizeof bytes);
    if (count > 0) {
      listener_.wrote(rank.number, stream, {bytes, static_cast<size_t>(count)});
      total += static_cast<size_t>(count);
    } else if (count == 0 || (errno != EINTR && errno != EAGAIN)) {
      close(descriptor);
    } else if (errno == EAGAIN) {
      return;
    }
  }
}

void Ranks::close(Descriptor& descriptor) {
  if (descriptor.is_open()) loop_.remove(descriptor.get());
  descriptor.close();
}

void Ranks::signal(int number) {
  for (const auto& rank : ranks_)
    if (rank->child.process != 0) kill(-rank->child.process, number);
}

void Ranks::children_ended() {
  std::vector<std::pair<Rank*, End>> ended;
  for (const auto& rank : ranks_)
    if (!rank->has_ended)
      if (const std::optional<End> end = end_of(rank->child.process)) ended.emplace_back(rank.get(), *end);
  // Of ranks that are found together, one that a signal has killed is more likely the cause of what others report.
  std::ranges::stable_partition(ended, [](const auto& each) { return each.second.kind == End::killed; });
  for (const auto& [rank, end] : ended) finish(*rank, end);
}

void Ranks::finish(Rank& rank, const End& end) {
  rank.has_ended = true;
  rank.input.reset();
  read(rank, Stream::out, kRest);
  read(rank, Stream::err, kRest);
  if (--running_ == 0) last_output_ = Clock::now() + kPatience;
  listener_.ended(rank.number, end);
}

bool Ranks::wants_input() const {
  const Writer* const input = ranks_.empty() ? nullptr : ranks_.front()->input.get();
  return input != nullptr && !input->is_full() && input->error() == 0;
}

void Ranks::input(std::string_view bytes) {
  Writer* const input = ranks_.empty() ? nullptr : ranks_.front()->input.get();
  if (input == nullptr) return;
  if (bytes.empty())
    input->end();
  else
    input->write(bytes);
}

bool Ranks::is_done() const {
  if (running_ > 0) return false;
  const bool is_silent = std::ranges::none_of(
      ranks_, [](const auto& rank) { return rank->child.out.is_open() || rank->child.err.is_open(); });
  return is_silent || Clock::now() >= last_output_;
}

}  // namespace oneflow::launch
