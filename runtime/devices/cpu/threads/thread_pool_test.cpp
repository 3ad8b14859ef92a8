#include "threads/thread_pool.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <new>
#include <thread>
#include <vector>

namespace oneflow::cpu {
namespace {

class ThreadPool : public testing::Test {
 protected:
  void SetUp() override { set_thread_count(4); }
};

// Runs `count` tasks and returns how often each of them ran.
std::vector<int> runs_of(int64_t count) {
  std::vector<std::atomic<int>> runs(static_cast<size_t>(count));
  parallel_for(count, [&](int64_t i) { ++runs[static_cast<size_t>(i)]; });
  return {runs.begin(), runs.end()};
}

TEST_F(ThreadPool, RunsEachTaskOnce) {
  for (const int64_t count : {0, 1, 2, 3, 100, 10000}) {
    EXPECT_EQ(runs_of(count), std::vector<int>(static_cast<size_t>(count), 1)) << count;
  }
}

TEST_F(ThreadPool, RunsNestedRegions) {
  std::atomic<int> runs{0};
  parallel_for(8, [&](int64_t) { parallel_for(8, [&](int64_t) { ++runs; }); });
  EXPECT_EQ(runs, 64);
}

TEST_F(ThreadPool, RunsRegionsOfSeveralThreadsAtOnce) {
  std::atomic<int> runs{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 6; ++caller) {
    callers.emplace_back([&] {
      for (int repeat = 0; repeat < 200; ++repeat) parallel_for(10, [&](int64_t) { ++runs; });
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(runs, 6 * 200 * 10);
}

TEST_F(ThreadPool, RethrowsAnExceptionAfterAllTasks) {
  std::atomic<int> runs{0};
  const auto region = [&] {
    parallel_for(100, [&](int64_t i) {
      ++runs;
      if (i % 3 == 0) throw std::bad_alloc();
    });
  };
  EXPECT_THROW(region(), std::bad_alloc);
  EXPECT_EQ(runs, 100);
  EXPECT_EQ(runs_of(100), std::vector<int>(100, 1));
}

// A pool that is used before fork() must work in the child, which has none of its worker threads.
TEST_F(ThreadPool, WorksInAForkedChild) {
  EXPECT_EQ(runs_of(1000), std::vector<int>(1000, 1));
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) _exit(runs_of(1000) == std::vector<int>(1000, 1) ? 0 : 1);
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace oneflow::cpu
