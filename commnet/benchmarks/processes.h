// What the benchmarks of two processes have in common.
#ifndef COMMNET_BENCHMARKS_PROCESSES_H_
#define COMMNET_BENCHMARKS_PROCESSES_H_

#include <commnet/commnet.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>

using Clock = std::chrono::steady_clock;

inline double seconds(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

// Ends the process with an error unless a condition holds.
inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s: %s\n", what, cn_error());
  _exit(1);
}

// What the two processes of a measurement share.
struct Shared {
  std::atomic<int> stage{0};
  char address[512];
  cn_token token;
  double result = 0;
};

inline Shared* map_shared() {
  void* const memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  require(memory != MAP_FAILED, "mmap");
  return new (memory) Shared;
}

// Runs body() in a process of its own, which ends with this one.
template <class Body>
pid_t start(Body&& body) {
  const pid_t process = fork();
  if (process != 0) return process;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  body();
  _exit(0);
}

inline void stop(pid_t process) {
  kill(process, SIGKILL);
  waitpid(process, nullptr, 0);
}

#endif  // COMMNET_BENCHMARKS_PROCESSES_H_
