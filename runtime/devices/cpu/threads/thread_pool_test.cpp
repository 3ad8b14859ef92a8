#include "threads/thread_pool.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <new>
#include <thread>
#include <vector>

#include "plugin/test_host.h"

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

// A worker that has no memory left: only the thread that opened the region may ask the caller's language to release
// some.
TEST_F(ThreadPool, AllocatesForWorkersOnTheThreadThatOpenedTheRegion) {
  static std::thread::id allocating;
  static std::atomic<bool> has_worker;
  has_worker = false;
  const auto opening = std::this_thread::get_id();
  const auto allocate = [](int64_t bytes) {
    allocating = std::this_thread::get_id();
    return std::malloc(static_cast<size_t>(bytes));
  };
  parallel_for(2, [&](int64_t) {
    if (std::this_thread::get_id() == opening) {
      while (!has_worker) std::this_thread::yield();
      EXPECT_EQ(allocate_on_opening_thread(allocate, 8), nullptr);
      return;
    }
    has_worker = true;
    void* memory = allocate_on_opening_thread(allocate, 8);
    EXPECT_NE(memory, nullptr);
    std::free(memory);
  });
  EXPECT_EQ(allocating, opening);
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

// The answer of the host of the backend when it is asked whether the work of this thread should end early.
thread_local std::function<bool()> asked;

class InterruptedRegion : public ThreadPool {
 protected:
  void SetUp() override {
    ThreadPool::SetUp();
    host_.interrupted = [] { return asked && asked(); };
    set_host(&host_);
  }
  void TearDown() override {
    asked = nullptr;
    set_test_host();
  }

  of_host_table host_{};
};

TEST_F(InterruptedRegion, LeavesTheTasksThatHaveNotBegun) {
  std::atomic<int> runs{0};
  asked = [&] { return runs > 10; };
  EXPECT_THROW(parallel_for(1'000'000, [&](int64_t) { ++runs; }), Interrupted);
  EXPECT_LT(runs, 1'000'000);
  asked = nullptr;
  EXPECT_EQ(runs_of(100), std::vector<int>(100, 1));
}

// The workers, whose own threads nobody interrupts, leave long tasks with the caller.
TEST_F(InterruptedRegion, LongTasksEndOnAllThreads) {
  std::atomic<int> begun{0};
  asked = [&] { return begun == 2; };
  const auto region = [&] {
    parallel_for(2, [&](int64_t) {
      ++begun;
      for (;;) leave_if_interrupted();
    });
  };
  EXPECT_THROW(region(), Interrupted);
}

TEST_F(InterruptedRegion, NestedRegionsEndWithTheOuterOne) {
  std::atomic<int> runs{0};
  asked = [&] { return runs > 10; };
  const auto region = [&] { parallel_for(4, [&](int64_t) { parallel_for(1'000'000, [&](int64_t) { ++runs; }); }); };
  EXPECT_THROW(region(), Interrupted);
  EXPECT_LT(runs, 4'000'000);
}

// A child that is forked by the function that is asked has lost the tasks of the workers.
TEST_F(InterruptedRegion, EndsInAChildThatItsCallerForks) {
  std::atomic<bool> has_worker{false};
  pid_t child = -1;
  const std::thread::id caller = std::this_thread::get_id();
  asked = [&] {
    if (child == -1 && has_worker) child = fork();
    return false;
  };
  std::atomic<int> runs{0};
  bool has_ended = false;
  try {
    parallel_for(100, [&](int64_t i) {
      if (std::this_thread::get_id() != caller) has_worker = true;
      if (i == 0)
        while (!has_worker) std::this_thread::yield();
      ++runs;
    });
  } catch (const Interrupted&) {
    has_ended = true;
  }
  if (child == 0) _exit(has_ended ? 0 : 1);
  ASSERT_GT(child, 0);
  EXPECT_FALSE(has_ended);
  EXPECT_EQ(runs, 100);
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
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
