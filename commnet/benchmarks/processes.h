// What the programs here have in common: arguments, processes on cores of their own, and windows of time.
#ifndef COMMNET_BENCHMARKS_PROCESSES_H_
#define COMMNET_BENCHMARKS_PROCESSES_H_

#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

using Clock = std::chrono::steady_clock;

inline double seconds(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

// Ends the process with an error unless a condition holds.
inline void require(bool holds, const char* what, const char* why = "") {
  if (holds) return;
  std::fprintf(stderr, "%s: %s\n", what, why);
  _exit(1);
}

// Arguments: key=value.
class Arguments {
 public:
  Arguments(int count, char** values) : values_(values + 1, values + count) {}

  std::string text(std::string_view key, const char* otherwise = "") const {
    for (const std::string_view each : values_)
      if (each.starts_with(key) && each.substr(key.size()).starts_with('='))
        return std::string(each.substr(key.size() + 1));
    return otherwise;
  }
  size_t number(std::string_view key, size_t otherwise) const {
    const std::string found = text(key);
    return found.empty() ? otherwise : std::stoul(found);
  }
  // Returns the core of a process: cpus=0,1 names those of the first and of the second side. -1: any.
  int cpu(size_t side) const {
    std::istringstream list(text("cpus"));
    std::vector<int> cpus;
    for (std::string each; std::getline(list, each, ',');) cpus.push_back(std::stoi(each));
    return cpus.empty() ? -1 : cpus[side % cpus.size()];
  }

 private:
  const std::vector<std::string_view> values_;
};

// Keeps this process on a core; -1: on any.
inline void pin(int cpu) {
  if (cpu < 0) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  require(sched_setaffinity(0, sizeof set, &set) == 0, "sched_setaffinity");
}

constexpr size_t kMostWindows = 256, kMostProcesses = 8;

// What the processes of a measurement share.
struct Shared {
  struct Server {
    std::atomic<bool> is_ready{false};
    char address[1024], token[1024];
    size_t address_size, token_size;
  } servers[kMostProcesses];
  std::atomic<unsigned> ready_clients{0};
  std::atomic<bool> begins{false};
  struct Client {
    double means[kMostWindows];  // seconds for each of what it counts
    size_t windows;
    uint64_t total;
  } clients[kMostProcesses];
  char transport[64];
};

inline Shared* map_shared() {
  void* const memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  require(memory != MAP_FAILED, "mmap");
  return new (memory) Shared;
}

inline void await(const std::atomic<bool>& flag) {
  while (!flag) usleep(100);
}

// Says that a client is ready, and waits until all are.
inline void meet(Shared& shared) {
  ++shared.ready_clients;
  await(shared.begins);
}

// Runs body() on a core in a process of its own, which ends with this one.
template <class Body>
pid_t start(int cpu, Body&& body) {
  const pid_t process = fork();
  require(process >= 0, "fork");
  if (process > 0) return process;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  pin(cpu);
  body();
  _exit(1);
}

// Says that this client has measured. It stops with all that it has, so that no other process sees it leave.
inline void stop() { raise(SIGSTOP); }

// Lets the clients begin, and returns when all have stopped. The servers serve for ever.
inline void finish(Shared& shared, const std::vector<pid_t>& clients, const std::vector<pid_t>& servers) {
  shared.begins = true;
  for (size_t left = clients.size(); left > 0; --left) {
    int status = 0;
    waitpid(-1, &status, WUNTRACED);
    require(WIFSTOPPED(status), "a process has failed");
  }
  for (const std::vector<pid_t>& each : {servers, clients})
    for (const pid_t process : each) {
      kill(process, SIGKILL);
      waitpid(process, nullptr, 0);
    }
}

// Counts things in windows of time, of which the best counts: what else the machine does then spoils some of them only.
class Meter {
 public:
  // The clock is looked at once for each `stride` things. Windows that are so short that they see what has waited, and
  // not what comes, are no measure.
  Meter(Shared::Client& result, double window_ms, double all_ms, unsigned stride)
      : result_(result), window_(window_ms / 1e3), all_(all_ms / 1e3), stride_(stride) {}

  void begin() { first_ = begin_ = Clock::now(); }
  // Counts one more. Returns whether the measurement goes on.
  bool tick() {
    if (++count_ % stride_ != 0) return true;
    const Clock::time_point now = Clock::now();
    const double passed = seconds(begin_, now) - paused_;
    if (passed < window_) return true;
    result_.means[result_.windows++] = passed / static_cast<double>(count_);
    result_.total += count_;
    count_ = 0;
    paused_ = 0;
    begin_ = now;
    return result_.windows < kFewest || (result_.windows < kMostWindows && seconds(first_, now) < all_);
  }
  // Sleeps, which does not count.
  void pause(unsigned us) {
    if (us == 0) return;
    const Clock::time_point begin = Clock::now();
    usleep(us);
    paused_ += seconds(begin, Clock::now());
  }

 private:
  static constexpr size_t kFewest = 3;

  Shared::Client& result_;
  const double window_, all_;
  const unsigned stride_;
  Clock::time_point first_, begin_;
  uint64_t count_ = 0;
  double paused_ = 0;
};

// Returns the seconds of the best window, where the mean of all clients counts. The first window warms up, and in the
// last one some of several clients may have stopped already.
inline double best_window(const Shared& shared, size_t clients = 1) {
  size_t windows = kMostWindows;
  for (size_t i = 0; i < clients; ++i) windows = std::min(windows, shared.clients[i].windows);
  if (clients > 1) --windows;
  double best = 1e9;
  for (size_t window = 1; window < windows; ++window) {
    double sum = 0;
    for (size_t i = 0; i < clients; ++i) sum += shared.clients[i].means[window];
    best = std::min(best, sum / static_cast<double>(clients));
  }
  return best;
}

#endif  // COMMNET_BENCHMARKS_PROCESSES_H_
